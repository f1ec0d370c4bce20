"""`eidet facts`: facts with their times, entities, and the sentences that they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.verb_table import AS_OF, KNOWN_AT
from .memory_options import Which, command, option
from .show import FOLD, emit, emit_each, local_time, plain, tell_table

if TYPE_CHECKING:
    from ..graph.fact import Contradiction, Fact, Quotation
    from ..memory import Memory


WHOLE: Final = {"no_wrap": True}  # so that it can be copied
commands: Final = typer.Typer()


@command(commands)
def _facts(
    on: Which,
    name: Annotated[
        str | None, Argument(metavar="[NAME]", help="Who or what: Ann, me, Acme; without one, list all.")
    ] = None,
    as_of: Annotated[str | None, option(AS_OF)] = None,
    known_at: Annotated[str | None, option(KNOWN_AT)] = None,
    ever: Annotated[bool, Option("--ever", help="All that ever held, the earliest first.")] = False,
    relation: Annotated[str | None, Option(help="With --ever: only this relation, such as lives_in.")] = None,
    why: Annotated[
        str | None, Option(metavar="ID", help="The sentences behind a fact; --ever names the ids.")
    ] = None,
    contradictions: Annotated[
        bool, Option("--contradictions", help="Facts that cannot hold together, where nothing decides.")
    ] = False,
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
    place = on.reach()
    if why is not None:
        _tell_reason(on, why)
    elif contradictions:
        with on.open_memory() as memory:
            _tell_contradictions(on, memory.facts.contradictions(scope=place))
    elif name is None:
        _tell_entities(on)
    elif ever:
        _tell_facts(on, lambda m: m.facts.timeline(name, relation=relation, scope=place, known_at=known_at))
    else:
        _tell_facts(on, lambda m: m.facts.about(name, scope=place, as_of=as_of, known_at=known_at))


def _tell_facts(on: Which, question: Callable[[Memory], list[Fact]]) -> None:
    on.tell_each(
        on.ask(question),
        ["from", "to", ("fact", FOLD), ("sure", WHOLE), ("id", WHOLE)],
        _list_cells,
        "nothing found; `eidet facts` lists who and what is known",
    )


def _list_cells(fact: Fact) -> tuple[str, ...]:
    begun, *rest = _cells(fact)
    return begun, local_time(fact.valid_to)[:10], *rest


def _tell_entities(on: Which) -> None:
    found = on.ask(lambda memory: memory.facts.entities(scope=on.reach()))
    if on.json:
        emit_each(entity.to_dict() for entity in found)
        return
    rows = (
        (one.name, one.kind, ", ".join(alias for alias in one.aliases if alias != one.name), f"{one.facts:,}")
        for one in found
    )
    tell_table(("name", "kind", "also", "statements"), rows)


def _tell_reason(on: Which, id: str) -> None:
    with on.open_memory() as memory:
        reason = memory.facts.why(id, scope=on.reach())
    if on.json:
        quoted = [{"id": one.id, "text": one.text, "who": one.who} for one in reason.quotations]
        emit({"fact": reason.fact.to_dict(), "rule": reason.rule, "quotations": quoted})
    else:
        typer.echo(plain(str(reason)))


def _tell_contradictions(on: Which, found: Iterable[Contradiction]) -> None:
    if on.json:
        emit_each(one.to_dict() for one in found)
        return
    columns = ("from", ("fact", FOLD), ("said by", FOLD), ("sure", WHOLE), ("id", WHOLE))
    for one in found:
        tell_table(columns, (_describe_side(fact, quotations) for fact, quotations in one.sides))


def _describe_side(fact: Fact, quotations: Iterable[Quotation]) -> tuple[str, ...]:
    begun, text, *rest = _cells(fact)
    return begun, text, "\n".join(quoted.origin for quoted in quotations), *rest


def _cells(fact: Fact) -> tuple[str, str, str, str]:
    return local_time(fact.valid_from)[:10], fact.text, f"{fact.confidence:.2f}", fact.id
