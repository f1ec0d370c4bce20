"""Exact duplicates: facts and documents whose content a scope already has under another id."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.record import Record, record_digest
from .. import Transaction
from ..rules import UNIQUE_KINDS
from .lookups import Key


def find_duplicates(
    transaction: Transaction, records: Sequence[Record], there: dict[Key, Record], now: float
) -> dict[Key, Record]:
    """By the (scope, id) of a record that is new: the living fact or document that says the same."""
    wanted: dict[str, dict[bytes, str]] = {}
    for record in records:
        if record.kind in UNIQUE_KINDS and (record.scope, record.id) not in there:
            wanted.setdefault(record.scope, {})[record_digest(record)] = record.id
    twins = {}
    for scope, digests in wanted.items():
        for twin in transaction.same(scope, list(digests)):
            if twin.expires is None or twin.expires > now:
                twins[scope, digests[record_digest(twin)]] = twin
    return twins


def find_duplicate(transaction: Transaction, record: Record, now: float) -> Record | None:
    """The newest living fact or document of its scope that says what a new one says."""
    if record.kind not in UNIQUE_KINDS:
        return None
    found = None
    for twin in transaction.same(record.scope, [record_digest(record)]):
        if twin.expires is None or twin.expires > now:
            found = twin
    return found


def count_use(record: Record, now: float) -> Record:
    last = now if record.last_used is None else max(now, record.last_used)
    return record.but(uses=record.uses + 1, last_used=last)
