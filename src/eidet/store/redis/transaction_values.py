"""The small values of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from ...core.scope import Scope
from ..model import EPOCH, SETTINGS, TOMBSTONES, K, Table, V
from .commit_plan import CommitPlan
from .known import Known
from .tables import LAYOUTS, Layout, Place, place_of, read_hash, scope_of


class TransactionValues:
    """Reads values, guards what was read, and shows a job what it has set itself.

    With `guess`, values are those that this process last knew: `guessed` if a job asked for some, `unsure`
    if it needed more than that.
    """

    def __init__(self, known: Known, plan: CommitPlan, *, guess: bool) -> None:
        self._known, self._plan, self._keys = known, plan, known.keys
        self.guess, self.guessed, self.unsure = guess, False, False
        self._own: dict[str, dict[Any, bytes | None]] = {}
        self._cleared: set[str] = set()

    def get(self, table: Table[K, V], keys: Sequence[K]) -> dict[K, V]:
        places = [place_of(self._keys, table, key) for key in keys]
        self._want(place for place in places if not self._is_own(place))
        load = LAYOUTS[table.name].load
        values: dict[K, V] = {}
        for key, place in zip(keys, places, strict=True):
            value = self._at(place)
            if value is not None:
                values[key] = load(value)
        return values

    def list(self, table: Table[K, V], within: Scope | None, prefix: str, limit: int | None) -> dict[K, V]:
        if table.name == TOMBSTONES.name and within is None and limit == 1:
            return self._any_tombstone(table)
        found: dict[Any, V] = {}
        layout = LAYOUTS[table.name]
        for scope, fields in self._hashes(layout, within):
            found.update(read_hash(table, scope, fields))
        if table.name == SETTINGS.name:
            found.update(cast("Mapping[Any, V]", self._epoch()))
        chosen: Iterable[Any] = sorted(found)
        if prefix:
            chosen = (key for key in chosen if key.startswith(prefix))
        return {key: found[key] for key in islice(chosen, limit)}

    def set(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool) -> None:
        layout = LAYOUTS[table.name]
        changes: dict[str, dict[Any, bytes | None]] = {}
        for key, value in values.items():
            if table.name == SETTINGS.name and key == EPOCH:
                self._set_epoch(value)
                continue
            dumped = None if value is None else _bytes(layout.dump(value))
            changes.setdefault(scope_of(table, key), {})[layout.field_of(key)] = dumped
        if clear:
            self._clear(layout)
        for scope, fields in changes.items():
            self._write(layout, scope, fields)
            if table.name == TOMBSTONES.name:
                self._note_tombstones(scope, fields)

    def expect_scopes(self) -> None:
        """That no scope was written for the first time meanwhile."""
        self._expect([(self._keys.store + "h", "scopes")])

    def expect_unchanged(self, table: Table[Any, Any]) -> None:
        """That nobody changed a table of the store meanwhile."""
        self._expect([LAYOUTS[table.name].version_of(self._keys, "")])

    # Within.

    def _want(self, places: Iterable[Place]) -> None:
        self._known.wanted.fields.update(dict.fromkeys(places))
        if not self.guess:
            self._known.fetch()

    def _is_own(self, place: Place) -> bool:
        return place[1] in self._own.get(place[0], ()) or place[0] in self._cleared

    def _at(self, place: Place) -> bytes | None:
        key, field = place
        if self._is_own(place):
            return self._own.get(key, {}).get(field)
        value = self._known.field(place)
        self.guessed = self.guessed or not self._known.knows(place)
        self._plan.guard(key, field, value or b"")
        return value

    def _expect(self, places: Sequence[Place]) -> None:
        self._want(places)
        for place in places:
            self._at(place)

    def _hashes(self, layout: Layout, within: Scope | None) -> Iterable[tuple[str, dict[Any, bytes]]]:
        """The hashes of a table as they are now, by scope."""
        scopes = self._known.scopes(within) if layout.scoped else [""]
        keys = {scope: layout.hash_of(self._keys, scope) for scope in scopes}
        self._known.wanted.hashes.update(dict.fromkeys(keys.values()))
        guards = [layout.version_of(self._keys, scope) for scope in scopes]
        guards.append((self._keys.store + "h", "scopes" if layout.scoped else EPOCH))
        self._expect(guards)
        self.unsure = self.unsure or self.guess
        for scope, key in {**keys, **self._own_scopes(layout, within)}.items():
            yield scope, self._merged(key)

    def _own_scopes(self, layout: Layout, within: Scope | None) -> dict[str, str]:
        """Scopes that have got values only here."""
        found = {}
        for scope in self._plan.scopes if layout.scoped else ():
            if within is None or within.holds(scope):
                found[scope] = layout.hash_of(self._keys, scope)
        return found

    def _merged(self, key: str) -> dict[Any, bytes]:
        fields: dict[Any, bytes] = {}
        if key not in self._cleared:
            fields.update(self._known.hash(key) or {})
        for field, value in self._own.get(key, {}).items():
            name = _bytes(field)
            if value is None:
                fields.pop(name, None)
            else:
                fields[name] = value
        return fields

    def _any_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Writers ask whether there are any: the one that was seen last tells, if it is still there."""
        count = (self._keys.store + "h", "tombs")
        self._want([count])
        if self._at(count) in (None, b"0") and not self._plan.entombs:
            return {}
        memo = self._known.memo
        found = {} if memo.tombstone is None else self.get(table, [cast("K", memo.tombstone)])
        return found or self._first_tombstone(table)

    def _first_tombstone(self, table: Table[K, V]) -> dict[K, V]:
        """Looks through all scopes, which is seldom: when others lifted the one that was known."""
        layout, memo = LAYOUTS[table.name], self._known.memo
        scopes = self._known.scopes(None)
        self._known.wanted.hashes.update(dict.fromkeys(layout.hash_of(self._keys, one) for one in scopes))
        self._known.fetch()
        for scope in scopes:
            key = layout.hash_of(self._keys, scope)
            for field, value in sorted(self._merged(key).items()):
                memo.tombstone, memo.fields[key, field] = (scope, field), value
                return {layout.key_of(scope, field): layout.load(value)}
        return {}

    def _epoch(self) -> dict[str, str]:
        found = self.get(SETTINGS, [EPOCH])
        return found if int(found.get(EPOCH, 0)) else {}

    def _set_epoch(self, value: Any) -> None:
        key, field = place_of(self._keys, SETTINGS, EPOCH)
        self._own.setdefault(key, {})[field] = _bytes(str(value))
        self._plan.epoch = int(value)

    def _clear(self, layout: Layout) -> None:
        scopes = self._known.scopes(None) if layout.scoped else [""]
        for scope in scopes:
            key = layout.hash_of(self._keys, scope)
            self._cleared.add(key)
            self._own[key] = {}
            self._run(layout, scope, "DEL", layout.letter)
            self._raise_version(layout, scope)

    def _write(self, layout: Layout, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        self._own.setdefault(layout.hash_of(self._keys, scope), {}).update(fields)
        pairs: list[Any] = []
        gone = [field for field, value in fields.items() if value is None]
        for field, value in fields.items():
            if value is not None:
                pairs += [field, value]
        if pairs:
            self._run(layout, scope, "HSET", layout.letter, *pairs)
        if gone:
            self._run(layout, scope, "HDEL", layout.letter, *gone)
        if layout.scoped and pairs:
            self._plan.register(scope)
        self._raise_version(layout, scope)

    def _raise_version(self, layout: Layout, scope: str) -> None:
        _, field = layout.version_of(self._keys, scope)
        self._run(layout, scope, "HINCRBY", "m" if layout.scoped else "h", field, 1)

    def _run(self, layout: Layout, scope: str, command: str, letter: str, *arguments: Any) -> None:
        if layout.scoped:
            self._plan.on_scope(scope, command, letter, *arguments)
        else:
            self._plan.on_store(command, letter, *arguments)

    def _note_tombstones(self, scope: str, fields: Mapping[Any, bytes | None]) -> None:
        stones = [field for field, value in fields.items() if value is not None]
        if stones:
            self._plan.entomb(scope)
            last, memo = stones[-1], self._known.memo
            memo.tombstone = (scope, last)
            memo.fields[self._keys.base(scope) + LAYOUTS[TOMBSTONES.name].letter, last] = fields[last]


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
