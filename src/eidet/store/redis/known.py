"""What a write has read of the store, all of it guarded when it is committed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from .client import RedisClient
from .codec import Light, record_of
from .connection import Command, script
from .keys import Keys
from .reading import Reading
from .scripts import LOOK
from .tables import Place

Key = tuple[str, str]  # scope, id
PAGE: Final = 1000  # fields that the server is asked for at once
LONG: Final = 60  # deadlines that a job gets which looks at all records
COUNTERS: Final = ("epoch", "tombs", "scopes")  # of the store's head, from the beginning


class Unforeseen(Exception):
    """A job cannot be rehearsed: it needs to read."""


class StoredId(NamedTuple):
    """An id as the server has it: the seq that is listed, even if the record expired, and its history."""

    seq: bytes = b""
    record: Record | None = None
    events: bytes = b""


class StoredDigest(NamedTuple):
    """A content digest as the server has it: seqs as they are listed, and the records that are there."""

    listed: bytes = b""
    records: Sequence[Record] = ()


@dataclass(slots=True)
class Wanted:
    """What jobs asked for. Nothing is asked twice, and what was asked once is read again in one go."""

    ids: dict[str, dict[str, None]] = field(default_factory=dict)
    digests: dict[str, dict[bytes, None]] = field(default_factory=dict)
    fields: dict[Place, None] = field(default_factory=dict)
    hashes: dict[str, None] = field(default_factory=dict)

    def add(self, more: Wanted) -> None:
        for scope, ids in more.ids.items():
            self.ids.setdefault(scope, {}).update(ids)
        for scope, digests in more.digests.items():
            self.digests.setdefault(scope, {}).update(digests)
        self.fields.update(more.fields)
        self.hashes.update(more.hashes)

    @property
    def scopes(self) -> dict[str, None]:
        return dict.fromkeys((*self.ids, *self.digests))


class LastKnown:
    """What this process last knew of the store itself: a first guess, which the commit checks."""

    def __init__(self) -> None:
        self.fields: dict[Place, bytes | None] = {}
        self.tombstone: tuple[str, bytes] | None = None  # one that is there: whoever writes asks for any


class Known:
    """Reads for a transaction, and keeps the answers: running a job again on them asks nobody.

    If it is `silent`, it asks nobody at all and only notes what is wanted.
    """

    def __init__(
        self, client: RedisClient, keys: Keys, reading: Reading, memo: LastKnown, silent: bool
    ) -> None:
        self.client, self.keys, self.reading, self.memo = client, keys, reading, memo
        self._silent = silent
        self.wanted = Wanted()
        self._own_hashes = (keys.store + "h", keys.store + "s")
        self._ids: dict[Key, StoredId] = {}
        self._digests: dict[tuple[str, bytes], StoredDigest] = {}
        self._fields: dict[Place, bytes | None] = {}
        self._hashes: dict[str, dict[bytes, bytes]] = {}
        self._rows: dict[str, list[tuple[Where, list[Light], bytes]]] = {}

    # What is known, or was read for it.

    def ids(self, scope: str, ids: Iterable[str]) -> None:
        self.wanted.ids.setdefault(scope, {}).update(dict.fromkeys(ids))

    def digests(self, scope: str, digests: Iterable[bytes]) -> None:
        self.wanted.digests.setdefault(scope, {}).update(dict.fromkeys(digests))

    def at(self, scope: str, id: str) -> StoredId | None:
        return self._ids.get((scope, id))

    def said(self, scope: str, digest: bytes) -> StoredDigest | None:
        return self._digests.get((scope, digest))

    def knows(self, place: Place) -> bool:
        return place in self._fields

    def field(self, place: Place) -> bytes | None:
        """What a field holds; as long as nobody read it, what it held when this process last looked."""
        if place in self._fields:
            return self._fields[place]
        counts = place[0] == self.keys.store + "h" and place[1] in COUNTERS
        return self.memo.fields.get(place, b"0" if counts else None)

    def hash(self, key: str) -> dict[bytes, bytes] | None:
        return self._hashes.get(key)

    def lights(self, where: Where) -> Iterator[tuple[str, list[Light], bytes]]:
        """Matching records without their bulk: scope by scope, with the version that it had."""
        for scope, sift in self.reading.sifts(where):
            kept = self._rows.setdefault(scope, [])
            found = next(((rows, version) for asked, rows, version in kept if asked == where), None)
            if found is None:
                found = self.reading.look_through(scope, sift, where)
                kept.append((where, *found))
            yield scope, *found

    def want_histories(self, keys: Iterable[Key]) -> None:
        """What is kept of ids, without their records."""
        for scope, id in keys:
            if (scope, id) not in self._ids:
                self.wanted.fields[self.keys.base(scope) + "e", id] = None

    def events_at(self, scope: str, id: str) -> bytes | None:
        found = self._ids.get((scope, id))
        if found is not None:
            return found.events
        place = (self.keys.base(scope) + "e", id)
        return self._fields[place] or b"" if place in self._fields else None

    def scopes(self, scope: Scope | None) -> list[str]:
        if scope is None or scope.below:
            self._check_reads()
        return self.reading.scopes(scope)

    def prolong(self) -> None:
        """Whoever looks at all records has more time."""
        self._check_reads()
        self.client.prolong(LONG)

    def _check_reads(self) -> None:
        if self._silent:
            raise Unforeseen

    # Reading.

    def fetch(self) -> None:
        """Reads all that is wanted and not known yet, in one round trip."""
        looks = [self._look(scope) for scope in self.wanted.scopes]
        looks = [look for look in looks if look.ids or look.digests]
        fields = [*self._field_pages()]
        hashes = [key for key in self.wanted.hashes if key not in self._hashes]
        asked: list[tuple[str, Command]] = [look.question(self.keys) for look in looks]
        asked += [(key, ("HMGET", key, *names)) for key, names in fields]
        asked += [(key, ("HGETALL", key)) for key in hashes]
        if not asked:
            return
        self._check_reads()
        answers = iter(self.client.read(asked))
        for look in looks:
            self._learn(look, next(answers))
        for key, names in fields:
            for name, value in zip(names, next(answers), strict=True):
                self._fields[key, name] = value
                if key in self._own_hashes or (key, name) in self.memo.fields:
                    self.memo.fields[key, name] = value
        for key in hashes:
            flat = next(answers)
            self._hashes[key] = dict(zip(flat[::2], flat[1::2], strict=True))

    def renew(self, landed: Collection[str]) -> None:
        """Forgets what was read, but for scopes that were written: those are told as they were before."""
        bases = tuple(self.keys.base(scope) for scope in landed)
        self._ids = {key: found for key, found in self._ids.items() if key[0] in landed}
        self._digests = {key: said for key, said in self._digests.items() if key[0] in landed}
        self._rows = {scope: rows for scope, rows in self._rows.items() if scope in landed}
        self._fields = {key: value for key, value in self._fields.items() if key[0].startswith(bases)}
        self._hashes = {key: value for key, value in self._hashes.items() if key.startswith(bases)}

    def _look(self, scope: str) -> _Look:
        ids = [id for id in self.wanted.ids.get(scope, ()) if (scope, id) not in self._ids]
        digests = [one for one in self.wanted.digests.get(scope, ()) if (scope, one) not in self._digests]
        return _Look(scope, ids, digests)

    def _field_pages(self) -> Iterator[tuple[str, list[Any]]]:
        by_hash: dict[str, list[Any]] = {}
        for key, name in self.wanted.fields:
            if (key, name) not in self._fields:
                by_hash.setdefault(key, []).append(name)
        for key, names in by_hash.items():
            for start in range(0, len(names), PAGE):
                yield key, names[start : start + PAGE]

    def _learn(self, look: _Look, answer: Sequence[Any]) -> None:
        _, _, ids, said = answer
        for n, id in enumerate(look.ids):
            seq, found, events = ids[3 * n : 3 * n + 3]
            record = record_of(found, look.scope, int(seq)) if found else None
            self._ids[look.scope, id] = StoredId(seq, record, events)
        for digest, (listed, *found) in zip(look.digests, said, strict=True):
            pairs = zip(listed.split(), found, strict=True)
            records = [record_of(one, look.scope, int(seq)) for seq, one in pairs if one]
            self._digests[look.scope, digest] = StoredDigest(listed, records)


class _Look(NamedTuple):
    """What is asked of a scope by the script `look`."""

    scope: str
    ids: Sequence[str]
    digests: Sequence[bytes]

    def question(self, keys: Keys) -> tuple[str, Command]:
        base = keys.base(self.scope)
        return base, script(LOOK, base, "", len(self.ids), *self.ids, *self.digests)
