"""Where forgotten memories are kept: a port of four verbs, and a folder of JSON lines that has them.

A file of an archive is an export: manifest, records, count and checksum. What `keep` returned for is
on the disk, so deleting may follow.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from ..errors import Misconfigured, NotFound, Unavailable
from ..model import Record, new_id
from ..store.portable import read_export, verify_export, write_export

_NAME = re.compile(r"archive-[0-9a-f]+\.jsonl")


class Archive(Protocol):
    """Keeps records that a memory deletes. `keep` is durable when it returns, or raises."""

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        """Writes the records as one piece; its name."""

    def names(self) -> list[str]:
        """The pieces, oldest first."""

    def manifest(self, name: str) -> dict[str, Any]:
        """What was said of a piece, and how many records it has (`count`); `Corrupt` if it was changed."""

    def read(self, name: str) -> Iterator[Record]:
        """The records of a piece, exactly as they were."""


class FolderArchive:
    """An archive in a folder, which is made when first needed. Files are whole or not there."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).expanduser()

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        name = f"archive-{new_id(now)}.jsonl"
        fresh = self.folder / f".{name}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(fresh, records, {**manifest, "archived": now})
            fresh.replace(self.folder / name)
            _to_disk(self.folder)
        except OSError as error:
            raise Unavailable(
                f"{self.folder} cannot be written ({error.strerror}): nothing is deleted"
            ) from error
        return name

    def _write(self, path: Path, records: Sequence[Record], manifest: dict[str, Any]) -> None:
        try:
            write_export(path, records, manifest)
            _to_disk(path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def names(self) -> list[str]:
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def manifest(self, name: str) -> dict[str, Any]:
        return verify_export(self._path(name))

    def read(self, name: str) -> Iterator[Record]:
        return read_export(self._path(name))

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise NotFound(f"the archive {self.folder} has no {name!r}")
        return path


def archive_of(thing: Archive | str | Path | None) -> Archive | None:
    """An archive is itself; a path is a folder of one."""
    if thing is None or hasattr(thing, "keep"):
        return thing  # type: ignore[return-value]
    if isinstance(thing, str | Path):
        return FolderArchive(thing)
    raise Misconfigured(f"an archive is a folder or an Archive, not {type(thing).__name__}")


def _to_disk(path: Path) -> None:
    """A folder is synced for the name of a file in it; where that is not possible, it is not needed."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
