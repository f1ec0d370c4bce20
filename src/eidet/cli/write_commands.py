"""`eidet remember` and `eidet mark`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.verb_table import APPROVE, NEW_MEMORY, PROMOTE, REJECT, REMEMBER
from .memory_options import Given, Options, Which, command
from .parse import lines_of
from .show import console, emit, emit_each, emit_or_tell, progress_bar, show_record, style_text

if TYPE_CHECKING:
    from ..core.record import Record
    from ..core.validate import Json
    from ..memory import Memory

BATCH: Final = 1000
Details = Annotated[
    Given,
    Options(
        {**NEW_MEMORY, **REMEMBER},
        *("kind", "importance", "session", "agent", "who", "trust", "source", "occurred", "expires", "ttl"),
        *("meta", "data", "id", "key", "step", "place", "pinned", "again", "read_speakers"),
    ),
]


commands: Final = typer.Typer()


@command(commands)
def _remember(
    on: Which,
    details: Details,
    texts: Annotated[
        list[str] | None, Argument(metavar="TEXT…", help="What to remember; each text is one memory.")
    ] = None,
    file: Annotated[str | None, Option(help="One memory per line; - is standard input.")] = None,
) -> None:
    """Remember texts, or the lines of a file.

    Prints the ids. More than 1,000 at once are stored in batches of 1,000, each of them atomic.
    """
    given = details | {"scope": on.one_scope}
    things = _things(texts or [], file, details.get("data"))
    with on.open_memory(creates=True) as memory:
        for stored in _remember_all(memory, things, given):
            _tell_stored(stored, on.json)


def _things(texts: list[str], file: str | None, data: Json) -> list[str] | list[None]:
    if texts and file is not None:
        raise BadInput("give texts or --file, one of them")
    if texts == ["-"]:
        raise BadInput("to remember what standard input says, one memory per line: --file -")
    if file is not None:
        return lines_of(file)
    if not texts and data is None:
        raise BadInput("there is nothing to remember: give a text, --file or --data")
    _check_no_files(texts)
    return texts or [None]


def _check_no_files(texts: list[str]) -> None:
    """Raises `BadInput` for the path of an existing document or folder: users mean its content."""
    for text in texts:
        if _is_document(text):
            raise BadInput(
                f"{text} is there, as a file or folder: `eidet sync {shlex.quote(text)}` remembers what it "
                "says. To remember its name, give that to --file - on standard input"
            )


def _is_document(text: str) -> bool:
    path = Path(text)
    try:
        if not path.is_file():
            return "/" in text and path.is_dir()
    except OSError:  # too long for a path
        return False
    from ..exchange.document_files import READERS

    return path.suffix.lower() in READERS


def _remember_all(memory: Memory, things: list[Any], details: dict[str, Any]) -> Iterator[list[Record]]:
    if len(things) == 1:
        yield [memory.remember(things[0], **details)]
        return
    with progress_bar("remembering", shown=len(things) > BATCH) as tell:
        walk, done = iter(things), 0
        while batch := list(islice(walk, BATCH)):
            yield memory.remember(batch, **details)
            done += len(batch)
            if tell is not None:
                tell(done, len(things))


def _tell_stored(stored: list[Record], json: bool) -> None:
    if json:
        emit_each({"id": record.id, "scope": record.scope, "version": record.version} for record in stored)
    else:
        typer.echo("\n".join(record.id for record in stored))


_MARKS: Final = {  # what one can do: in which namespace, with which options, and what it says
    "pin": ("upkeep", ("by",), "pinned: upkeep leaves it alone, and it does not expire"),
    "unpin": ("upkeep", ("by",), "unpinned: it ages again"),
    "hold": ("upkeep", ("by",), "held: nobody can change or delete it until it is released"),
    "release": ("upkeep", ("by",), "released: it can be changed and deleted again"),
    "restore": ("upkeep", (), "restored: it is in tier {record.tier}, with all its detail"),
    "quarantine": ("trust", ("because", "by"), "quarantined: no answer has it until it is approved"),
    "approve": ("trust", ("text", "trust", "by"), "approved: its trust is {record.trust}"),
    "reject": ("trust", ("because", "by"), "rejected: it is forgotten"),
    "promote": (None, ("to", "move", "by"), "promoted: it is in scope {record.scope}"),
}


@command(commands)
def _mark(
    on: Which,
    id: Annotated[str, Argument(metavar="ID")],
    do: Annotated[str, Argument(metavar="DO", help=f"One of {', '.join(_MARKS)}.")],
    asked: Annotated[
        Given, Options({**APPROVE, **REJECT, **PROMOTE}, "because", "text", "trust", "to", "move")
    ],
    by: Annotated[str | None, Option(help="Who does it, for the history.")] = None,
) -> None:
    """Pin, hold, quarantine, approve, reject, restore or promote.

    pin protects a memory from upkeep and expiry, unpin lets it age again. hold is a legal hold: nobody can
    change or delete it until release. quarantine leaves it out of every answer until approve; reject forgets
    it. restore brings it back to the middle tier. promote copies it into another scope.
    """
    if do not in _MARKS:
        raise BadInput(f"there is no {do!r}: say one of {', '.join(_MARKS)}")
    namespace, options, said = _MARKS[do]
    given = asked if by is None else asked | {"by": by}
    if wrong := given.keys() - set(options):
        raise BadInput(f"{do} takes no --{min(wrong)}")
    if do == "promote" and "to" not in given:
        raise BadInput("promote needs a scope: --to team/core")
    with on.open_memory() as memory:
        space = memory if namespace is None else getattr(memory, namespace)
        done = getattr(space, do)(id, scope=on.one_scope, **given)
    if do == "reject":
        emit_or_tell(on.json, {"rejected": int(done)}, said)
    elif on.json:
        emit(done.to_dict())
    else:
        console().print(style_text((said.format(record=done), "bold")))
        console().print(show_record(done))
