"""Agents' memories as files: JSONL as the memory exports it, or one JSON document.

A JSON file holds `format`, `version`, `agents` (name -> scope), the `manifest` of what made the vectors,
`memories` (each as this door tells it, with the whole `record`), and a `checksum` over all of that.
Everything comes back exactly. Plain entries of other origin, a JSON list or one on each line, are
read too; of these, what a memory is made of is stored anew.

A sealed memory writes no word in the open: `exports` (scope -> lines) are its own sealed exports, which
a memory with the same master key loads, into the scopes that they come from.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from ...core.draft import Draft
from ...core.errors import BadInput, Corrupt, Unavailable
from ...core.private_files import write_private
from ...core.record import Kind, Record, Tier
from ...core.record_table import encode_fields
from ...core.validate import dump_json
from ...memory import Memory
from ...store.export_file import SEALED, read_export, record_from, verify_export, write_export
from ...trust.seal.exports import find_sealed
from ...write.shape import shape_record
from .entries import TIERS, contents_as_json, place_of
from .errors import MemoryStoreException, translate_errors

if TYPE_CHECKING:
    from .api import AgentMemoryAPI

FORMAT: Final = "eidet agent memory"
VERSION: Final = 1  # records are written in the format of exports with the same number
SEALED_FORMAT: Final = "eidet sealed agent memory"
SEALED_VERSION: Final = 1
_PARTS: Final[dict[str, type]] = {"agents": dict, "manifest": dict, "memories": list, "checksum": str}
_SEALED_PARTS: Final[dict[str, type]] = {"agents": dict, "exports": dict, "checksum": str}
_MANIFEST: Final = ("embedder", "analyzer", "exported")


def save_file(memory: Memory, scopes: Mapping[str, str], path: Path) -> int:
    """Writes the scopes of agents; a file of that name is replaced only by a whole one."""
    if path.suffix not in (".json", ".jsonl"):
        raise BadInput(f"{path.name}: memories are saved as .json or .jsonl")
    with TemporaryDirectory(prefix="eidet-") as folder:
        parts = [Path(folder) / f"{at}.jsonl" for at in range(len(scopes))]
        for part, scope in zip(parts, scopes.values(), strict=True):
            memory.export(part, scope=scope)
        if find_sealed(memory.parts.store) is not None:
            count = _write_sealed(path, scopes, parts)
        else:
            count = _write_plain(path, scopes, parts)
    _note(memory, "export", path, count)
    return count


def _note(memory: Memory, verb: str, path: Path, count: int) -> None:
    """Tells an audit log which file it was: the verbs of the memory name the parts that it was made of."""
    if memory.audit is not None:
        memory.audit.note(verb, file=str(path), count=count)


def _write_plain(path: Path, scopes: Mapping[str, str], parts: Sequence[Path]) -> int:
    manifest: dict[str, Any] = {}
    if parts:
        read = verify_export(parts[0])
        manifest = {name: read[name] for name in _MANIFEST if name in read}
    records = chain.from_iterable(map(read_export, parts))
    if path.suffix == ".jsonl":
        return write_export(path, records, {**manifest, "agents": dict(scopes)})
    names = {scope: name for name, scope in scopes.items()}
    memories = [_memory(record, names[record.scope]) for record in records]
    body = {"format": FORMAT, "version": VERSION, "agents": scopes, "manifest": manifest}
    _write_document(path, {**body, "memories": memories})
    return len(memories)


def _write_sealed(path: Path, scopes: Mapping[str, str], parts: Sequence[Path]) -> int:
    """The sealed exports as they are, so that the memory itself vouches for every line of them."""
    exports = {}
    count = 0
    for part, scope in zip(parts, scopes.values(), strict=True):
        count += verify_export(part)["count"]
        exports[scope] = part.read_text(encoding="utf-8").rstrip("\n").split("\n")
    body = {"format": SEALED_FORMAT, "version": SEALED_VERSION, "agents": dict(scopes), "exports": exports}
    _write_document(path, body)
    return count


def _write_document(path: Path, body: Mapping[str, Any]) -> None:
    """Readable by its owner only; written beside and renamed, so that no link of that name is followed."""
    indent = None if path.suffix == ".jsonl" else 1
    text = json.dumps({**body, "checksum": _checksum(body)}, ensure_ascii=False, indent=indent) + "\n"
    try:
        write_private(path, text)
    except OSError as error:
        raise Unavailable(
            f"{path} could not be written: {error.strerror}; no partial file was left behind"
        ) from error


def _memory(record: Record, agent_id: str) -> dict[str, Any]:
    return {
        "memory_id": record.id,
        "agent_id": agent_id,
        "step_number": record.step,
        "timestamp": record.occurred,
        "contents": contents_as_json(record.whole),
        "record": encode_fields(record),
    }


def _checksum(body: Mapping[str, Any]) -> str:
    return sha256(dump_json(body, sort_keys=True).encode()).hexdigest()


def load_file(api: AgentMemoryAPI, path: Path) -> int:
    """How many memories were read; nothing is stored before all of the file is known to be sound."""
    with translate_errors(MemoryStoreException, f"{path.name} was not loaded"):
        count = _load(api, path)
        _note(api.memory, "load", path, count)
        return count


def _load(api: AgentMemoryAPI, path: Path) -> int:
    if '"eidet":"export"' in _first_line(path).replace(" ", "")[:200]:
        manifest = verify_export(path)
        agents = manifest.get("agents")
        return _put(api, list(read_export(path)), manifest, agents if isinstance(agents, dict) else {})
    document = _read(path)
    if isinstance(document, dict) and document.get("format") == FORMAT:
        _check_parts(document, _PARTS, VERSION, path)
        return _put(api, _records_in(document, path), document["manifest"], document["agents"])
    if isinstance(document, dict) and document.get("format") == SEALED_FORMAT:
        _check_parts(document, _SEALED_PARTS, SEALED_VERSION, path)
        return _load_sealed(api, document, path)
    return _entries(api, _plain(document, path), path)


def _first_line(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            line = file.readline()
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not a text file: {error}") from error
    if not line:
        raise Corrupt(f"{path} is empty: it must hold memories, or what `save` wrote of none")
    return line


def _read(path: Path) -> Any:
    """A JSON document, or a list of those on its lines."""
    text = path.read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if line.strip()]  # other separators may be in texts
    try:
        if path.suffix == ".jsonl" and len(lines) > 1:
            return [json.loads(line) for line in lines]
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not valid JSON ({error}); nothing was loaded") from error


def _check_parts(document: dict[str, Any], parts: Mapping[str, type], version: int, path: Path) -> None:
    """A document that `save` wrote, and nobody changed since."""
    if document.get("version") != version:
        raise BadInput(f"{path} has version {document.get('version')!r}, this release reads {version}")
    if missing := [name for name, kind in parts.items() if not isinstance(document.get(name), kind)]:
        raise Corrupt(f"{path} lacks {missing}; nothing was loaded")
    body = {name: document[name] for name in document if name != "checksum"}
    if _checksum(body) != document["checksum"]:
        raise Corrupt(
            f"{path} was changed since it was written: its checksum does not match; nothing was loaded"
        )


def _records_in(document: dict[str, Any], path: Path) -> list[Record]:
    records = []
    for at, memory in enumerate(document["memories"]):
        where = f"{path}, memory {at}"
        if not isinstance(memory, dict) or not isinstance(memory.get("record"), dict):
            raise Corrupt(f"{where} has no record; nothing was loaded")
        records.append(record_from(dump_json(memory["record"]), where))
    return records


def _put(
    api: AgentMemoryAPI, records: list[Record], manifest: Mapping[str, Any], agents: Mapping[str, Any]
) -> int:
    """Exactly as they were, in the scopes that this API has for their agents."""
    if any(record.sealed is not None for record in records):
        raise Corrupt("the records are sealed, but nothing tells how to open them; nothing was loaded")
    if not records:
        return 0
    names = {scope: name for name, scope in agents.items()}
    moved = []
    for record in records:
        name = names.get(record.scope) or record.agent or record.scope.rpartition("/")[2]
        moved.append(record.but(scope=api.get_memory_space(name).scope))
    made: dict[str, Any] = {name: manifest[name] for name in _MANIFEST if name in manifest}
    with TemporaryDirectory(prefix="eidet-") as folder:
        file = Path(folder) / "all.jsonl"
        write_export(file, moved, made)
        return api.memory.load(file)


def _load_sealed(api: AgentMemoryAPI, document: dict[str, Any], path: Path) -> int:
    """By the memory itself, which has the key. Sealed records are bound to the scopes they come from."""
    for name, scope in document["agents"].items():
        if api.get_memory_space(name).scope != scope:
            raise BadInput(
                f"{path} is sealed for the scope {scope!r} of agent {name!r}: load it with an API of the "
                "same scope"
            )
    with TemporaryDirectory(prefix="eidet-") as folder:
        files = []
        for at, lines in enumerate(document["exports"].values()):
            file = Path(folder) / f"{at}.jsonl"
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            manifest = verify_export(file)
            if manifest["count"] and SEALED not in manifest:
                raise Corrupt(f"{path} holds records that are not sealed; nothing was loaded")
            files.append(file)
        return sum(map(api.memory.load, files))


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
        where = f"{path}, memory {at}"
        name, draft = _draft(entry, where)
        _check_draft(api, name, draft, where)
        drafts.setdefault(name, []).append(draft)
    count = 0
    for name, some in drafts.items():
        count += len(api.memory.remember(some, scope=api.get_memory_space(name).scope))
    return count


def _check_draft(api: AgentMemoryAPI, name: str, draft: Draft, where: str) -> None:
    """Whether the memory will take it: the agents before it would be stored otherwise."""
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
