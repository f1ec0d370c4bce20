"""`eidet copy`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import Unavailable
from ..core.scope import Scope
from .key_commands import _resolve_key as named_key
from .memory_options import AsJson, choose_file
from .show import count_words, emit, progress_bar, tell_note

if TYPE_CHECKING:
    from ..copy import Copied

SHOWN: Final = 10
INTERRUPTED: Final = 130


commands: Final = typer.Typer()


@commands.command("copy")
def _copy(
    source: Annotated[str, Argument(metavar="FROM", help="A file or a URL.")],
    target: Annotated[str, Argument(metavar="TO", help="A file or a URL; created if needed.")],
    scope: Annotated[
        str | None, Option("--scope", "-s", help="Only this one, or acme/** and all below.")
    ] = None,
    embedder: Annotated[
        str | None, Option(help="For a new target, such as hashing:256; re-embeds all vectors.")
    ] = None,
    language: Annotated[str | None, Option(help="For a new target, such as de.")] = None,
    from_key: Annotated[
        str | None, Option(metavar="KEY", help="If FROM is sealed: file:PATH or env:NAME.")
    ] = None,
    to_key: Annotated[
        str | None, Option(metavar="KEY", help="If TO is, or should be, sealed: file:PATH or env:NAME.")
    ] = None,
    config: Annotated[
        Path | None,
        Option(
            envvar="EIDET_CONFIG",
            help="A TOML file with settings; default: eidet.toml here, if there is one.",
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Copy memories to another place.

    Exits with code 1 if something still differs. The same command again goes on where it was stopped,
    brings what is new, and takes away what the source has forgotten since. EIDET_KEY counts for an end
    that is sealed already, and for a new target.
    """
    place = None if scope is None else Scope.of(scope)
    with resumable():
        copied = _copy_memories(source, target, (from_key, to_key), embedder, language, config, place)
    emit(asdict(copied) | {"ok": copied.ok}) if json else _tell(copied)
    raise typer.Exit(int(not copied.ok))


@contextmanager
def resumable() -> Iterator[None]:
    """Prints how to resume work that is stopped, or adds it to the error if the server is lost."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("stopped; run the same command again to resume", err=True)
        raise typer.Exit(INTERRUPTED) from None
    except Unavailable as error:
        again = f"{error}; run the same command again to resume"
        raise Unavailable(again, retry_after=error.retry_after) from error


def _copy_memories(
    source: str,
    target: str,
    keys: tuple[str | None, str | None],
    embedder: str | None,
    language: str | None,
    config: Path | None,
    scope: Scope | None,
) -> Copied:
    from .. import copy as copying
    from ..copy import source_at, target_at
    from ..core.settings import read_settings

    file = choose_file(config)
    settings = replace(read_settings(os.environ, file), language=None)
    embedder = embedder or _embedder_for(target, file)
    quiet = replace(settings, audit="off", guard=None)
    from_key, to_key = map(named_key, keys)
    with (
        source_at(source, key=from_key, settings=quiet) as one,
        target_at(target, one, embedder=embedder, language=language, key=to_key, settings=settings) as other,
        progress_bar("copying") as tell,
    ):
        return copying.copy(one, other, progress=tell, scope=scope)


def _embedder_for(target: str, file: Path | None) -> str | None:
    """Finds the configured embedder, if the target is the configured memory."""
    if file is None:
        return None
    from ..core.settings import read_choices

    choices = read_choices(file)
    return None if choices.get("memory") != target else choices.get("embedder")


def _tell(copied: Copied) -> None:
    counted = count_words(
        {
            "new": copied.created,
            "changed": copied.changed,
            "already there": copied.same,
            "forgotten as in the source": copied.forgotten,
            "forgotten in the target, skipped": copied.left_out,
        }
    )
    vectors = f"vectors re-embedded by {copied.embedder}" if copied.embedded else "vectors copied"
    typer.echo(f"copied: {counted or 'nothing new'}; {vectors}")
    for scope, id, why in copied.differences[:SHOWN]:
        tell_note("differs", f"{scope}/{id} {why}", "bold red")
    for note in copied.notes:
        tell_note("note", note)
