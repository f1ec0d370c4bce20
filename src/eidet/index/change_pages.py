"""Reads from a store what changed since it was last asked, page by page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from ..store import Changes, Head


class Followable(Protocol):
    """Whatever tells what changed in it: a store."""

    def changes(self, scope: str, since: int, limit: int) -> Changes: ...


class Stale(Exception):
    """What was made of a store's records is of an earlier state: it is to be made anew."""


def read_changes(read: Callable[[int, int], Changes], since: Head, limit: int) -> Iterator[Changes]:
    """The pages after a head, up to the first that is not full.

    Raises `Stale` where vectors were made anew since, or the store no longer says what went away.
    """
    known, pruned_before = since, since.seq
    while True:
        changes = read(known.seq, limit)
        if (known.seq and changes.head.epoch != known.epoch) or 0 < pruned_before < changes.pruned:
            raise Stale
        known, pruned_before = changes.head, 0
        yield changes
        if len(changes.entries) < limit:
            return
