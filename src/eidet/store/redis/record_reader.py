"""Reads records: the server selects by seq, id and expiry, filters test light parts, matches are fetched."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import Any, Final, cast

from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ..answers import count_records, sort_records
from ..model import Head
from .client import Command, RedisClient, pages, script
from .codec import GET, LIGHT, SELECT, Keys, Light, light_of, record_of

_TOLD: Final = ("scope", "ids", "alive_at", "every")  # what can be tested without reading the record
_read_looked_at: Final = attrgetter(*(field.name for field in fields(Where) if field.name not in _TOLD))
_ANYTHING: Final = _read_looked_at(Where())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sifted:
    """A filter for one scope. It passes at least the matches; unless `exact`, `where` checks each record."""

    scope: str
    where: Where
    alive_at: float | None = None
    ids: tuple[str, ...] | None = None
    exact: bool = True

    @property
    def counts(self) -> bool:
        """Returns whether the server can count what passes without returning it."""
        return self.exact and self.ids is None

    def counting(self, base: str) -> list[Command]:
        """Builds the commands that count all candidates and those to subtract."""
        dead = "-inf" if self.alive_at is None else repr(float(self.alive_at))
        return [("ZCARD", base + "s"), ("ZCOUNT", base + "x", "-inf", dead)]

    def words(self, after: int, most: int | None = None) -> list[Any]:
        """Builds the arguments of the script `select`."""
        alive = "" if self.alive_at is None else repr(self.alive_at)
        named = [""] if self.ids is None else ["1", *self.ids]
        return [after, alive, "" if most is None else most, *named]


def _sift_scope(where: Where, scope: str) -> _Sifted | None:
    """Translates a filter for one scope; returns None if nothing there can pass."""
    if where.scope is not None and not where.scope.holds(scope):
        return None
    alive, ids = where.alive_at, where.ids
    exact = _read_looked_at(where) == _ANYTHING
    for part in where.every:
        more = _sift_scope(part, scope)
        if more is None:
            return None
        alive = max((end for end in (alive, more.alive_at) if end is not None), default=None)
        ids = _both(ids, more.ids)
        exact = exact and more.exact
    if ids is not None:
        ids = tuple(dict.fromkeys(ids))
    return _Sifted(scope=scope, where=where, alive_at=alive, ids=ids, exact=exact)


def _both(ids: tuple[str, ...] | None, more: tuple[str, ...] | None) -> tuple[str, ...] | None:
    if ids is None or more is None:
        return more if ids is None else ids
    return tuple(id for id in ids if id in more)


PAGE: Final = 2000  # records that the server is asked for at once
AT_ONCE: Final = 3  # tries with this page before a larger one

Key = tuple[str, int]  # scope, seq
Listed = tuple[bytes, list[Record]]  # the stored seqs, and the records that exist


class Reading:
    """The reading verbs of a store."""

    def __init__(self, client: RedisClient, keys: Keys, secret: bytes) -> None:
        self.client, self.keys, self.secret = client, keys, secret

    def head(self) -> Head:
        epoch, seq = self.client.ask(("HMGET", self.keys.store + "h", "epoch", "seq"))
        return Head(int(epoch or 0), int(seq or 0))

    def scopes(self, scope: Scope | None) -> list[str]:
        """Lists the scopes that were ever written, by name; named scopes are not checked."""
        if scope is not None and not any(one.below for one in scope.members):
            return sorted(one.path for one in scope.members)
        names = self.client.ask(("HKEYS", self.keys.store + "n"))
        found = (name.decode() for name in names)
        return sorted(name for name in found if scope is None or scope.holds(name))

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        if keys and isinstance(keys[0], int):
            return self._fetch(scope, cast("Sequence[int]", keys))
        listed = self.look_up(scope, "i", cast("Sequence[str]", keys))
        return [records[0] if records else None for _, records in listed]

    def look_up(self, scope: str, letter: str, fields: Sequence[str | bytes]) -> list[Listed]:
        """Looks up the stored seqs and records of ids ("i") or exact keys ("d")."""
        answers = self.client.read(self.asking(scope, letter, page) for page in pages(fields, PAGE))
        return [listed for answer in answers for listed in self.parse_listed(scope, answer)]

    def asking(self, scope: str, letter: str, fields: Sequence[str | bytes]) -> Command:
        return script(GET, self.keys.base(scope), letter, *fields)

    def parse_listed(self, scope: str, answer: Sequence[Sequence[bytes]]) -> Iterator[Listed]:
        values, found = answer
        left = iter(found)
        for value in values:
            pairs = [(int(seq), next(left)) for seq in re.findall(rb"\d+", value)]
            yield value, [record_of(one, scope, seq) for seq, one in pairs if one]

    def _fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        base = self.keys.base(scope)
        names = [f"{base}r:{seq}" for seq in seqs]
        answers = self.client.read(("MGET", *page) for page in pages(names, PAGE))
        pairs = zip(seqs, chain.from_iterable(answers), strict=True)
        return [record_of(found, scope, seq) if found else None for seq, found in pairs]

    def match(self, where: Where) -> list[int]:
        return [seq for _, seq in self.list_keys(where)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        sifts = self.sifts(where)
        if set(columns) <= {"scope"} and all(sift.counts for sift in sifts):
            counts = self._count_scopes(sifts)
            if not columns:
                return {(): sum(counts.values())}
            return {(scope,): n for scope, n in counts.items() if n > 0}
        if not columns:
            return {(): len(self.list_keys(where))}
        return count_records((row.record for row in self.lights(where)), columns)

    def _count_scopes(self, sifts: Sequence[_Sifted]) -> dict[str, int]:
        """Counts on the server."""
        asked = (sift.counting(self.keys.base(sift.scope)) for sift in sifts)
        answers = iter(self.client.read(chain.from_iterable(asked)))
        return {sift.scope: int(next(answers)) - int(next(answers)) for sift in sifts}

    def lights(self, where: Where) -> Iterator[Light]:
        """Yields matching light records, scope by scope."""
        for sift in self.sifts(where):
            yield from self.look_through(sift)[0]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        """Selects records, then fetches them; starts over if one of them was deleted meanwhile.

        A record that is missing although it is selected again has expired on the server.
        """
        end = None if limit is None else offset + limit
        before: list[Key] | None = None
        tries = self.client.tries("records kept changing while they were read; gave up")
        while True:
            next(tries)
            chosen = self.list_keys(where, order, after, end)[offset:end]
            found = self.fetch_all(chosen)
            records = [record for record in found if record is not None]
            if len(records) == len(found) or chosen == before:
                return records
            before = chosen

    def fetch_all(self, keys: Sequence[Key]) -> list[Record | None]:
        """Fetches records of several scopes, in the order asked; None where absent."""
        found: dict[Key, Record | None] = {}
        for scope, group in groupby(sorted(keys), key=itemgetter(0)):
            some = list(group)
            found.update(zip(some, self._fetch(scope, [seq for _, seq in some]), strict=True))
        return [found[key] for key in keys]

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """Yields matching records. One revised meanwhile gets a higher seq and comes again at the end."""
        while True:
            upto = self.head().seq
            keys = [key for key in self._coarse(self.sifts(where), after) if key[1] <= upto]
            if not keys:
                return
            for some in pages(keys, batch):
                found = self.fetch_all(some)
                yield from (record for record in found if record is not None and where.matches(record))
            after = upto

    # Internals.

    def sifts(self, where: Where) -> list[_Sifted]:
        """Returns one filter for each scope that may have matches."""
        found = (_sift_scope(where, scope) for scope in self.scopes(_narrowest(where)))
        return [sift for sift in found if sift is not None]

    def _coarse(self, sifts: Sequence[_Sifted], after: int, most: int | None = None) -> list[Key]:
        """Returns candidates by ascending seq, at most the first `most` of each scope."""
        pairs = zip(sifts, self._select(sifts, after, most), strict=True)
        found = [(sift.scope, int(seq)) for sift, answer in pairs for seq in answer[1:]]
        return sorted(found, key=itemgetter(1))

    def _select(self, sifts: Iterable[_Sifted], after: int, most: int | None) -> list[list[bytes]]:
        bases = ((self.keys.base(sift.scope), sift.words(after, most)) for sift in sifts)
        return self.client.read(script(SELECT, base, *words) for base, words in bases)

    def look_through(
        self, sift: _Sifted, after: int = 0, most: int | None = None
    ) -> tuple[list[Light], bytes]:
        """Returns the matching light records as of one moment, and the scope's version at it.

        Reads the pages again if a write came between. With `most`, returns the first ones by seq, perhaps
        more.
        """
        tries = self.client.tries(f"scope {sift.scope!r} kept changing while it was read; gave up")
        while True:
            page = PAGE if next(tries) <= AT_ONCE else 10 * PAGE
            rows, versions = self._look_at_pages(sift, after, most, page)
            if len(versions) == 1:
                return rows, versions.pop()
            time.sleep(random.random() * 0.005)  # noqa: S311

    def _look_at_pages(
        self, sift: _Sifted, after: int, most: int | None, page: int
    ) -> tuple[list[Light], set[bytes]]:
        """Returns the matches, and all versions that the scope had meanwhile."""
        matching: list[Light] = []
        versions: set[bytes] = set()
        while True:
            (answer,) = self._select([sift], after, None if most is None else page)
            seqs = answer[1:]
            rows, seen = self._lights(sift.scope, seqs, page)
            versions |= {answer[0], *seen}
            matching += [row for row in rows if sift.exact or sift.where.matches(row.record)]
            if most is None or len(seqs) < page or len(matching) >= most or len(versions) > 1:
                return matching, versions
            after = int(seqs[-1])

    def _lights(self, scope: str, seqs: Sequence[bytes], page: int) -> tuple[list[Light], set[bytes]]:
        base = self.keys.base(scope)
        rows, versions = [], set()
        for some in pages(seqs, page):
            version, *found = self.client.ask(script(LIGHT, base, *some))
            versions.add(version)
            rows += [light_of(one, scope, int(seq)) for seq, one in zip(some, found, strict=True) if one]
        return rows, versions

    def list_keys(
        self, where: Where, order: str = "seq", after: int = 0, end: int | None = None
    ) -> list[Key]:
        """Lists all matches in `find` order; by ascending seq it may stop at `end`."""
        sifts = self.sifts(where)
        most = end if order == "seq" else None
        if order in ("seq", "-seq") and all(sift.exact for sift in sifts):
            keys = self._coarse(sifts, after, most)
            return keys if order == "seq" else keys[::-1]
        found = [row.record for sift in sifts for row in self.look_through(sift, after, most)[0]]
        return [(record.scope, record.seq) for record in sort_records(found, order)]


def _narrowest(where: Where) -> Scope | None:
    """Returns a scope that all matches lie in, so that no other need be asked; None if there is none."""
    found = [one for one in (where.scope, *map(_narrowest, where.every)) if one is not None]
    return next((scope for scope in found if scope.is_one), found[0] if found else None)
