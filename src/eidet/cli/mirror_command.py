"""`eidet mirror`."""

from __future__ import annotations

import signal
from dataclasses import asdict
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import EidetError
from .memory_options import Which, command
from .show import count_words, emit, plain, tell_note

if TYPE_CHECKING:
    from ..mirror import Mirrored

_SHOWN: Final = 10  # conflicts


commands: Final = typer.Typer()


@command(commands)
def _mirror(
    on: Which,
    folder: Annotated[Path, Argument(metavar="FOLDER", help="A mirror, or a new or empty folder.")],
    watch: Annotated[
        bool, Option("--watch/--once", help="Run again whenever the memory or a file changes, until stopped.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only report; write nothing.")] = False,
    delete: Annotated[
        bool, Option("--delete", help="Also forget many records whose blocks are gone.")
    ] = False,
    plain: Annotated[bool, Option("--plain", help="Write the texts of a sealed memory.")] = False,
) -> None:
    """Keep a scope as a folder of Markdown, both ways.

    What you edit, add or delete in the folder is revised, remembered or forgotten; what changed in the memory
    is written to the folder. Exits with code 1 while there are conflicts: what changed on both sides stays as
    the memory says it, and your text is kept in a file *.conflict.md.
    """
    from ..mirror import mirror_folder, watch_folder

    options: dict[str, Any] = {"scope": on.one_scope, "dry_run": dry_run, "delete": delete, "plain": plain}
    tell = partial(_tell, as_json=on.json)
    with on.open_memory() as memory:
        if not watch:
            done = mirror_folder(memory, folder, **options)
            tell(done)
            raise typer.Exit(int(not done.ok))
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        watch_folder(memory, folder, tell, stop, **options)


def _tell(done: Mirrored | EidetError, *, as_json: bool) -> None:
    if isinstance(done, EidetError):
        typer.echo(f"error: {plain(str(done))}", err=True)
    elif as_json:
        emit(asdict(done) | {"ok": done.ok})
    else:
        _tell_run(done)


def _tell_run(done: Mirrored) -> None:
    counted = count_words(
        {
            "remembered": len(done.remembered),
            "revised": len(done.revised),
            "forgotten": len(done.forgotten),
            "files written": len(done.written),
        }
    )
    typer.echo(f"{'would mirror' if done.dry_run else 'mirrored'}: {counted or 'nothing to do'}")
    for conflict in done.conflicts[:_SHOWN]:
        tell_note("conflict", conflict)
    for file in done.unresolved:
        tell_note("look at", f"{file}: take over what you want to keep, then delete it")
