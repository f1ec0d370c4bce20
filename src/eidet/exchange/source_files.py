"""Opens files of other programs: JSON, folders, archives, SQLite. Errors name the file and its place."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from fnmatch import fnmatchcase
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


def read_text(path: Path) -> str:
    with open_text(path) as file:
        return file.read()


def parse_document(text: str, name: str) -> Any:
    """Parses one JSON document."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(
            f"{name} is not JSON, or was cut off: it goes wrong at line {error.lineno:,}"
        ) from None
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply") from None


def read_members(source: str, pattern: str, *, single: bool = True) -> Iterator[tuple[str, str]]:
    """Yields name and text of the files of a folder or a zip archive whose names fit a pattern, in order.

    A source that is one file is yielded whatever its name is, unless `single` is False.
    """
    path = find_source(source)
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in _list_fitting(archive.namelist(), pattern):
                yield name, _read_member(archive, name)
    elif path.is_dir():
        files = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        for name in _list_fitting(files, pattern):
            yield name, read_text(path / name)
    elif single:
        yield path.name, read_text(path)


def _list_fitting(names: Iterable[str], pattern: str) -> list[str]:
    return sorted(name for name in names if fnmatchcase(PurePosixPath(name).name, pattern))


def _read_member(archive: zipfile.ZipFile, name: str) -> str:
    try:
        return archive.read(name).decode("utf-8-sig")
    except (zipfile.BadZipFile, UnicodeDecodeError, RuntimeError) as error:
        raise BadInput(f"{name} in {archive.filename} cannot be read: {error}") from None


def read_sqlite(path: Path, owner: str, query: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a query to the SQLite file of another program, which is only read."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            yield from map(dict, database.execute(query))
    except sqlite3.Error as error:
        raise BadInput(f"{path} is not a SQLite file of {owner}: {error}") from error
