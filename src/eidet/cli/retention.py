"""`eidet retention show`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from .json_output import emit
from .memory_options import Below, Which, command
from .panels import ACCOUNT, INSIDE
from .show import console, style_text, table

if TYPE_CHECKING:
    from ..upkeep.retain import Standing


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(help="How long memories are kept.", no_args_is_help=True)
    command(group, INSIDE)(show)
    group.callback()(_group)
    app.add_typer(group, name="retention", rich_help_panel=ACCOUNT)


def _group() -> None:
    """How long memories are kept."""


def show(on: Which, below: Below = False) -> None:
    """List the policies of the settings with how many records each covers and how many are due now."""
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
