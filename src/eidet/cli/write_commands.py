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
from ..core.verb_table import NEW_MEMORY, REMEMBER
from .memory_options import Given, Options, Which, command
from .parse import lines_of, messages_of
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
    messages: Annotated[
        str | None, Option(help="JSON lines of {role, content, …}; - is standard input.")
    ] = None,
) -> None:
    """Remember texts, the lines of a file, or messages.

    Prints the ids. More than 1,000 at once are stored in batches of 1,000, each of them atomic.
    """
    given = details | {"scope": on.one_scope}
    things = _things(texts or [], file, messages, details.get("data"), on.settings().text_chars)
    with on.open_memory(creates=True) as memory:
        for stored in _remember_all(memory, things, given):
            _tell_stored(stored, on.json)


def _things(
    texts: list[str], file: str | None, messages: str | None, data: Json, text_chars: int
) -> list[str] | list[dict[str, Json]] | list[None]:
    if (bool(texts) + (file is not None) + (messages is not None)) > 1:
        raise BadInput("give texts, --file or --messages, one of them")
    if texts == ["-"]:
        raise BadInput("to remember what standard input says, one memory per line: --file -")
    if file is not None:
        return lines_of(file)
    if messages is not None:
        return messages_of(messages, text_chars)
    if not texts and data is None:
        raise BadInput("there is nothing to remember: give a text, --file, --messages or --data")
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


@command(commands)
def _mark(
    on: Which,
    id: Annotated[str, Argument(metavar="ID")],
    pin: Annotated[
        bool | None, Option("--pin/--unpin", help="Protect it from upkeep and expiry; let it age again.")
    ] = None,
    hold: Annotated[
        bool | None,
        Option("--hold/--release", help="A legal hold: nobody can change or delete it; end the hold."),
    ] = None,
    quarantine: Annotated[
        bool | None,
        Option("--quarantine/--approve", help="Leave it out of every answer; end that, and its label."),
    ] = None,
    restore: Annotated[
        bool, Option("--restore", help="Bring it back to the middle tier with all its detail.")
    ] = False,
    reject: Annotated[
        bool, Option("--reject", help="Forget it for good, because it should not have been stored.")
    ] = False,
    promote: Annotated[
        str | None,
        Option("--promote", metavar="SCOPE", help="Copy it into another scope, such as team/core."),
    ] = None,
    move: Annotated[
        bool, Option("--move", help="With --promote: also take it out of its own scope.")
    ] = False,
    because: Annotated[
        str | None, Option(help="With --quarantine: why, for the reviewer; with --reject, for the receipt.")
    ] = None,
    text: Annotated[str | None, Option(help="With --approve: what it says from now on.")] = None,
    trust: Annotated[
        str | None, Option(help="With --approve: trusted, user, tool, web or unknown; default: as before.")
    ] = None,
    by: Annotated[str | None, Option(help="Who does it, for the history.")] = None,
) -> None:
    """Pin, hold, quarantine, approve, reject, restore or promote.

    Exactly one of these at a time.
    """
    asked = {
        "pin": pin is True,
        "unpin": pin is False,
        "hold": hold is True,
        "release": hold is False,
        "quarantine": quarantine is True,
        "approve": quarantine is False,
        "reject": reject,
        "restore": restore,
        "promote": promote is not None,
    }
    chosen = [verb for verb, said in asked.items() if said]
    if len(chosen) != 1:
        raise BadInput(f"say one thing to do: {', '.join(f'--{verb}' for verb in asked)}")
    verb = chosen[0]
    details = {"because": because, "text": text, "trust": trust, "move": move or None, "by": by}
    given = {name: value for name, value in details.items() if value is not None}
    for name in given:
        if verb not in _GOES_WITH.get(name, asked):
            raise BadInput(f"--{name} goes with {' or '.join(f'--{one}' for one in _GOES_WITH[name])}")
    if promote is not None:
        given["to"] = promote
    with on.open_memory() as memory:
        spaces = {**dict.fromkeys(("quarantine", "approve", "reject"), memory.trust), "promote": memory}
        act = getattr(spaces.get(verb, memory.upkeep), verb)
        done = act(id, scope=on.one_scope, **given)
    if verb == "reject":
        emit_or_tell(on.json, {"rejected": int(done)}, _MARKED[verb])
    elif on.json:
        emit(done.to_dict())
    else:
        console().print(style_text((_MARKED[verb].format(record=done), "bold")))
        console().print(show_record(done))


_GOES_WITH: Final = {
    "because": ("quarantine", "reject"),
    "text": ("approve",),
    "trust": ("approve",),
    "move": ("promote",),
    "by": ("pin", "unpin", "hold", "release", "quarantine", "approve", "reject", "promote"),
}
_MARKED: Final = {
    "pin": "pinned: upkeep leaves it alone, and it does not expire",
    "unpin": "unpinned: it ages again",
    "hold": "held: nobody can change or delete it until it is released",
    "release": "released: it can be changed and deleted again",
    "quarantine": "quarantined: no answer has it until it is approved",
    "approve": "approved: its trust is {record.trust}",
    "reject": "rejected: it is forgotten",
    "restore": "restored: it is in tier {record.tier}, with all its detail",
    "promote": "promoted: it is in scope {record.scope}",
}
