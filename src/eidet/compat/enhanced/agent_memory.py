"""`EnhancedAgentMemory`: working memory, long-term memory and vectors behind one façade."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from ...core.errors import BadInput, Misconfigured
from ...core.plugins import call_plugin, list_plugins, load_plugin
from ...core.settings import Settings, Upkeep
from ...core.validate import clean_text
from ...memory import Memory
from ...trust.seal.service import Key
from ...upkeep import Maintained
from ...upkeep.summary import Passage, summarise
from ...views import Working
from ..opening import OwnsMemory, Place, check_limit, check_whole, is_shared, next_number, open_memory
from .stores import InMemoryStore, MemoryStore, RedisStore, SqliteStore, importance_of
from .vector import MODEL, VectorMemoryStore, open_for_vectors, settings_with_index
from .working_store import OldCalls, WorkingStore

_PLUGINS: Final = "eidet.memory_stores"

_EXPERIENCES: Final = "experiences"
_SUMMARY_TOKENS: Final = 200


class EnhancedAgentMemory(OwnsMemory, OldCalls):
    """Current messages, lasting experiences and recall by meaning in one `Memory`.

    `persistent` keeps everything in the file `path`; `memory` (a Memory, a path or a URL) replaces that.
    Working memory is that of `session_id`, by default a new session. `long_term` and `vector_store` replace
    these stores: each is a `MemoryStore` or the name of one that a package offers. With `summary_every`,
    working memory is summarised after that many messages; `llm` words the summaries. `privacy` (a policy of
    `eidet.trust.privacy`, or "redact") removes personal data before anything is written, and `key` seals the
    file; both are for a memory that is opened here.
    """

    def __init__(
        self,
        persistent: bool = False,
        vector: bool = True,
        *,
        memory: Place = None,
        path: str | Path = "agent_memory.db",
        scope: str = "default",
        session_id: str | None = None,
        agent: str | None = None,
        long_term: MemoryStore[str] | str | None = None,
        vector_store: MemoryStore[str] | str | None = None,
        model_name: str = MODEL,
        model: object = None,
        index: str | None = None,
        summary_every: int | None = None,
        summary_keep: int = 10,
        llm: object = None,
        privacy: object = None,
        key: Key | None = None,
        settings: Settings | None = None,
    ) -> None:
        check_limit(summary_every, "summary_every", error=Misconfigured)
        check_whole(summary_keep, "summary_keep", error=Misconfigured)
        place = path if persistent and memory is None else memory
        how: dict[str, Any] = {"settings": settings_with_index(settings, index), "guard": privacy, "key": key}
        if vector and vector_store is None:
            self.memory: Memory = open_for_vectors(place, model_name, model, **how)
        else:
            self.memory = open_memory(place, **how)
        self._owned = not is_shared(memory)
        self.scope = scope
        self._agent, self._llm = agent, llm
        self._every, self._keep = summary_every, summary_keep
        self._steps = 0
        self.working: WorkingStore = WorkingStore(self.memory, session_id, scope=scope, agent=agent)
        self.session_id: str = self.working.log.session
        if long_term is None:
            self.long_term: MemoryStore[str] = self._open_experiences(place)
        else:
            self.long_term = _store_of(long_term)
        self.vector: MemoryStore[str] | None = self._vectors(vector, vector_store)
        self._state = Working(
            self.memory, session=self.session_id, scope=scope, agent=agent, persist=place is not None
        )

    def _open_experiences(self, place: Place) -> MemoryStore[str]:
        kind = _class_for(place)
        return kind(
            memory=self.memory, scope=self.scope, name=_EXPERIENCES, kind="episode", agent=self._agent,
        )  # fmt: skip

    def _vectors(self, wanted: bool, given: MemoryStore[str] | str | None) -> MemoryStore[str] | None:
        """Returns the given store, else a view of the experiences, or of copies if they are elsewhere."""
        if not wanted or given is not None:
            return _store_of(given) if wanted and given is not None else None
        if isinstance(self.long_term, InMemoryStore) and self.long_term.memory is self.memory:
            return VectorMemoryStore.over(self.long_term)
        return VectorMemoryStore(memory=self.memory, scope=self.scope)

    # What the agent does at each step.

    def add_experience(self, text: str, importance: int = 1) -> str:
        """Stores an experience and returns its key: `exp_0`, `exp_1` and so on, never issued twice."""
        return self.add(text, importance)

    def add(self, text: str, importance: int = 1, meta: Mapping[str, Any] | None = None) -> str:
        """Works like `add_experience`, with more metadata."""
        if not clean_text(text, "an experience").strip():
            raise BadInput("an experience needs a text; this one is empty")
        details = {**(meta or {}), "importance": importance}
        importance_of(details)  # raises before a number is issued
        key = self._new_key()
        self.long_term.add(key, text, meta=details)
        try:
            if self.vector is not None and not self._shared:
                self.vector.add(key, text)
        except BaseException:
            self.long_term.forget(key)  # in both stores or in neither
            raise
        return key

    def _new_key(self) -> str:
        while True:
            key = f"exp_{next_number(self.memory, f'{_EXPERIENCES} in {self.scope}')}"
            if not self._has(key):
                return key

    def _has(self, key: str) -> bool:
        store = self.long_term
        return key in store if isinstance(store, InMemoryStore) else store.get(key) is not None

    @property
    def _shared(self) -> bool:
        return isinstance(self.vector, VectorMemoryStore) and self.vector.shares(self.long_term)

    def recall(
        self, query: str, k: int = 5, *, min_score: float | None = None
    ) -> list[tuple[str, str, float]]:
        """Returns (key, text, score) of matches for a query: by meaning, or by substring without vectors."""
        store = self.long_term if self.vector is None else self.vector
        return [found for found in store.search(query, k) if min_score is None or found[2] >= min_score]

    def search(self, query: str, k: int = 5) -> list[tuple[str, str, float]]:
        return self.recall(query, k)

    def forget(self, key: str, *, for_good: bool = False) -> bool:
        """Forgets an experience or a message by key. Returns whether it existed.

        `for_good` also deletes all copies and what was derived from it, as `Memory.forget` does.
        """
        stores = [self.long_term, self.working]
        if self.vector is not None and not self._shared:
            stores.append(self.vector)
        return sum(_forget_in(store, key, for_good) for store in stores) > 0

    def add_message(self, role: str, content: str) -> None:
        self.working.say(role, content)
        self._steps += 1
        if self._every is not None and self._steps % self._every == 0:
            self.create_summary()

    def get_recent_messages(self, n: int = 10) -> str:
        """Returns the newest `n` messages, one line `role: content` each, oldest first."""
        return "\n".join(self.working.recent(n))

    def prompt_context(self, query: str, k: int = 5, n: int = 10) -> str:
        """Returns a prompt section with matching experiences, the summary and recent messages."""
        known = "\n".join(f"- {' '.join(text.split())}" for _, text, _ in self.recall(query, k))
        parts = {
            "Relevant experience": known,
            "Earlier": self.working.log.summary,
            "Recent messages": self.get_recent_messages(n),
        }
        return "\n\n".join(f"{title}:\n{text}" for title, text in parts.items() if text)

    # Summarising and forgetting.

    def create_summary(self, step: int | None = None, keep: int | None = None) -> str:
        """Returns a summary of the messages before the newest `keep`, which leave the working memory.

        With `step`, it begins with `Step N summary:` and the numbers of messages and tool calls.
        """
        counted = f"{len(self.messages)} messages, {len(self.tool_call_history)} tool calls"
        stay = self._keep if keep is None else keep
        text = self.working.log.summarise(keep=stay, llm=self._llm) or ""
        return text if step is None else f"Step {step} summary: {counted}.\n{text}".rstrip()

    def summary(self, tokens: int = _SUMMARY_TOKENS) -> str:
        """Returns the working memory in a few sentences; changes nothing."""
        lines = [f"{message.role}: {message.content or ''}" for message in self.messages]
        if before := self.working.log.summary:
            lines.insert(0, before)
        return summarise([Passage(text=line) for line in lines], self.memory.parts.embedder.embed, tokens)

    def maintain(self, **how: Any) -> Maintained:
        """Runs `memory.upkeep.maintain` on this scope: tiers, forgetting curve, duplicates, episodes."""
        return self.memory.upkeep.maintain(self.scope, **how)

    def prune(self, below: float = 0.05) -> int:
        """Forgets what has faded below this strength on the forgetting curve, and returns how many."""
        done = self.maintain(only="forget", settings=Upkeep(forget_below=below, archive_above=1.0))
        return done.counts.get("forget", 0)

    # Feedback and metrics.

    def feedback(self, useful: bool, key: str | None = None) -> None:
        """Records whether the last recall, or one experience, was useful; the success rate counts it."""
        if key is not None:
            store = self.long_term if isinstance(self.long_term, InMemoryStore) else self.vector
            found = store.record(key) if isinstance(store, InMemoryStore) else None
            if found is None:
                raise BadInput(f"there is no experience {key!r}")
            self.memory.feedback(found.id, useful=useful, scope=self.scope)
        elif isinstance(self.vector, VectorMemoryStore) and self.vector.last is not None:
            self.memory.feedback(self.vector.last, useful=useful)
        else:
            raise BadInput("there is nothing to judge yet: call recall first")

    def metrics(self) -> dict[str, Any]:
        """Returns success rate, hit ratio and drift of retrieval, and all of `memory.admin.metrics`."""
        rates = self.memory.admin.stats(self.scope)["retrieval"]
        return {
            "retrieval_success_rate": _value(rates["success_rate"]),
            "hit_ratio": _value(rates["hit_ratio"]),
            "drift": rates["drift"],
            **self.memory.admin.metrics(self.scope),
        }


def _class_for(place: Place) -> type[InMemoryStore]:
    if isinstance(place, str) and place.startswith(("redis://", "rediss://")):
        return RedisStore
    if isinstance(place, str | Path) and place != "ram://":
        return SqliteStore
    return InMemoryStore


def _forget_in(store: MemoryStore[str], key: str, for_good: bool) -> bool:
    if isinstance(store, InMemoryStore):
        return store.forget(key, for_good=for_good)
    return store.forget(key)


def _value(rate: Mapping[str, Any] | None) -> float | None:
    return None if rate is None else rate["value"]


def _store_of(store: MemoryStore[str] | str) -> MemoryStore[str]:
    """Returns a store as it is, or the one that a package offers under a name (eidet.memory_stores)."""
    if isinstance(store, MemoryStore):
        return store
    make = load_plugin(_PLUGINS, store) if isinstance(store, str) else None
    if make is None:
        raise Misconfigured(
            f"{store!r} is neither a MemoryStore nor the name of one; installed packages offer "
            f"{', '.join(list_plugins(_PLUGINS)) or 'none'} (entry points of {_PLUGINS})"
        )
    made = call_plugin(_PLUGINS, store, make)
    if not isinstance(made, MemoryStore):
        raise Misconfigured(f"the entry point {store!r} of {_PLUGINS} does not return a MemoryStore")
    return made
