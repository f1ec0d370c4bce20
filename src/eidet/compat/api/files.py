"""Agents' memories as files: one JSON document, in several lines (.json) or in one (.jsonl).

It holds `format`, `version`, `agents` (name -> scope), `exports` (scope -> the lines of the memory's own
export) and a `checksum` over all of that. Everything comes back exactly. The exports of a sealed memory are
sealed: a memory with the same master key loads them, into the scopes that they come from.

Plain entries of other origin, a JSON list or one on each line, are read too; of these, what a memory is
made of is stored anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from ...core.draft import Draft
from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.private_files import write_private
from ...core.record import Kind, Tier
from ...core.validate import dump_json
from ...memory import Memory
from ...store.export_file import read_export, verify_export, write_export
from ...write.shape import shape_record
from .entries import TIERS, place_of
from .errors import MemoryStoreException, translate_errors

if TYPE_CHECKING:
    from .api import AgentMemoryAPI

_FORMAT: Final = "eidet agent memory"
_VERSION: Final = 1
_PARTS: Final[dict[str, type]] = {"agents": dict, "exports": dict, "checksum": str}
_MANIFEST: Final = ("embedder", "analyzer", "exported")


def save_file(memory: Memory, scopes: Mapping[str, str], path: Path) -> int:
    """Writes the scopes of agents; a file of that name is replaced only by a whole one."""
    if path.suffix not in (".json", ".jsonl"):
        raise BadInput(f"{path.name}: memories are saved as .json or .jsonl")
    exports, count = {}, 0
    with TemporaryDirectory(prefix="eidet-") as folder:
        for at, scope in enumerate(scopes.values()):
            part = Path(folder) / f"{at}.jsonl"
            memory.export(part, scope=scope)
            count += verify_export(part)["count"]
            exports[scope] = [json.loads(line) for line in part.read_text("utf-8").rstrip("\n").split("\n")]
    body = {"format": _FORMAT, "version": _VERSION, "agents": dict(scopes), "exports": exports}
    indent = None if path.suffix == ".jsonl" else 1
    text = json.dumps({**body, "checksum": _checksum(body)}, ensure_ascii=False, indent=indent) + "\n"
    try:
        write_private(path, text)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error
    _note(memory, "export", path, count)
    return count


def _note(memory: Memory, verb: str, path: Path, count: int) -> None:
    """Tells an audit log which file it was: the verbs of the memory name the parts that it was made of."""
    if memory.audit is not None:
        memory.audit.note(verb, file=str(path), count=count)


def _checksum(body: Mapping[str, Any]) -> str:
    return sha256(dump_json(body, sort_keys=True).encode()).hexdigest()


def load_file(api: AgentMemoryAPI, path: Path) -> int:
    """Loads a file and counts its memories; checks the whole file before it stores anything."""
    with translate_errors(MemoryStoreException, f"{path.name} was not loaded"):
        document = _read(path)
        if isinstance(document, dict) and document.get("format") == _FORMAT:
            _check_document(document, path)
            count = _load_exports(api, document)
        else:
            count = _load_entries(api, _list_entries(document, path), path)
        _note(api.memory, "load", path, count)
        return count


def _read(path: Path) -> Any:
    """A JSON document, or a list of those on its lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not a text file: {error}") from error
    lines = [line for line in text.split("\n") if line.strip()]  # other separators may be in texts
    if not lines:
        raise Corrupt(f"{path} is empty: it must hold memories, or what `save` wrote of none")
    try:
        if path.suffix == ".jsonl" and len(lines) > 1:
            return [json.loads(line) for line in lines]
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error


def _check_document(document: dict[str, Any], path: Path) -> None:
    """Raises an error unless `save` wrote the document and it is unchanged."""
    if document.get("version") != _VERSION:
        raise BadInput(f"{path} has version {document.get('version')!r}, this release reads {_VERSION}")
    if missing := [name for name, kind in _PARTS.items() if not isinstance(document.get(name), kind)]:
        raise Corrupt(f"{path} lacks {missing}; nothing was loaded")
    body = {name: document[name] for name in document if name != "checksum"}
    if _checksum(body) != document["checksum"]:
        raise Corrupt(
            f"{path} was changed since it was written: its checksum does not match; nothing was loaded"
        )


def _load_exports(api: AgentMemoryAPI, document: dict[str, Any]) -> int:
    """Loads records exactly as they were, into the scopes that this API has for their agents."""
    scopes = {scope: api.get_memory_space(name).scope for name, scope in document["agents"].items()}
    with TemporaryDirectory(prefix="eidet-") as folder:
        files, manifest = [], {}
        for at, lines in enumerate(document["exports"].values()):
            file = Path(folder) / f"{at}.jsonl"
            file.write_text("".join(f"{dump_json(line)}\n" for line in lines), encoding="utf-8")
            manifest = verify_export(file)
            files.append(file)
        records = chain.from_iterable(map(read_export, files))
        moved = (record.but(scope=scopes[record.scope]) for record in records)
        whole = Path(folder) / "all.jsonl"
        made: dict[str, Any] = {name: manifest[name] for name in _MANIFEST if name in manifest}
        return api.memory.load(whole) if write_export(whole, moved, made) else 0


def _list_entries(document: Any, path: Path) -> Iterable[Any]:
    if isinstance(document, dict) and isinstance(document.get("memories"), list):
        return list(document["memories"])
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and "memory_id" in document:
        return [document]
    raise BadInput(f"{path} contains no memories: it must be a list of entries, or a file that `save` wrote")


def _load_entries(api: AgentMemoryAPI, entries: Iterable[Any], path: Path) -> int:
    """Entries by agent; all of one agent or none of them."""
    drafts: dict[str, list[Draft]] = {}
    for at, entry in enumerate(entries):
        where = f"{path}, memory {at}"
        name, draft = _draft(entry, where)
        _check_draft(api, name, draft, where)
        drafts.setdefault(name, []).append(draft)
    scopes = {name: api.get_memory_space(name).scope for name in drafts}
    return sum(len(api.memory.remember(some, scope=scopes[name])) for name, some in drafts.items())


def _check_draft(api: AgentMemoryAPI, name: str, draft: Draft, where: str) -> None:
    """Checks that the memory will take a draft, before earlier agents are stored."""
    parts, scope = api.memory.parts, api.get_memory_space(name).scope
    try:
        shape_record(draft, scope=scope, now=parts.clock(), text_chars=parts.settings.text_chars)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from error


def _draft(entry: Any, where: str) -> tuple[str, Draft]:
    if not isinstance(entry, dict):
        raise BadInput(f"{where} is not a dict")
    contents = entry.get("contents", entry.get("content"))
    about = entry.get("metadata") or {}
    step = entry.get("step_number")
    kind = about.get("memory_type", "state") if isinstance(about, dict) else None
    needs = {
        "agent_id, a text": isinstance(entry.get("agent_id"), str),
        "contents, a dict": isinstance(contents, dict),
        "step_number, a whole number": isinstance(step, int | None) and not isinstance(step, bool),
        "metadata, a dict": isinstance(about, dict),
        "a memory_type": kind in list(Kind),
    }
    for wanted, fits in needs.items():
        if not fits:
            raise BadInput(f"{where} needs {wanted}")
    tier = about.get("current_tier", about.get("tier"))
    draft = Draft(
        data=contents,
        kind=kind,
        agent=entry["agent_id"],
        step=step,
        importance=about.get("importance_score"),
        occurred=entry.get("timestamp"),
        id=entry.get("memory_id"),
        place=place_of(contents or {}),
        tier=TIERS.get(tier, Tier.SHORT) if isinstance(tier, str) else None,
    )
    return entry["agent_id"], draft
