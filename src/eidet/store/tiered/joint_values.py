"""Which member keeps which small values.

Tombstones are in all of them, staged vectors with their records. Settings, tallies and leases are the long
store's; but each member knows whose vectors are staged, so that it can switch by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Protocol, cast

from ...core.errors import Unavailable
from ...core.scope import Scope
from .. import EPOCH, SETTINGS, STAGED, TOMBSTONES, Table
from ..model import STAGED_NAME, STAGED_UP_TO, K, V
from .member import LONG, SHORT, STEP, Member
from .member_transactions import Parts

STAGED_SETTINGS: Final = (STAGED_NAME, STAGED_UP_TO)


class HasValues(Protocol):
    """A store or a transaction."""

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]: ...


def belongs_to_long(table: Table[K, V]) -> bool:
    return table.name not in (TOMBSTONES.name, STAGED.name)


def read_member(
    member: Member,
    source: HasValues,
    table: Table[K, V],
    keys: Sequence[K] | None,
    within: Scope | None,
    limit: int | None,
) -> dict[K, V]:
    """What one member has of a table that several keep; seqs are those of all members."""
    if table.name != STAGED.name:
        return source.values(table, keys, within=within, limit=limit)
    own = None if keys is None else list(_staged_keys(member, cast("Sequence[int]", keys)))
    found = {}
    for key, vector in source.values(STAGED, own, limit=limit).items():
        found[member.outer_seq(key) if key >= 0 else -key] = vector
    return cast("dict[K, V]", found)


def _staged_keys(member: Member, seqs: Iterable[int]) -> dict[int, int]:
    """Under which keys a member keeps vectors: by its own seqs, which are then found when it switches.

    The long store also keeps those of seqs that no store has, so that nothing is lost.
    """
    keys = {}
    for seq in seqs:
        if member.owns(seq):
            keys[seq // STEP] = seq
        elif member.number == LONG and seq % STEP != SHORT:
            keys[-seq] = seq
    return keys


def join(parts: Iterable[Mapping[K, V]], limit: int | None) -> dict[K, V]:
    found: dict[Any, V] = {}
    for part in parts:
        found |= part
    return {key: found[key] for key in islice(sorted(found), limit)}


def part_of(member: Member, table: Table[K, V], values: Mapping[K, V | None]) -> dict[Any, Any]:
    """What one member sets of values that several keep."""
    if table.name != STAGED.name:
        return dict(values)
    vectors = cast("Mapping[int, bytes | None]", values)
    return {key: vectors[seq] for key, seq in _staged_keys(member, vectors).items()}


class LastSettings:
    """The settings that were last read: they stand in while the long store is down."""

    def __init__(self) -> None:
        self._by_name: dict[str, str | None] = {}
        self._by_prefix: dict[str, dict[str, str]] = {}

    def keep(self, names: Sequence[str] | None, prefix: str, found: Mapping[str, str]) -> None:
        if names is None:
            self._by_prefix[prefix] = dict(found)
            return
        for name in names:
            self._by_name[name] = found.get(name)

    def recall(self, names: Sequence[str] | None, prefix: str, error: Unavailable) -> dict[str, str]:
        """As they were; raises `error` where they were never read."""
        if names is None:
            if prefix not in self._by_prefix:
                raise error
            return dict(self._by_prefix[prefix])
        if any(name not in self._by_name for name in names):
            raise error
        found = {name: self._by_name[name] for name in names}
        return {name: value for name, value in found.items() if value is not None}


class JointValues:
    """The small values of a joint write."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        asked = None if keys is None else list(keys)
        if self._parts.members.long in self._parts.away and cast("list[object]", asked) == [EPOCH]:
            return cast("dict[K, V]", {EPOCH: str(self._parts.members.epoch)})  # as it was last told
        if belongs_to_long(table):
            with self._parts.using(self._parts.members.long) as transaction:
                found: dict[K, V] = transaction.values(
                    table, asked, within=within, prefix=prefix, limit=limit
                )
            return found
        parts = self._parts.ask(lambda member, part: read_member(member, part, table, asked, within, limit))
        return join(parts, limit)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        if table.name == SETTINGS.name:
            self._set_settings(cast("Mapping[str, str | None]", values), clear)
        elif belongs_to_long(table):
            with self._parts.using(self._parts.members.long) as transaction:
                transaction.set_values(table, values, clear=clear)
        elif values or clear:
            self._set_in_all(table, values, clear)

    def _set_in_all(self, table: Table[K, V], values: Mapping[K, V | None], clear: bool) -> None:
        if table.name == STAGED.name:
            self._parts.need_all_at_home()
        if table.name == TOMBSTONES.name:
            self._parts.need_all("a tombstone")
        for member in self._parts.transactions:
            with self._parts.using(member) as transaction:
                transaction.set_values(table, part_of(member, table, values), clear=clear)

    def _set_settings(self, settings: Mapping[str, str | None], clear: bool) -> None:
        if EPOCH in settings:
            self._parts.need_all_at_home()
        shared = {name: value for name, value in settings.items() if name in STAGED_SETTINGS}
        if shared:
            self._set_in_all(SETTINGS, shared, False)
        if settings or clear:
            with self._parts.using(self._parts.members.long) as transaction:
                transaction.set_values(SETTINGS, settings, clear=clear)
