"""Opens files of other programs: JSON, folders and archives. Errors name the file and the place in it."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, TextIO

from ..core.errors import BadInput, NotFound


def find_source(source: str) -> Path:
    """Returns the path of a source; raises `NotFound` if it does not exist."""
    path = Path(source).expanduser()
    if not path.exists():
        raise NotFound(f"there is no file or folder {path} to import from")
    return path


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """Opens a UTF-8 text file; raises `BadInput` for anything else."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text: it goes wrong at byte {error.start:,}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None


def load_document(file: TextIO, name: str) -> Any:
    """Loads one JSON document."""
    try:
        return json.loads(file.read())
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{name} is not JSON, or was cut off: it goes wrong at line {error.lineno:,}"
        ) from None
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply") from None


class SourceFiles:
    """The files of a folder or a zip archive by name, or a single file."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self._path, self._archive = path, archive
        self.is_single = archive is None and path.is_file()

    def list_names(self) -> list[str]:
        """Returns the paths inside, with slashes, sorted."""
        if self._archive is not None:
            return sorted(self._archive.namelist())
        if self.is_single:
            return [self._path.name]
        files = (file for file in self._path.rglob("*") if file.is_file())
        return sorted(file.relative_to(self._path).as_posix() for file in files)

    def find(self, pattern: str) -> list[str]:
        """Lists the names whose last part fits a pattern such as `conversations*.json`."""
        return [name for name in self.list_names() if PurePosixPath(PurePosixPath(name).name).match(pattern)]

    @contextmanager
    def open(self, name: str) -> Iterator[TextIO]:
        if self._archive is None:
            with open_text(self._path if self.is_single else self._path / name) as file:
                yield file
            return
        try:
            with self._archive.open(name) as raw:
                yield io.TextIOWrapper(raw, encoding="utf-8-sig")
        except (zipfile.BadZipFile, UnicodeDecodeError, RuntimeError) as error:
            raise BadInput(f"{name} in {self._path} cannot be read: {error}") from None

    def load(self, name: str) -> Any:
        """Returns the JSON document of a file."""
        with self.open(name) as file:
            return load_document(file, name)

    def read_conversations(self, program: str, needed: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields the conversations of a data export with their places; large exports have several files."""
        names = self.list_names() if self.is_single else self.find("conversations*.json")
        if not names:
            raise BadInput(f"{self._path} holds no conversations.json: it is no export of {program}")
        for name in names:
            found = self.load(name)
            if not isinstance(found, list):
                raise BadInput(f"{name} is no export of {program}: it is not a list of conversations")
            for number, one in enumerate(found, 1):
                where = f"{name}, conversation {number:,}"
                if not isinstance(one, dict) or needed not in one:
                    raise BadInput(f"{where} is not of {program}: it has no {needed}")
                yield where, one


@contextmanager
def open_members(source: str) -> Iterator[SourceFiles]:
    """Opens the files of a source, and closes an archive afterwards."""
    path = find_source(source)
    if not zipfile.is_zipfile(path):
        yield SourceFiles(path, None)
        return
    with zipfile.ZipFile(path) as archive:
        yield SourceFiles(path, archive)
