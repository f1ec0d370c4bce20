"""Lists of records that say more than their items: what was remembered, what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .record import Record, iso_time


@dataclass(frozen=True, slots=True)
class Rejected:
    """A thing of a list that was not stored, because it was forgotten for good before."""

    index: int  # its place in the list that was given
    since: float  # when it was forgotten, in seconds since 1970

    def __str__(self) -> str:
        return f"item {self.index}, forgotten for good on {iso_time(self.since)}"


class RememberedList(list[Record]):
    """The records that a list of things became, in order; `rejected` names those that were left out."""

    def __init__(self, records: Iterable[Record] = (), rejected: Sequence[Rejected] = ()) -> None:
        super().__init__(records)
        self.rejected: tuple[Rejected, ...] = tuple(rejected)


class FoundList(list[Record]):
    """The records that `find` gives; `more` says whether others match beyond the limit."""

    def __init__(self, records: Iterable[Record] = (), *, more: bool = False) -> None:
        super().__init__(records)
        self.more: bool = more
