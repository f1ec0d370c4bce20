"""Stores and memories that leak on purpose, each in one way."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eidet import EidetError, Hits, Memory, Record, Scope, Where
from eidet.core.event import Event
from eidet.memory.admin import AdminNamespace
from eidet.store import Erased, Erasure, Look
from eidet.store.ram import RamStore

log = logging.getLogger("eidet.leaky")


def without_scope(where: Where) -> Where:
    """The filter as a careless backend would read it: whoever asks."""
    return replace(
        where,
        scope=None,
        every=tuple(map(without_scope, where.every)),
        some=tuple(map(without_scope, where.some)),
    )


class Gets(RamStore):
    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        own = super().get(scope, ids)
        every = [path for path in self.scopes() if path != scope]
        return [
            record or next((found for path in every if (found := RamStore.get(self, path, [id])[0])), None)
            for id, record in zip(ids, own, strict=True)
        ]


class Finds(RamStore):
    def find(self, where: Where, **how: Any) -> list[Record]:
        return super().find(without_scope(where), **how)


class Scans(RamStore):
    def scan(self, where: Where, **how: Any) -> Iterator[Record]:
        return super().scan(without_scope(where), **how)


class Counts(RamStore):
    def count(self, where: Where) -> int:
        return super().count(without_scope(where))


class Censuses(RamStore):
    def census(self, where: Where) -> dict[tuple[str, str], int]:
        return super().census(without_scope(where))


class Drops(RamStore):
    def drop(self, where: Where, **how: Any) -> list[str]:
        return super().drop(without_scope(where), **how)


class _Everybody:
    def __init__(self, look: Look) -> None:
        self._look = look

    def __getattr__(self, name: str) -> Any:
        return getattr(self._look, name)

    def scan(self, where: Where) -> Iterator[Record]:
        return self._look.scan(without_scope(where))


class Erases(RamStore):
    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        return super().erase(lambda look: plan(_Everybody(look)), now=now, by=by)


class Histories(RamStore):
    def history(self, scope: str, id: str) -> list[Event]:
        every = [scope, *(path for path in self.scopes() if path != scope)]
        return next((told for path in every if (told := RamStore.history(self, path, id))), [])


class Prefixes(RamStore):
    """`a` below `ab`: a prefix that forgets the slash."""

    def scopes(self, under: Scope | None = None, alive_at: float | None = None) -> dict[str, int]:
        every = super().scopes(None, alive_at=alive_at)
        if under is None:
            return every
        return {path: count for path, count in every.items() if path.startswith(under.path)}


class Folds(RamStore):
    """Scopes are compared without case, as some collations do."""

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        own = super().get(scope, ids)
        twins = [path for path in self.scopes() if path.casefold() == scope.casefold()]
        return [
            record or next((found for path in twins if (found := RamStore.get(self, path, [id])[0])), None)
            for id, record in zip(ids, own, strict=True)
        ]


class Changes(RamStore):
    """The index follows everybody's changes."""

    def changes(self, scope: str, after: int, limit: int) -> Any:
        own = super().changes(scope, after, limit)
        others = [path for path in self.scopes() if path != scope]
        more = [entry for path in others for entry in RamStore.changes(self, path, after, limit).entries]
        return own._replace(entries=sorted([*own.entries, *more], key=lambda entry: entry.seq))

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        found: dict[int, Record] = {}
        for path in self.scopes():
            rows = zip(seqs, RamStore.fetch(self, path, seqs), strict=True)
            found.update((seq, record) for seq, record in rows if record is not None)
        return [found.get(seq) for seq in seqs]


class Tallies(RamStore):
    def tallies(self, scope: Scope | None, since: int) -> Any:
        del scope
        return super().tallies(None, since)


class Notes(RamStore):
    """Uses of a record are counted for its namesakes in every scope."""

    def note(self, uses: Mapping[tuple[str, str], tuple[int, float]]) -> None:
        super().note({(path, id): used for (_, id), used in uses.items() for path in self.scopes()})


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

    def recall(self, query: str = "", **how: Any) -> Hits:
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

    def recall(self, query: str = "", **how: Any) -> Hits:
        for path in self.scopes():
            log.debug("there is %s", [record.text for record in self.find(scope=path, limit=1)])
        return super().recall(query, **how)


class Careless(Memory):
    """Takes any scope."""

    def count(self, where: Where | None = None, *, scope: Any = "default") -> int:
        try:
            return super().count(where, scope=scope)
        except ValueError:
            return 0


class SpeakingAdmin(AdminNamespace):
    """Knows who speaks anywhere."""

    def phrased(self, query: str, *, scope: Any = "default", now: Any = None) -> str:
        del scope
        return super().phrased(query, scope=Scope.under("a"), now=now)


class Speaking(Memory):
    """Knows who speaks anywhere."""

    @property
    def admin(self) -> AdminNamespace:
        return SpeakingAdmin(self._parts, self._reads, self._life)


LEAKY_MEMORIES = (Caching, Telling, Logging, Careless, Speaking)
