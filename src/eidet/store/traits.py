"""Traits of stores beyond the port; see `DescribesItself`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol


def _nothing() -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreTraits:
    """The place of a store and the way it is kept. The defaults describe a store in RAM."""

    path: Path | None = None  # if it is one file of this machine
    sealed: bool = False  # whether what it holds must not lie about in the open
    audited: bool = False  # whether it surely had an audit log once; a store that is not sealed cannot know
    missing: tuple[str, ...] = ()  # which of the stores inside are down, in words
    archive: str | None = None  # where upkeep puts what it forgets, as its setting of that name
    # Only the store itself can answer these, and only while it is up: all files it lives in, and where it is,
    # which is elsewhere for a copy that was restored.
    files: Callable[[], tuple[Path, ...]] = tuple
    home: Callable[[], str | None] = _nothing


_NONE: Final = StoreTraits()


def traits_of(store: object) -> StoreTraits:
    describe: Callable[[], StoreTraits] | None = getattr(store, "describe", None)
    return _NONE if describe is None else describe()


def has_ability(store: object, ability: Any) -> bool:
    """Returns whether a store, or the one it wraps, implements a protocol.

    `isinstance` looks only at classes from Python 3.12 on, and does not see what a wrapper passes through.
    """
    for base in ability.__mro__:
        if base in (Protocol, object):
            continue
        if not all(name.startswith("_") or hasattr(store, name) for name in vars(base)):
            return False
    return True


def is_sealed(store: object) -> bool:
    return traits_of(store).sealed


def path_of(store: object) -> Path | None:
    """Returns the path of a store that is a file; else None."""
    return traits_of(store).path


def paths_of(store: object) -> tuple[Path, ...]:
    """Returns the files that a store lives in: several, if it is made of several stores."""
    return traits_of(store).files()


def home_of(store: object) -> str:
    """Returns where a store is, to tell it from its copies: "" for one in RAM.

    A file is known by its path and its number on the disk, so that a copy is another one wherever it
    lies, and so is a file that was moved or restored.
    """
    traits = traits_of(store)
    return traits.home() or "\n".join(f"{path.resolve()} {path.stat().st_ino}" for path in traits.files())


def missing_of(store: object) -> tuple[str, ...]:
    """Returns descriptions of the parts of a composite store that are down."""
    return traits_of(store).missing
