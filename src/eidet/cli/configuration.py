"""The configuration of a folder: `eidet.toml`, which `eidet init` writes and every other command reads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from ..core.errors import Misconfigured
from ..core.settings import Settings, read_choices, read_settings

FILE: Final = Path("eidet.toml")
ROOT: Final = 0


def find_configuration() -> Path | None:
    """The file in the working folder, if there is one."""
    if FILE.is_file():
        return FILE
    return None


def read_configuration(file: Path, *, unasked: bool) -> dict[str, str]:
    """What a file says of `memory` and `embedder`; one that nobody named must be the caller's own."""
    if unasked:
        _check_own(file)
    return read_choices(file)


def choose_file(named: Path | None) -> Path | None:
    """The file that a command reads: the one that was named, or else the one here."""
    if named is not None:
        return named
    file = find_configuration()
    if file is not None:
        _check_own(file)
    return file


def read_choices_here() -> dict[str, str]:
    """What the file here says of `memory` and `embedder`, for commands that open no memory of the user's."""
    file = choose_file(None)
    if file is None:
        return {}
    return read_choices(file)


def read_settings_here() -> Settings:
    """The settings of the file here, and of the environment."""
    return read_settings(os.environ, choose_file(None))


def _check_own(file: Path) -> None:
    """Raises `Misconfigured` for a file of somebody else, who could send memories elsewhere with it."""
    if os.name != "posix":
        return
    owner = file.stat().st_uid
    if owner not in (os.geteuid(), ROOT):
        raise Misconfigured(
            f"{file.absolute()} belongs to another user: read it, then name it with --config {file}"
        )
