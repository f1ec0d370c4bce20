"""Reading: the sorted sets choose, filters look at the light parts of what is left, the rest is fetched."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from ...core.errors import Unavailable
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from .client import Wire
from .codec import Light, light_of, record_of
from .connection import script
from .keys import RANGES, Keys
from .pushdown import EXACT, Sifted, sifted
from .scripts import CHANGES, GET, LIGHT, SELECT

PAGE: Final = 2000  # records that the server is asked for at once
AT_ONCE: Final = 3  # tries in pages before a scope is read in one go

Key = tuple[str, int]  # scope, seq


class Reading:
    """The reading verbs of a store."""

    def __init__(self, wire: Wire, keys: Keys) -> None:
        self.wire, self.keys = wire, keys

    def scopes(self, scope: Scope | None) -> list[str]:
        """Names of scopes that were written once, by name."""
        if scope is not None and not scope.below:
            return [scope.path]
        names = self.wire.ask(self.keys.store, ("HKEYS", self.keys.store + "n"))
        found = (name.decode() for name in names)
        return sorted(name for name in found if scope is None or scope.holds(name))

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        base = self.keys.base(scope)
        pages = (ids[start : start + PAGE] for start in range(0, len(ids), PAGE))
        answers = self.wire.read((base, script(GET, base, *page)) for page in pages)
        flat = [part for answer in answers for part in answer]
        pairs = zip(flat[::2], flat[1::2], strict=True)
        return [record_of(found, scope, int(seq)) if found else None for seq, found in pairs]

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        base = self.keys.base(scope)
        pages = (seqs[start : start + PAGE] for start in range(0, len(seqs), PAGE))
        answers = self.wire.read(
            (base, ("MGET", *[f"{base}r:{seq}" for seq in page])) for page in pages if page
        )
        flat = [part for answer in answers for part in answer]
        return [
            record_of(found, scope, seq) if found else None for seq, found in zip(seqs, flat, strict=True)
        ]

    def seqs(self, where: Where, after: int = 0) -> list[Key]:
        """What matches in all scopes, by rising seq."""
        found = [
            (scope, seq)
            for scope, sift in self._sifts(where)
            for seq, _ in self._matching(scope, sift, where, after)
        ]
        return sorted(found, key=_by_seq)

    def count(self, where: Where) -> int:
        sifts = self._sifts(where)
        if not all(sift.counts for _, sift in sifts):
            return len(self.seqs(where))
        bases = [(self.keys.base(scope), sift) for scope, sift in sifts]
        answers = self.wire.read((base, command) for base, sift in bases for command in sift.counting(base))
        return sum(map(int, answers[::2])) - sum(map(int, answers[1::2]))

    def lights(self, where: Where, versions: dict[str, bytes] | None = None) -> Iterator[Light]:
        """Light records that match, scope by scope; what versions those scopes had is noted."""
        for scope, sift in self._sifts(where):
            rows, version = self._looked(scope, sift, where, 0)
            if versions is not None:
                versions.setdefault(scope, version)
            yield from rows

    def find(
        self, where: Where, name: str, descending: bool, limit: int | None, offset: int, after: int = 0
    ) -> list[Record]:
        for _ in range(10):
            keys = self._ordered(where, name, descending)
            if after:
                keys = [key for key in keys if key[1] > after]
            chosen = keys[offset : None if limit is None else offset + limit]
            found = self.fetch_all(chosen)
            if None not in found:
                break
        return [record for record in found if record is not None]

    def fetch_all(self, keys: Sequence[Key]) -> list[Record | None]:
        """The same of several scopes, in the order asked."""
        found: dict[Key, Record | None] = {}
        by_scope = sorted(keys)
        for scope, group in groupby(by_scope, key=lambda key: key[0]):
            seqs = [seq for _, seq in group]
            found.update(zip(((scope, seq) for seq in seqs), self.fetch(scope, seqs), strict=True))
        return [found[key] for key in keys]

    def scan(self, where: Where, after: int, batch: int) -> Iterator[Record]:
        """What is revised while this goes on gets a higher seq, and is met again at the end."""
        while True:
            upto = self._settled(where)
            keys = [key for key in self._coarse(where, after) if key[1] <= upto]
            if not keys:
                return
            for start in range(0, len(keys), batch):
                found = self.fetch_all(keys[start : start + batch])
                yield from (record for record in found if record is not None and where.matches(record))
            after = upto

    # Within.

    def _settled(self, where: Where) -> int:
        """A seq up to which all that was written is there, and nothing comes any more.

        Scopes are read one after the other, and in a cluster a writer has its seqs before it writes:
        whoever has not written yet is made to take later ones.
        """
        epoch, seq = self.wire.ask(self.keys.store, ("HMGET", self.keys.store + "h", "epoch", "seq"))
        if self.wire.address.cluster and seq is not None:
            bases = [self.keys.base(scope) for scope in self.scopes(_narrowest(where))]
            told = ("", int(seq), 0, epoch or 0, int(seq))
            self.wire.read((base, script(CHANGES, base, *told)) for base in bases)
        return int(seq or 0)

    def _sifts(self, where: Where) -> list[tuple[str, Sifted]]:
        names = self.scopes(_narrowest(where))
        found = ((scope, sifted(where, scope)) for scope in names)
        return [(scope, sift) for scope, sift in found if sift is not None]

    def _coarse(self, where: Where, after: int) -> list[Key]:
        sifts = self._sifts(where)
        answers = self._select(sifts, after)
        return sorted(
            (
                (scope, int(seq))
                for (scope, _), answer in zip(sifts, answers, strict=True)
                for seq in answer[1:]
            ),
            key=_by_seq,
        )

    def _select(self, sifts: Iterable[tuple[str, Sifted]], after: int) -> list[list[bytes]]:
        bases = ((self.keys.base(scope), sift) for scope, sift in sifts)
        return self.wire.read((base, script(SELECT, base, *sift.words(after))) for base, sift in bases)

    def _matching(
        self, scope: str, sift: Sifted, where: Where, after: int
    ) -> list[tuple[int, Record | None]]:
        if sift.exact:
            (answer,) = self._select([(scope, sift)], after)
            return [(int(seq), None) for seq in answer[1:]]
        rows, _ = self._looked(scope, sift, where, after)
        return [(row.record.seq, row.record) for row in rows]

    def _looked(self, scope: str, sift: Sifted, where: Where, after: int) -> tuple[list[Light], bytes]:
        """Light records that match, all as of one moment: pages are read anew where a write came between."""
        tries = 0
        while not tries or self.wire.left > 0.002:
            tries += 1
            (answer,) = self._select([(scope, sift)], after)
            version, seqs = answer[0], answer[1:]
            page = PAGE if tries <= AT_ONCE else 10 * PAGE
            rows, versions = self._lights(scope, seqs, page)
            if versions <= {version}:
                return [row for row in rows if sift.exact or where.matches(row.record)], version
            time.sleep(random.random() * 0.005)  # noqa: S311
        raise Unavailable(f"scope {scope!r} kept changing while it was read; gave up", retry_after=0.1)

    def _lights(self, scope: str, seqs: Sequence[bytes], page: int) -> tuple[list[Light], set[bytes]]:
        base = self.keys.base(scope)
        rows, versions = [], set()
        for start in range(0, len(seqs), page):
            some = seqs[start : start + page]
            version, *found = self.wire.ask(base, script(LIGHT, base, *some))
            versions.add(version)
            rows += [light_of(one, scope, int(seq)) for seq, one in zip(some, found, strict=True) if one]
        return rows, versions

    def _ordered(self, where: Where, name: str, descending: bool) -> list[Key]:
        present: list[tuple[Any, int, str]] = []
        absent: list[tuple[int, str]] = []
        for scope, sift in self._sifts(where):
            for value, seq in self._valued(scope, sift, where, name):
                absent.append((seq, scope)) if value is None else present.append((value, seq, scope))
        present.sort(reverse=descending)
        absent.sort(reverse=descending)
        return [(scope, seq) for _, seq, scope in present] + [(scope, seq) for seq, scope in absent]

    def _valued(self, scope: str, sift: Sifted, where: Where, name: str) -> Iterable[tuple[Any, int]]:
        """(what it is ordered by, seq) of all that match."""
        if not sift.exact or name not in RANGES:
            rows, _ = self._looked(scope, sift, where, 0)
            return [(getattr(row.record, name), row.record.seq) for row in rows]
        found = [seq for seq, _ in self._matching(scope, sift, where, 0)]
        if name == "seq":
            return [(seq, seq) for seq in found]
        scores = self._scores(scope, RANGES[name], found)
        if any(score is not None and abs(score) >= EXACT for score in scores):
            rows, _ = self._looked(scope, sift, where, 0)
            return [(getattr(row.record, name), row.record.seq) for row in rows]
        return zip(scores, found, strict=True)

    def _scores(self, scope: str, key: str, seqs: Sequence[int]) -> list[float | None]:
        base = self.keys.base(scope)
        pages = [seqs[start : start + PAGE] for start in range(0, len(seqs), PAGE)]
        answers = self.wire.read((base, ("ZMSCORE", base + key, *page)) for page in pages)
        return [None if score is None else float(score) for answer in answers for score in answer]


def _by_seq(key: Key) -> int:
    return key[1]


def _narrowest(where: Where) -> Scope | None:
    """A scope that all that matches lies in, so that no other need be asked."""
    found = [one for one in (where.scope, *map(_narrowest, where.every)) if one is not None]
    return next((scope for scope in found if not scope.below), found[0] if found else None)
