"""The last stage of every write: records go to the store under the epoch of this memory's vectors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..core.actor import acts
from ..core.record import Record
from ..core.remembered import Rejected, RememberedList
from ..parts import Parts
from ..store import Watch, verbs
from ..store.rules import Entombed, StaleEpoch
from .arrivals import check_arrival, fits_embedder
from .ingest import Ingest
from .reembed import batches

log = logging.getLogger("eidet")


def put_records(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool = False,
    expect: int | None = None,
    by: str | None = None,
    watch: Watch | None = None,
) -> list[Record]:
    """Writes records whose vectors are of this memory's embedder, and takes pending uses along."""
    store, actor = parts.store, by or acts().by
    epoch = parts.binding.claim_epoch()
    try:
        stored = verbs.put(
            store, records, now=now, unique=unique, expect=expect, epoch=epoch, by=actor, watch=watch
        )
    except StaleEpoch:
        epoch = parts.binding.renew()
        stored = verbs.put(
            store, records, now=now, unique=unique, expect=expect, epoch=epoch, by=actor, watch=watch
        )
    parts.usage.flush_if_due()
    return stored


def put_said(
    parts: Parts, records: Sequence[Record], *, now: float, unique: bool, again: bool
) -> RememberedList:
    """Writes all records of a list that somebody says, but for those that were forgotten for good."""
    rest = list(enumerate(records))
    rejected: list[Rejected] = []
    while rest:
        said = [record for _, record in rest]
        try:
            watch = parts.tombstones.over_said(said, again=again)
            stored = put_records(parts, said, now=now, unique=unique, watch=watch)
        except Entombed as error:
            rejected += [Rejected(rest[at][0], since) for at, since in error.found.items()]
            rest = [one for at, one in enumerate(rest) if at not in error.found]
        else:
            _warn_of_rejected(rejected)
            return RememberedList(stored, sorted(rejected, key=attrgetter("index")))
    _warn_of_rejected(rejected)
    return RememberedList((), sorted(rejected, key=attrgetter("index")))


def _warn_of_rejected(rejected: Sequence[Rejected]) -> None:
    if rejected:
        places = ", ".join(str(one.index) for one in rejected[:10])
        log.warning(
            "%d things of a list were forgotten for good before and were not stored (items %s); "
            "remember(…, again=True) stores them again",
            len(rejected),
            places,
        )


def put_returning(
    parts: Parts, records: Sequence[Record], *, now: float, by: str | None = None
) -> list[Record]:
    """Writes records that nobody says, but for those that were forgotten for good; logs how many."""
    rest = list(records)
    while rest:
        try:
            watch = parts.tombstones.over_returning(rest)
            stored = put_records(parts, rest, now=now, by=by, watch=watch)
        except Entombed as error:
            rest = [record for at, record in enumerate(rest) if at not in error.found]
        else:
            _tell_left_out(len(records) - len(rest))
            return stored
    _tell_left_out(len(records))
    return []


def _tell_left_out(count: int) -> None:
    if count:
        log.info("%d records were forgotten for good and are left out", count)


def load_records(
    parts: Parts, records: Iterator[Record], manifest: Mapping[str, Any], *, now: float, checked: bool = False
) -> int:
    """Writes records of an export; what another embedder or analyzer made is made anew. How many.

    Each is checked as it arrives, unless all were `checked` before.
    """
    embedded = fits_embedder(manifest, parts.embedder)
    analysed = manifest.get("analyzer") == parts.analyzer.name
    count = 0
    for batch in batches(records, 1000):
        for record in () if checked else batch:
            check_arrival(record, parts.embedder if embedded else None)
        ready = batch
        if not (embedded and analysed):
            ready = Ingest.of(parts).refit(batch, embedded)
        count += len(put_returning(parts, ready, now=now))
    return count
