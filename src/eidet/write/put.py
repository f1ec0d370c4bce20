"""The last stage of every write: records go to the store under the epoch of this memory's vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from ..core.actor import acts
from ..core.record import Record
from ..core.remembered import Rejected, RememberedList
from ..parts import Parts
from ..store import Watch, verbs
from ..store.rules import Entombed, Held, StaleEpoch
from ..store.verbs.writing import Put, run_put
from .arrivals import check_arrival, fits_embedder
from .ingest import Ingest
from .reembed import batches

log: logging.Logger = logging.getLogger("eidet")


def put_records(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool = False,
    expect: int | None = None,
    by: str | None = None,
    watch: Watch | None = None,
    releases: bool = False,
    follows: bool = False,
) -> list[Record]:
    """Writes records whose vectors are of this memory's embedder, and takes pending uses along."""
    if not records:
        return []
    store = parts.store
    job = Put(
        records=records,
        now=now,
        unique=unique,
        expect=expect,
        epoch=parts.binding.claim_epoch(),
        by=by or acts().by,
        watch=watch,
        releases=releases,
        follows=follows,
    )
    try:
        stored = run_put(store, job)
    except StaleEpoch:
        stored = run_put(store, job._replace(epoch=parts.binding.renew()))
    parts.usage.flush_if_due()
    parts.note_written(stored)
    return stored


def put_said(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool,
    again: bool,
    expect: int | None = None,
) -> RememberedList:
    """Writes all records of a list that somebody says, but for those that were forgotten for good."""
    rest = list(enumerate(records))
    rejected: list[Rejected] = []
    while rest:
        allowed = [record for _, record in rest]
        try:
            watch = parts.tombstones.over_said(allowed, again=again)
            stored = put_records(parts, allowed, now=now, unique=unique, expect=expect, watch=watch)
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
            "left out what was forgotten for good before, at %s of the list (counted from 0, %d in all); "
            "remember(…, again=True) stores it again",
            places,
            len(rejected),
        )


def put_returning(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    by: str | None = None,
    follows: bool = False,
) -> list[Record]:
    """Writes records that nobody says. Leaves out those that were forgotten for good, and logs how many.

    A record under a legal hold stays as it is, whatever another version of it says.
    """
    rest, held = list(records), 0
    stored: list[Record] = []
    while rest and not stored:
        try:
            watch = parts.tombstones.over_returning(rest)
            stored = put_records(parts, rest, now=now, by=by, watch=watch, follows=follows)
        except Entombed as error:
            rest = [record for at, record in enumerate(rest) if at not in error.found]
        except Held as error:
            free = [record for record in rest if (record.scope, record.id) not in error.records]
            held += len(rest) - len(free)
            rest = free
    _tell_left_out(len(records) - len(rest) - held, held)
    return stored


def _tell_left_out(forgotten: int, held: int) -> None:
    if forgotten:
        log.info("%d records were forgotten for good and are left out", forgotten)
    if held:
        log.warning("%d records are under a legal hold; left them as they are", held)


def load_records(
    parts: Parts, records: Iterator[Record], manifest: Mapping[str, Any], *, now: float, checked: bool = False
) -> int:
    """Writes records of an export; what another embedder or analyzer made is made anew. How many.

    Each is checked as it arrives, unless all were `checked` before. Records of a scope that this store
    forgot as a whole after it wrote the export are left out.
    """
    is_over = _find_ended(parts, manifest)
    embedded = fits_embedder(manifest, parts.embedder)
    analysed = manifest.get("analyzer") == parts.analyzer.name
    count = 0
    for full in batches(records, 1000):
        batch = [record for record in full if not is_over(record.scope)]
        _tell_left_out(len(full) - len(batch), 0)
        for record in () if checked else batch:
            check_arrival(record, parts.embedder if embedded else None, analysed=analysed)
        ready = batch
        if not (embedded and analysed):
            ready = Ingest.of(parts).refit(batch, embedded)
        count += len(put_returning(parts, ready, now=now))
    return count


def _find_ended(parts: Parts, manifest: Mapping[str, Any]) -> Callable[[str], bool]:
    """Says of a scope whether this store forgot it after the file was written; False for other stores."""
    ends = manifest.get("ends")
    if manifest.get("store") != parts.store.identity or not isinstance(ends, int):
        return lambda _: False
    return cache(verbs.ended_since(parts.store, ends))
