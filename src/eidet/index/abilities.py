"""What an index asks of those stores that have it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable


@runtime_checkable
class LivesInFile(Protocol):
    """A store that is a file of this machine."""

    @property
    def path(self) -> Path | None: ...


@runtime_checkable
class IsSealed(Protocol):
    """A store that may be sealed: what it holds must not lie about in the open."""

    @property
    def sealed(self) -> bool: ...


@runtime_checkable
class OffersIndex(Protocol):
    """A store whose server brings an index along."""

    def offered_index(self) -> str | None:
        """The setting `index` that names it; None where the server has none after all."""


@runtime_checkable
class MadeOfSeveral(Protocol):
    """A store that is made of several."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of them are down, in words."""
