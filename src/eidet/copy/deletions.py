"""What the source has forgotten since it was copied leaves the target, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..memory import Memory
from ..parts import Parts
from ..store import verbs
from ..store.tombstones import Marker, secret_of
from ..write.reembed import batches
from .transfer import BY, there_of

BATCH: Final = 256


def follow(source: Memory, target: Memory, scope: Scope | None, now: float) -> int:
    """How many went. What is under a legal hold in the target stays; so does what only the target knew."""
    ours, theirs = source.parts, target.parts
    walk = batches(verbs.scan(theirs.store, Where(scope=scope), batch=BATCH), BATCH)
    return sum(_delete_dead(ours, target, list(_dead(ours, batch)), now) for batch in walk)


def _dead(source: Parts, records: Sequence[Record]) -> Iterator[Record]:
    """Those that the source had, and has no more."""
    there = there_of(source.store, records)
    for record in records:
        if (record.scope, record.id) not in there and record.state.hold is None:
            story = source.store.history(record.scope, record.id)
            if story and story[-1].what == "forgotten" and record.created <= story[-1].at:
                yield record


def _delete_dead(source: Parts, target: Memory, dead: Sequence[Record], now: float) -> int:
    for_good = [record for record in dead if _is_for_good(source, record)]
    gone = verbs.delete_unchanged(
        target.parts.store, [record for record in dead if record not in for_good], now=now, by=BY
    )
    count = len(gone)
    for path in {record.scope for record in for_good}:
        ids = [record.id for record in for_good if record.scope == path]
        count += target.forget(ids, scope=path, by=BY, why="forgotten in the memory it was copied from")
    return count


def _is_for_good(source: Parts, record: Record) -> bool:
    store = source.store
    if verbs.get_setting(store, "secret:marks") is None:
        return False
    mark = Marker(secret_of(store, "marks", make=False)).of_id(record.scope, record.id)
    return bool(verbs.tombstones_in(store, record.scope, [mark]))
