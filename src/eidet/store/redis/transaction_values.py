"""The small values of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from ...core.scope import Scope
from ..model import EPOCH, SETTINGS, TALLIES, TOMBSTONES, K, Table, V
from .commit_plan import CommitPlan
from .hash_fields import Fields
from .known import Known
from .tables import Layout, Place, layout_of, place_of, read_hash

SCOPES: Place = ("", "h", "scopes")  # rises when a scope is written for the first time
EPOCH_PLACE: Place = ("", "h", EPOCH)
TOMBS: Place = ("", "h", "tombs")  # 0 as long as there never was a tombstone


class TransactionValues:
    """Values of tables, which are fields of hashes."""

    def __init__(self, known: Known, plan: CommitPlan, fields: Fields) -> None:
        self._known, self._plan, self._fields = known, plan, fields

    def get(self, table: Table[K, V], keys: Sequence[K]) -> dict[K, V]:
        load = layout_of(table).load
        found = self._fields.read([place_of(table, key) for key in keys])
        values: dict[K, V] = {}
        for key, stored in zip(keys, found, strict=True):
            if stored.value is not None:
                values[key] = load(stored.value)
        return values

    def search(self, table: Table[K, V], within: Scope | None, prefix: str, limit: int | None) -> dict[K, V]:
        if table.name == TOMBSTONES.name and within is None and limit == 1:
            return self._any_tombstone(table)
        found: dict[Any, V] = {}
        for scope, fields in self._hashes(layout_of(table), within):
            found.update(read_hash(table, scope, fields))
        if table.name == SETTINGS.name:
            found.update(cast("Mapping[Any, V]", self._epoch()))
        chosen: Iterable[Any] = sorted(found)
        if prefix:
            chosen = (key for key in chosen if key.startswith(prefix))
        return {key: found[key] for key in islice(chosen, limit)}

    def set(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool) -> None:
        layout = layout_of(table)
        changes: dict[str, dict[Any, bytes | None]] = {}
        for key, value in values.items():
            place = place_of(table, key)
            if place[2] == EPOCH and table.name == SETTINGS.name:
                self._set_epoch(place, value)
                continue
            fields = changes.setdefault(place[0], {})
            fields[place[2]] = None if value is None else _bytes(layout.dump(value))
            if value is None and table.name == TALLIES.name:
                fields.update(dict.fromkeys(self._former_counts(place)))
        if clear:
            self._clear(layout)
        for scope, fields in changes.items():
            self._write(layout, scope, fields)
            if table.name == TOMBSTONES.name:
                self._note_tombstones(scope, fields)

    # Within.

    def _hashes(self, layout: Layout, within: Scope | None) -> Iterable[tuple[str, dict[bytes, bytes]]]:
        """The hashes of a table as they are now, by scope."""
        scopes = self._known.scopes(within) if layout.scoped else [""]
        versions = [layout.version_of(scope) for scope in scopes]
        if layout.scoped:
            versions.append(SCOPES)
        self._fields.read_hashes([(scope, layout.letter) for scope in scopes], versions)
        for scope in dict.fromkeys((*scopes, *self._own_scopes(layout, within))):
            yield scope, self._fields.merge((scope, layout.letter))

    def _own_scopes(self, layout: Layout, within: Scope | None) -> list[str]:
        """Scopes that may have got values only here."""
        if not layout.scoped:
            return []
        return [scope for scope in self._plan.parts if scope and (within is None or within.holds(scope))]

    def _any_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Writers ask whether there are any: the one that was seen last tells, if it is still there."""
        (count,) = self._fields.read([TOMBS])
        if count.value in (None, b"0") and not self._plan.entombs:
            return {}
        memo = self._known.memo
        found = {} if memo.tombstone is None else self.get(table, [cast("K", memo.tombstone)])
        return found or self._first_tombstone(table)

    def _first_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Looks through all scopes, which is seldom: when others lifted the one that was known."""
        layout, memo = layout_of(table), self._known.memo
        scopes = self._known.scopes(None)
        self._known.wanted.update(dict.fromkeys((scope, layout.letter, None) for scope in scopes))
        self._known.fetch()
        for scope in scopes:
            for field, value in sorted(self._fields.merge((scope, layout.letter)).items()):
                memo.tombstone, memo.fields[scope, layout.letter, field] = (scope, field), value
                return {layout.key_of(scope, field): layout.load(value)}
        return {}

    def _note_tombstones(self, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        stones = [field for field, value in fields.items() if value is not None]
        if stones:
            self._plan.entomb(scope)
            last, memo = stones[-1], self._known.memo
            memo.tombstone = (scope, last)
            memo.fields[scope, layout_of(TOMBSTONES).letter, last] = fields[last]

    def _former_counts(self, place: Place) -> list[bytes]:
        """The fields in which the former layout kept the counts of a tally, as far as they were listed."""
        scope, letter, field = place
        begin = _bytes(field) + b"\0"
        return [name for name in self._fields.merge((scope, letter)) if name.startswith(begin)]

    def _epoch(self) -> dict[str, str]:
        found = self.get(SETTINGS, [EPOCH])
        return found if int(found.get(EPOCH, 0)) else {}

    def _set_epoch(self, place: Place, value: Any) -> None:
        self._fields.show(place, _bytes(str(value)))
        self._plan.epoch = int(value)

    def _clear(self, layout: Layout) -> None:
        for scope in self._known.scopes(None) if layout.scoped else [""]:
            self._fields.clear(scope, layout.letter)
            self._raise_version(layout, scope)

    def _write(self, layout: Layout, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        self._fields.set(scope, layout.letter, fields)
        if layout.scoped and any(value is not None for value in fields.values()):
            self._plan.register(scope)
        self._raise_version(layout, scope)

    def _raise_version(self, layout: Layout, scope: str) -> None:
        _, letter, field = layout.version_of(scope)
        self._plan.run(scope, "HINCRBY", letter, field, 1)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
