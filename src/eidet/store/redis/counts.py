"""Counting: tallies of scopes, how many records they hold, and how those are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...core.scope import Scope
from ...core.where import Where
from ...quality import Survey, Tally
from ..rules import UNIQUE_KINDS
from .client import Wire
from .keys import Keys
from .operations import alone
from .pushdown import Sifted
from .reading import Reading
from .transaction import Desk
from .writing import Writing


class Counts:
    """The counting verbs."""

    def __init__(self, wire: Wire, keys: Keys, reading: Reading, writing: Writing) -> None:
        self._wire, self._keys = wire, keys
        self._reading, self._writing = reading, writing

    def tally(self, rows: Sequence[Tally], since: int) -> None:
        scopes = list(dict.fromkeys(row.scope for row in rows))
        groups = [[scope] for scope in scopes] if self._wire.address.cluster else [scopes]
        for group in filter(None, groups):
            some = [row for row in rows if row.scope in group]
            work = alone(lambda desk, some=some, group=group: self._tally(desk, some, group, since), group[0])  # type: ignore[misc]
            self._writing.run(work)

    def _tally(self, desk: Desk, rows: Sequence[Tally], scopes: Sequence[str], since: int) -> None:
        counts: Counter[tuple[str, bytes]] = Counter()
        for scope, day, what, named in rows:
            for name, count in named.items():
                counts[scope, f"{day}\0{what}\0{name}".encode()] += count
        for scope in scopes:
            desk.name(scope)
        for (scope, field), count in counts.items():
            desk.do(scope, "HINCRBY", "y", field, count)
        for scope, fields in zip(scopes, self._fields(scopes), strict=True):
            known = {*fields, *(field for path, field in counts if path == scope)}
            if old := [field for field in known if _day(field) < since]:
                desk.do(scope, "HDEL", "y", *old)

    def _fields(self, scopes: Sequence[str]) -> list[list[bytes]]:
        bases = [self._keys.base(scope) for scope in scopes]
        return self._wire.read((base, ("HKEYS", base + "y")) for base in bases)

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        scopes = self._reading.scopes(scope)
        bases = [self._keys.base(path) for path in scopes]
        answers = self._wire.read((base, ("HGETALL", base + "y")) for base in bases)
        return [
            row
            for path, answer in zip(scopes, answers, strict=True)
            for row in _tallies(path, answer)
            if row.day >= since
        ]

    def scopes(self, scope: Scope | None, alive_at: float | None) -> dict[str, int]:
        names = self._reading.scopes(scope)
        bases = [self._keys.base(name) for name in names]
        sift = Sifted(alive_at=alive_at)
        answers = iter(self._wire.read((base, one) for base in bases for one in sift.counting(base)))
        counts = {
            name: int(all_) - int(dead) for name, all_, dead in zip(names, answers, answers, strict=True)
        }
        return {name: count for name, count in counts.items() if count > 0}

    def survey(self, scope: Scope | None, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        rows = list(self._reading.lights(Where(scope=scope, alive_at=now)))
        said = Counter((row.record.scope, row.digest) for row in rows if row.record.kind in UNIQUE_KINDS)
        living = [row.record for row in rows]
        old = [r for r in living if r.created < ripe]
        return Survey(
            records=len(living),
            used=sum(r.uses > 0 for r in living),
            fresh=sum(r.created >= fresh for r in living),
            oldest=min((r.created for r in living), default=None),
            ripe=len(old),
            never=sum(r.uses == 0 for r in old),
            stale=sum(r.created < stale and (r.last_used is None or r.last_used < stale) for r in living),
            distinct=len(said),
            duplicates=said.total() - len(said),
        )


def _day(field: bytes) -> int:
    return int(field.split(b"\0", 1)[0])


def _tallies(scope: str, flat: Sequence[bytes]) -> list[Tally]:
    rows: dict[tuple[int, str], dict[str, int]] = {}
    for field, count in zip(flat[::2], flat[1::2], strict=True):
        day, what, name = field.decode().split("\0", 2)
        rows.setdefault((int(day), what), {})[name] = int(count)
    return [Tally(scope, day, what, rows[day, what]) for day, what in sorted(rows)]
