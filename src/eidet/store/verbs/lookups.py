"""Reading the records that a write is about, in as few questions as there are scopes."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.record import Record
from .. import Transaction

Key = tuple[str, str]  # scope, id


def read_records(
    transaction: Transaction, records: Iterable[Record], *, bare: bool = False
) -> dict[Key, Record]:
    """The stored records with the same (scope, id), where there are some."""
    keys: dict[str, dict[str, None]] = {}
    for record in records:
        keys.setdefault(record.scope, {})[record.id] = None
    return read_keys(transaction, keys, bare=bare)


def read_keys(transaction: Transaction, keys: dict[str, dict[str, None]], *, bare: bool) -> dict[Key, Record]:
    there = {}
    for scope, ids in keys.items():
        for record in transaction.read(scope, list(ids), bare=bare):
            if record is not None:
                there[scope, record.id] = record
    return there
