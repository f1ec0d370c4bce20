"""Compares both ends: counts and digests of each scope, and the records that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple

from ..core.record import Record
from ..core.record_table import encode_fields
from ..core.validate import dump_json
from ..core.where import Where
from ..parts import Parts
from ..store import TombstoneGuard, verbs
from ..store.rules import Entombed, check_entombed

if TYPE_CHECKING:
    from .transfer import Fit

_OF_THE_STORE: Final = ("seq", "uses", "last_used")  # uses are carried, but the target goes on counting
_BYTES: Final = 16
_MOST: Final = 100


class RecordDifference(NamedTuple):
    """A record that the target does not have as the source has it."""

    scope: str
    id: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One scope: how many of the source's records each end has, and a digest of their content.

    A digest is the same in whatever order records lie. `left_out` were forgotten in the target;
    `more` are only there.
    """

    scope: str
    source: int
    target: int
    source_digest: str
    target_digest: str
    left_out: int = 0
    more: int = 0

    @property
    def equal(self) -> bool:
        return (self.source, self.source_digest) == (self.target, self.target_digest)


def print_of(record: Record, own: frozenset[str]) -> int:
    """A digest of a record, without the fields that its store (or, by `own`, the target) makes itself."""
    fields = encode_fields(record)
    for name in (*_OF_THE_STORE, *own):
        fields.pop(name, None)
    packed = dump_json(fields, sort_keys=True).encode()
    return int.from_bytes(blake2b(packed, digest_size=_BYTES).digest())


class EndsComparison:
    """Sums over both ends. Only sums are kept, and the first differences."""

    def __init__(self, target: Parts, fit: Fit, *, ids_only: bool) -> None:
        self._parts, self._target = target, target.store
        self._own = fit.own
        self._ids_only = ids_only
        self._counts: dict[str, Counter[str]] = {}
        self.differences: list[RecordDifference] = []

    def look(self, batch: Sequence[Record], now: float) -> None:
        """Compares a batch of the source's records, and makes up for uses counted since."""
        there = verbs.find_same_ids(self._target, batch)
        for record in batch:
            self._look(record, there.get((record.scope, record.id)), now)
        pairs = [(record, there[key]) for record in batch if (key := (record.scope, record.id)) in there]
        uses = {(one.scope, one.id): _missing_uses(one, other) for one, other in pairs}
        if missed := {key: use for key, use in uses.items() if use is not None}:
            verbs.add_uses(self._target, missed)

    def _look(self, record: Record, old: Record | None, now: float) -> None:
        counts = self._counts.setdefault(record.scope, Counter())
        if old is None and (_is_over(record, now) or self._is_left_out(record)):
            counts["left_out"] += 1
            return
        ours, theirs = self._print(record), None if old is None else self._print(old)
        counts.update(source=1, source_sum=ours)
        if theirs is not None:
            counts.update(target=1, target_sum=theirs)
        if ours != theirs and len(self.differences) < _MOST:
            self.differences.append(RecordDifference(record.scope, record.id, _why(record, old, self._own)))

    def _print(self, record: Record) -> int:
        return print_of(
            Record(id=record.id, scope=record.scope, text="") if self._ids_only else record, self._own
        )

    def _is_left_out(self, record: Record) -> bool:
        """Tells whether the target forgot it, by itself or for good by its content."""
        story = self._target.history(record.scope, record.id)
        if story and story[-1].what == "forgotten":
            return True
        return is_entombed(self._parts, record)

    def scopes(self, where: Where) -> tuple[Compared, ...]:
        sizes = verbs.count_scopes(self._target, where.scope, alive_at=where.alive_at)
        return tuple(self._scope(name, sizes.get(name, 0)) for name in sorted({*self._counts, *sizes}))

    def _scope(self, name: str, size: int) -> Compared:
        counts = self._counts.get(name, Counter())
        return Compared(
            scope=name,
            source=counts["source"],
            target=counts["target"],
            source_digest=_hex(counts["source_sum"]),
            target_digest=_hex(counts["target_sum"]),
            left_out=counts["left_out"],
            more=max(size - counts["target"], 0),
        )


def is_entombed(parts: Parts, record: Record) -> bool:
    """Tells whether a memory would refuse a record that arrives by itself."""
    store = parts.store
    if verbs.get_setting(store, "secret:marks") is None:
        return False
    watch: TombstoneGuard = parts.tombstones.over_returning([record])
    try:
        check_entombed(
            [record],
            watch.claims(),
            watch,
            lambda scope, mark: verbs.tombstones_in(store, scope, [mark]).get(mark),
            lambda scope, name: store.read(scope, [name])[0] is not None,
        )
    except Entombed:
        return True
    return False


def _is_over(record: Record, now: float) -> bool:
    """Tells whether it has expired since it was read: some stores drop it at once."""
    return record.expires is not None and record.expires <= now


def _missing_uses(one: Record, other: Record) -> tuple[int, float] | None:
    """The uses that the target lacks."""
    if one.last_used is None or (one.uses <= other.uses and one.last_used <= (other.last_used or 0.0)):
        return None
    return max(one.uses - other.uses, 0), one.last_used


def _why(record: Record, old: Record | None, own: frozenset[str]) -> str:
    if old is None:
        return "is missing in the target"
    ours, theirs = encode_fields(record), encode_fields(old)
    compared = sorted({*ours, *theirs} - {*_OF_THE_STORE, *own})
    names = [name for name in compared if ours.get(name) != theirs.get(name)]
    held = "" if old.state.hold is None else "; it is under a legal hold in the target"
    return f"differs in {', '.join(names) or 'its values'}{held}"


def _hex(total: int) -> str:
    return f"{total % 2 ** (8 * _BYTES):032x}"
