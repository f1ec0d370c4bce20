"""The folder of a mirror: its store and scope, its state after the last run, and writes of whole files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from ..core.errors import BadInput, Refused
from ..core.private_files import write_private
from ..exchange.front_matter import RESERVED
from .blocks import Page, parse_page

_STATE: Final = ".eidet-mirror.json"
_CONFLICT: Final = ".conflict.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The state of a record after the last run: a keyed hash of its row, and its file."""

    hash: str
    file: str


class Folder:
    """A folder that mirrors one scope of one store."""

    def __init__(self, path: Path, store: str, scope: str) -> None:
        self.path, self._store, self._scope = path, store, scope

    def read_state(self) -> dict[str, Seen] | None:
        """Returns the records of the last run, None for a new folder; raises `Refused` for a foreign one."""
        file = self.path / _STATE
        if not file.is_file():
            self._check_empty()
            return None
        try:
            state = json.loads(file.read_text(encoding="utf-8"))
            seen = {id: Seen(hash=one["hash"], file=one["file"]) for id, one in state["records"].items()}
            store, scope = state["store"], state["scope"]
        except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise BadInput(
                f"{file} cannot be read ({error}); restore it, or mirror to a new folder"
            ) from None
        if store != self._store:
            raise Refused(f"{self.path} mirrors another memory: name that one, or another folder")
        if scope != self._scope:
            raise Refused(f"{self.path} mirrors the scope {scope}: name that one, or another folder")
        return seen

    def _check_empty(self) -> None:
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path} is not a folder")
        if self.path.is_dir() and any(not one.name.startswith(".") for one in self.path.iterdir()):
            raise Refused(
                f"{self.path} has files and is no mirror: name a new or empty folder; "
                "`eidet import markdown` reads notes that are there"
            )

    def write_state(self, seen: Mapping[str, Seen]) -> None:
        records = {id: asdict(one) for id, one in sorted(seen.items())}
        state = {"store": self._store, "scope": self._scope, "records": records}
        self._write(_STATE, json.dumps(state, indent=1, ensure_ascii=False) + "\n")

    def _list_files(self) -> list[str]:
        files = (file for file in self.path.rglob("*.md") if file.is_file() and not file.is_symlink())
        names = (file.relative_to(self.path) for file in files)
        return sorted(name.as_posix() for name in names if not any(part[0] == "." for part in name.parts))

    def list_notes(self) -> list[str]:
        """Lists the Markdown files that may hold records, with slashes, sorted."""
        skipped = (*(f"/{name}" for name in RESERVED), _CONFLICT)
        return [name for name in self._list_files() if not f"/{name}".endswith(skipped)]

    def list_conflicts(self) -> list[str]:
        return [name for name in self._list_files() if name.endswith(_CONFLICT)]

    def stat_notes(self) -> tuple[tuple[str, int, int], ...]:
        """Returns times and sizes of the files, by which a change is noticed."""
        stats = [(name, (self.path / name).stat()) for name in self.list_notes()]
        return tuple((name, found.st_mtime_ns, found.st_size) for name, found in stats)

    def read_pages(self) -> dict[str, Page]:
        """Reads every file; raises `BadInput` with file and line for a bad file or a repeated id."""
        pages = {file: parse_page(self._read(file), file) for file in self.list_notes()}
        places: dict[str, str] = {}
        for block in (block for page in pages.values() for block in page.blocks if block.id is not None):
            place = f"{block.file}, line {block.line}"
            if places.setdefault(str(block.id), place) != place:
                raise BadInput(
                    f"{place}: {places[str(block.id)]} has the same id {block.id}; "
                    "delete one of the blocks, or the line `id` of a copy"
                )
        return pages

    def _read(self, file: str) -> str:
        try:
            return (self.path / file).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{file} is not UTF-8 text: it goes wrong at byte {error.start:,}") from None
        except OSError as error:
            raise BadInput(f"{file} cannot be read: {error.strerror}") from None

    def write_page(self, file: str, text: str | None) -> bool:
        """Writes a text to a file, or removes the file for None; returns False if it had this text."""
        if text is None:
            (self.path / file).unlink(missing_ok=True)
        elif (self.path / file).is_file() and self._read(file) == text:
            return False
        else:
            self._write(file, text)
        return True

    def keep_conflict(self, file: str, why: str, block: str) -> None:
        """Appends a block to the conflicts beside a file, unless it is there already."""
        name = file.removesuffix(".md") + _CONFLICT
        there = self._read(name) if (self.path / name).is_file() else ""
        if block not in there:
            self._write(name, f"{there}{why}\n\n{block}\n\n")

    def _write(self, file: str, text: str) -> None:
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.parent.resolve().is_relative_to(self.path.resolve()):
            raise Refused(f"{path.parent} leads out of {self.path}: remove that link")
        write_private(path, text)
