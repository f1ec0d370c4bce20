"""`Memory` and `AsyncMemory` with mem0's methods, over a memory of Eidet; mem0 is not needed.

mem0_filters.py    owners and scopes of memories, and filters as mem0 writes them
memory_adding.py   messages as memories, and memories and histories in mem0's form
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from ...compat.opening import OwnsMemory, check_number, check_whole
from ...core.errors import BadInput, Conflict
from ...core.record import Record, Trust
from ...core.scope import Scope
from ...core.where import Condition, Where
from ...memory import Memory as EidetMemory
from ...models.llm import LLM, llm_of
from ..extras import RisingTimes, finish, finishing
from .mem0_filters import NAMES, Home, parse_owners, parse_time, select_owners, write_time
from .memory_adding import (
    Adding,
    clean_metadata,
    parse_expiration,
    parse_messages,
    tell_history,
    tell_memory,
)

_TRIES: Final = 100  # attempts at a change while other writers change the same memory
_UNSET: Final[Any] = object()
_PROCEDURAL: Final = "procedural_memory"

__all__ = ["AsyncMemory", "Mem0Config", "Memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Config:
    """The place of the memories, and the models. All fields have defaults."""

    place: str | Path | EidetMemory | None = None  # a memory, or a path or URL; None: a file in MEM0_DIR
    scope: str = "mem0"  # below it, each user has a scope
    embedder: object = None  # as `eidet.Memory` takes it
    llm: object = None  # as `llm_of` takes it; without one, messages are stored as they are
    custom_instructions: str | None = None  # for the model that words memories


_Config = Mem0Config | EidetMemory | Mapping[str, Any] | str | Path | None


class Memory(OwnsMemory):
    """mem0's `Memory` over Eidet: `Memory("memory.db")`, or `Memory.from_config({"place": …})`.

    Without an LLM, `add` stores messages as they are, as with `infer=False`; with one, it words memories.
    Each user has a scope of the memory, which Eidet's own verbs reach: `mem0/user/ann`.
    """

    def __init__(self, config: _Config = None) -> None:
        self.config: Mem0Config = _make_config(config)
        self._owned = not isinstance(self.config.place, EidetMemory)
        self.memory: EidetMemory = _open_memory(self.config)
        self.llm: LLM | None = None if self.config.llm is None else llm_of(self.config.llm)
        self._home, self._times = Home(self.config.scope), RisingTimes(self.memory.parts.clock)

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Opens a memory from a dict with the names of `Mem0Config`."""
        return cls(config_dict)

    def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
    ) -> dict[str, Any]:
        """Remembers a text or messages, all or none: `{"results": [{"id", "memory", "event"}]}`.

        `timestamp` is when they were said. With `infer` and an LLM, the model words the memories; `prompt`
        replaces its instructions. If it fails, the messages are stored as they are. `memory_type` becomes
        metadata.
        """
        labels = clean_metadata(metadata, "add()")
        if (day := parse_expiration(expiration_date)) is not None:
            labels["expiration_date"] = day
        if memory_type is not None:
            labels["memory_type"] = memory_type
        adding = Adding(
            memory=self.memory,
            home=self._home,
            times=self._times,
            owners=parse_owners(user_id=user_id, agent_id=agent_id, run_id=run_id),
            metadata=labels,
            at=None if timestamp is None else parse_time(timestamp, "timestamp"),
            llm=self.llm if infer else None,
            instructions=prompt or self.config.custom_instructions,
        )
        if memory_type not in (None, _PROCEDURAL):
            raise BadInput(f"Invalid 'memory_type'. Please pass {_PROCEDURAL} to create procedural memories.")
        return {"results": adding.add(parse_messages(messages))}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """Returns a memory by its id, or None."""
        record = self._find(memory_id)
        return None if record is None else tell_memory(record, self._home)

    def get_all(
        self,
        *,
        filters: dict[str, Any] | None = None,
        top_k: int = 20,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Returns the newest memories that match a filter, which must name a user, agent or run."""
        _check_options(kwargs, "get_all")
        check_whole(top_k, "top_k")
        scope, where = self._select(filters, show_expired)
        found = self.memory.find(where, scope=scope, order="-occurred", limit=top_k) if top_k else []
        return {"results": [tell_memory(record, self._home) for record in found]}

    def search(
        self,
        query: str,
        *,
        top_k: int = 20,
        filters: dict[str, Any] | None = None,
        threshold: float = 0.1,
        rerank: bool = False,  # noqa: ARG002  # part of mem0's signature
        explain: bool = False,
        reference_date: Any | None = None,
        show_expired: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Finds memories for a query, best first, with scores from `threshold` to 1.

        "Last week" is relative to `reference_date`. Eidet ranks in one step, so `rerank` changes nothing.
        """
        _check_options(kwargs, "search")
        check_whole(top_k, "top_k")
        least = check_number(0.1 if threshold is None else threshold, "threshold", most=1.0)
        if not isinstance(query, str) or not query.strip():
            raise BadInput("Invalid query: must be a non-empty string.")
        now = None if reference_date is None else parse_time(reference_date, "reference_date")
        scope, where = self._select(filters, show_expired)
        if not top_k:
            return {"results": []}
        hits = self.memory.recall(query.strip(), scope=scope, limit=top_k, where=where, least=least, now=now)
        results = [tell_memory(hit.record, self._home) | {"score": hit.score} for hit in hits]
        if explain:
            for item, hit in zip(results, hits, strict=True):
                signals = {signal.name: signal.value for signal in hit.signals}
                item["score_details"] = {"final_score": hit.score, "why": hit.why(), **signals}
        return {"results": results}

    def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        expiration_date: Any = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Changes the text of a memory, adds to its metadata, or sets or clears its date of expiry."""
        text = data if text is None else text
        if text is None and metadata is None and expiration_date is _UNSET:
            raise BadInput("At least one of text, metadata, or expiration_date must be provided.")
        labels = clean_metadata(metadata, "update()")
        if expiration_date is not _UNSET:
            labels["expiration_date"] = parse_expiration(expiration_date)
        for _ in range(_TRIES):
            if (record := self._find(memory_id)) is None:
                raise BadInput(f"Memory with id {memory_id} not found. Please provide a valid 'memory_id'")
            with suppress(Conflict):
                self._revise(record, text, labels)
                return {"message": "Memory updated successfully!"}
        raise Conflict(f"memory {memory_id!r} kept changing; gave up after {_TRIES} attempts")

    def delete(self, memory_id: str) -> dict[str, str]:
        """Deletes a memory, and its content from its history."""
        record = self._find(memory_id)
        if record is None or not self.memory.forget(record.id, scope=record.scope, for_good=False):
            raise BadInput(f"Memory with id {memory_id} not found")
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Deletes all memories that belong to the given user, agent and run."""
        if user_id is None and agent_id is None and run_id is None:
            raise BadInput(
                "At least one filter is required to delete all memories. If you want to delete all "
                "memories, use the `reset()` method."
            )
        owners = parse_owners(user_id=user_id, agent_id=agent_id, run_id=run_id)
        user, where = owners.get("user_id"), select_owners(owners)
        scope = self._home.everything if user is None else self._home.scope_of("user_id", user)
        self.memory.forget(where=where, everything=where is None, scope=scope, for_good=False)
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Returns the history of a memory, oldest first; empty once the memory is deleted."""
        record = self._find(memory_id)
        if record is None:
            return []
        return tell_history(self.memory.history(memory_id, scope=record.scope), record)

    def reset(self) -> None:
        """Deletes all memories of all users."""
        self.memory.forget(everything=True, scope=self._home.everything, for_good=False)

    def chat(self, query: str) -> None:
        """Raises `NotImplementedError`, as mem0 does."""
        raise NotImplementedError("Chat function not implemented yet.")

    def _select(self, filters: Mapping[str, Any] | None, show_expired: bool) -> tuple[Scope, Where]:
        scope, where = self._home.select(filters)
        if show_expired:
            return scope, where
        today = datetime.fromtimestamp(self.memory.parts.clock(), UTC).date().isoformat()
        return scope, where & ~Where(conditions=(Condition(("meta", "expiration_date"), "<", today),))

    def _find(self, id: str) -> Record | None:
        """Returns the memory with an id, of any user, or None. Reads the store: no index spans all users."""
        wanted = Where(ids=(id,)).within(self._home.everything)
        scopes = {record.scope for record in self.memory.parts.store.find(wanted)}
        if len(scopes) > 1:  # ids are unique in a scope only
            raise Conflict(f"several users have a memory with id {id}")
        record = self.memory.get(id, scope=scopes.pop()) if scopes else None
        return None if record is None or record.trust is Trust.QUARANTINED else record

    def _revise(self, record: Record, text: str | None, labels: Mapping[str, Any]) -> None:
        meta = {**record.meta, **labels, "updated_at": write_time(self.memory.parts.clock())}
        if meta.get("expiration_date") is None:
            meta.pop("expiration_date", None)
        changes: dict[str, Any] = {"meta": meta} if text is None else {"meta": meta, "text": text}
        self.memory.revise(record.id, scope=record.scope, version=record.version, again=True, **changes)


class AsyncMemory:
    """mem0's `AsyncMemory`: the methods of `Memory`, each run in a thread.

    A cancelled call is finished first, so that nothing is lost or stored twice.
    """

    def __init__(self, config: _Config = None) -> None:
        self._sync = Memory(config)
        self.config, self.memory = self._sync.config, self._sync.memory

    @classmethod
    def from_config(cls, config_dict: dict[str, Any]) -> Self:
        """Opens a memory from a dict with the names of `Mem0Config`."""
        return cls(config_dict)

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        timestamp: Any | None = None,
        expiration_date: Any | None = None,
        infer: bool = True,
        memory_type: str | None = None,
        prompt: str | None = None,
        llm: Any = None,
    ) -> dict[str, Any]:
        """Works like `Memory.add`; `llm` words the memories of this call."""
        chosen = self._sync
        if llm is not None:
            chosen = Memory(replace(self.config, place=self.memory, llm=llm))
        given: dict[str, Any] = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        given |= {"metadata": metadata, "timestamp": timestamp, "expiration_date": expiration_date}
        given |= {"infer": infer, "memory_type": memory_type, "prompt": prompt}
        return await finish(partial(chosen.add, messages, **given))

    get = finishing(Memory.get, "_sync")
    get_all = finishing(Memory.get_all, "_sync")  # type: ignore[arg-type]  # its **kwargs could name `self`
    search = finishing(Memory.search, "_sync")  # type: ignore[arg-type]
    update = finishing(Memory.update, "_sync")
    delete = finishing(Memory.delete, "_sync")
    delete_all = finishing(Memory.delete_all, "_sync")
    history = finishing(Memory.history, "_sync")
    reset = finishing(Memory.reset, "_sync")

    def close(self) -> None:
        """Works like `Memory.close`."""
        self._sync.close()

    async def chat(self, query: str) -> None:
        """Raises `NotImplementedError`, as mem0 does."""
        self._sync.chat(query)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self.close()


def _check_options(options: Mapping[str, Any], method: str) -> None:
    """Refuses owners outside the filters, as mem0 does; ignores other names."""
    if wrong := {name for name in NAMES if name in options}:
        raise BadInput(
            f"Top-level entity parameters {wrong} are not supported in {method}(). "
            "Use filters={'user_id': '...'} instead."
        )


def _make_config(config: object) -> Mem0Config:
    """Returns a config for one, its fields as a dict, a place, an open memory, or None.

    Raises `BadInput` for settings of mem0's stores, which have no meaning here.
    """
    if isinstance(config, Mem0Config):
        return config
    if not isinstance(config, Mapping):
        return Mem0Config(place=config)  # type: ignore[arg-type]  # what is no place cannot be opened
    known = [one.name for one in fields(Mem0Config)]
    given = {name: value for name, value in config.items() if name != "version"}
    if unknown := [name for name in given if name not in known]:
        raise BadInput(
            f"unknown config {unknown[0]!r}; there are {', '.join(known)}. Eidet keeps everything in one "
            "place, such as {'place': 'memory.db'}; `eidet import` brings what a store of mem0 has"
        )
    return Mem0Config(**given)


def _open_memory(config: Mem0Config) -> EidetMemory:
    """Returns the memory of a config, opened if it is not open."""
    if isinstance(config.place, EidetMemory):
        return config.place
    if config.place is not None:
        return EidetMemory(config.place, embedder=config.embedder)
    folder = Path(os.environ.get("MEM0_DIR") or "~/.mem0").expanduser()  # where mem0 keeps its own files
    folder.mkdir(parents=True, exist_ok=True)
    return EidetMemory(folder / "eidet.db", embedder=config.embedder)
