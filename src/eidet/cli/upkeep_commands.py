"""`eidet maintain`, `review`, `rebuild` and `doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import BadInput
from ..core.record import Record
from .memory_options import Below, Which, command
from .show import (
    ID_WIDTH,
    add_reasons,
    console,
    emit,
    emit_each,
    emit_or_tell,
    local_time,
    progress_bar,
    style_text,
    table,
    with_reasons,
)

if TYPE_CHECKING:
    from ..upkeep import Maintained
    from ..upkeep.retain import Standing

SHOWN: Final = 50


commands: Final = typer.Typer()


@command(commands)
def _maintain(
    on: Which,
    below: Below = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and why.")
    ] = False,
    policies: Annotated[
        bool,
        typer.Option("--policies", help="Only list the retention policies, and how many records are due."),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="One of the steps, such as move; repeatable.")
    ] = None,
    forget_below: Annotated[
        float | None, typer.Option(help="Forget what is weaker than this, from 0 to 1.")
    ] = None,
    archive: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Where forgotten memories are archived: a folder, or s3://bucket."
        ),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(help="Model that words summaries, such as ollama:qwen3; default: rules."),
    ] = None,
) -> None:
    """Keep memories in order: expire, retain, forget, merge, move.

    The steps: expire, retain, forget, merge, weigh, promote, move, summarise, consolidate.
    """
    if policies:
        _tell_policies(on, below)
        return
    settings = on.settings().upkeep
    if forget_below is not None:
        settings = replace(settings, forget_below=forget_below)
    with on.open_memory() as memory:
        done = memory.upkeep.maintain(
            on.reach_or_all(below), dry_run=dry_run, only=only, settings=settings, archive=archive, llm=llm
        )
    if on.json:
        emit(asdict(done) | {"changes": [change._asdict() for change in done.changes]})
    else:
        _tell_maintained(done)


def _tell_maintained(done: Maintained) -> None:
    out = console()
    if done.changes and (done.dry_run or len(done.changes) <= SHOWN):
        made = table("what")
        made.add_column("which", overflow="fold", min_width=ID_WIDTH)
        made.add_column("why", ratio=1, overflow="fold")
        for change in done.changes:
            made.add_row(
                change.what, style_text(f"{change.id}\n", (change.scope, "dim")), style_text(change.because)
            )
        out.print(made)
    out.print(style_text(str(done)))
    for failure in done.failed:
        console(stderr=True).print(style_text(f"failed: {failure}"))


def _tell_policies(on: Which, below: bool) -> None:
    with on.open_memory() as memory:
        found = memory.upkeep.retention(on.reach_or_all(below))
    if on.json:
        emit([asdict(standing) | {"says": str(standing.policy)} for standing in found])
    elif not found:
        console(stderr=True).print("there are no policies; write them as [[eidet.retention]] in --config")
    else:
        console().print(_policies(found))


def _policies(found: Iterable[Standing]) -> Any:
    made = table("policy", "covers", "due", "due but held", "kept")
    for standing in found:
        counts = (standing.covered, standing.due, standing.held, standing.kept)
        made.add_row(style_text(str(standing.policy)), *(f"{count:,}" for count in counts))
    return made


@command(commands)
def _review(
    on: Which,
    below: Below = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 50,
) -> None:
    """List what is quarantined or labelled as poison, newest first.

    `eidet mark ID --approve` or `--quarantine` decides. With --json one a line.
    """
    with on.open_memory() as memory:
        found = memory.trust.review(scope=on.reach(below), limit=limit)
    if on.json:
        emit_each(record.to_dict() for record in found)
    elif not found:
        console(stderr=True).print("nothing to review")
    else:
        _tell_found(found)


def _tell_found(found: Sequence[Record]) -> None:
    from ..trust.privacy.service import score_of

    made = table("score")
    made.add_column("trust, when", width=11)
    add_reasons(made)
    for record in found:
        made.add_row(
            f"{score_of(record):.2f}",
            f"{record.trust}\n{local_time(record.occurred)}",
            *with_reasons(record, "\n".join(_reasons(record))),
        )
    console().print(made)


def _reasons(record: Record) -> list[str]:
    label, mark = record.state.poison, record.state.quarantine
    why = [] if label is None else list(label.why)
    return why if mark is None or mark.because is None else [*why, mark.because]


@command(commands)
def _rebuild(
    on: Which,
    reembed: Annotated[
        bool, typer.Option("--reembed", help="Switch to the embedder that --embedder names; resumes.")
    ] = False,
) -> None:
    """Rebuild the index, or switch to another embedder or language.

    With --language, re-analyse every text first. With --reembed, embed every text again; if that was
    interrupted, the same command resumes it.
    """
    if not reembed:
        with on.open_for_change() as memory, progress_bar("rebuilding") as tell:
            count = memory.admin.rebuild(on.reach_or_all(False), language=on.language, progress=tell)
        emit_or_tell(on.json, {"rebuilt": count}, f"rebuilt the index of {count:,} records")
        return
    if on.embedder is None:
        raise BadInput("name the new embedder: --embedder wordllama")
    if on.scope is not None or on.language is not None:
        raise BadInput("--reembed changes the embedder of the whole memory: drop --scope and --language")
    with on.open_for_change() as memory, progress_bar("embedding") as tell:
        count = memory.admin.reembed(on.embedder, progress=tell)
        name = memory.admin.stats()["embedder"]
    emit_or_tell(on.json, {"embedded": count, "embedder": name}, f"embedded {count:,} records with {name}")


@command(commands)
def _doctor(
    on: Which,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Also compare the file's own indexes with its tables.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="A line for each check, also for those that are fine.")
    ] = False,
) -> None:
    """Say what is slow, unsafe or broken, and how to mend it.

    Also what is installed, and which memory and embedder are used. Exits with code 1 if it finds faults.
    """
    from .doctor import examine, show_report

    findings = list(examine(on, thorough=thorough))
    if on.json:
        emit([asdict(finding) for finding in findings])
    else:
        show_report(findings, verbose=verbose)
    raise typer.Exit(int(any(finding.level == "fault" for finding in findings)))
