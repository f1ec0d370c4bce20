"""`eidet integrate`: plans changes of files, writes and undoes them, and tests whether they work.

All new texts of files are planned before anything is written. A file that cannot be parsed or written is an
error, and no file is changed. Each file is replaced as a whole.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shlex
import stat
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput, Conflict, Unavailable
from ..core.private_files import name_partial, remove_partial
from .config_text import Entry, Unreadable, add_entries, add_table, remove_entries, remove_table
from .recalling import scope_of
from .tools import MCP, RULE, TOOLS, Commands, Tool, hook_entries, server_entry

_TRIAL: Final = 20  # seconds
_Edit = Callable[[str | None, bool], str | None]  # makes the new text of the old one; True removes our part


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The text of a file before and after a change; None where the file does not exist."""

    path: Path
    before: str | None
    after: str | None

    def diff(self) -> str:
        """Returns the change as a unified diff."""
        before, after = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        old, new = (os.devnull if text is None else str(self.path) for text in (self.before, self.after))
        lines = difflib.unified_diff(before, after, old, new)
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def plan(tool: Tool, commands: Commands, project: Path | None, *, remove: bool = False) -> list[Change]:
    """Plans the changes for the user, or in a project; returns none if nothing has to change."""
    texts = {path: _read(path) for path in _paths(tool, project)}
    planned = dict(texts)
    for path, edit in _edits(tool, commands, project):
        try:
            planned[path] = edit(planned[path], remove)
        except Unreadable as error:
            raise BadInput(f"{path} is left as it is: {error}; mend it, then try again") from error
    changes = [Change(path=path, before=texts[path], after=after) for path, after in planned.items()]
    return [change for change in changes if change.before != change.after]


def _paths(tool: Tool, project: Path | None) -> list[Path]:
    which, base = (0, Path.home()) if project is None else (1, project)
    paths = [base / tool.hooks[which], base / tool.mcp[which]]
    if tool.name == "opencode" and (jsonc := paths[1].with_suffix(".jsonc")).exists():
        paths[1] = jsonc
    return paths + ([project / tool.rule] if tool.rule and project is not None else [])


def _edits(tool: Tool, commands: Commands, project: Path | None) -> Iterator[tuple[Path, _Edit]]:
    """Yields each file with the function that makes its new text."""
    hooks, mcp, *rule = _paths(tool, project)
    if tool.name == "opencode":
        source = files(__package__).joinpath("opencode.js").read_text(encoding="utf-8")
        words = [json.dumps(commands.hook(tool.name, event)) for event in ("prompt", "turn")]
        yield hooks, _own_file(source.replace("PROMPT_COMMAND", words[0]).replace("TURN_COMMAND", words[1]))
    else:
        yield hooks, _json_edit(hook_entries(tool, commands), tool.base)
    server = server_entry(tool, commands)
    yield mcp, _toml_edit(server) if mcp.suffix == ".toml" else _json_edit([server], {})
    for path in rule:
        yield path, _own_file(RULE.format(scope=scope_of(str(project))))


def _own_file(text: str) -> _Edit:
    def edit(before: str | None, remove: bool) -> str | None:
        if before is not None and "Eidet" not in before:
            raise Unreadable("it is not a file of Eidet")
        return None if remove else text

    return edit


def _json_edit(entries: Sequence[Entry], base: Mapping[str, Any]) -> _Edit:
    def edit(before: str | None, remove: bool) -> str | None:
        if not remove:
            return add_entries(before or "", entries, base)
        after = remove_entries(before or "", entries, base)
        return before if after == (before or "") else after or None

    return edit


def _toml_edit(entry: Entry) -> _Edit:
    name = ".".join((*entry.path, MCP))

    def edit(before: str | None, remove: bool) -> str | None:
        if not remove:
            return add_table(before or "", name, entry.value)
        after = remove_table(before or "", name)
        return before if after == (before or "") else after or None

    return edit


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def apply(changes: Sequence[Change]) -> None:
    """Writes all changes, or none if one of the files cannot be written or was changed meanwhile."""
    made: list[tuple[Path, Path]] = []
    try:
        for change in changes:
            if _read(change.path) != change.before:
                raise Conflict(f"{change.path} was changed meanwhile; try again")
            made.append((_write_beside(change), change.path.resolve()))
        for partial, path in made:
            partial.replace(path)
    except OSError as error:
        raise Unavailable(f"nothing was changed: {error}") from error
    finally:
        for partial, _ in made:
            remove_partial(partial)
    for change in changes:
        if change.after is None:
            _delete(change.path.resolve())


def _write_beside(change: Change) -> Path:
    """Writes the new text beside its file, or the target of a link, with the same permissions."""
    target = change.path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = name_partial(target)
    partial.write_bytes((change.after or "").encode())
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    partial.chmod(mode)
    return partial


def _delete(path: Path) -> None:
    """Deletes a file of ours, and the folders that this leaves empty."""
    path.unlink(missing_ok=True)
    with suppress(OSError):
        for folder in path.parents[:2]:
            if folder.name.startswith(".") or folder.name in ("opencode", "plugins", "rules"):
                folder.rmdir()


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """An installation of our hooks in a coding agent, and the result of a trial."""

    tool: Tool
    where: str  # "user", or the folder of the project
    works: bool
    said: str


def find_installed(project: Path) -> Iterator[Installed]:
    """Yields each installation for the user and in a project, after a trial of its own hook command."""
    for tool, place in product(TOOLS.values(), (None, project)):
        try:
            words = _find_hook(tool, place)
            works, said = (False, "") if words is None else _try_hook(words)
        except (BadInput, ValueError) as error:
            words, works, said = [], False, str(error)
        if words is not None:
            yield Installed(tool=tool, where=str(place or "user"), works=works, said=said)


def _find_hook(tool: Tool, project: Path | None) -> list[str] | None:
    """Returns the command installed for a prompt, or None."""
    text = _read(_paths(tool, project)[0])
    if text is None or "eidet.coding.hook" not in text:
        return None
    if tool.name == "opencode":
        line = next(line for line in text.splitlines() if line.startswith("const PROMPT = "))
        return list(map(str, json.loads(line.removeprefix("const PROMPT = "))))
    pattern = rf'"(?:[^"\\]|\\.)*eidet\.coding\.hook {tool.name} (?:[^"\\]|\\.)*"'
    found = re.search(pattern, text)
    return None if found is None else shlex.split(json.loads(found[0]), posix=os.name == "posix")


def _try_hook(words: list[str]) -> tuple[bool, str]:
    at = words.index("eidet.coding.hook") + 2
    trial = [*words[:at], "check", *words[at + 1 :]]
    try:
        ran = subprocess.run(trial, capture_output=True, text=True, timeout=_TRIAL, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        return False, f"its command does not run: {error}"
    said = (ran.stdout or ran.stderr).strip().splitlines() or ["no answer"]
    return ran.returncode == 0, said[-1]
