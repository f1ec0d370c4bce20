"""Stores and memories that leak on purpose, each in one way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from tests.unit.testing.altered import Altered

from eidet import EidetError, Hits, Memory, Record, Scope, Where
from eidet.core.record import Event
from eidet.memory.admin import AdminNamespace
from eidet.store import TALLIES, Derived, Transaction, Use, verbs
from eidet.store.ram import RamStore

log = logging.getLogger("eidet.leaky")
T = TypeVar("T")
PAGE: Final = 100  # records from which on a reader goes page by page


def without_scope(where: Where) -> Where:
    """The filter as a careless backend would read it: whoever asks."""
    return replace(
        where,
        scope=None,
        every=tuple(map(without_scope, where.every)),
        some=tuple(map(without_scope, where.some)),
    )


class Gets(RamStore):
    def read(self, scope: str, keys: Any) -> list[Record | None]:
        every = [path for path in verbs.count_scopes(self) if path != scope]
        return read_anywhere(self, [scope, *every], keys)


def read_anywhere(store: RamStore, paths: Sequence[str], keys: Sequence[Any]) -> list[Record | None]:
    """Each record from the first scope that has it."""
    found: dict[Any, Record] = {}
    for path in reversed(paths):
        rows = zip(keys, RamStore.read(store, path, keys), strict=True)
        found.update((key, record) for key, record in rows if record is not None)
    return [found.get(key) for key in keys]


class Finds(RamStore):
    def find(self, where: Where, **how: Any) -> list[Record]:
        return super().find(without_scope(where), **how)


class Scans(RamStore):
    """Only what is read page by page."""

    def find(self, where: Where, *, limit: int | None = None, **how: Any) -> list[Record]:
        paged = limit is not None and limit >= PAGE
        return super().find(without_scope(where) if paged else where, limit=limit, **how)


class Counts(RamStore):
    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return super().count_by(where if columns else without_scope(where), columns)


class Censuses(RamStore):
    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        return super().count_by(without_scope(where) if "kind" in columns else where, columns)


class _FindsBare(Altered):
    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        return self.inner.find(without_scope(where) if bare else where, bare=bare)


class Drops(RamStore):
    """Deletes what matches, whoever's it is."""

    def write(self, job: Callable[[Transaction], T]) -> T:
        return super().write(lambda transaction: job(_FindsBare(transaction)))


class _FindsWhole(Altered):
    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        return self.inner.find(where if bare else without_scope(where), bare=bare)


class Erases(RamStore):
    """What a write reads to decide is everybody's."""

    def write(self, job: Callable[[Transaction], T]) -> T:
        return super().write(lambda transaction: job(_FindsWhole(transaction)))


class Histories(RamStore):
    def history(self, scope: str, id: str) -> list[Event]:
        every = [scope, *(path for path in verbs.count_scopes(self) if path != scope)]
        return next((told for path in every if (told := RamStore.history(self, path, id))), [])


class Prefixes(RamStore):
    """`a` below `ab`: a prefix that forgets the slash."""

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        if columns != ("scope",) or where.scope is None:
            return super().count_by(where, columns)
        every = super().count_by(replace(where, scope=None), columns)
        return {key: count for key, count in every.items() if key[0].startswith(where.scope.path)}


class Folds(RamStore):
    """Scopes are compared without case, as some collations do."""

    def read(self, scope: str, keys: Any) -> list[Record | None]:
        twins = [path for path in verbs.count_scopes(self) if path.casefold() == scope.casefold()]
        return read_anywhere(self, [scope, *twins], keys)


class Changes(RamStore):
    """The index follows everybody's changes."""

    def changes(self, scope: str, after: int, limit: int) -> Any:
        own = super().changes(scope, after, limit)
        others = [path for path in verbs.count_scopes(self) if path != scope]
        more = [entry for path in others for entry in RamStore.changes(self, path, after, limit).entries]
        return own._replace(entries=sorted([*own.entries, *more], key=lambda entry: entry.seq))

    def read(self, scope: str, keys: Any) -> list[Record | None]:
        if keys and isinstance(keys[0], str):
            return super().read(scope, keys)
        return read_anywhere(self, list(verbs.count_scopes(self)), keys)


class Tallies(RamStore):
    def values(self, table: Any, keys: Any = None, *, within: Scope | None = None, **how: Any) -> Any:
        return super().values(table, keys, within=None if table is TALLIES else within, **how)


class _UsesAll(Altered):
    def update(self, changes: Iterable[Use | Derived]) -> None:
        uses = [change for change in changes if isinstance(change, Use)]
        paths = {record.scope for record in self.inner.find(Where())}
        self.inner.update(use._replace(scope=path) for use in uses for path in paths)


class Notes(RamStore):
    """Uses of a record are counted for its namesakes in every scope."""

    def write(self, job: Callable[[Transaction], T]) -> T:
        return super().write(lambda transaction: job(_UsesAll(transaction)))


LEAKY_STORES = (
    Gets,
    Finds,
    Scans,
    Counts,
    Censuses,
    Drops,
    Erases,
    Histories,
    Prefixes,
    Folds,
    Changes,
    Tallies,
    Notes,
)


class Caching(Memory):
    """Answers from a cache that forgets who asked."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._answers: dict[str, Hits] = {}

    def recall(self, query: Any = "", **how: Any) -> Hits:
        return self._answers.setdefault(query, super().recall(query, **how))


class TellsTooMuch(EidetError):
    """An error that helps too well."""


class Telling(Memory):
    """Says in an error what others have."""

    def get(self, ids: Any, *, scope: Any = "default") -> Any:
        found = super().get(ids, scope=scope)
        if found is None:
            others = [record for path in self.scopes() for record in self.find(scope=path)]
            raise TellsTooMuch(f"not found; did you mean {others[0].text!r}?" if others else "not found")
        return found


class Logging(Memory):
    """Logs what it remembers, for all to read."""

    def recall(self, query: Any = "", **how: Any) -> Hits:
        for path in self.scopes():
            log.debug("there is %s", [record.text for record in self.find(scope=path, limit=1)])
        return super().recall(query, **how)


class Careless(Memory):
    """Takes any scope."""

    def count(self, where: Any = None, *, scope: Any = "default", **options: Any) -> int:
        try:
            return super().count(where, scope=scope, **options)
        except ValueError:
            return 0


class SpeakingAdmin(AdminNamespace):
    """Knows who speaks anywhere."""

    def phrase_query(self, query: str, *, scope: Any = "default", now: Any = None) -> str:
        del scope
        return super().phrase_query(query, scope=Scope.under("a"), now=now)


class Speaking(Memory):
    """Knows who speaks anywhere."""

    @property
    def admin(self) -> AdminNamespace:
        return SpeakingAdmin(self._parts, self._namespaces.reads, self._life, self._auditing)


LEAKY_MEMORIES = (Caching, Telling, Logging, Careless, Speaking)
