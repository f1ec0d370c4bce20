"""What waits between the guard and the store: values behind pseudonyms, and classes of personal data."""

from __future__ import annotations

from ...core.record import Record
from ...core.state import State


class Pending:
    """What waits until records are about to be stored.

    `values` stand behind new pseudonyms; `classes` are those of personal data, one set for each record.
    """

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.classes: list[set[str]] = []

    def put(self, token: str, sealed: bytes) -> None:
        self.values[token] = sealed

    def get(self, token: str) -> bytes | None:
        return self.values.get(token)


def with_classes(records: list[Record], pending: Pending) -> list[Record]:
    """Records labelled with the classes of personal data that were in what was said of them."""
    if not any(pending.classes):
        return records
    pairs = zip(records, pending.classes, strict=True)
    return [record.but(state=with_more_classes(record.state, labels)) for record, labels in pairs]


def with_more_classes(state: State, labels: set[str]) -> State:
    """Classes that it was labelled with before stay."""
    if labels.issubset(state.pii):
        return state
    return state.but(pii=tuple(sorted(labels.union(state.pii))))
