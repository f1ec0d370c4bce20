"""Agents' memories as files: an export of the memory, as JSON lines (.jsonl) or as one list of them (.json).

Loading restores everything exactly. Agents keep their names, wherever the file is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.private_files import write_private
from ...core.validate import dump_json
from ...memory import Memory
from ...store.export_file import read_export, verify_export, write_export

_MANIFEST: Final = ("embedder", "analyzer", "exported")


def save_file(memory: Memory, scopes: Sequence[str], path: Path) -> int:
    """Writes agents' scopes to a file and returns the count. An old file is replaced atomically."""
    if path.suffix not in (".json", ".jsonl"):
        raise BadInput(f"{path.name}: memories are saved as .json or .jsonl")
    with TemporaryDirectory(prefix="eidet-") as folder:
        parts = [Path(folder, f"{at}.jsonl") for at, _ in enumerate(scopes)]
        for part, scope in zip(parts, scopes, strict=True):
            memory.export(part, scope=scope)
        whole, made = Path(folder, "whole.jsonl"), memory.parts.manifest(memory.parts.clock())
        count = write_export(whole, chain.from_iterable(map(read_export, parts)), made)
        lines = whole.read_text("utf-8")
    text = lines if path.suffix == ".jsonl" else "[\n" + ",\n".join(lines.rstrip("\n").split("\n")) + "\n]\n"
    try:
        write_private(path, text)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error
    _note(memory, "export", path, count)
    return count


def _note(memory: Memory, verb: str, path: Path, count: int) -> None:
    """Adds the file to the audit log, where the memory's own verbs name only its temporary parts."""
    if memory.audit is not None:
        memory.audit.note(verb, file=str(path), count=count)


def load_file(memory: Memory, path: Path, base: str | None) -> int:
    """Loads a file exactly as it was saved, and counts its memories; checks all of it before it stores any.

    The last label of a scope names the agent, below any `base`.
    """
    with TemporaryDirectory(prefix="eidet-") as folder:
        given = path if path.suffix == ".jsonl" else _write_lines(path, Path(folder, "given.jsonl"))
        manifest = verify_export(given)
        made: dict[str, Any] = {name: manifest[name] for name in _MANIFEST if name in manifest}
        records = (
            record.but(scope="/".join(filter(None, (base, record.scope.rpartition("/")[2]))))
            for record in read_export(given)
        )
        moved = Path(folder, "moved.jsonl")
        count = memory.load(moved) if write_export(moved, records, made) else 0
    _note(memory, "load", path, count)
    return count


def _write_lines(path: Path, lines: Path) -> Path:
    """Writes the items of a JSON list as JSON lines."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not a text file: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error
    if not isinstance(found, list):
        raise BadInput(f"{path} contains no memories: it must be a file of `save`")
    lines.write_text("".join(f"{dump_json(line)}\n" for line in found), encoding="utf-8")
    return lines
