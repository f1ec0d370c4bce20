"""Imports and exports of memories in the formats of other programs.

    importing.py     the import: scopes, check, compare, store   record_exports.py  the export
    source_items.py  the items of a reader                       front_matter.py    YAML in Markdown
    source_files.py  files of other programs                     folder_sync.py     documents of a folder
    from_*.py        readers of formats                          document_files.py  files as passages
    markdown.py      notes, OKF both ways        skills.py          procedures as Agent Skills

    done = import_memories(memory, "mem0", "/tmp/qdrant")
    print(done.created, done.skipped, done.dropped)

A reader is a function that yields drafts with stable ids. To add one, write it and name it in `FORMATS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ..core.arguments import one_or_all
from ..core.errors import BadInput
from ..core.private_files import write_export_file
from ..core.scope import Scope
from ..memory import Memory
from ..trust.audit import Auditing
from ..write.ingest import Progress
from .folder_sync import FileChange, Synced, sync_files
from .importing import FORMATS, Imported, Importer
from .record_exports import SKILL, WRITERS, Exported, check_plain, list_leaving
from .skills import write_skills
from .source_items import ImportOptions, LeftOut, SourceFormat, SourceItem

__all__ = [
    "FORMATS",
    "WRITERS",
    "Exported",
    "FileChange",
    "ImportOptions",
    "Imported",
    "Importer",
    "LeftOut",
    "SourceFormat",
    "SourceItem",
    "Synced",
    "export_memories",
    "import_memories",
    "sync_files",
]


def import_memories(
    memory: Memory,
    format: str,
    source: str | Path,
    *,
    scope: str | None = None,
    dry_run: bool = False,
    overwrite: bool = False,
    skip_bad: bool = False,
    trust: str | None = None,
    columns: Mapping[str, str] | None = None,
    delimiter: str = ",",
    progress: Progress | None = None,
) -> Imported:
    """Imports memories of another program, and reports what could not be stored.

    All items are checked first: if one cannot be stored, nothing is written (`skip_bad` leaves it out and
    reports it). They are stored in batches, each all or nothing. Called again, it imports only what is
    missing. A record with the same id and another text is kept and reported, unless `overwrite`.

    `scope` is a scope, or a template such as `"acme/{user}"`. `columns` maps fields to the columns of a
    table: `{"text": "note"}`.
    """
    options = ImportOptions(
        scope=scope,
        trust=trust,
        overwrite=overwrite,
        skip_bad=skip_bad,
        columns=columns or {},
        delimiter=delimiter,
    )
    importer = Importer(format, source, options)
    checked = importer.check(memory.parts.settings, memory.parts.clock())
    return importer.run(memory, checked, dry_run=dry_run, progress=progress)


def export_memories(
    memory: Memory,
    format: str,
    path: str | Path,
    *,
    scope: str | Scope | None = None,
    plain: bool = False,
    progress: Progress | None = None,
) -> Exported:
    """Writes every scope, or the given one, in another format: see `WRITERS`, or "skill", which is a folder.

    These formats have the fields that a caller can set. `Memory.export` also writes vectors, versions, uses
    and pins, and seals them. A sealed memory is written unsealed only with `plain`.
    """
    if format != SKILL and format not in WRITERS:
        raise BadInput(f"memories are exported as {', '.join(WRITERS)} or {SKILL}, not {format!r}")
    check_plain(memory, plain)
    place, file = one_or_all(scope), Path(path)
    memory.admin.flush()
    left_out = Counter[str]()
    records = list_leaving(memory, place, progress, left_out)
    with Auditing(memory.audit).doing("export", place, file=str(path)) as done:
        if format == SKILL:
            count = done(write_skills(records, file, lambda why: left_out.update([why])))
        else:
            with write_export_file(file) as out:
                count = done(WRITERS[format](memory, records, out, place))
    return Exported(format=format, file=str(path), count=count, left_out=dict(left_out))
