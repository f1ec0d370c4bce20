"""Agents' memories as files: an export of the memory, as JSON lines (.jsonl) or as one list of them (.json).

Loading restores everything exactly. Agents keep their names, wherever the file is loaded.

Plain entries of other origin, a JSON list or one per line, are loaded as new memories.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from ...core.draft import Draft
from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.private_files import write_private
from ...core.record import Tier
from ...core.validate import dump_json
from ...memory import Memory
from ...store.export_file import read_export, verify_export, write_export
from ...write.shape import shape_record
from .entries import TIERS
from .errors import MemoryStoreException, translate_errors
from .space import make_draft

if TYPE_CHECKING:
    from .api import AgentMemoryAPI

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


def load_file(api: AgentMemoryAPI, path: Path, base: str | None) -> int:
    """Loads a file below `base` and counts its memories; checks all of it before it stores anything."""
    with translate_errors(MemoryStoreException, f"{path.name} was not loaded"):
        entries = _read(path)
        is_export = isinstance(entries[0], dict) and entries[0].get("eidet") == "export"
        count = _load_export(api.memory, entries, base) if is_export else _load_entries(api, entries, path)
        _note(api.memory, "load", path, count)
        return count


def _read(path: Path) -> list[Any]:
    """Reads the items of a JSON list, or one per line of a .jsonl file."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not a text file: {error}") from error
    lines = [line for line in text.split("\n") if line.strip()]  # other separators may be in texts
    try:
        found = [json.loads(line) for line in (lines if path.suffix == ".jsonl" else [text])]
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error
    whole = found[0] if len(found) == 1 else found
    if isinstance(whole, dict):
        whole = whole.get("memories", [whole])
    if not isinstance(whole, list) or not whole:
        raise BadInput(f"{path} contains no memories: it must be a list of entries, or a file of `save`")
    return whole


def _load_export(memory: Memory, lines: Sequence[Any], base: str | None) -> int:
    """Loads records exactly as they were. The last label of a scope names the agent, below any base."""
    with TemporaryDirectory(prefix="eidet-") as folder:
        given, moved = Path(folder, "given.jsonl"), Path(folder, "moved.jsonl")
        given.write_text("".join(f"{dump_json(line)}\n" for line in lines), encoding="utf-8")
        manifest = verify_export(given)
        made: dict[str, Any] = {name: manifest[name] for name in _MANIFEST if name in manifest}
        records = (
            record.but(scope="/".join(filter(None, (base, record.scope.rpartition("/")[2]))))
            for record in read_export(given)
        )
        return memory.load(moved) if write_export(moved, records, made) else 0


def _load_entries(api: AgentMemoryAPI, entries: Sequence[Any], path: Path) -> int:
    """Stores entries by agent, all or none of each agent, and returns how many."""
    parts, drafts = api.memory.parts, defaultdict[str, list[Draft]](list)
    for at, entry in enumerate(entries):
        try:
            scope, draft = _draft(api, entry)
            shape_record(draft, scope=scope, now=parts.clock(), text_chars=parts.settings.text_chars)
        except (BadInput, MemoryStoreException) as error:
            raise BadInput(f"{path}, memory {at}: {error}") from error
        drafts[scope].append(draft)
    return sum(len(api.memory.remember(some, scope=scope)) for scope, some in drafts.items())


def _draft(api: AgentMemoryAPI, entry: Any) -> tuple[str, Draft]:
    """Returns the scope of an entry's agent, and the memory to store there."""
    about = (entry.get("metadata") or {}) if isinstance(entry, dict) else None
    if not isinstance(about, dict):
        raise BadInput(f"an entry is a dict, as its metadata are, not {entry!r:.80}")
    space = api.get_memory_space(entry.get("agent_id"))
    batched = {
        "contents": entry.get("contents", entry.get("content")),
        "step_number": entry.get("step_number", 0),
        "priority": about.get("importance_score", 1.0),
        "memory_type": about.get("memory_type", "state"),
    }
    tier = about.get("current_tier", about.get("tier"))
    draft = replace(
        make_draft(space.agent_id, **batched),
        id=entry.get("memory_id"),
        occurred=entry.get("timestamp"),
        tier=TIERS.get(tier, Tier.SHORT) if isinstance(tier, str) else None,
    )
    return space.scope, draft
