"""Stores of texts by key, each a view of one `Memory`: in RAM, in a file, on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Mapping, MutableMapping
from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from ...core.errors import BadInput, Misconfigured
from ...core.record import Record, Trust, key_id, kind_of, new_id
from ...core.settings import Settings
from ...core.validate import clean_text
from ...core.where import Where
from ...trust.seal.service import Key
from ..opening import OwnsMemory, Place, check_number, check_positive, check_whole

T = TypeVar("T")
ALL: Final = 1_000_000  # the most records of one recall
MINE: Final = "_store"  # the field of a record's metadata with its key; its data would count as content
SCALE: Final = 10.0  # the importance that counts as 1.0


class MemoryStore(ABC, Generic[T]):
    """The interface of the stores of `EnhancedAgentMemory`; pass your own to its constructor."""

    @abstractmethod
    def add(self, key: str, value: T, meta: dict[str, Any] | None = None) -> None:
        """Stores a value; replaces that of an existing key."""

    @abstractmethod
    def get(self, key: str) -> T | None: ...

    @abstractmethod
    def search(self, query: str, top_k: int = 5) -> list[tuple[str, T, float]]:
        """Returns at most `top_k` of (key, value, score), best first."""

    @abstractmethod
    def forget(self, key: str) -> bool:
        """Forgets a key. Returns whether it existed."""


class InMemoryStore(OwnsMemory, MemoryStore[str]):
    """Texts in RAM (or in any `memory=`), searched by case-insensitive substring; each hit scores 1.0.

    `data` is a live mapping of the texts, in the order they were added. A key that is added again
    keeps its place, and its metadata if none is given. The whole number `importance` of the metadata
    stays there and becomes `min(1, importance / 10)` of the record. Stores of one `name` and `scope` share
    their texts, which are records of a `kind`. `privacy` (a policy of `eidet.trust.privacy`, or an action
    such as "redact") and `key` (which seals a file) are for a memory that is opened here.
    """

    def __init__(
        self,
        *,
        memory: Place = None,
        scope: str = "default",
        name: str = "store",
        kind: str = "fact",
        agent: str | None = None,
        ttl_seconds: float | None = None,
        privacy: object = None,
        key: Key | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._take(memory, settings=settings, guard=privacy, key=key)
        self.scope, self.name, self.kind, self.agent = scope, name, kind_of(kind), agent
        if ttl_seconds is not None:
            check_positive(ttl_seconds, "a time to live in seconds", error=Misconfigured)
        self.ttl_seconds = ttl_seconds

    @property
    def data(self) -> Texts:
        """Texts by key, read from the memory; changing it changes the memory."""
        return Texts(self)

    @property
    def meta(self) -> Mapping[str, Mapping[str, Any]]:
        """Current metadata by key, read-only; empty for a key without any."""
        given = {self.key(one): MappingProxyType(self.describe(one)) for one in self.records()}
        return MappingProxyType(defaultdict(dict, given))

    def add(self, key: str, value: str, meta: Mapping[str, Any] | None = None) -> None:
        text, old = clean_text(value, "a value"), self.record(key)
        details = dict(meta or ({} if old is None else self.describe(old)))
        order = new_id(self.memory.parts.clock()) if old is None else _order_of(old)
        self.memory.remember(
            text,
            scope=self.scope,
            kind=self.kind,
            agent=self.agent,
            source=self.name,
            key=self._key(key),
            data=None if text.strip() else {},  # an empty text alone would be refused
            meta={**details, MINE: {"key": key, "order": order}},
            importance=importance_of(details),
            expires=None if self.ttl_seconds is None else timedelta(seconds=self.ttl_seconds),
            keep_duplicates=True,
        )

    def get(self, key: str) -> str | None:
        """Returns the value or None; hides quarantined texts, because prompts are made of this."""
        found = self.record(key)
        return None if found is None or found.trust is Trust.QUARANTINED else self.show(found)

    def search(self, query: str, top_k: int = 5) -> list[tuple[str, str, float]]:
        wanted = clean_text(query, "a query").lower()
        found = ((self.key(record), self.show(record)) for record in self.records())
        return [(key, text, 1.0) for key, text in found if wanted in text.lower()][: check_count(top_k)]

    def forget(self, key: str, *, for_good: bool = False) -> bool:
        """Forgets a key. Returns whether it existed. `for_good` also deletes all copies, and none returns."""
        found = self.record(key)
        return found is not None and self.memory.forget(found.id, scope=self.scope, for_good=for_good) > 0

    def record(self, key: str) -> Record | None:
        """Returns the native record behind a key, or None."""
        return self.memory.get(key_id(self._key(key)), scope=self.scope)

    def records(self) -> list[Record]:
        """Lists all records that a store of this name wrote, in the order added."""
        found = self.memory.find(self._where, scope=self.scope, order="created", limit=None)
        return sorted(filter(self.key, found), key=_order_of)

    def key(self, record: Record) -> str:
        """Returns the key of a record; empty for one that no store wrote."""
        return str(_mine(record).get("key", ""))

    def describe(self, record: Record) -> dict[str, Any]:
        """Returns the metadata as it was given."""
        return {name: value for name, value in record.meta.items() if name != MINE}

    def show(self, record: Record) -> str:
        """Returns the value as it was given, even if its tier shows less of it."""
        return record.whole.text

    @property
    def _where(self) -> Where:
        return Where(source=self.name, kinds=(self.kind,))

    def _key(self, key: str) -> str:
        if not clean_text(key, "a key"):
            raise BadInput("a key must have at least one character")
        return f"{self.name}\n{key}"

    def __len__(self) -> int:
        return self.memory.count(self._where, scope=self.scope)

    def __bool__(self) -> bool:
        return True  # an empty store is a store: `if memory.vector:` asks whether there is one

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(key) and self.record(key) is not None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} in {self.scope!r}: {len(self)} texts>"


class Texts(MutableMapping[str, str]):
    """Texts by key, in the order they were added."""

    def __init__(self, shelf: InMemoryStore) -> None:
        self._shelf = shelf

    def __getitem__(self, key: str) -> str:
        if not isinstance(key, str) or (found := self._shelf.get(key)) is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: str, value: str) -> None:
        self._shelf.add(key, value)

    def __delitem__(self, key: str) -> None:
        if not self._shelf.forget(key):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter([self._shelf.key(record) for record in self._shelf.records()])

    def __len__(self) -> int:
        return len(self._shelf)

    def _read(self) -> dict[str, str]:
        return {self._shelf.key(one): self._shelf.show(one) for one in self._shelf.records()}

    def items(self) -> Any:
        """Returns all items as of one moment."""
        return self._read().items()

    def values(self) -> Any:
        return self._read().values()

    def __repr__(self) -> str:
        return repr(self._read())


class SqliteStore(InMemoryStore):
    """An `InMemoryStore` in a SQLite file, which survives restarts."""

    def __init__(self, path: str | Path = "agent_memory.db", *, memory: Place = None, **how: Any) -> None:
        super().__init__(memory=path if memory is None else memory, **how)


class RedisStore(InMemoryStore):
    """An `InMemoryStore` on a Redis server: a cache whose entries live `ttl` seconds (None: forever)."""

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        ttl: float | None = None,
        *,
        memory: Place = None,
        **how: Any,
    ) -> None:
        super().__init__(memory=url if memory is None else memory, ttl_seconds=ttl, **how)


def check_count(top_k: int) -> int:
    """Checks `top_k` and limits it to the range from 0 to `ALL`."""
    return min(max(check_whole(top_k, "top_k", least=None), 0), ALL)


def importance_of(meta: Mapping[str, Any]) -> float | None:
    """Scales the importance in the metadata, a number from 0 up, to 0-1; None if there is none."""
    value = meta.get("importance")
    return None if value is None else min(1.0, check_number(value, "importance") / SCALE)


def _order_of(record: Record) -> str:
    """Returns the place of a record in its store, which it keeps when its key is added again."""
    return str(_mine(record).get("order", record.id))


def _mine(record: Record) -> Mapping[str, Any]:
    mine = record.meta.get(MINE)
    return mine if isinstance(mine, Mapping) else {}
