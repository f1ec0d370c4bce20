"""`eidet load`, `rebuild`, `reembed` and `doctor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Final

import typer

from ..core.errors import BadInput
from .json_output import emit
from .memory_options import Which, command
from .panels import CARE
from .show import console, grid, progress_bar, style_text

_STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}

File = Annotated[Path, typer.Argument(metavar="FILE")]


def add_to(app: typer.Typer) -> None:
    for run in (load, rebuild, reembed, doctor):
        command(app, CARE)(run)


def load(
    on: Which,
    file: File,
    unverified: Annotated[
        bool,
        typer.Option(
            "--unverified", help="Load a plain or former export into a sealed memory: nobody signed it."
        ),
    ] = False,
) -> None:
    """Read an export into the scopes its records name.

    A damaged file changes nothing.
    """
    with on.open_memory(creates=True) as memory, progress_bar("loading") as tell:
        count = memory.load(file, unverified=unverified, progress=tell)
    _tell(on, {"loaded": count}, f"loaded {count:,} records from {file}")


def rebuild(on: Which) -> None:
    """Rebuild the index from the store.

    With --language, re-analyse every text first.
    """
    with on.open_for_change() as memory, progress_bar("rebuilding") as tell:
        count = memory.admin.rebuild(on.reach_or_all(False), language=on.language, progress=tell)
    _tell(on, {"rebuilt": count}, f"rebuilt the index of {count:,} records")


def reembed(on: Which) -> None:
    """Switch to the embedder that --embedder names.

    Resumes if it was interrupted.
    """
    if on.embedder is None:
        raise BadInput("name the new embedder: --embedder wordllama")
    with on.open_for_change() as memory, progress_bar("embedding") as tell:
        count = memory.admin.reembed(on.embedder, progress=tell)
        name = memory.admin.stats()["embedder"]
    _tell(on, {"embedded": count, "embedder": name}, f"embedded {count:,} records with {name}")


def doctor(
    on: Which,
    thorough: Annotated[
        bool, typer.Option("--thorough", help="Also compare the file's own indexes with its tables.")
    ] = False,
) -> None:
    """Check the file, its schema, embedder, language, index and disk.

    Exits with code 1 if it finds faults.
    """
    from .doctor import examine

    findings = list(examine(on, thorough=thorough))
    if on.json:
        emit([asdict(finding) for finding in findings])
    else:
        report = grid("", "bold", "")
        for finding in findings:
            advice = (f"\n→ {finding.todo}", "") if finding.todo else ""
            report.add_row(
                style_text((finding.level, _STYLES[finding.level])),
                finding.check,
                style_text(finding.message, advice),
            )
        console().print(report)
    raise typer.Exit(int(any(finding.level == "fault" for finding in findings)))


def _tell(on: Which, answer: dict[str, object], line: str) -> None:
    if on.json:
        emit(answer)
    else:
        typer.echo(line)
