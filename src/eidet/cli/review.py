"""`eidet review`, `quarantine` and `approve`; `reveal` and `forget-value` for the vault of pseudonyms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..core.record import Record
from .json_output import emit, emit_each, emit_or_tell
from .memory_options import Below, Which, command
from .panels import TRUST
from .show import add_reasons, console, local_time, table, tell_record, with_reasons
from .upkeep_commands import By, Id, tell_changed


def add_to(app: typer.Typer) -> None:
    for run in (review, quarantine, approve, reveal):
        command(app, TRUST)(run)
    command(app, TRUST, scoped=False)(forget_value)


def review(
    on: Which,
    below: Below = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 50,
) -> None:
    """List what is quarantined or labelled as poison, newest first.

    With --json one a line.
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
    if mark is None or mark.because is None:
        return why
    return [*why, mark.because]


def quarantine(
    on: Which,
    id: Id,
    because: Annotated[str | None, typer.Option(help="Why, for the reviewer.")] = None,
    by: By = None,
) -> None:
    """Leave a memory out of every answer until someone approves it."""
    with on.open_memory() as memory:
        record = memory.trust.quarantine(id, scope=on.one_scope, because=because, by=by)
    tell_changed(on, record, "quarantined: no answer has it until it is approved")


def approve(
    on: Which,
    id: Id,
    trust: Annotated[
        str | None, typer.Option(help="trusted, user, tool, web or unknown; default: as before.")
    ] = None,
    by: By = None,
) -> None:
    """End a quarantine and remove the label."""
    with on.open_memory() as memory:
        record = memory.trust.approve(id, scope=on.one_scope, trust=trust, by=by)
    tell_changed(on, record, f"approved: its trust is {record.trust}")


def reveal(on: Which, id: Id) -> None:
    """Show a memory with its pseudonyms turned back (settings vault and guard_key)."""
    on.check_local("reveal", "the vault is beside its store, so run it there")
    with on.open_memory() as memory:
        record = memory.trust.reveal(memory.upkeep.detail(id, scope=on.one_scope))
    if on.json:
        emit(record.to_dict())
    else:
        tell_record(record)


def forget_value(
    on: Which,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The value, or its pseudonym.")],
) -> None:
    """Forget a value in the vault: its pseudonyms can no longer be turned back."""
    with on.open_memory() as memory:
        gone = memory.trust.forget_value(value)
    emit_or_tell(on.json, {"forgotten": gone}, f"forgot {gone:,} in the vault")
