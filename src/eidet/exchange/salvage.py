"""A lossless export of what can still be read of a damaged SQLite file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.errors import Corrupt, EidetError, NotFound
from ..core.settings import Settings
from ..memory import Memory
from ..store.sql.salvage import delete_rows, read_damaged, write_rows


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
