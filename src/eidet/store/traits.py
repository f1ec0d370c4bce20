"""What a store tells of itself beside the port, if it has the ability; see `eidet.store.abilities`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, cast

from .abilities import (
    IsSealed,
    KeepsSecrets,
    LivesInFile,
    LivesInFiles,
    MadeOfSeveral,
    NamesArchive,
    OffersIndex,
    TellsHome,
)


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


def paths_of(store: object) -> list[Path]:
    """The files that a store lives in: several, if it is made of several stores."""
    if has_ability(store, LivesInFiles):
        return cast("LivesInFiles", store).list_files()
    path = path_of(store)
    return [] if path is None else [path]


def home_of(store: object) -> str:
    """Where a store is, for telling it from its copies: "" for one in RAM.

    A file is known by its path and its number on the disk, so that a copy is another one wherever it
    lies, and so is a file that was moved or restored.
    """
    if has_ability(store, TellsHome):
        return cast("TellsHome", store).tell_home()
    return "\n".join(f"{path.resolve()} {path.stat().st_ino}" for path in paths_of(store))


def own_index_of(store: object) -> str | None:
    """The index that the server of a store brings along, if it does."""
    return cast("OffersIndex", store).name_own_index() if has_ability(store, OffersIndex) else None


def missing_of(store: object) -> tuple[str, ...]:
    """Which parts of a store that is made of several are down, in words."""
    return cast("MadeOfSeveral", store).missing if has_ability(store, MadeOfSeveral) else ()


def archive_of(store: object) -> str | None:
    """The archive that comes with a store, if one does."""
    return cast("NamesArchive", store).archive if has_ability(store, NamesArchive) else None


def secret_keeper(store: object) -> KeepsSecrets | None:
    """The store, if it has secrets of its own."""
    return cast("KeepsSecrets", store) if has_ability(store, KeepsSecrets) else None
