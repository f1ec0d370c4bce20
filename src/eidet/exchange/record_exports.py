"""Exports in other formats, and salvage of damaged files. The lossless export is `Memory.export`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Corrupt, EidetError, NotFound, Refused
from ..core.record import Record, Trust, iso_time
from ..core.record_table import FIELDS
from ..core.scope import Scope
from ..core.settings import Settings
from ..core.validate import dump_json
from ..core.where import Where
from ..memory import Memory
from ..store import verbs
from ..store.sql.salvage import delete_rows, read_damaged, write_rows
from ..store.traits import is_sealed
from ..write.ingest import Progress
from .markdown import write_bundle, write_notes
from .source_items import keep_present

_TOLD: Final = 500  # records between two reports of progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The result of an export: the number of its records, and of those left out."""

    format: str
    file: str
    count: int
    left_out: dict[str, int] = field(default_factory=dict)  # number of records by reason


def list_leaving(
    memory: Memory, scope: Scope | None, progress: Progress | None, left_out: Counter[str]
) -> Iterator[Record]:
    """Yields the records of an export, in the order they were written; counts the others in `left_out`."""
    store, where = memory.parts.store, Where(scope=scope, alive_at=memory.parts.clock())
    total = verbs.count(store, where)
    for done, record in enumerate(verbs.scan(store, where), 1):
        if record.trust is Trust.QUARANTINED:
            left_out["in quarantine"] += 1
        else:
            yield record
        if progress is not None and (done % _TOLD == 0 or done == total):
            progress(done, total)


Write = Callable[[Memory, Iterable[Record], BinaryIO, Scope | None], int]


# JSON lines, which `from_tables` reads back.

_SAYABLE: Final = tuple(  # fields of a record that a caller can set
    field for field in FIELDS if field.name in {"scope", *Draft.__dataclass_fields__} - {"vector"}
)
_LISTS: Final = ("place", "derived_from")


def make_json_row(record: Record) -> dict[str, Any]:
    """Returns a record as a row from which it can be stored again, without fields that have no value.

    Times are ISO 8601 in UTC. The expiry of a pinned record is the one that applies after the pin ends.
    Fields that only the memory can set (versions, uses, when it was stored) are below `eidet`.
    """
    whole, pinned = record.whole, record.state.pinned
    row = {field.name: getattr(whole, field.name) for field in _SAYABLE}
    row |= {field.name: field.encode(row[field.name]) for field in _SAYABLE if field.encode is not None}
    row |= {name: list(row[name] or ()) or None for name in _LISTS}
    row |= {"meta": dict(record.meta) or None, "ttl": record.state.ttl}
    if pinned is not None:
        row |= {"pinned": True, "expires": pinned.expires}
    row |= {field.name: iso_time(row[field.name]) for field in _SAYABLE if field.is_time}
    return keep_present(**row, eidet=_list_own(record))


def _list_own(record: Record) -> dict[str, Any]:
    own: dict[str, Any] = {"created": iso_time(record.created), "version": record.version}
    if record.uses:
        own |= {"uses": record.uses, "last_used": iso_time(record.last_used)}
    return own | keep_present(state=record.state.to_json() or None)


def _write_jsonl(_: Memory, records: Iterable[Record], file: BinaryIO, __: Scope | None) -> int:
    """Writes one record per line."""
    count = 0
    for record in records:
        file.write(dump_json(make_json_row(record)).encode() + b"\n")
        count += 1
    return count


def _write_mcp(memory: Memory, _: Iterable[Record], file: BinaryIO, scope: Scope | None) -> int:
    """Writes the facts that hold as the MCP reference server keeps them: one graph, so of one scope."""
    text = memory.facts.export(scope=_choose_scope(memory, scope, "an MCP memory file is one graph"))
    file.write(text.encode())
    return text.count("\n") + bool(text)


def _write_markdown(memory: Memory, records: Iterable[Record], file: BinaryIO, scope: Scope | None) -> int:
    """Writes a file of notes, which is for one reader, so of one scope."""
    _choose_scope(memory, scope, "a file of notes has no scopes")
    return write_notes(records, file)


def _write_okf(_: Memory, records: Iterable[Record], file: BinaryIO, __: Scope | None) -> int:
    return write_bundle(records, file, make_json_row)


def _choose_scope(memory: Memory, scope: Scope | None, why: str) -> Scope:
    """Returns the given scope, or the only one of the memory; raises if there are several."""
    if scope is not None:
        return scope
    names = list(memory.scopes())
    if len(names) > 1:
        raise BadInput(f"{why}: name a scope of these {len(names):,}")
    return Scope.of(names[0]) if names else Scope()


WRITERS: Final[dict[str, Write]] = {
    "jsonl": _write_jsonl,
    "mcp": _write_mcp,
    "markdown": _write_markdown,
    "okf": _write_okf,
}
SKILL: Final = "skill"  # the format that is a folder


def check_plain(memory: Memory, plain: bool, *, instead: str = "ask for a plain export") -> None:
    """Raises `Refused` if a sealed memory would be written unsealed, unless the caller asks for it."""
    if not plain and is_sealed(memory.parts.store):
        raise Refused(f"this memory is sealed, and that file would not be: {instead}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """The number of saved records, and the (scope, id) of those known to be lost."""

    count: int
    lost: tuple[tuple[str, str], ...] = ()


def salvage(
    path: Path, target: Path, *, settings: Settings, embedder: str | None = None, plain: bool = False
) -> Salvaged:
    """Writes the records that are left in a damaged file to an export. Does not change the file.

    Records of a sealed memory need its key, and altered ones are left out. Changed bytes within a text of
    an unsealed record cannot be detected. `embedder` is used if the file no longer names its own.
    """
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    found = read_damaged(path)
    if not found.records:
        raise Corrupt(f"{path} tells no record any more: restore a copy or an export")
    embedder = None if "embedder" in found.settings else embedder
    with tempfile.TemporaryDirectory(prefix="salvage-", dir=target.absolute().parent) as folder:
        new = Path(folder) / "new.db"
        write_rows(new, found)
        chosen = replace(settings, audit="off", guard=None)
        with Memory(new, embedder=embedder, settings=chosen) as memory:
            unreadable = list(_list_unreadable(memory, delete_rows(new, ())))
        saved = delete_rows(new, unreadable)
        with Memory(new, embedder=embedder, settings=chosen) as memory:
            count = memory.export(target, plain=plain)
    return Salvaged(count=count, lost=tuple(sorted((found.named | set(unreadable)) - saved)))


def _list_unreadable(memory: Memory, known: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for scope, id in known:
        try:
            record = memory.parts.store.read(scope, [id])[0]
            if record is None or not record.whole.scope:
                yield scope, id
        except (EidetError, ValueError, TypeError, LookupError):
            yield scope, id
