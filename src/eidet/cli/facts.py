"""`eidet facts`: what held when, who is who, and which sentences say so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..core.errors import BadInput
from ..core.verb_table import AS_OF, KNOWN_AT
from .memory_options import Below, Which, command, option, tell_elsewhere
from .show import console, emit, emit_each, local_time, plain, table

if TYPE_CHECKING:
    from ..graph.fact import Contradiction, Fact
    from ..memory import Memory


commands: Final = typer.Typer()


@command(commands)
def _facts(
    on: Which,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Who or what: Ann, me, Acme; without one, list all."),
    ] = None,
    as_of: Annotated[str | None, option(AS_OF)] = None,
    known_at: Annotated[str | None, option(KNOWN_AT)] = None,
    ever: Annotated[bool, typer.Option("--ever", help="All that ever held, the earliest first.")] = False,
    relation: Annotated[
        str | None, typer.Option(help="With --ever: only this relation, such as lives_in.")
    ] = None,
    why: Annotated[
        str | None, typer.Option(metavar="ID", help="The sentences behind a fact; --ever names the ids.")
    ] = None,
    contradictions: Annotated[
        bool, typer.Option("--contradictions", help="Facts that cannot hold together, where nothing decides.")
    ] = False,
    below: Below = False,
) -> None:
    """Say what holds of a person or thing, and since when.

    With --json one a line.
    """
    if relation is not None and not ever:
        raise BadInput("--relation goes with --ever")
    if (ever or as_of or known_at) and name is None:
        raise BadInput(
            "--ever, --as-of and --known-at need a NAME: `eidet facts` alone lists those that are known"
        )
    with on.open_memory() as memory:
        if why is not None:
            _tell_reason(on, memory, why)
        elif contradictions:
            _tell_contradictions(on, memory.facts.contradictions(scope=on.reach(below)))
        elif name is None:
            _tell_entities(on, memory, below)
        else:
            if ever:
                found = memory.facts.timeline(
                    name, relation=relation, scope=on.reach(below), known_at=known_at
                )
            else:
                found = memory.facts.about(name, scope=on.reach(below), as_of=as_of, known_at=known_at)
            if not found:
                tell_elsewhere(on, memory)
            _tell_facts(on, found)


def _tell_facts(on: Which, found: list[Fact]) -> None:
    if on.json:
        emit_each(fact.to_dict() for fact in found)
    elif found:
        _show(found)
    else:
        console(stderr=True).print("nothing found; `eidet facts` lists who and what is known")


def _tell_entities(on: Which, memory: Memory, below: bool) -> None:
    found = memory.facts.entities(scope=on.reach(below))
    if not found:
        tell_elsewhere(on, memory)
    if on.json:
        emit_each(entity.to_dict() for entity in found)
        return
    made = table("name", "kind", "also", "statements")
    for entity in found:
        others = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        made.add_row(plain(entity.name), entity.kind, plain(others), f"{entity.facts:,}")
    console().print(made)


def _tell_reason(on: Which, memory: Memory, id: str) -> None:
    reason = memory.facts.why(id, scope=on.one_scope)
    if on.json:
        quoted = [{"id": one.id, "text": one.text, "who": one.who} for one in reason.quotations]
        emit({"fact": reason.fact.to_dict(), "rule": reason.rule, "quotations": quoted})
    else:
        typer.echo(plain(str(reason)))


def _tell_contradictions(on: Which, found: Iterable[Contradiction]) -> None:
    if on.json:
        emit_each(one.to_dict() for one in found)
        return
    for one in found:
        _show_sides(one)


def _show_sides(one: Contradiction) -> None:
    made = table("from")
    made.add_column("fact", overflow="fold")
    made.add_column("said by", overflow="fold")
    made.add_column("sure", no_wrap=True)
    made.add_column("id", no_wrap=True)
    for fact, quotations in one.sides:
        begun, origins = (
            local_time(fact.valid_from)[:10],
            "\n".join(plain(quoted.origin) for quoted in quotations),
        )
        made.add_row(begun, plain(fact.text), origins, f"{fact.confidence:.2f}", plain(fact.id))
    console().print(made)


def _show(facts: Iterable[Fact]) -> None:
    made = table("from", "to")
    made.add_column("fact", overflow="fold")
    made.add_column("sure", no_wrap=True)
    made.add_column("id", no_wrap=True)  # whole, so that it can be copied
    for fact in facts:
        begun, over = local_time(fact.valid_from)[:10], local_time(fact.valid_to)[:10]
        made.add_row(begun, over, plain(fact.text), f"{fact.confidence:.2f}", plain(fact.id))
    console().print(made)
