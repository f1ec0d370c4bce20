"""Exports in formats of others, and what a damaged file still holds. The lossless one is `Memory.export`."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from ..core.errors import BadInput, Corrupt, EidetError, NotFound, Refused
from ..core.record import Record, Trust
from ..core.scope import Scope
from ..core.settings import Settings
from ..core.validate import dump_json
from ..core.where import Where
from ..memory import Memory
from ..store import verbs
from ..store.sql.salvage import delete_rows, read_damaged, write_rows
from .pam import make_document
from .table_files import make_json_row, make_typed_row, write_parquet_rows

Progress = Callable[[int, int], None]  # done, of how many
_TOLD: Final = 500  # records between two reports of progress
_ASK_FOR_PLAIN: Final = "ask for a plain export, or export as eidet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """The result of an export: how many records it holds, and what was left out."""

    format: str
    file: str
    count: int
    left_out: dict[str, int] = field(default_factory=dict)  # records that are not in it, by reason


class RecordsLeaving:
    """The records of an export, in the order of their writing; `left_out` counts the others."""

    def __init__(self, memory: Memory, scope: Scope | None, progress: Progress | None) -> None:
        self._memory, self._progress = memory, progress
        self._where = Where(scope=scope, alive_at=memory.parts.clock())
        self.left_out: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Record]:
        store = self._memory.parts.store
        total = verbs.count(store, self._where)
        for done, record in enumerate(verbs.scan(store, self._where), 1):
            if record.trust is Trust.QUARANTINED:
                self.left_out["in quarantine"] += 1
            else:
                yield record
            if self._progress is not None and (done % _TOLD == 0 or done == total):
                self._progress(done, total)


Write = Callable[[Memory, RecordsLeaving, BinaryIO, Scope | None, bool], int]


def _write_jsonl(_: Memory, records: RecordsLeaving, file: BinaryIO, __: Scope | None, vectors: bool) -> int:
    """One record a line."""
    _refuse_vectors("jsonl", vectors)
    count = 0
    for record in records:
        file.write(dump_json(make_json_row(record)).encode() + b"\n")
        count += 1
    return count


def _write_parquet(
    memory: Memory, records: RecordsLeaving, file: BinaryIO, _: Scope | None, vectors: bool
) -> int:
    """One record a row; the vectors in a column of their own, if they are asked for."""
    width = memory.parts.embedder.width if vectors else None
    return write_parquet_rows(file, (make_typed_row(record, width) for record in records), width)


def _write_pam(
    memory: Memory, records: RecordsLeaving, file: BinaryIO, scope: Scope | None, vectors: bool
) -> int:
    """One document, which is made in RAM: its checksum is taken of all memories."""
    _refuse_vectors("pam", vectors)
    owner = memory.parts.store.identity if scope is None else scope.path
    document = make_document(records, owner, memory.parts.clock())
    file.write(dump_json(document).encode() + b"\n")
    return len(document["memories"])


def _write_mcp(memory: Memory, _: RecordsLeaving, file: BinaryIO, scope: Scope | None, vectors: bool) -> int:
    """The facts that hold, as the MCP reference server keeps them: one graph, so of one scope."""
    _refuse_vectors("mcp", vectors)
    text = memory.facts.export("mcp", scope=_choose_scope(memory, scope))
    file.write(text.encode())
    return text.count("\n") + bool(text)


def _choose_scope(memory: Memory, scope: Scope | None) -> Scope:
    """The scope that is named, or the only one there is."""
    if scope is not None:
        return scope
    names = list(memory.scopes())
    if len(names) > 1:
        raise BadInput(f"an MCP memory file is one graph: name a scope of these {len(names):,}")
    return Scope.of(names[0]) if names else Scope()


def _refuse_vectors(format: str, vectors: bool) -> None:
    if vectors:
        raise BadInput(f"a file of format {format} has no place for vectors; parquet has")


WRITERS: Final[dict[str, Write]] = {
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
    "pam": _write_pam,
    "mcp": _write_mcp,
}


def check_plain(memory: Memory, plain: bool, *, instead: str = _ASK_FOR_PLAIN) -> None:
    """`Refused` where a sealed memory would leave unsealed, unless the caller asks for it."""
    from ..trust.seal.exports import find_sealed

    if not plain and find_sealed(memory.parts.store) is not None:
        raise Refused(f"this memory is sealed, and that file would not be: {instead}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Salvaged:
    """The number of saved records, and the (scope, id) of those that are known to be lost."""

    count: int
    lost: tuple[tuple[str, str], ...] = ()


def salvage(
    path: Path, target: Path, *, settings: Settings, embedder: str | None = None, plain: bool = False
) -> Salvaged:
    """Writes what a damaged file still tells to an export. The file itself is only read.

    Records of a sealed memory need its key, and those that were altered are left out. Nobody can tell
    whether bytes within a text of an unsealed record were changed. `embedder` counts where the file no
    longer names its own.
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
        chosen = replace(settings, audit="off", guard=None, vault=None)
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
