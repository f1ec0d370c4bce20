"""The tables of small values: hashes of the store or of each scope, and how a transaction sees them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Final, cast

from ...core.scope import Scope
from ...core.validate import dump_json
from ..answers import choose_values
from ..model import EPOCH, SETTINGS, STAGED, TALLIES, TOMBSTONES, K, Table, V
from .commit_plan import CommitPlan
from .key_names import Place
from .known import EPOCH_PLACE, SCOPES, TOMBS, Fields, Known


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table becomes a hash. `key_of` takes the scope and a field as the server tells it."""

    letter: str
    scoped: bool
    field_of: Callable[[Any], str | bytes]
    key_of: Callable[[str, bytes], Any]
    dump: Callable[[Any], str | bytes]
    load: Callable[[bytes], Any]

    def version_of(self, scope: str) -> Place:
        """Rises with each change of the table."""
        return scope, "m" if self.scoped else "h", f"t:{self.letter}"


def layout_of(table: Table[Any, Any]) -> Layout:
    return LAYOUTS[table.name]


def _tally_field(key: tuple[str, int, str]) -> str:
    return f"{key[1]}\0{key[2]}"


def _tally_key(scope: str, field: bytes) -> tuple[str, int, str]:
    day, _, thing = field.decode().partition("\0")
    return scope, int(day), thing


def _dump_time(since: float) -> str:
    return repr(float(since))


LAYOUTS: Final = {
    SETTINGS.name: Layout("s", False, str, lambda _, field: field.decode(), str, bytes.decode),
    STAGED.name: Layout("v", False, str, lambda _, field: int(field), bytes, bytes),
    TOMBSTONES.name: Layout("b", True, itemgetter(1), lambda scope, field: (scope, field), _dump_time, float),
    TALLIES.name: Layout("y", True, _tally_field, _tally_key, dump_json, json.loads),
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
        """As `Store.values`."""
        if keys is not None:
            return self._get(table, list(keys))
        if table.name == TOMBSTONES.name and within is None and limit == 1:
            return self._any_tombstone(table)
        return choose_values(self._search(table, within), None, prefix=prefix, limit=limit)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """As `Transaction.set_values`."""
        layout = layout_of(table)
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
        load = layout_of(table).load
        found = self._fields.read([_place_of(table, key) for key in keys])
        pairs = zip(keys, found, strict=True)
        return {key: load(stored.value) for key, stored in pairs if stored.value is not None}

    def _search(self, table: Table[K, V], within: Scope | None) -> dict[Any, V]:
        layout = layout_of(table)
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

    def _hashes(self, layout: Layout, within: Scope | None) -> Iterable[tuple[str, dict[bytes, bytes]]]:
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
        """Writers ask whether there are any: the one that was seen last tells, if it is still there."""
        (count,) = self._fields.read([TOMBS])
        if count.value in (None, b"0") and not self._plan.entombs:
            return {}
        seen = self._known.memo.tombstone
        return (self._get(table, [seen]) if seen else {}) or self._first_tombstone(table)

    def _first_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Looks through all scopes, which is seldom: when others lifted the one that was known."""
        scopes, letter = self._known.scopes(None), layout_of(table).letter
        self._known.wanted.update(dict.fromkeys((scope, letter, None) for scope in scopes))
        self._known.fetch()
        for scope in scopes:
            for mark, since in sorted(self._fields.merge((scope, letter)).items()):
                self._memorise((scope, letter, mark), since)
                return self._get(table, [(scope, mark)])
        return {}

    def _write(self, layout: Layout, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        self._fields.set(scope, layout.letter, fields)
        kept = [field for field, value in fields.items() if value is not None]
        if layout.scoped and kept:
            self._plan.named.add(scope)
        if layout is LAYOUTS[TOMBSTONES.name] and kept:
            self._plan.entomb()
            self._memorise((scope, layout.letter, kept[-1]), fields[kept[-1]])

    def _memorise(self, tombstone: Place, since: bytes | None) -> None:
        self._known.memo.tombstone = (tombstone[0], tombstone[2])
        self._known.memo.fields[tombstone] = since


def _place_of(table: Table[Any, Any], key: Any) -> Place:
    """Where one value is kept. The epoch is part of the store's head."""
    if table.name == SETTINGS.name and key == EPOCH:
        return EPOCH_PLACE
    layout = LAYOUTS[table.name]
    return key[0] if layout.scoped else "", layout.letter, layout.field_of(key)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
