"""What only some stores can do. Each is a protocol of its own; `isinstance` tells whether a store has it.

The verbs ask for these where a store can do better than the port alone, or where only it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..quality import Survey
from .model import Scrubbed


@runtime_checkable
class LivesInFile(Protocol):
    """A store that is a file of this machine."""

    @property
    def path(self) -> Path: ...


@runtime_checkable
class ScrubsFiles(Protocol):
    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Leaves nothing of what was deleted in the files of the store.

        `said` are bytes that must not be found there any more; None where nobody knows.
        """


@runtime_checkable
class Compacts(Protocol):
    def trim(self, most: int) -> int:
        """Gives up to `most` unused bytes back to the disk, and overwrites the rest.

        How many were given back; 0 means there are no more.
        """


@runtime_checkable
class MeasuresSize(Protocol):
    def size(self) -> int:
        """Bytes the store takes where it lives."""


@runtime_checkable
class PrunesHistory(Protocol):
    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Removes up to `most` events of moves that are older than `before`; how many.

        With `dead`, all that is told of records that are no more, too.
        """


@runtime_checkable
class Scans(Protocol):
    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """As `verbs.scan`, without choosing anew for each page."""


@runtime_checkable
class CountsQuality(Protocol):
    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """As `verbs.quality_counts`, without reading each record."""


@runtime_checkable
class SwitchesVectors(Protocol):
    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        """As `verbs.switch_vectors`, without reading each vector."""


@runtime_checkable
class FindsSame(Protocol):
    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        """As `Transaction.same`, outside of a write."""


@runtime_checkable
class FindsDerived(Protocol):
    """A store or a transaction."""

    def derived(self, scope: Scope) -> list[Record]:
        """The records of a scope that were derived from others, by rising seq."""


@runtime_checkable
class Leaps(Protocol):
    def leap(self, seq: int) -> None:
        """No write gets a seq up to this one any more: for whoever counts over several stores."""


@runtime_checkable
class ReportsHealth(Protocol):
    def health(self) -> dict[str, Any]: ...


@runtime_checkable
class KeepsSecrets(Protocol):
    def secret(self, name: str) -> bytes:
        """The store's own secret for one use."""
