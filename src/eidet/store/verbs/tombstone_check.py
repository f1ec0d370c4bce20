"""Rejects forgotten content that comes back, and lifts tombstones where the caller says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.record import Record
from .. import Transaction
from ..model import TOMBSTONES, Claim, Watch
from ..rules import check_entombed, ends_of
from .lookups import read_keys


def check_tombstones(transaction: Transaction, records: Sequence[Record], watch: Watch) -> None:
    """`Entombed` if one of the records may not be written; lifts tombstones where that is meant."""
    if not transaction.values(TOMBSTONES, limit=1):
        return
    claims = watch.claims()
    since = transaction.values(TOMBSTONES, _marks_asked(records, claims, watch))
    sources: dict[str, dict[str, None]] = {}
    for record, claim in zip(records, claims, strict=True):
        for id, mark in claim.made_of:
            if (record.scope, mark) in since:
                sources.setdefault(record.scope, {})[id] = None
    there = read_keys(transaction, sources, bare=True)
    check_entombed(
        records,
        claims,
        watch,
        lambda scope, mark: since.get((scope, mark)),
        lambda scope, name: (scope, name) in there,
    )
    if watch.again:
        lifted = _marks_said(records, claims)
        transaction.set_values(TOMBSTONES, dict.fromkeys(lifted))


def _marks_asked(
    records: Sequence[Record], claims: Sequence[Claim], watch: Watch
) -> dict[tuple[str, bytes], None]:
    """The tombstones that decide about the records."""
    asked = dict.fromkeys(_marks_said(records, claims))
    for record, claim in zip(records, claims, strict=True):
        if claim.id is not None:
            asked[record.scope, claim.id] = None
        for _, mark in claim.made_of:
            asked[record.scope, mark] = None
        if watch.returning:
            asked.update(dict.fromkeys(ends_of(record.scope)))
    return asked


def _marks_said(records: Sequence[Record], claims: Sequence[Claim]) -> Iterator[tuple[str, bytes]]:
    for record, claim in zip(records, claims, strict=True):
        for mark in claim.says:
            yield record.scope, mark
