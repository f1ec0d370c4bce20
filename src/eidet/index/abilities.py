"""What an index asks of those stores that have it, beside the port."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, cast

from ..store import Changes
from ..store.abilities import LivesInFile


class Followable(Protocol):
    """Whatever tells what changed in it: a store."""

    def changes(self, scope: str, since: int, limit: int) -> Changes: ...


class IsSealed(Protocol):
    """A store that may be sealed: what it holds must not lie about in the open."""

    @property
    def sealed(self) -> bool: ...


class OffersIndex(Protocol):
    """A store whose server brings an index along."""

    def offered_index(self) -> str | None:
        """The setting `index` that names it; None where the server has none after all."""


class MadeOfSeveral(Protocol):
    """A store that is made of several."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Which of them are down, in words."""


def has_ability(store: object, ability: Any) -> bool:
    """Whether a store, or the one that it wraps, has all that a protocol declares.

    `isinstance` looks only at classes from Python 3.12 on, and does not see what a wrapper passes through.
    """
    for base in ability.__mro__:
        if base in (Protocol, object):
            continue
        if not all(name.startswith("_") or hasattr(store, name) for name in vars(base)):
            return False
    return True


def is_sealed(store: object) -> bool:
    return has_ability(store, IsSealed) and cast("IsSealed", store).sealed


def path_of(store: object) -> Path | None:
    """Where a store lives, if it is a file."""
    return cast("LivesInFile", store).path if has_ability(store, LivesInFile) else None


def offered_index_of(store: object) -> str | None:
    """The index that the server of a store brings along, if it does."""
    return cast("OffersIndex", store).offered_index() if has_ability(store, OffersIndex) else None
