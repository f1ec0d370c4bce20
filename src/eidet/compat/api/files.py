"""Agents' memories as files: JSONL as the memory exports it, or one JSON document.

A JSON file holds `format`, `version`, `agents` (name -> scope), the `manifest` of what made the vectors,
`memories` (each as this door tells it, with the whole `record`), and a `checksum` over all of that.
Everything comes back exactly. Plain entries of other origin, a JSON list or one on each line, are
read too; of these, what a memory is made of is stored anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from ...core.draft import Draft
from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.private_files import write_private
from ...core.record import Kind, Record, Tier
from ...core.validate import dump_json
from ...memory import Memory
from ...store.export_file import as_json, read_export, record_from, verify_export, write_export
from .entries import TIERS, contents_as_json, place_of
from .errors import MemoryStoreException, translate_errors

if TYPE_CHECKING:
    from .api import AgentMemoryAPI

FORMAT: Final = "eidet agent memory"
VERSION: Final = 2  # records are written in the format of exports with the same number
FORMER: Final = 1
_FIELDS: Final = ("format", "version", "agents", "manifest", "memories", "checksum")
_MANIFEST: Final = ("embedder", "analyzer", "exported")


def save_file(memory: Memory, scopes: Mapping[str, str], path: Path) -> int:
    """Writes the scopes of agents; a file of that name is replaced only by a whole one."""
    if path.suffix not in (".json", ".jsonl"):
        raise BadInput(f"{path.name}: memories are saved as .json or .jsonl")
    with TemporaryDirectory(prefix="eidet-") as folder:
        parts = [Path(folder) / f"{at}.jsonl" for at in range(len(scopes))]
        for part, scope in zip(parts, scopes.values(), strict=True):
            memory.export(part, scope=scope)
        manifest = _manifest(parts)
        records = chain.from_iterable(map(read_export, parts))
        if path.suffix == ".jsonl":
            return write_export(path, records, {**manifest, "agents": dict(scopes)})
        return _write_json(path, {**manifest}, dict(scopes), list(records))


def _manifest(parts: Sequence[Path]) -> dict[str, Any]:
    read = {}
    if parts:
        read = verify_export(parts[0])
    return {name: read[name] for name in _MANIFEST if name in read}


def _write_json(path: Path, manifest: dict[str, Any], scopes: dict[str, str], records: list[Record]) -> int:
    names = {scope: name for name, scope in scopes.items()}
    body = {
        "format": FORMAT,
        "version": VERSION,
        "agents": scopes,
        "manifest": manifest,
        "memories": [_memory(record, names[record.scope]) for record in records],
    }
    try:
        whole = {**body, "checksum": _checksum(body)}
        write_private(path, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error
    return len(records)


def _memory(record: Record, agent_id: str) -> dict[str, Any]:
    return {
        "memory_id": record.id,
        "agent_id": agent_id,
        "step_number": record.step,
        "timestamp": record.occurred,
        "contents": contents_as_json(record.whole),
        "record": as_json(record),
    }


def _checksum(body: Mapping[str, Any]) -> str:
    return sha256(dump_json(body, sort_keys=True).encode()).hexdigest()


def load_file(api: AgentMemoryAPI, path: Path) -> int:
    """How many memories were read; nothing is stored before all of the file is known to be sound."""
    with translate_errors(MemoryStoreException, f"{path.name} was not loaded"):
        first = _first_line(path)
        if '"eidet":"export"' in first.replace(" ", "")[:200]:
            manifest = verify_export(path)
            agents = manifest.get("agents")
            names = {}
            if isinstance(agents, dict):
                names = {scope: name for name, scope in agents.items()}
            return _put(api, list(read_export(path)), manifest, names)
        document = _read(path)
        if isinstance(document, dict) and document.get("format") == FORMAT:
            return _put(api, *_check_document(document, path))
        return _entries(api, _plain(document, path), path)


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            return file.readline()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not a text file: {error}") from error


def _read(path: Path) -> Any:
    """A JSON document, or a list of those on its lines."""
    text = path.read_text(encoding="utf-8")
    try:
        return json.loads(text)
    except ValueError as error:
        if path.suffix != ".jsonl":
            raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error


def _check_document(
    document: dict[str, Any], path: Path
) -> tuple[list[Record], dict[str, Any], dict[str, str]]:
    if document.get("version") not in (FORMER, VERSION):
        raise BadInput(
            f"{path} has version {document.get('version')!r}, this release reads {FORMER} and {VERSION}"
        )
    if missing := [name for name in _FIELDS if name not in document]:
        raise Corrupt(f"{path} lacks {missing}; nothing was loaded")
    body = {}
    for name, value in document.items():
        if name != "checksum":
            body[name] = value
    if _checksum(body) != document["checksum"]:
        raise Corrupt(
            f"{path} was changed since it was written: its checksum does not match; nothing was loaded"
        )
    names = {scope: name for name, scope in document["agents"].items()}
    form = document["version"]
    records = [
        record_from(dump_json(one["record"]), f"{path}, memory {at}", form)
        for at, one in enumerate(document["memories"])
    ]
    return records, dict(document["manifest"]), names


def _put(api: AgentMemoryAPI, records: list[Record], manifest: dict[str, Any], names: dict[str, str]) -> int:
    """Exactly as they were, in the scopes that this API has for their agents."""
    if not records:
        return 0
    moved = [record.but(scope=_scope(api, record, names)) for record in records]
    made: dict[str, Any] = {name: manifest[name] for name in _MANIFEST if name in manifest}
    with TemporaryDirectory(prefix="eidet-") as folder:
        file = Path(folder) / "all.jsonl"
        write_export(file, moved, made)
        return api.memory.load(file)


def _scope(api: AgentMemoryAPI, record: Record, names: dict[str, str]) -> str:
    name = names.get(record.scope) or record.agent or record.scope.rpartition("/")[2]
    return api.get_memory_space(name).scope


def _plain(document: Any, path: Path) -> Iterable[Any]:
    if isinstance(document, dict) and isinstance(document.get("memories"), list):
        return list(document["memories"])
    if isinstance(document, list):
        return document
    if isinstance(document, dict) and "memory_id" in document:
        return [document]
    raise BadInput(f"{path} contains no memories: it must be a list of entries, or a file that `save` wrote")


def _entries(api: AgentMemoryAPI, entries: Iterable[Any], path: Path) -> int:
    """Entries by agent; all of one agent or none of them."""
    drafts: dict[str, list[Draft]] = {}
    for at, entry in enumerate(entries):
        name, draft = _draft(entry, f"{path}, memory {at}")
        drafts.setdefault(name, []).append(draft)
    for name in drafts:
        api.get_memory_space(name)
    return sum(
        len(api.memory.remember(some, scope=api.get_memory_space(name).scope))
        for name, some in drafts.items()
    )


def _draft(entry: Any, where: str) -> tuple[str, Draft]:
    if not isinstance(entry, dict):
        raise BadInput(f"{where} is not a dict")
    contents = entry.get("contents", entry.get("content"))
    about = entry.get("metadata") or {}
    checks: Iterator[tuple[bool, str]] = iter(
        (
            (isinstance(entry.get("agent_id"), str), "agent_id, a text"),
            (isinstance(contents, dict), "contents, a dict"),
            (isinstance(entry.get("step_number"), int | None), "step_number, a whole number"),
            (isinstance(about, dict), "metadata, a dict"),
            (
                about.get("memory_type", "state") in list(Kind) if isinstance(about, dict) else True,
                "a memory_type",
            ),
        )
    )
    for fits, wanted in checks:
        if not fits:
            raise BadInput(f"{where} needs {wanted}")
    tier = about.get("current_tier", about.get("tier"))
    draft = Draft(
        data=contents,
        kind=about.get("memory_type", "state"),
        agent=entry["agent_id"],
        step=entry.get("step_number"),
        importance=about.get("importance_score"),
        occurred=entry.get("timestamp"),
        id=entry.get("memory_id"),
        place=place_of(contents or {}),
        tier=TIERS.get(tier, Tier.SHORT) if isinstance(tier, str) else None,
    )
    return entry["agent_id"], draft
