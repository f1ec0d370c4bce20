"""`eidet facts`: about, timeline, match, entities, why, contradictions, export, load and undo."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import BadInput
from ..core.private_files import write_private
from .evaluate import check_writable
from .json_output import emit, emit_each, emit_or_tell
from .memory_options import Below, Which, command
from .panels import INSIDE, USE
from .scope_hint import tell_elsewhere
from .show import console, local_time, plain, table

if TYPE_CHECKING:
    from ..graph.fact import Contradiction, Fact

Name = Annotated[str, typer.Argument(metavar="NAME", help="Who or what: Ann, me, Acme.")]
AsOf = Annotated[str | None, typer.Option(metavar="TIME", help="What was true then; default: now.")]
KnownAt = Annotated[str | None, typer.Option(metavar="TIME", help="What the memory knew then.")]
Ever = Annotated[bool, typer.Option("--ever", help="Whatever the time, also what is over.")]
Id = Annotated[str, typer.Argument(metavar="ID")]


def add_to(app: typer.Typer) -> None:
    facts = typer.Typer(no_args_is_help=True, help="What held when, and who is who.")
    for run in (about, timeline, match, entities, why, contradictions, export, load, undo):
        command(facts, INSIDE)(run)
    app.add_typer(facts, name="facts", rich_help_panel=USE)


def about(on: Which, name: Name, as_of: AsOf = None, known_at: KnownAt = None, below: Below = False) -> None:
    """What holds of somebody or something."""
    with on.open_memory() as memory:
        found = memory.facts.about(name, scope=on.reach(below), as_of=as_of, known_at=known_at)
        if not found:
            tell_elsewhere(on, memory)
    _tell(on, found)


def timeline(
    on: Which,
    name: Name,
    relation: Annotated[str | None, typer.Option(help="Only this relation, such as lives_in.")] = None,
    known_at: KnownAt = None,
    below: Below = False,
) -> None:
    """All that ever held of somebody or something, the earliest first."""
    with on.open_memory() as memory:
        found = memory.facts.timeline(name, relation=relation, scope=on.reach(below), known_at=known_at)
        if not found:
            tell_elsewhere(on, memory)
    _tell(on, found)


def match(
    on: Which,
    patterns: Annotated[
        list[str],
        typer.Argument(
            metavar="SUBJECT RELATION OBJECT",
            help="One pattern or several; ?x is a variable, and _ is anything.",
        ),
    ],
    as_of: AsOf = None,
    known_at: KnownAt = None,
    ever: Ever = False,
    infer: Annotated[bool, typer.Option(help="Also what follows by rules.")] = True,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many at most.")] = 100,
    below: Below = False,
) -> None:
    """Who and what fits patterns: eidet facts match '?who' works_at '?firm' '?firm' located_in Porto."""
    with on.open_memory() as memory:
        found = memory.facts.match(
            *_group(patterns),
            scope=on.reach(below),
            as_of=as_of,
            known_at=known_at,
            ever=ever,
            infer=infer,
            limit=limit,
        )
    if on.json:
        for one in found:
            emit({"bindings": one.bindings, "facts": [fact.to_dict() for fact in one.facts]})
        return
    names = list(found[0].bindings) if found else []
    made = table(*names, "facts")
    for one in found:
        bound = [plain(one.bindings[name]) for name in names]
        made.add_row(*bound, plain("; ".join(fact.text for fact in one.facts)))
    console().print(made)


def entities(
    on: Which,
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="Those that a name may mean.")] = None,
    kind: Annotated[str | None, typer.Option(help="person, place, organisation, thing or event.")] = None,
    below: Below = False,
) -> None:
    """Everybody and everything that is spoken of, the most often named first."""
    with on.open_memory() as memory:
        found = memory.facts.entities(name, kind=kind, scope=on.reach(below))
    if on.json:
        emit_each(entity.to_dict() for entity in found)
        return
    made = table("name", "kind", "also", "statements")
    for entity in found:
        others = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        made.add_row(plain(entity.name), entity.kind, plain(others), f"{entity.facts:,}")
    console().print(made)


def why(on: Which, id: Id) -> None:
    """The sentences behind a fact; `eidet facts timeline` names the ids."""
    with on.open_memory() as memory:
        reason = memory.facts.why(id, scope=on.one_scope)
    if on.json:
        quoted = [{"id": one.id, "text": one.text, "who": one.who} for one in reason.quotations]
        emit({"fact": reason.fact.to_dict(), "rule": reason.rule, "quotations": quoted})
    else:
        typer.echo(plain(str(reason)))


def contradictions(on: Which, below: Below = False) -> None:
    """Facts that cannot hold together, where nothing decides between them."""
    with on.open_memory() as memory:
        found = memory.facts.contradictions(scope=on.reach(below))
    if on.json:
        emit_each(one.to_dict() for one in found)
        return
    for one in found:
        _show_sides(one)


def export(
    on: Which,
    format: Annotated[
        str, typer.Option("--format", "-f", help="json-ld, graphml, mermaid or mcp.")
    ] = "json-ld",
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: the screen.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    ever: Ever = False,
    below: Below = False,
    unsealed: Annotated[
        bool, typer.Option("--plain", help="Write the facts of a sealed memory unsealed.")
    ] = False,
) -> None:
    """Write the facts that hold in a format of others."""
    from ..exchange.record_exports import check_plain

    check_writable(to)
    with on.open_memory() as memory:
        if to is not None:
            check_plain(memory, unsealed)
        text = memory.facts.export(format, scope=on.reach(below), as_of=as_of, known_at=known_at, ever=ever)
    if to is None:
        typer.echo(text)
    else:
        write_private(to, text)


def load(on: Which, file: Annotated[Path, typer.Argument(metavar="FILE")]) -> None:
    """Add the facts of a memory file of the MCP reference server."""
    with on.open_memory(creates=True) as memory:
        count = memory.facts.load(file, scope=on.one_scope)
    emit_or_tell(on.json, {"facts": count}, f"added {count:,} facts")


def undo(on: Which, id: Id) -> None:
    """Take a decision back: a merge, a split, a resolution or a retraction."""
    with on.open_memory() as memory:
        memory.facts.undo(id, scope=on.one_scope)
    emit_or_tell(on.json, {"undone": id}, f"undone: {plain(id)}")


def _group(parts: Sequence[str]) -> list[tuple[str | None, ...]]:
    """Three words are a pattern."""
    if not parts or len(parts) % 3:
        raise BadInput(f"a pattern is a subject, a relation and an object; there are {len(parts)} words")
    patterns: list[tuple[str | None, ...]] = []
    for start in range(0, len(parts), 3):
        pattern: list[str | None] = []
        for part in parts[start : start + 3]:
            pattern.append(None if part == "_" else part)
        patterns.append(tuple(pattern))
    return patterns


def _tell(on: Which, facts: Sequence[Fact]) -> None:
    if on.json:
        emit_each(fact.to_dict() for fact in facts)
    elif facts:
        _show(facts)
    else:
        console(stderr=True).print("nothing found; `eidet facts entities` lists who and what is known")


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
