"""`eidet import`, `sync`, `export` and `load`."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.scope import Scope
from .copy import resumable
from .memory_options import Which, command
from .show import RIGHT, count_words, emit, emit_or_tell, plain, progress_bar, tell_note, tell_table

if TYPE_CHECKING:
    from ..exchange import Imported, Importer, Synced

_LOSSLESS: Final = "eidet"
SHOWN: Final = 10  # scopes and omissions that are listed

Source = Annotated[str, Argument(metavar="SOURCE", help="A file or a folder; - is standard input.")]
TrustOf = Annotated[
    str | None, Option("--trust", help="Where the texts come from: trusted, user, tool, web, unknown.")
]


commands: Final = typer.Typer()


@command(commands)
def _import(
    on: Which,
    format: Annotated[
        str,
        Argument(
            metavar="FORMAT",
            help="mem0, langgraph, chroma, letta, chatgpt, claude, mcp, markdown, okf, jsonl or csv.",
        ),
    ],
    source: Source,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only check the source and report; write nothing.")
    ] = False,
    column: Annotated[
        list[str] | None,
        Option(metavar="FIELD=COLUMN", help="For tables: text=note takes the text from column note."),
    ] = None,
    delimiter: Annotated[str, Option(help="For CSV.")] = ",",
    trust: TrustOf = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Also replace what differs in the memory.")
    ] = False,
    skip_bad: Annotated[
        bool, Option("--skip-bad", help="Leave out what cannot be stored, and report it.")
    ] = False,
) -> None:
    """Bring memories of another program.

    Exits with code 1 if some were left because they differ.
    Run the same command again to resume it or to bring what is new: what is there already is left as it is.
    --scope may have gaps, as in acme/{user}; each format has a default.
    """
    from ..exchange import Importer, ImportOptions

    options = ImportOptions(
        scope=on.scope,
        trust=trust,
        overwrite=overwrite,
        skip_bad=skip_bad,
        columns=_parse_columns(column or []),
        delimiter=delimiter,
    )
    with resumable(), _readable_twice(source) as path:
        done = _run(on, Importer(format, path, options), dry_run)
    if on.json:
        emit(asdict(done) | {"source": source, "ok": done.ok})
    else:
        _tell_import(done)
    raise typer.Exit(int(not done.ok))


@contextmanager
def _readable_twice(source: str) -> Iterator[str]:
    """Yields the path of a source; of `-` or a pipe, which can be read only once, that of a copy."""
    if source != "-" and not Path(source).is_fifo():
        yield source
        return
    with TemporaryDirectory(prefix="eidet-") as folder:
        copy = Path(folder, Path(source).name)
        copy.write_bytes(sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes())
        yield str(copy)


def _run(on: Which, importer: Importer, dry_run: bool) -> Imported:
    """Imports a source; checks all of it before it opens, or creates, the memory."""
    on.check_local("import", "import into a file, `eidet export` that, and `eidet load` the export there")
    checked = importer.check(on.settings(), time.time())
    if dry_run and on.missing_file() is not None:
        return checked
    with on.open_memory(creates=True) as memory, progress_bar("importing") as tell:
        return importer.run(memory, checked, dry_run=dry_run, progress=tell)


def _parse_columns(pairs: list[str]) -> dict[str, str]:
    columns = {field: column for field, _, column in (pair.partition("=") for pair in pairs)}
    if not all(field and column for field, column in columns.items()):
        raise BadInput(f"--column takes field=column, not {' '.join(pairs)!r}")
    return columns


def _tell_import(done: Imported) -> None:
    if done.scopes:
        _tell_scopes(done.scopes)
    counted = count_words(
        {
            "new": done.created,
            "changed": done.changed,
            "already there": done.same,
            "that differ, unchanged": done.conflicts,
            "forgotten for good here, left out": done.entombed,
            "under a legal hold, unchanged": done.held,
        }
    )
    typer.echo(f"{'would import' if done.dry_run else 'imported'}: {counted or 'nothing'}")
    for what, counts in (("skipped", done.skipped), ("dropped", done.dropped)):
        for why, count in counts.items():
            tell_note(what, f"{count:,}: {why}", "bold", stderr=False)
    for example in done.examples[:SHOWN]:
        tell_note("left out", f"{example.where}: {example.why}")
    if done.conflicts:
        typer.echo("`--overwrite` takes what the source says", err=True)


def _tell_scopes(scopes: Mapping[str, int]) -> None:
    rows = [(scope, f"{count:,}") for scope, count in list(scopes.items())[:SHOWN]]
    if len(scopes) > SHOWN:
        rows.append((f"and {len(scopes) - SHOWN:,} more", ""))
    tell_table(("scope", ("memories", RIGHT)), rows)


@command(commands)
def _sync(
    on: Which,
    path: Annotated[Path, Argument(metavar="FOLDER", help="A folder, with all below it, or one file.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Only list what would change; write nothing.")] = False,
    name: Annotated[
        str | None, Option("--as", metavar="NAME", help="Call the folder so in `source`, wherever it is.")
    ] = None,
    trust: TrustOf = None,
) -> None:
    """Keep the documents of a folder: Markdown, HTML, text, PDF.

    Adds, updates and removes what changed since the last time, and touches nothing that it did not make.
    Run the same command again to resume it. A file that cannot be read is named, and its memories stay.
    """
    from ..exchange import sync_files
    from ..memory import Memory

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # files that cannot be read are reported below
    how: dict[str, Any] = {"scope": on.one_scope, "name": name, "trust": trust, "dry_run": dry_run}
    with resumable(), progress_bar("syncing") as tell:
        in_ram = dry_run and on.missing_file() is not None
        with Memory(embedder="hashing") if in_ram else on.open_memory(creates=True) as memory:
            done = sync_files(memory, path, progress=tell, **how)
    if on.json:
        emit(asdict(done))
    else:
        _tell_sync(done)


def _tell_sync(done: Synced) -> None:
    changes = ("added", "updated", "removed")
    if done.dry_run:
        for change in done.changes:
            typer.echo(f"{plain(change.file)}: {count_words({n: getattr(change, n) for n in changes})}")
    counts = [f"{done.count(what):,} {what}" for what in changes]
    verb = "would sync" if done.dry_run else "synced"
    typer.echo(f"{verb} {done.passages:,} passages of {done.files:,} files: {', '.join(counts)}")
    for one in done.skipped:
        tell_note("skipped", f"{one.where}: {one.why}")
    if done.unread:
        kinds = count_words({ending or "without an ending": count for ending, count in done.unread.items()})
        typer.echo(f"not read, because of their ending: {plain(kinds)}", err=True)


@command(commands)
def _export(
    on: Which,
    file: Annotated[Path, Argument(metavar="FILE", help="A folder for the format skill.")],
    format: Annotated[
        str,
        Option(
            "--format",
            "-f",
            help="eidet (lossless, for `eidet load`), jsonl, mcp, skill, markdown or okf.",
        ),
    ] = _LOSSLESS,
    plain: Annotated[bool, Option("--plain", help="Decrypt the records of a sealed memory.")] = False,
    salvage: Annotated[
        bool, Option("--salvage", help="Save what can be read of a damaged file, and name what cannot.")
    ] = False,
) -> None:
    """Write all memories, or those of a scope, to a file.

    The default is JSON lines that lose nothing. The other formats are for other programs, and `eidet import`
    reads them.
    """
    scope = on.reach_or_all()
    if salvage:
        if scope is not None or format != _LOSSLESS:
            raise BadInput("--salvage saves the whole file as a lossless export: drop the other options")
        _salvage(on, file, plain)
        return
    if format != _LOSSLESS:
        instead = f"export it as {_LOSSLESS}, load that into a file, and export the file"
        on.check_local(f"export --format {format}", instead)
    from ..exchange import export_memories

    left_out: Mapping[str, int] = {}
    with on.open_memory() as memory, progress_bar("exporting") as tell:
        if format == _LOSSLESS:
            count = memory.export(file, scope=scope, plain=plain, progress=tell)
        else:
            done = export_memories(memory, format, file, scope=scope, plain=plain, progress=tell)
            count, left_out = done.count, done.left_out
    unit = "lines" if format == "mcp" else "records"
    line = f"exported {count:,} {unit} of {scope or 'every scope'} to {file}"
    emit_or_tell(on.json, {"exported": count, "file": str(file), "left_out": left_out}, line)
    if not on.json:
        for why, left in left_out.items():
            typer.echo(f"left out {left:,} records {why}", err=True)


def _salvage(on: Which, file: Path, plain: bool) -> None:
    from ..exchange.record_exports import salvage
    from ..store.sql.inspect_file import file_of

    on.check_local("export --salvage", "run it where its file is")
    source = file_of(on.at)
    if source is None:
        raise BadInput(f"--salvage reads a damaged SQLite file, and {on.at} is none")
    done = salvage(source, file, settings=on.settings(), embedder=on.embedder, plain=plain)
    if on.json:
        emit({"exported": done.count, "file": str(file), "lost": [list(one) for one in done.lost]})
        return
    typer.echo(f"saved {done.count:,} records of {source} to {file}")
    for scope, id in done.lost:
        typer.echo(f"lost {id} of {scope}", err=True)


@command(commands)
def _load(
    on: Which,
    source: Annotated[
        str, Argument(metavar="SOURCE", help="An export; or an archive, a folder or s3://bucket/prefix.")
    ],
    ids: Annotated[list[str] | None, Option("--id", help="Archive: only this id; repeatable.")] = None,
    since: Annotated[str | None, Option(help="Archive: only what was created then or later.")] = None,
    until: Annotated[str | None, Option(help="Archive: only what was created then or earlier.")] = None,
    claim: Annotated[
        bool, Option("--claim", help="Archive: only make it this memory's own, after its file was moved.")
    ] = False,
) -> None:
    """Read an export, or memories back from an archive.

    Records go into the scopes that they name; with --scope, only the records of that one are read. A damaged
    file changes nothing.
    """
    if "://" in source or Path(source).is_dir():
        _load_archive(on, source, {"ids": ids, "since": since, "until": until}, claim=claim)
        return
    if ids or since or until or claim:
        raise BadInput(f"--id, --since, --until and --claim are for an archive, and {source} is a file")
    scope = on.reach_or_all()
    with on.open_memory(creates=True) as memory, progress_bar("loading") as tell:
        count = memory.load(Path(source), scope=scope, progress=tell)
    emit_or_tell(
        on.json, {"loaded": count}, f"loaded {count:,} records of {scope or 'every scope'} from {source}"
    )


def _load_archive(on: Which, folder: str, sought: dict[str, Any], *, claim: bool) -> None:
    if claim:
        with on.open_memory() as memory:
            count = memory.upkeep.claim_archive(folder)
        emit_or_tell(on.json, {"claimed": count}, f"claimed {count:,} pieces of {folder}")
        return
    scope = None if on.scope is None else Scope(on.scope)
    with on.open_memory(creates=True) as memory:
        count = memory.upkeep.unarchive(folder, scope=scope, **sought)
    emit_or_tell(on.json, {"unarchived": count}, f"brought back {count:,} records from {folder}")
