"""Switching to the staged vectors without reading each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...core.where import Where
from ..model import EPOCH, SETTINGS, STAGED, STAGED_NAME, STAGED_UP_TO
from ..verbs.writing import epoch_of
from .known import Known
from .tables import LAYOUTS
from .transaction import RedisTransaction

PAGE: Final = 500


def switch_vectors(transaction: RedisTransaction, name: str, settings: Mapping[str, str]) -> int:
    """As `verbs.switch_vectors`. More than a few thousand are written one after the other."""
    rows = [row.record for row in transaction.search(Where()) if row.vector]
    staged: Mapping[int, bytes] = {}
    if transaction.values(SETTINGS, (STAGED_NAME,)).get(STAGED_NAME) == name:
        staged = _read_staged(transaction.known, [record.seq for record in rows])
        transaction.tables.expect_unchanged(STAGED)
    lacking = sum(record.seq not in staged for record in rows)
    if lacking:
        return lacking
    for record in rows:
        transaction.plan.derived[record.scope, record.seq] = staged[record.seq], None
    transaction.set_values(STAGED, {}, clear=True)
    transaction.set_values(SETTINGS, {**settings, STAGED_NAME: None, STAGED_UP_TO: None})
    transaction.set_values(SETTINGS, {EPOCH: str(epoch_of(transaction) + 1)})
    return 0


def _read_staged(known: Known, seqs: Sequence[int]) -> dict[int, bytes]:
    key = LAYOUTS[STAGED.name].hash_of(known.keys, "")
    pages = [seqs[start : start + PAGE] for start in range(0, len(seqs), PAGE)]
    answers = known.client.read((key, ("HMGET", key, *page)) for page in pages)
    vectors: dict[int, bytes] = {}
    for page, answer in zip(pages, answers, strict=True):
        vectors.update((seq, vector) for seq, vector in zip(page, answer, strict=True) if vector is not None)
    return vectors
