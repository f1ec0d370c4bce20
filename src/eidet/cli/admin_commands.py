"""`eidet load`, `rebuild`, `reembed` and `doctor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import BadInput
from .json_output import emit, emit_or_tell
from .memory_options import Below, Which, command
from .panels import CARE
from .show import progress_bar

File = Annotated[Path, typer.Argument(metavar="FILE")]


def add_to(app: typer.Typer) -> None:
    for run in (load, rebuild, doctor):
        command(app, CARE)(run)
    command(app, CARE, scoped=False)(reembed)


def load(
    on: Which,
    file: File,
    below: Below = False,
    unverified: Annotated[
        bool,
        typer.Option(
            "--unverified", help="Load a plain or former export into a sealed memory: nobody signed it."
        ),
    ] = False,
) -> None:
    """Read an export into the scopes its records name; with --scope, only the records of that one.

    A damaged file changes nothing.
    """
    scope = on.reach_or_all(below)
    with on.open_memory(creates=True) as memory, progress_bar("loading") as tell:
        count = memory.load(file, scope=scope, unverified=unverified, progress=tell)
    emit_or_tell(
        on.json, {"loaded": count}, f"loaded {count:,} records of {scope or 'every scope'} from {file}"
    )


def rebuild(on: Which) -> None:
    """Rebuild the index from the store.

    With --language, re-analyse every text first.
    """
    with on.open_for_change() as memory, progress_bar("rebuilding") as tell:
        count = memory.admin.rebuild(on.reach_or_all(False), language=on.language, progress=tell)
    emit_or_tell(on.json, {"rebuilt": count}, f"rebuilt the index of {count:,} records")


def reembed(on: Which) -> None:
    """Switch to the embedder that --embedder names.

    Resumes if it was interrupted.
    """
    if on.embedder is None:
        raise BadInput("name the new embedder: --embedder wordllama")
    with on.open_for_change() as memory, progress_bar("embedding") as tell:
        count = memory.admin.reembed(on.embedder, progress=tell)
        name = memory.admin.stats()["embedder"]
    emit_or_tell(on.json, {"embedded": count, "embedder": name}, f"embedded {count:,} records with {name}")


def doctor(
    on: Which,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Also compare the file's own indexes with its tables.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="A line for each check, also for those that are fine.")
    ] = False,
) -> None:
    """Say what is installed, which memory and embedder are used, what is slow or unsafe, and how to mend it.

    Exits with code 1 if it finds faults.
    """
    from .doctor import examine
    from .doctor_report import show_report

    findings = list(examine(on, thorough=thorough))
    if on.json:
        emit([asdict(finding) for finding in findings])
    else:
        show_report(findings, verbose=verbose)
    raise typer.Exit(int(any(finding.level == "fault" for finding in findings)))
