"""Which member keeps which small values.

Tombstones are in all of them, staged vectors with their records. Settings, tallies and leases are the long
store's; but each member knows whose vectors are staged, so that it can switch by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, cast

from ...core.errors import Unavailable
from ...core.scope import Scope
from .. import STAGED, TOMBSTONES, Store, Table, Transaction
from ..model import STAGED_NAME, STAGED_UP_TO, K, V
from .member import LONG, SHORT, STEP, Member

STAGED_SETTINGS: Final = (STAGED_NAME, STAGED_UP_TO)


def belongs_to_long(table: Table[K, V]) -> bool:
    return table.name not in (TOMBSTONES.name, STAGED.name)


def read_member(
    member: Member,
    source: Store | Transaction,
    table: Table[K, V],
    keys: Sequence[K] | None,
    within: Scope | None,
    limit: int | None,
) -> dict[K, V]:
    """What one member has of a table that several keep; seqs are those of all members."""
    if table.name != STAGED.name:
        return source.values(table, keys, within=within, limit=limit)
    own = None if keys is None else list(_list_staged_keys(member, cast("Sequence[int]", keys)))
    found = {}
    for key, vector in source.values(STAGED, own, limit=limit).items():
        found[member.outer_seq(key) if key >= 0 else -key] = vector
    return cast("dict[K, V]", found)


def _list_staged_keys(member: Member, seqs: Iterable[int]) -> dict[int, int]:
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
    return {key: vectors[seq] for key, seq in _list_staged_keys(member, vectors).items()}


class LastSettings:
    """The settings that were last read: they stand in while the long store is down."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str | None, str], dict[str, str]] = {}  # by name, or by prefix

    def keep(self, names: Sequence[Any] | None, prefix: str, found: Mapping[Any, Any]) -> None:
        if names is None:
            self._kept[None, prefix] = dict(found)
            return
        for name in names:
            self._kept[name, ""] = {name: found[name]} if name in found else {}

    def recall(self, names: Sequence[Any] | None, prefix: str, error: Unavailable) -> dict[Any, Any]:
        """As they were; raises `error` where they were never read."""
        found: dict[str, str] = {}
        for question in [(None, prefix)] if names is None else [(name, "") for name in names]:
            if question not in self._kept:
                raise error
            found |= self._kept[question]
        return found
