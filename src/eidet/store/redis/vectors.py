"""Switching to the staged vectors without reading each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.where import Where
from ..model import EPOCH, SETTINGS, STAGED, STAGED_NAME, STAGED_UP_TO
from ..verbs.writing import epoch_of
from .client import pages
from .tables import layout_of
from .transaction import RedisTransaction

PAGE: Final = 500


def switch_vectors(transaction: RedisTransaction, name: str, settings: Mapping[str, str]) -> int:
    """As `verbs.switch_vectors`. More than a few thousand are written one after the other."""
    rows = [row.record for row in transaction.search(Where()) if row.vector]
    staged: Mapping[int, bytes] = {}
    if transaction.values(SETTINGS, (STAGED_NAME,)).get(STAGED_NAME) == name:
        transaction.fields.read([layout_of(STAGED).version_of("")])
        staged = _read_staged(transaction, [record.seq for record in rows])
    lacking = sum(record.seq not in staged for record in rows)
    if lacking:
        return lacking
    for record in rows:
        transaction.plan.derived[record.scope, record.seq] = staged[record.seq], None
    transaction.set_values(STAGED, {}, clear=True)
    transaction.set_values(SETTINGS, {**settings, STAGED_NAME: None, STAGED_UP_TO: None})
    transaction.set_values(SETTINGS, {EPOCH: str(epoch_of(transaction) + 1)})
    return 0


def _read_staged(transaction: RedisTransaction, seqs: Sequence[int]) -> dict[int, bytes]:
    client, key = transaction.known.client, transaction.known.keys.store + layout_of(STAGED).letter
    asked = list(pages(seqs, PAGE))
    answers = client.read((key, ("HMGET", key, *page)) for page in asked)
    vectors: dict[int, bytes] = {}
    for page, answer in zip(asked, answers, strict=True):
        vectors.update((seq, vector) for seq, vector in zip(page, answer, strict=True) if vector is not None)
    return vectors
