"""`EidetMemoryTool`: Claude's memory tool with its files in a memory instead of on disk.

The six commands return the same texts as the SDK's own tool for the file system. The files are
documents of the memory as well, so that `memory.recall` finds Claude's notes.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Conflict, Refused
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.where import Condition, Where
from ..memory import Memory
from .extras import finishing, make_missing

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ModuleNotFoundError as error:
    raise make_missing("the Anthropic SDK", "anthropic") from error

ROOT: Final = "/memories"
_MOST_LINES: Final = 999_999
_DIGITS: Final = 6  # of a line number
DEEPEST: Final = 2  # levels of folders that a view shows
_FOLDER_SIZE: Final = "4K"  # the size of a folder on a disk
_UNITS: Final = ("B", "K", "M", "G")
_FILE: Final = Where(conditions=(Condition("meta.anthropic_memory", "exists"),))


class _MemoryFiles:
    """Files and folders by path, as documents of one scope.

    Safe for many threads, tools and processes: a file is created once, and no edit overwrites another.
    """

    def __init__(self, memory: Memory, scope: str) -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path

    def read(self, path: str) -> str | None:
        """Returns the text of a file, or None if it does not exist or is a folder."""
        record = self._record(path)
        return None if record is None or _is_folder(record) else _text_of(record)

    def is_folder(self, path: str) -> bool:
        record = self._record(path)
        return path == ROOT or (record is not None and _is_folder(record))

    def exists(self, path: str) -> bool:
        return path == ROOT or self._record(path) is not None

    def write(self, path: str, text: str) -> None:
        """Writes a whole file, as its next version if it exists."""
        self._store(_draft(path, text))

    def create(self, path: str, text: str | None) -> None:
        """Creates a file, or a folder if `text` is None; raises `Conflict` if the path exists."""
        self._store(_draft(path, text), version=0)

    def edit(self, path: str, change: Callable[[str], str]) -> str:
        """Replaces the text of a file; starts over if another writer changed it meanwhile."""
        while (record := self._record(path)) is not None and not _is_folder(record):
            text = change(_text_of(record))
            with suppress(Conflict):
                self._store(_draft(path, text), version=record.version)
                return text
        raise _absence(path)

    def make_folders(self, path: str) -> None:
        """Makes a folder and those above it."""
        missing = []
        while not self.exists(path):
            missing.append(path)
            path = posixpath.dirname(path)
        if not self.is_folder(path):
            raise ToolError(f"The path {path} is not a directory.")
        for folder in reversed(missing):
            with suppress(Conflict):  # another writer made it meanwhile
                self.create(folder, None)

    def delete(self, path: str) -> None:
        """Deletes a file, or a folder with everything in it."""
        doomed = [key_id(inner) for inner in (path, *self.list_below(path))]
        self.memory.forget(doomed, scope=self.scope, for_good=False)

    def move(self, old: str, new: str) -> None:
        """Moves a file or folder; raises `Conflict` if its new path is taken.

        Each file is written at its new path before the old one is deleted, so that nothing is lost.
        """
        for path in (old, *self.list_below(old)):
            self._move_one(path, new + path.removeprefix(old))

    def _move_one(self, old: str, new: str) -> None:
        """Moves a file, including what is written to the old path meanwhile."""
        version = 0
        while (record := self._record(old)) is not None:
            text = None if _is_folder(record) else _text_of(record)
            version = self._store(_draft(new, text), version=version).version
            unchanged = Where(
                ids=(record.id,), conditions=(Condition("record.version", "=", record.version),)
            )
            self.memory.forget(where=unchanged, scope=self.scope, for_good=False)

    def list_below(self, folder: str) -> list[str]:
        """Returns the paths of all files and folders below a folder, sorted."""
        return [path for path, _ in self.list_entries(folder)]

    def list_entries(self, folder: str) -> list[tuple[str, Record]]:
        records = self.memory.find(_FILE, scope=self.scope, limit=None)
        found = {str(record.meta["path"]): record for record in records}
        inside = folder.rstrip("/") + "/"
        return [(path, found[path]) for path in sorted(found) if path.startswith(inside)]

    def clear(self) -> None:
        self.memory.forget(where=_FILE, scope=self.scope, for_good=False)

    def _record(self, path: str) -> Record | None:
        return self.memory.get(key_id(path), scope=self.scope)

    def _store(self, draft: Draft, version: int | None = None) -> Record:
        """Stores a draft; what the memory refuses, such as a long text, is a `ToolError` for the model."""
        try:
            return self.memory.remember(
                draft, scope=self.scope, version=version, keep_duplicates=True, again=True
            )
        except (BadInput, Refused) as error:
            raise ToolError(str(error)) from error


def _draft(path: str, text: str | None) -> Draft:
    """Drafts a file, or a folder if `text` is None. A text that no record can have is kept in `data`."""
    meta = {"anthropic_memory": "folder" if text is None else "file", "path": path}
    shown = text if text and text.strip() else path
    data = None if text in (None, shown) else {"content": text}
    return Draft(key=path, kind="document", text=shown, data=data, meta=meta, source=path)


def _is_folder(record: Record) -> bool:
    return record.meta["anthropic_memory"] == "folder"


def _text_of(record: Record) -> str:
    whole = record.whole
    return str(whole.data["content"]) if isinstance(whole.data, dict) else whole.text


class _MemoryCommands:
    """The six commands. They raise `ToolError` for errors that Claude can act on."""

    def __init__(self, files: _MemoryFiles) -> None:
        self.files = files

    def view(self, command: Any) -> str:
        path = normalise(command.path)
        if self.files.is_folder(path):
            return self._view_folder(path, command.path)
        text = self.files.read(path)
        if text is None:
            raise _absence(command.path)
        lines = text.split("\n")
        if len(lines) > _MOST_LINES:
            raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
        shown = _number_range(lines, command.view_range)
        return f"Here's the content of {command.path} with line numbers:\n" + shown

    def _view_folder(self, path: str, named: str) -> str:
        lines = [f"{_FOLDER_SIZE}\t{named}"]
        entries = {
            tuple(inner.removeprefix(path + "/").split("/")): record
            for inner, record in self.files.list_entries(path)
        }
        for parts, record in sorted(entries.items(), key=itemgetter(0)):
            if len(parts) > DEEPEST or any(part.startswith(".") for part in parts):
                continue
            shown = "/".join(parts)
            if _is_folder(record):
                lines.append(f"{_FOLDER_SIZE}\t{named}/{shown}/")
            else:
                lines.append(f"{_format_size(len(_text_of(record).encode()))}\t{named}/{shown}")
        header = f"Here're the files and directories up to 2 levels deep in {named}, excluding hidden items:"
        return header + "\n" + "\n".join(lines)

    def create(self, command: Any) -> str:
        path = normalise(command.path)
        taken = ToolError(f"File {command.path} already exists")
        if path == ROOT:
            raise taken
        self.files.make_folders(posixpath.dirname(path))
        try:
            self.files.create(path, command.file_text)
        except Conflict:
            raise taken from None
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        path = normalise(command.path)
        self._require_file(path, command.path)
        places: list[int] = []

        def replace_once(text: str) -> str:
            places[:] = _lines_with(text, command.old_str)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in "
                    f"{command.path}."
                )
            if text.count(command.old_str) > 1:
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in "
                    f"lines: {', '.join(map(str, places))}. Please ensure it is unique"
                )
            return text.replace(command.old_str, command.new_str)

        lines = self.files.edit(path, replace_once).split("\n")
        shown = lines[max(0, places[0] - 3) : places[0] + 2]
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            + _number(shown, max(1, places[0] - 2))
        )

    def insert(self, command: Any) -> str:
        path = normalise(command.path)
        self._require_file(path, command.path)

        def insert_line(text: str) -> str:
            lines = text.split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= command.insert_line <= len(lines):
                wrong = f"Invalid `insert_line` parameter: {command.insert_line}. "
                raise ToolError(wrong + f"It should be within the range [0, {len(lines)}].")
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            return "\n".join(lines).removesuffix("\n") + "\n"

        self.files.edit(path, insert_line)
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        path = normalise(command.path)
        if path == ROOT:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self.files.exists(path):
            raise ToolError(f"The path {command.path} does not exist")
        self.files.delete(path)
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old, new = normalise(command.old_path), normalise(command.new_path)
        if old == ROOT:
            raise ToolError("Cannot rename the /memories directory itself")
        taken = ToolError(f"The destination {command.new_path} already exists")
        if self.files.exists(new):
            raise taken
        absent = not self.files.exists(old)
        try:
            self.files.make_folders(posixpath.dirname(new))
        except ToolError:
            if not absent:
                raise
        if absent:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new.startswith(old + "/"):
            raise ToolError(f"Cannot move {command.old_path} into itself")
        try:
            self.files.move(old, new)
        except Conflict:
            raise taken from None
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear_all_memory(self) -> str:
        self.files.clear()
        return "All memory cleared"

    def _require_file(self, path: str, named: str) -> None:
        if self.files.is_folder(path):
            raise ToolError(f"The path {named} is not a file.")
        if self.files.read(path) is None:
            raise _absence(named)


class EidetMemoryTool(_MemoryCommands, BetaAbstractMemoryTool):
    """The memory tool over a scope of a memory: `tools=[EidetMemoryTool(memory, scope="ann")]`."""

    def __init__(self, memory: Memory, *, scope: str = "default", cache_control: Any = None) -> None:
        BetaAbstractMemoryTool.__init__(self, cache_control=cache_control)
        _MemoryCommands.__init__(self, _MemoryFiles(memory, scope))


class AsyncEidetMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asyncio. A command that has begun finishes even if its task is cancelled."""

    def __init__(self, memory: Memory, *, scope: str = "default", cache_control: Any = None) -> None:
        super().__init__(cache_control=cache_control)
        self.commands: _MemoryCommands = _MemoryCommands(_MemoryFiles(memory, scope))

    view = finishing(_MemoryCommands.view, "commands")
    create = finishing(_MemoryCommands.create, "commands")
    str_replace = finishing(_MemoryCommands.str_replace, "commands")
    insert = finishing(_MemoryCommands.insert, "commands")
    delete = finishing(_MemoryCommands.delete, "commands")
    rename = finishing(_MemoryCommands.rename, "commands")
    clear_all_memory = finishing(_MemoryCommands.clear_all_memory, "commands")


def normalise(path: str) -> str:
    """Returns the path without `.`, `..` and double slashes; raises `ToolError` if it leaves /memories."""
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with /memories, got: {path}")
    if "\0" in path:
        raise ToolError("A path cannot hold a NUL character")
    inner = path[len(ROOT) :].lstrip("/")
    plain = posixpath.normpath(posixpath.join(ROOT, inner)) if inner else ROOT
    if plain != ROOT and not plain.startswith(ROOT + "/"):
        raise ToolError(f"Path {path} would escape /memories directory")
    return plain


def _format_size(count: int) -> str:
    """Formats a number of bytes as the SDK does: 0B, 512B, 1.5K."""
    if count == 0:
        return "0B"
    unit = min((count.bit_length() - 1) // 10, len(_UNITS) - 1)
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"


def _number(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_DIGITS}}\t{line}" for number, line in enumerate(lines, first))


def _number_range(lines: Sequence[str], wanted: Sequence[int] | None) -> str:
    """Numbers the lines from the first to the last wanted (-1: the end); all of them by default."""
    if not wanted or len(wanted) != 2:
        return _number(lines, 1)
    first = max(1, wanted[0]) - 1
    last = len(lines) if wanted[1] == -1 else wanted[1]
    return _number(lines[first:last], first + 1)


def _lines_with(text: str, wanted: str) -> list[int]:
    """Returns the numbers of the lines where a text begins, overlapping occurrences included."""
    lines: list[int] = []
    at = text.find(wanted)
    while at >= 0:
        lines.append(text.count("\n", 0, at) + 1)
        at = text.find(wanted, at + 1)
    return lines


def _absence(named: str) -> ToolError:
    return ToolError(f"The path {named} does not exist. Please provide a valid path.")
