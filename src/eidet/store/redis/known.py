"""What jobs have read of the store and what they set: fields of hashes, guarded when they are committed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Final, NamedTuple, cast

from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import dump_json
from ...core.where import Where
from ..answers import choose_values
from ..model import EPOCH, SETTINGS, STAGED, TALLIES, TOMBSTONES, K, Table, V
from .client import Command, pages, script
from .codec import LOOK, Hash, Light, Place, record_of
from .commit_plan import CommitPlan
from .record_reader import Reading

PAGE: Final = 1000  # fields that the server is asked for at once
_LISTS_SEQS: Final = "id"  # letters of ids and exact keys
EPOCH_PLACE: Place = ("", "h", "epoch")
TOMBS: Place = ("", "h", "tombs")  # 0 as long as there never was a tombstone
SCOPES: Place = ("", "h", "scopes")  # rises when a scope is written for the first time


class Unforeseen(BaseException):
    """Raised when a job must read while reading is off. Not an error of the job, which must not catch it."""


class _Stored(NamedTuple):
    """A field on the server, None if absent; without a field name, all names and values.

    That of an id or an exact key lists seqs. `records` are those that are there: some may have expired.
    """

    value: Any = None
    records: Sequence[Record] = ()


class LastKnown:
    """What this process last knew of the store: a first guess, which the commit checks."""

    def __init__(self) -> None:
        self.fields: dict[Place, bytes | None] = dict.fromkeys((EPOCH_PLACE, TOMBS, SCOPES), b"0")
        self.tombstone: tuple[str, Any] | None = None  # one that is there: whoever writes asks for any


class Known:
    """Reads for a transaction and caches the answers, so that a second run of a job asks no server.

    What jobs asked for once is `wanted`, and read again in one go. While it is `silent`, it asks nobody at
    all and only notes what is wanted: fields are taken to be as this process last knew them.
    """

    def __init__(self, reading: Reading, memo: LastKnown, *, silent: bool) -> None:
        self.client, self.keys, self.reading = reading.client, reading.keys, reading
        self.memo, self.silent = memo, silent
        self.wanted: dict[Place, None] = {}
        self.fields: dict[Place, _Stored] = {}
        self._rows: dict[str, list[tuple[Where, tuple[list[Light], bytes]]]] = {}

    def lights(self, where: Where) -> Iterator[tuple[str, list[Light], bytes]]:
        """Matching records without their bulk: scope by scope, with the version that it had."""
        for sift in self.reading.sifts(where):
            kept = self._rows.setdefault(sift.scope, [])
            found = next((found for asked, found in kept if asked == where), None)
            if found is None:
                found = self.reading.look_through(sift)
                kept.append((where, found))
            yield sift.scope, *found

    def scopes(self, scope: Scope | None) -> list[str]:
        if scope is None or not scope.is_one:
            self.check_reads()
        return self.reading.scopes(scope)

    def fetch(self) -> None:
        """Reads all that is wanted and not known yet, in one round trip."""
        wanted = list(pages([place for place in self.wanted if place not in self.fields], PAGE))
        if not wanted:
            return
        self.check_reads()
        answers = self.client.read(map(self._question, wanted))
        for page, answer in zip(wanted, answers, strict=True):
            self.learn(page, *answer)

    def learn(self, places: Sequence[Place], values: Sequence[Any], records: Sequence[bytes]) -> None:
        """Records what places hold, and all records they list, in order."""
        found = iter(records)
        for place, value in zip(places, values, strict=True):
            lists = value and place[1] in _LISTS_SEQS and place[2] is not None
            listed = zip(re.findall(rb"\d+", value) if lists else (), found, strict=False)
            there = [record_of(one, place[0], int(seq)) for seq, one in listed if one]
            self.fields[place] = _Stored(value, there)
            if place[:2] in (("", "h"), ("", "s")) or place in self.memo.fields:
                self.memo.fields[place] = value

    def read_hash(self, one: Hash) -> dict[bytes, bytes]:
        """Returns all fields of a hash requested before; empty if reading is off."""
        flat = self.fields.get((*one, None), _Stored()).value or ()
        return dict(zip(flat[::2], flat[1::2], strict=True))

    def renew(self) -> None:
        """Forgets all reads."""
        self.fields, self._rows = {}, {}

    def check_reads(self) -> None:
        """Raises `Unforeseen` while reading is off."""
        if self.silent:
            raise Unforeseen

    def _question(self, page: Sequence[Place]) -> Command:
        words: list[Any] = []
        for scope, letter, field in page:
            key = self.keys.base(scope) + letter
            words += (f"{key}*", "") if field is None else (key, field)
        return script(LOOK, self.keys.store, *words)


class Fields:
    """A job's view of fields: guards what it reads and shows what it has set."""

    def __init__(self, known: Known, plan: CommitPlan) -> None:
        self._known, self._plan = known, plan
        self._own: dict[Hash, dict[Any, bytes | None]] = {}
        self._cleared: set[Hash] = set()

    def want(self, places: Iterable[Place]) -> None:
        """Reads those that are not known yet, and all that was wanted before, in one round trip."""
        wanted = dict.fromkeys(places)
        self._known.wanted.update(wanted)
        if not self._known.silent and not wanted.keys() <= self._known.fields.keys():
            self._known.fetch()

    def read(self, places: Sequence[Place]) -> list[_Stored]:
        self.want(place for place in places if not self._is_own(place))
        return [self.at(place) for place in places]

    def at(self, place: Place) -> _Stored:
        """A field that was wanted before, or is guessed."""
        if self._own and self._is_own(place):
            return _Stored(self._own.get(place[:2], {}).get(place[2]))
        found = self._known.fields.get(place)
        if found is None:
            found = _Stored(self._known.memo.fields.get(place))
        self._plan.guard(place, found.value or b"")
        return found

    def read_hashes(self, hashes: Iterable[Hash], versions: Sequence[Place]) -> None:
        """Reads all fields of hashes, to be merged. `versions` are fields that rise with each change."""
        self._known.wanted.update(dict.fromkeys((*((*one, None) for one in hashes), *versions)))
        self._known.fetch()
        self.read(versions)

    def merge(self, one: Hash) -> dict[bytes, bytes]:
        """Returns a hash as read, with what was set here."""
        fields: dict[bytes, bytes] = {}
        if one not in self._cleared:
            fields.update(self._known.read_hash(one))
        for field, value in self._own.get(one, {}).items():
            name = field.encode() if isinstance(field, str) else field
            if value is None:
                fields.pop(name, None)
            else:
                fields[name] = value
        return fields

    def set(self, scope: str, letter: str, fields: Mapping[Any, bytes | None]) -> None:
        """Sets fields of a hash; None removes one."""
        self._own.setdefault((scope, letter), {}).update(fields)
        kept = [(field, value) for field, value in fields.items() if value is not None]
        gone = [field for field, value in fields.items() if value is None]
        if kept:
            self._plan.run(scope, "HSET", letter, *chain.from_iterable(kept))
        if gone:
            self._plan.run(scope, "HDEL", letter, *gone)

    def count(self, counter: Place, value: bytes) -> None:
        """Sets a number of the store's head, which only rises."""
        (before,) = self.read([counter])
        self._own.setdefault(counter[:2], {})[counter[2]] = value
        self._plan.run("", "HINCRBY", counter[1], counter[2], int(value) - int(before.value or 0))

    def clear(self, scope: str, letter: str) -> None:
        self._cleared.add((scope, letter))
        self._own[scope, letter] = {}
        self._plan.run(scope, "DEL", letter)

    def _is_own(self, place: Place) -> bool:
        one = place[:2]
        return place[2] in self._own.get(one, ()) or one in self._cleared


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a table maps to a hash. `key_of` takes the scope and a field name from the server."""

    letter: str
    scoped: bool
    field_of: Callable[[Any], str | bytes]
    key_of: Callable[[str, bytes], Any]
    dump: Callable[[Any], str | bytes]
    load: Callable[[bytes], Any]

    def version_of(self, scope: str) -> Place:
        """Rises with each change of the table."""
        return scope, "m" if self.scoped else "h", f"t:{self.letter}"


def _layout_of(table: Table[Any, Any]) -> _Layout:
    return _LAYOUTS[table.name]


def _tally_field(key: tuple[str, int, str]) -> str:
    return f"{key[1]}\0{key[2]}"


def _tally_key(scope: str, field: bytes) -> tuple[str, int, str]:
    day, _, thing = field.decode().partition("\0")
    return scope, int(day), thing


def _dump_time(since: float) -> str:
    return repr(float(since))


_LAYOUTS: Final = {
    SETTINGS.name: _Layout("s", False, str, lambda _, field: field.decode(), str, bytes.decode),
    STAGED.name: _Layout("v", False, str, lambda _, field: int(field), bytes, bytes),
    TOMBSTONES.name: _Layout(
        "b", True, itemgetter(1), lambda scope, field: (scope, field), _dump_time, float
    ),
    TALLIES.name: _Layout("y", True, _tally_field, _tally_key, dump_json, json.loads),
}


class TransactionValues:
    """Values of tables, which are fields of hashes."""

    def __init__(self, known: Known, plan: CommitPlan, fields: Fields) -> None:
        self._known, self._plan, self._fields = known, plan, fields

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        """Works like `Store.values`."""
        if keys is not None:
            return self._get(table, list(keys))
        if table.name == TOMBSTONES.name and within is None and limit == 1:
            return self._any_tombstone(table)
        return choose_values(self._search(table, within), None, prefix=prefix, limit=limit)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """Works like `Transaction.set_values`."""
        layout = _layout_of(table)
        changes: dict[str, dict[Any, bytes | None]] = {}
        for key, value in values.items():
            place = _place_of(table, key)
            if place == EPOCH_PLACE:
                self._fields.count(place, _bytes(str(value)))
                continue
            fields = changes.setdefault(place[0], {})
            fields[place[2]] = None if value is None else _bytes(layout.dump(value))
        if clear:
            for scope in self._known.scopes(None) if layout.scoped else [""]:
                self._fields.clear(scope, layout.letter)
        for scope, fields in changes.items():
            self._write(layout, scope, fields)

    # Within.

    def _get(self, table: Table[K, V], keys: Sequence[Any]) -> dict[K, V]:
        load = _layout_of(table).load
        found = self._fields.read([_place_of(table, key) for key in keys])
        pairs = zip(keys, found, strict=True)
        return {key: load(stored.value) for key, stored in pairs if stored.value is not None}

    def _search(self, table: Table[K, V], within: Scope | None) -> dict[Any, V]:
        layout = _layout_of(table)
        found: dict[Any, V] = {
            layout.key_of(scope, field): layout.load(stored)
            for scope, fields in self._hashes(layout, within)
            for field, stored in fields.items()
        }
        if table.name == SETTINGS.name:
            (epoch,) = self._fields.read([EPOCH_PLACE])
            if int(epoch.value or 0):
                found[EPOCH] = cast("V", (epoch.value or b"").decode())
        return found

    def _hashes(self, layout: _Layout, within: Scope | None) -> Iterable[tuple[str, dict[bytes, bytes]]]:
        """The hashes of a table as they are now, by scope; also of scopes that got values only here."""
        scopes = [""]
        versions = []
        if layout.scoped:
            scopes = self._known.scopes(within)
            versions.append(SCOPES)
        versions += [layout.version_of(scope) for scope in scopes]
        self._fields.read_hashes([(scope, layout.letter) for scope in scopes], versions)
        if layout.scoped:
            scopes += [one for one in self._plan.words if one and (within is None or within.holds(one))]
        for scope in dict.fromkeys(scopes):
            yield scope, self._fields.merge((scope, layout.letter))

    def _any_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Tells whether there are tombstones: the one seen last answers, if it is still there."""
        (count,) = self._fields.read([TOMBS])
        if count.value in (None, b"0") and not self._plan.entombs:
            return {}
        seen = self._known.memo.tombstone
        return (self._get(table, [seen]) if seen else {}) or self._first_tombstone(table)

    def _first_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Looks through all scopes, which is seldom: when others lifted the one that was known."""
        scopes, letter = self._known.scopes(None), _layout_of(table).letter
        self._known.wanted.update(dict.fromkeys((scope, letter, None) for scope in scopes))
        self._known.fetch()
        for scope in scopes:
            for mark, since in sorted(self._fields.merge((scope, letter)).items()):
                self._memorise((scope, letter, mark), since)
                return self._get(table, [(scope, mark)])
        return {}

    def _write(self, layout: _Layout, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        self._fields.set(scope, layout.letter, fields)
        kept = [field for field, value in fields.items() if value is not None]
        if layout.scoped and kept:
            self._plan.named.add(scope)
        if layout is _LAYOUTS[TOMBSTONES.name] and kept:
            self._plan.entomb()
            self._memorise((scope, layout.letter, kept[-1]), fields[kept[-1]])

    def _memorise(self, tombstone: Place, since: bytes | None) -> None:
        self._known.memo.tombstone = (tombstone[0], tombstone[2])
        self._known.memo.fields[tombstone] = since


def _place_of(table: Table[Any, Any], key: Any) -> Place:
    """Returns where one value is kept. The epoch is part of the store's head."""
    if table.name == SETTINGS.name and key == EPOCH:
        return EPOCH_PLACE
    layout = _LAYOUTS[table.name]
    return key[0] if layout.scoped else "", layout.letter, layout.field_of(key)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
