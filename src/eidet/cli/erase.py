"""`eidet forget` and `eidet receipt`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput, Refused
from ..core.record import iso_time
from ..core.verb_table import FORGET
from .memory_options import Given, Options, Which, command
from .show import REST, count_words, emit, emit_or_tell, show_record, tell_note, tell_table

if TYPE_CHECKING:
    from ..trust.erase import Forgotten, Preview

SHOWN: Final = 50  # records of a dry run that are shown one by one


commands: Final = typer.Typer()


@command(commands)
def _forget(
    on: Which,
    asked: Annotated[
        Given,
        Options(
            FORGET,
            *("kinds", "session", "agent", "who", "since", "until", "everything", "for_good", "why"),
            kinds="--kind",
            for_good="--for-good/--not-for-good",
        ),
    ],
    ids: Annotated[list[str] | None, Argument(metavar="ID…", help="What to forget.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be deleted, and why.")] = False,
    receipt: Annotated[
        Path | None, Option(metavar="FILE", help="Write the signed receipt to this file.")
    ] = None,
    by: Annotated[str | None, Option(help="Who does it, for the history and the receipt.")] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    shred: Annotated[
        bool,
        Option("--shred", help="A sealed --scope with its key: nobody can read archives of it."),
    ] = False,
) -> None:
    """Forget by id, by filter or a whole scope.

    All filters must hold. What was derived from the records goes too.
    """
    if shred:
        if ids or asked or dry_run or receipt is not None:
            raise BadInput("--shred forgets the whole of --scope: drop the other options")
        _shred(on, yes)
        return
    if receipt is not None and asked.get("for_good") is False:
        raise BadInput("--receipt does not work with --not-for-good: drop one of them")
    if not (ids or asked):
        raise BadInput("say what to forget: ids, a filter such as --session, or --everything with --scope")
    why = asked.pop("why", None)
    what: dict[str, Any] = {"ids": ids or None, "scope": None if on.scope is None else on.reach(), **asked}
    _check_terminal(yes or dry_run)
    with on.open_memory() as memory:
        if dry_run or not yes:
            found = memory.trust.preview_forget(**what)
        if dry_run:
            _tell_preview(found, on.json)
            return
        if not yes:
            typer.confirm(f"Forget {found.count:,} of scope {on.reach()} for good?", abort=True, err=True)
        forgotten = memory.forget(**what, by=by, why=why)
    _tell_forgotten(forgotten, len(ids or ()), on.json)
    if receipt is not None and forgotten.receipt is not None:
        forgotten.receipt.save(receipt)
        typer.echo(f"receipt: {receipt}", err=True)


def _check_terminal(sure: bool) -> None:
    if not sure and not sys.stdin.isatty():
        raise Refused("forgetting is for good: without a terminal, confirm it with --yes")


def _shred(on: Which, yes: bool) -> None:
    if on.scope is None:
        raise BadInput("--shred deletes one scope and its key: name it with --scope")
    _check_terminal(yes)
    if not yes:
        typer.confirm(f"Delete scope {on.scope} and its key for good?", abort=True, err=True)
    with on.open_memory() as memory:
        lost = memory.keys.shred(on.scope)
    line = f"deleted {lost:,} records of {on.scope} and its key"
    emit_or_tell(on.json, {"shredded": lost}, line)


def _tell_forgotten(forgotten: Forgotten, asked: int, json: bool) -> None:
    counts = forgotten.receipt.counts if forgotten.receipt else {}
    further = count_words({words: counts.get(name, 0) for name, words in _FURTHER.items()})
    line = f"forgot {forgotten:,}" + (f" of {asked:,}" if asked else "")
    emit_or_tell(json, {"forgotten": int(forgotten)}, line + (f" ({further})" if further else ""))
    for note in forgotten.receipt.pending if forgotten.receipt else ():
        tell_note("pending:", note)


_FURTHER: Final = {  # what was forgotten besides the named records
    "copies": "copies of them",
    "derived_dropped": "records derived from them",
    "archived": "from the archive",
    "derived_anew": "changed to do without them",
}


def _tell_preview(found: Preview, json: bool) -> None:
    groups = {"forget": found.asked, "copy": found.copies, "derived": found.dropped, "anew": found.anew}
    if json:
        ids = {name: [record.id for record in group] for name, group in groups.items()}
        emit(ids | {"forget": found.count})
        return
    rows = ((_TOLD[name], show_record(record)) for name, group in groups.items() for record in group[:SHOWN])
    tell_table(("what", ("which", REST)), rows)
    typer.echo(str(found))


_TOLD: Final = {
    "forget": "would be forgotten",
    "copy": "says the same, would be deleted too",
    "derived": "was derived from it, would be deleted too",
    "anew": "is in part derived from it, would lose that part",
}


@command(commands)
def _receipt(
    on: Which, file: Annotated[Path, Argument(metavar="FILE", help="The receipt that `forget` wrote.")]
) -> None:
    """Check that a receipt of forgetting is from this memory.

    Exits with code 2 if it was changed, or is from another memory.
    """
    from ..trust.erase.receipt import Receipt

    receipt = Receipt.load(file)
    with on.open_memory() as memory:
        if not memory.trust.verify_receipt(receipt):
            raise Refused(f"{file} was changed, or is from another memory: it proves nothing")
    line = f"forgotten in scope {receipt.scope} at {iso_time(receipt.at)}: {', '.join(receipt.ids)}"
    emit_or_tell(on.json, {"ids": list(receipt.ids), "at": iso_time(receipt.at)}, line)
