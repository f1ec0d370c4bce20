"""What a write has read of the store, all of it guarded when it is committed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from .client import RedisClient, pages
from .codec import Light, record_of
from .connection import Command, script
from .key_names import Keys
from .record_reader import Reading
from .scripts import LOOK
from .tables import Hash, Place

PAGE: Final = 1000  # fields that the server is asked for at once
LONG: Final = 60  # deadlines that a job gets which looks at all records
LISTS_SEQS: Final = "id"  # letters of the hashes of ids and digests
COUNTERS: Final = {("", "h", name) for name in ("epoch", "tombs", "scopes")}  # there from the beginning


class Unforeseen(Exception):
    """A job cannot be rehearsed: it needs to read."""


class Stored(NamedTuple):
    """A field as the server has it, None where there is none.

    That of an id or a digest lists seqs. `records` are those that are there: some may have expired.
    """

    value: bytes | None = None
    records: Sequence[Record] = ()


NOTHING: Final = Stored()
ZERO: Final = Stored(b"0")


class LastKnown:
    """What this process last knew of the store itself: a first guess, which the commit checks."""

    def __init__(self) -> None:
        self.fields: dict[Place, bytes | None] = {}
        self.tombstone: tuple[str, bytes] | None = None  # one that is there: whoever writes asks for any


class Known:
    """Reads for a transaction, and keeps the answers: running a job again on them asks nobody.

    What jobs asked for once is `wanted`, and read again in one go. If it is `silent`, it asks nobody at all
    and only notes what is wanted.
    """

    def __init__(
        self, client: RedisClient, keys: Keys, reading: Reading, memo: LastKnown, silent: bool
    ) -> None:
        self.client, self.keys, self.reading, self.memo = client, keys, reading, memo
        self._silent = silent
        self.wanted: dict[Place, None] = {}  # without a field: all of a hash
        self.fields: dict[Place, Stored] = {}
        self.hashes: dict[Hash, dict[bytes, bytes]] = {}
        self._rows: dict[str, list[tuple[Where, list[Light], bytes]]] = {}

    def guess(self, place: Place) -> Stored:
        """What a field held when this process last looked: most are new to it."""
        if place in self.memo.fields:
            return Stored(self.memo.fields[place])
        if place in COUNTERS:
            return ZERO
        return NOTHING

    def lights(self, where: Where) -> Iterator[tuple[str, list[Light], bytes]]:
        """Matching records without their bulk: scope by scope, with the version that it had."""
        for scope, sift in self.reading.sifts(where):
            kept = self._rows.setdefault(scope, [])
            found = next(((rows, version) for asked, rows, version in kept if asked == where), None)
            if found is None:
                found = self.reading.look_through(scope, sift, where)
                kept.append((where, *found))
            yield scope, *found

    def scopes(self, scope: Scope | None) -> list[str]:
        if scope is None or scope.below:
            self._check_reads()
        return self.reading.scopes(scope)

    def prolong(self) -> None:
        """Whoever looks at all records has more time."""
        self._check_reads()
        self.client.prolong(LONG)

    def fetch(self) -> None:
        """Reads all that is wanted and not known yet, in one round trip."""
        wanted = list(self._pages())
        hashes = [place[:2] for place in self.wanted if place[2] is None and place[:2] not in self.hashes]
        asked = [self._question(page) for page in wanted]
        for scope, letter in hashes:
            key = self.keys.base(scope) + letter
            asked.append((key, ("HGETALL", key)))
        if not asked:
            return
        self._check_reads()
        answers = iter(self.client.read(asked))
        for page in wanted:
            values, records = next(answers)
            found = iter(records)
            for place, value in zip(page, values, strict=True):
                self._learn(place, value, found)
        for one in hashes:
            flat = next(answers)
            self.hashes[one] = dict(zip(flat[::2], flat[1::2], strict=True))

    def renew(self, landed: Collection[str]) -> None:
        """Forgets what was read, but for scopes that were written: those are told as they were before."""
        self.fields = {place: found for place, found in self.fields.items() if place[0] in landed}
        self.hashes = {one: fields for one, fields in self.hashes.items() if one[0] in landed}
        self._rows = {scope: rows for scope, rows in self._rows.items() if scope in landed}

    def _check_reads(self) -> None:
        if self._silent:
            raise Unforeseen

    def _pages(self) -> Iterator[Sequence[Place]]:
        """Fields that are wanted, those that one server has together; in a cluster, those of one scope."""
        cluster = self.client.address.cluster
        together: dict[str, list[Place]] = {}
        for place in self.wanted:
            if place[2] is not None and place not in self.fields:
                together.setdefault(place[0] if cluster else "", []).append(place)
        for places in together.values():
            yield from pages(places, PAGE)

    def _question(self, page: Sequence[Place]) -> tuple[str, Command]:
        words: list[Any] = []
        for scope, letter, field in page:
            words += (self.keys.base(scope) + letter, field)
        base = self.keys.base(page[0][0])
        return base, script(LOOK, base, *words)

    def _learn(self, place: Place, value: bytes | None, found: Iterator[bytes]) -> None:
        """Where the value lists seqs, the next ones that were found are their records."""
        records: list[Record] = []
        if value and place[1] in LISTS_SEQS:
            for seq, one in zip(value.split(), found, strict=False):
                if one:
                    records.append(record_of(one, place[0], int(seq)))
        self.fields[place] = Stored(value, records)
        if place[:2] in (("", "h"), ("", "s")) or place in self.memo.fields:
            self.memo.fields[place] = value
