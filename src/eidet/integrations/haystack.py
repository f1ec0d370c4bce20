"""Haystack over a memory: `EidetChatMemoryStore`, and hooks with which an `Agent` remembers."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, ClassVar, Final, TypeAlias

from ..core.draft import Draft
from ..core.errors import BadInput, Misconfigured
from ..core.hit import Hit
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from ..store.traits import path_of
from .extras import RisingTimes, drop_known, finishing, make_missing, quote_label

try:
    from haystack import default_from_dict, default_to_dict
    from haystack.components.agents.state import replace_values
    from haystack.dataclasses import ChatMessage, Document
    from haystack.utils import Secret
    from haystack.utils.filters import document_matches_filter
except ModuleNotFoundError as error:
    raise make_missing("Haystack", "haystack") from error

_MOST: Final = 1000  # memories that filters are applied to
_MEMORIES: Final = 5  # the default number of a search
BUDGET: Final = 1000  # tokens of the memories in a prompt
_MEMORY: Final = Where(conditions=(Condition("meta.haystack", "=", "memory"),))
Place: TypeAlias = Memory | str | Path | Secret


class EidetChatMemoryStore:
    """A `MemoryStore` of haystack-experimental that keeps chat messages; each user is a scope.

    A message that is added again in the same run is stored once, so that a whole history may be added
    after each turn. `memory` is an open one, or the place of one that is opened on first use; only a place,
    or a memory in a file, can be serialized.
    """

    def __init__(self, memory: Place, *, scope: str = "haystack") -> None:
        self.scope: str = Scope.exactly(scope).path
        self._given = memory
        self._opened: Memory | None = None
        self._lock, self._opening = threading.Lock(), threading.Lock()

    @property
    def memory(self) -> Memory:
        if isinstance(self._given, Memory):
            return self._given
        with self._opening:
            if self._opened is None:
                self._opened = Memory(_resolve(self._given))
            return self._opened

    def close(self) -> None:
        """Closes the memory if it was opened here."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, memory=_dump_place(self._given), scope=self.scope)

    from_dict: ClassVar[Any] = classmethod(default_from_dict)

    def scope_of(self, user_id: str | None) -> str:
        """Returns the scope of a user; without one, the scope of memories without an owner."""
        return self.scope if not user_id else f"{self.scope}/{quote_label(user_id)}"

    def add_memories(
        self,
        *,
        messages: list[ChatMessage],
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        **_more: Any,
    ) -> None:
        """Stores the messages that have text, all or none. Once this returns, they are durable."""
        if not isinstance(messages, list) or not all(isinstance(one, ChatMessage) for one in messages):
            raise BadInput("messages must be a list of ChatMessage")
        scope = self.scope_of(user_id)
        with self._lock:
            drafts = _draft_messages(messages, run_id, agent_id, self.memory.parts.clock())
            fresh = drop_known(self.memory, drafts, scope)
            self.memory.remember(fresh, scope=scope, again=True)

    def search_memories(
        self,
        *,
        query: str | None = None,
        filters: dict[str, Any] | None = None,
        top_k: int = _MEMORIES,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        **_more: Any,
    ) -> list[ChatMessage]:
        """Finds memories for a query, best first, or without one the latest, as system messages.

        Their `meta` is that of the message, with `memory_id`, `role` and `score`.
        """
        hits = self.memory.recall(
            query or "",
            scope=self.scope_of(user_id),
            session=run_id,
            agent=agent_id,
            where=_MEMORY,
            limit=_MOST if filters else top_k,
            least=0,
        )
        found = (hit for hit in hits if not filters or document_matches_filter(filters, _document_of(hit)))
        return [_tell(hit) for hit in islice(found, top_k)]

    def delete_all_memories(
        self,
        *,
        user_id: str | None = None,
        run_id: str | None = None,
        agent_id: str | None = None,
        **_more: Any,
    ) -> None:
        """Deletes the messages of a user's run or agent, or all of the user's."""
        self.memory.forget(
            where=_MEMORY, scope=self.scope_of(user_id), session=run_id, agent=agent_id, for_good=False
        )

    def delete_memory(self, memory_id: str, *, user_id: str | None = None, **_more: Any) -> None:
        """Deletes one memory; ignores an id that the user does not have."""
        scope = self.scope_of(user_id)
        if self.memory.get(memory_id, scope=scope) is not None:
            self.memory.forget(memory_id, scope=scope, for_good=False)


def _resolve(given: str | Path | Secret) -> str | Path:
    if not isinstance(given, Secret):
        return given
    place = given.resolve_value()
    if not place:
        raise Misconfigured("the secret that names the memory is empty")
    return str(place)


def _dump_place(given: Place) -> Any:
    """Returns the place of a memory for a pipeline's file; refuses one that may contain a password."""
    if isinstance(given, Secret):
        return given.to_dict()
    place = path_of(given.parts.store) if isinstance(given, Memory) else given
    if place is None:
        raise Misconfigured("only a memory in a file can be serialized; name its place instead")
    if "://" in str(place) and ("@" in str(place) or "?" in str(place)):
        raise Misconfigured(
            "an address with a login or options is not serialized; give it as Secret.from_env_var('…')"
        )
    return str(place)


def _document_of(hit: Hit) -> Document:
    """Returns a memory as Haystack's filters see it."""
    return Document(id=hit.id, content=hit.record.whole.text, meta=_meta_of(hit))


def _meta_of(hit: Hit) -> dict[str, Any]:
    meta: Any = hit.record.meta["meta"]
    return {**meta, "memory_id": hit.id, "role": hit.record.who, "score": hit.score}


def _tell(hit: Hit) -> ChatMessage:
    return ChatMessage.from_system(hit.record.whole.text, meta=_meta_of(hit))


def _draft_messages(
    messages: Sequence[ChatMessage], run_id: str | None, agent_id: str | None, now: float
) -> list[Draft]:
    """Makes one draft per message with a text. Its key counts earlier equal messages."""
    drafts: list[Draft] = []
    copies: Counter[str] = Counter()
    times = RisingTimes(lambda: now)
    for message in messages:
        text = (message.text or "").strip()
        if not text:
            continue
        content = dump_json([run_id, message.role.value, message.name, text])
        copies[content] += 1
        key = f"haystack {copies[content]} {content}"
        drafts.append(
            Draft(
                key=key,
                kind="message",
                text=text,
                who=message.role.value,
                session=run_id,
                agent=agent_id,
                occurred=times.take(1)[0],
                meta={"haystack": "memory", "meta": _plain(message.meta)},
            )
        )
    return drafts


def _plain(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Returns metadata as JSON; values of other types, which generators put into it, become text."""
    return dict(json.loads(json.dumps(dict(meta), default=str)))


class EidetRecallHook:
    """Adds memories relevant to the user's latest message to an `Agent`'s prompt, at `before_run`.

    `hook_context={"user_id": …, "run_id": …}` of the run names the user whose memories are searched, and
    the run whose own messages are left out.
    """

    allowed_hook_points = ("before_run",)

    def __init__(self, memory_store: EidetChatMemoryStore, *, budget: int = BUDGET) -> None:
        self.memory_store = memory_store
        self.budget = budget

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, memory_store=self.memory_store.to_dict(), budget=self.budget)

    from_dict: ClassVar[Any] = classmethod(default_from_dict)

    def run(self, state: Any) -> None:
        messages = list(state.get("messages") or ())
        query = _latest_question(messages)
        if not query:
            return
        about, store = _run_of(state), self.memory_store
        scope = store.scope_of(about["user_id"])
        found = store.memory.context(
            query, scope=scope, budget=self.budget, where=_other_runs(about["run_id"])
        )
        if found.text:
            at = _count_leading_system(messages)
            messages.insert(at, ChatMessage.from_system(f"What you remember:\n{found.text}"))
            state.set("messages", messages, handler_override=replace_values)

    run_async = finishing(run)


class EidetRememberHook:
    """Stores the conversation, at `after_run` of an `Agent`, except system messages.

    `hook_context={"user_id": …, "run_id": …}` of the run names its owners.
    """

    allowed_hook_points = ("after_run",)

    def __init__(self, memory_store: EidetChatMemoryStore) -> None:
        self.memory_store = memory_store

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(self, memory_store=self.memory_store.to_dict())

    from_dict: ClassVar[Any] = classmethod(default_from_dict)

    def run(self, state: Any) -> None:
        messages = [message for message in state.get("messages") or () if message.role.value != "system"]
        self.memory_store.add_memories(messages=messages, **_run_of(state))

    run_async = finishing(run)


def _other_runs(run_id: str | None) -> Where | None:
    """Selects the messages of other runs, since a run's own messages are in its prompt already."""
    return None if run_id is None else ~Where(session=run_id)


def _run_of(state: Any) -> dict[str, str | None]:
    about = state.get("hook_context") or {}
    return {name: about.get(name) for name in ("user_id", "run_id", "agent_id")}


def _latest_question(messages: Sequence[ChatMessage]) -> str:
    return next((one.text or "" for one in reversed(messages) if one.role.value == "user"), "")


def _count_leading_system(messages: Sequence[ChatMessage]) -> int:
    return sum(1 for _ in takewhile(lambda message: message.role.value == "system", messages))
