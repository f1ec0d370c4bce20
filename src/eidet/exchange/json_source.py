"""JSON files of any size, in folders and archives; errors name the file and the place."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import Any, Final, TextIO

from ..core.errors import BadInput, NotFound

CHUNK: Final = 1 << 16  # characters read at once; doubled while one item is longer
_BLANK: Final = " \t\r\n"
_ENDS: Final = frozenset(_BLANK + ",]")


def find_source(source: str) -> Path:
    """The file or folder that a source names; it must be there."""
    path = Path(source).expanduser()
    if not path.exists():
        raise NotFound(f"there is no file or folder {path} to import from")
    return path


@contextmanager
def open_text(path: Path) -> Iterator[TextIO]:
    """A text file in UTF-8; `BadInput` where it is none."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            yield file
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8 text: it goes wrong at byte {error.start:,}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None


def read_document(file: TextIO, name: str) -> Any:
    """One JSON document."""
    try:
        return json.loads(file.read())
    except json.JSONDecodeError as error:
        raise BadInput(f"{name} is not JSON: it goes wrong at line {error.lineno:,}") from None
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply") from None


def read_array(file: TextIO, name: str) -> Iterator[Any]:
    """The items of a JSON array, one after the other, so that a large file needs little memory."""
    return _ArrayReader(file, name).read()


class _ArrayReader:
    """Reads a file in pieces, and decodes item by item."""

    def __init__(self, file: TextIO, name: str) -> None:
        self._file, self._name = file, name
        self._text, self._at, self._ended = "", 0, False
        self._decoder = json.JSONDecoder()

    def read(self) -> Iterator[Any]:
        self._expect("[")
        if self._peek() == "]":
            return
        count = 0
        while True:
            count += 1
            yield self._decode(count)
            if self._peek() == "]":
                return
            self._expect(",", f" after item {count:,}")

    def _decode(self, count: int) -> Any:
        self._peek()
        size = CHUNK
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise BadInput(f"{self._name}: item {count:,} is nested too deeply") from None
            except ValueError:
                value, end = None, -1
            # A number may go on in the next piece: it has ended only where something else begins.
            if end >= 0 and (self._ended or self._text[end : end + 1] in _ENDS):
                self._at = end
                return value
            if self._ended:
                raise BadInput(f"{self._name}: item {count:,} is not JSON, or was cut off")
            self._read_more(size)
            size *= 2

    def _peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_more(CHUNK)

    def _expect(self, sign: str, place: str = "") -> None:
        if self._peek() != sign:
            raise BadInput(f"{self._name} is not a JSON array: there is no {sign!r}{place}")
        self._at += 1

    def _read_more(self, size: int) -> None:
        more = self._file.read(size)
        self._ended = not more
        self._text = self._text[self._at :] + more
        self._at = 0


@contextmanager
def open_members(path: Path) -> Iterator[SourceFiles]:
    """The files of a folder or a zip archive; or a single file, which stands for itself."""
    if not zipfile.is_zipfile(path):
        yield SourceFiles(path, None)
        return
    with zipfile.ZipFile(path) as archive:
        yield SourceFiles(path, archive)


class SourceFiles:
    """Files by name, wherever they lie."""

    def __init__(self, path: Path, archive: zipfile.ZipFile | None) -> None:
        self._path, self._archive = path, archive

    @property
    def is_single(self) -> bool:
        """Whether the source is one plain file."""
        return self._archive is None and self._path.is_file()

    def list_names(self) -> list[str]:
        """Paths inside, with slashes, sorted."""
        if self._archive is not None:
            return sorted(self._archive.namelist())
        if self._path.is_file():
            return [self._path.name]
        names: list[str] = []
        for file in self._path.rglob("*"):
            if file.is_file():
                names.append(file.relative_to(self._path).as_posix())
        return sorted(names)

    def find(self, pattern: str) -> list[str]:
        """The names whose last part fits a pattern such as `conversations*.json`."""
        found: list[str] = []
        for name in self.list_names():
            if PurePosixPath(PurePosixPath(name).name).match(pattern):
                found.append(name)
        return found

    @contextmanager
    def open(self, name: str) -> Iterator[TextIO]:
        if self._archive is None:
            place = self._path if self._path.is_file() else self._path / name
            with open_text(place) as file:
                yield file
            return
        try:
            with self._archive.open(name) as raw:
                yield TextIOWrapper(raw, encoding="utf-8-sig")
        except (zipfile.BadZipFile, UnicodeDecodeError, RuntimeError) as error:
            raise BadInput(f"{name} in {self._path} cannot be read: {error}") from None
