"""Tables of small values on Redis, kept as fields of hashes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, Final

from ...core.scope import Scope
from ...core.validate import dump_json
from ..answers import choose_values
from ..model import EPOCH, SETTINGS, STAGED, TALLIES, TOMBSTONES, K, Table, V
from .client import Command
from .commit_plan import CommitPlan
from .record_reader import Reading

# Counters of the store that nearly every job reads. `scopes` rises when a scope is written for the first
# time, `tombs` with tombstones that are set or lifted.
_HEAD: Final = ("epoch", "scopes", "tombs")


@dataclass(frozen=True, slots=True)
class _Layout:
    """The mapping of a table to a hash. `key_of` takes the scope and a field name from the server."""

    letter: str
    scoped: bool
    field_of: Callable[[Any], str | bytes]
    key_of: Callable[[str, bytes], Any]
    dump: Callable[[Any], str | bytes]
    load: Callable[[bytes], Any]

    def place_of(self, key: Any) -> tuple[str, bytes]:
        """Returns the scope that a value lies in ("" for the store itself) and its field."""
        return key[0] if self.scoped else "", _bytes(self.field_of(key))


def _tally_key(scope: str, field: bytes) -> tuple[str, int, str]:
    day, _, thing = field.decode().partition("\0")
    return scope, int(day), thing


_LAYOUTS: Final = {
    SETTINGS.name: _Layout("s", False, str, lambda _, field: field.decode(), str, bytes.decode),
    STAGED.name: _Layout("v", False, str, lambda _, field: int(field), bytes, bytes),
    TOMBSTONES.name: _Layout(
        "b", True, itemgetter(1), lambda *key: key, lambda since: repr(float(since)), float
    ),
    TALLIES.name: _Layout("y", True, lambda key: f"{key[1]}\0{key[2]}", _tally_key, dump_json, json.loads),
}


class TableValues:
    """The values of all tables, as they are after the jobs that ran here."""

    def __init__(self, reading: Reading, plan: CommitPlan) -> None:
        self._reading, self._keys, self._plan = reading, reading.keys, plan
        self._own: dict[tuple[str, str], dict[bytes, bytes | None]] = {}  # by scope and letter: what was set
        self._cleared: set[tuple[str, str]] = set()
        self._epoch: bytes | None = None  # as set here
        self._head: dict[str, bytes | None] = {}

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
        if table.name == TOMBSTONES.name and limit == 1 and within is None and not self._sets_tombstones:
            return self._any_tombstone()
        return choose_values(self._all(table, within), None, prefix=prefix, limit=limit)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        """Works like `Transaction.set_values`."""
        layout = _LAYOUTS[table.name]
        if clear:
            for scope in self.scopes(None) if layout.scoped else [""]:
                self._cleared.add((scope, layout.letter))
                self._own[scope, layout.letter] = {}
                self._plan.run(scope, "DEL", layout.letter)
        changes: dict[str, dict[bytes, bytes | None]] = {}
        for key, value in values.items():
            if table.name == SETTINGS.name and key == EPOCH:
                self._set_epoch(_bytes(str(value)))
                continue
            scope, field = layout.place_of(key)
            changes.setdefault(scope, {})[field] = None if value is None else _bytes(layout.dump(value))
        for scope, fields in changes.items():
            self.set_fields(scope, layout.letter, fields)

    def set_fields(self, scope: str, letter: str, fields: Mapping[bytes, bytes | None]) -> None:
        """Sets fields of a hash; None removes one."""
        self._own.setdefault((scope, letter), {}).update(fields)
        kept = [(field, value) for field, value in fields.items() if value is not None]
        gone = [field for field, value in fields.items() if value is None]
        if kept:
            if scope:
                self._plan.named.add(scope)
            self._plan.run(scope, "HSET", letter, *chain.from_iterable(kept))
        if gone:
            self._plan.run(scope, "HDEL", letter, *gone)

    def forget_staged(self, seqs: Iterable[int]) -> None:
        """Hides the staged vectors of removed records; the script deletes them with the records."""
        self._own.setdefault(("", "v"), {}).update({b"%d" % seq: None for seq in seqs})

    def read_fields(self, scope: str, letter: str, fields: Sequence[bytes]) -> list[bytes | None]:
        """Reads fields of a hash, including what was set here."""
        own = self._own.get((scope, letter), {})
        found = dict.fromkeys(fields) | own
        asked = [field for field in fields if field not in own]
        if asked and (scope, letter) not in self._cleared:
            command = ("HMGET", self._keys.base(scope) + letter, *asked)
            found |= zip(asked, self._reading.client.ask(command), strict=True)
            for field in asked:
                self._plan.guard((scope, letter, field), found[field])
        return [found[field] for field in fields]

    def read_hash(self, scope: str, letter: str) -> dict[bytes, bytes]:
        """Reads a whole hash, including what was set here."""
        found: dict[bytes, bytes | None] = {}
        if (scope, letter) not in self._cleared:
            asked = ("HGET", self._keys.base(scope) + ("m" if scope else "h"), "v")
            everything = ("HGETALL", self._keys.base(scope) + letter)
            version, found = self._reading.client.read([asked, everything])
            self._plan.guard_version(scope, version)
        found |= self._own.get((scope, letter), {})
        return {field: value for field, value in found.items() if value is not None}

    def scopes(self, scope: Scope | None) -> list[str]:
        """Lists scopes; guards against new ones before the commit."""
        if scope is None or not scope.is_one:
            self._read_head("scopes")
        return self._reading.scopes(scope)

    # Internals.

    @property
    def asking_head(self) -> Command:
        return ("HMGET", self._keys.store + "h", *_HEAD)

    def learn_head(self, values: Sequence[bytes | None]) -> None:
        self._head = self._head or dict(zip(_HEAD, values, strict=True))

    def _read_head(self, name: str) -> bytes:
        """Reads a counter of the store, and guards it."""
        if not self._head:
            self.learn_head(self._reading.client.ask(self.asking_head))
        self._plan.guard(("", "h", name), self._head[name])
        return self._head[name] or b"0"

    def _get(self, table: Table[K, V], keys: Sequence[Any]) -> dict[K, V]:
        layout = _LAYOUTS[table.name]
        found: dict[Any, Any] = {}
        places: dict[str, dict[bytes, Any]] = {}
        for key in keys:
            if table.name == SETTINGS.name and key == EPOCH:
                found[key] = self._read_epoch().decode()
                continue
            scope, field = layout.place_of(key)
            places.setdefault(scope, {})[field] = key
        for scope, fields in places.items():
            values = self.read_fields(scope, layout.letter, list(fields))
            found |= {
                key: layout.load(value)
                for key, value in zip(fields.values(), values, strict=True)
                if value is not None
            }
        return {key: found[key] for key in keys if key in found}

    def _all(self, table: Table[K, V], within: Scope | None) -> dict[Any, V]:
        layout, scopes = _LAYOUTS[table.name], [""]
        if layout.scoped:
            new = (scope for scope, _ in self._own if scope and (within is None or within.holds(scope)))
            scopes = list(dict.fromkeys([*self.scopes(within), *new]))
        found: dict[Any, Any] = {
            layout.key_of(scope, field): layout.load(value)
            for scope in scopes
            for field, value in self.read_hash(scope, layout.letter).items()
        }
        if table.name == SETTINGS.name and int(self._read_epoch()):
            found[EPOCH] = self._read_epoch().decode()
        return found

    @property
    def _sets_tombstones(self) -> bool:
        return any(letter == "b" for _, letter in self._own)

    def _any_tombstone(self) -> dict[Any, Any]:
        """Returns one tombstone if there are any; else nothing."""
        if self._read_head("tombs") == b"0":
            return {}
        found = self._reading.client.ask(("HRANDFIELD", self._keys.store + "q", 1, "WITHVALUES"))
        if not found:
            return {}
        since, _, mark = found[1].partition(b" ")
        return {(found[0].decode(), mark): float(since)}

    def _read_epoch(self) -> bytes:
        return self._read_head("epoch") if self._epoch is None else self._epoch

    def _set_epoch(self, value: bytes) -> None:
        rise = int(value) - int(self._read_epoch())
        self._epoch = value
        self._plan.run("", "HINCRBY", "h", "epoch", rise)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
