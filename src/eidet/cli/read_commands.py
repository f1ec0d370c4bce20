"""`eidet recall`, `context`, `find`, `show`, `scopes` and `stats`."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from ..core.verb_table import CONTEXT, FIND, RECALL
from . import show as shown
from .memory_options import Below, Filters, Given, Options, Vectors, Which, command, option, tell_elsewhere
from .show import context_json, emit, emit_each, event_json, hits_json

Times = Annotated[Given, Options(CONTEXT, "now", "as_of", "known_at")]
Recipe = Annotated[
    str, typer.Option(help="How to rank: auto, dialogue, facts, documents, exact, or a plugin's.")
]
Rerank = Annotated[
    str | None, typer.Option(metavar="NAME", help="A reranker for the best fifty, such as http:MODEL@URL.")
]
Id = Annotated[str, typer.Argument(metavar="ID")]


commands: Final = typer.Typer()


@command(commands)
def _recall(
    on: Which,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What you want to know.")],
    filters: Filters,
    limit: Annotated[int, option(RECALL["limit"], "--limit", "-n")] = 10,
    below: Below = False,
    recipe: Recipe = "auto",
    rerank: Rerank = None,
    explain: Annotated[bool, option(RECALL["explain"], "--explain")] = False,
    vectors: Vectors = False,
) -> None:
    """Recall what matters for a query, best first, with reasons."""
    with on.open_memory() as memory:
        hits = memory.recall(
            query,
            scope=on.reach(below),
            limit=limit,
            recipe=recipe,
            rerank=rerank,
            explain=explain,
            **filters,
        )
        if not hits:
            tell_elsewhere(on, memory)
    if on.json:
        emit(hits_json(query, hits, vectors=vectors))
    else:
        shown.tell_hits(hits)


@command(commands)
def _context(
    on: Which,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What the prompt is about.")],
    times: Times,
    budget: Annotated[int, option(CONTEXT["budget"], "--budget", "-b")] = 1000,
    limit: Annotated[int, option(CONTEXT["limit"], "--limit", "-n")] = 50,
    neighbours: Annotated[int, option(CONTEXT["neighbours"])] = 1,
    headings: Annotated[bool, option(CONTEXT["headings"])] = True,
    counter: Annotated[
        str, typer.Option(help="What counts tokens: estimate, words, llama, splintr:NAME, file:PATH.")
    ] = "estimate",
    recipe: Recipe = "auto",
    below: Below = False,
) -> None:
    """Build a block for a prompt, never over its budget."""
    with on.open_memory() as memory:
        packed = memory.context(
            query,
            budget=budget,
            limit=limit,
            neighbours=neighbours,
            headings=headings,
            counter=counter,
            recipe=recipe,
            scope=on.reach(below),
            **times,
        )
        if not packed.hits:
            tell_elsewhere(on, memory)
    if on.json:
        emit(context_json(packed))
    else:
        shown.tell_context(packed)


@command(commands)
def _find(
    on: Which,
    filters: Filters,
    order: Annotated[str, option(FIND["order"])] = "-occurred",
    limit: Annotated[int, option(FIND["limit"], "--limit", "-n")] = 20,
    offset: Annotated[int, option(FIND["offset"])] = 0,
    below: Below = False,
    vectors: Vectors = False,
) -> None:
    """Find records by kind, session, time, person or trust.

    With --json one a line.
    """
    with on.open_memory() as memory:
        records = memory.find(scope=on.reach(below), order=order, limit=limit, offset=offset, **filters)
        if not records:
            tell_elsewhere(on, memory)
    if on.json:
        emit_each(record.to_dict(vectors=vectors) for record in records)
    else:
        shown.tell_records(records, scopes=on.reach(below).below)
    if records.more:
        shown.console(stderr=True).print(
            f"there are more: --limit and --offset show them ({limit} were asked for)"
        )


@command(commands)
def _show(
    on: Which,
    id: Id,
    with_history: Annotated[
        bool, typer.Option("--history", help="Also its history, even if it was forgotten.")
    ] = False,
    detail: Annotated[
        bool, typer.Option("--detail", help="In full, as it was before its tier reduced it.")
    ] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Turn its pseudonyms back (settings vault and guard_key).")
    ] = False,
    vectors: Vectors = False,
) -> None:
    """Show everything about one record, and its history.

    Exits with code 1 if there is none.
    """
    if reveal:
        on.check_local("show --reveal", "the vault is beside its store, so run it there")
    with on.open_memory() as memory:
        record = memory.get(id, scope=on.one_scope)
        events = memory.history(id, scope=on.one_scope) if with_history else []
        if record is not None and (detail or reveal):
            record = memory.upkeep.detail(id, scope=on.one_scope)
        if record is not None and reveal:
            record = memory.trust.reveal(record)
        if record is None and not events:
            tell_elsewhere(on, memory)
    if record is None and not events:
        typer.echo(shown.plain(f"there is no record {id!r} in scope {on.one_scope}"), err=True)
        raise typer.Exit(1)
    if on.json:
        answer: dict[str, Any] = {} if record is None else record.to_dict(vectors=vectors)
        emit(answer | {"history": list(map(event_json, events))} if with_history else answer)
        return
    if record is not None:
        shown.tell_record(record, len(record.text) if detail else shown.SHOWN)
    if with_history:
        typer.echo()
        shown.tell_events(events)


@command(commands)
def _scopes(
    on: Which,
    sessions: Annotated[
        bool, typer.Option("--sessions", help="The sessions of the scope instead, the latest first.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many sessions at most.")] = 20,
    below: Below = False,
) -> None:
    """List the scopes that hold records, or the sessions of one.

    With --scope, that one and those below it. With --sessions and --json one a line.
    """
    if sessions:
        _tell_sessions(on, limit, below)
        return
    with on.open_memory() as memory:
        counts = memory.scopes(on.scope)
    if on.json:
        emit(counts)
    else:
        shown.tell_scopes(counts)


def _tell_sessions(on: Which, limit: int, below: bool) -> None:
    with on.open_memory() as memory:
        found = memory.admin.sessions(on.reach(below), limit=limit)
        if not found:
            tell_elsewhere(on, memory)
    if on.json:
        emit_each(one.to_dict() for one in found)
    else:
        shown.tell_sessions(found, scopes=on.reach(below).below)


@command(commands)
def _stats(
    on: Which,
    below: Below = False,
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Numbers for monitoring, in the text format of Prometheus.")
    ] = False,
) -> None:
    """Show counts, sizes and recall quality, of a scope or all."""
    scope = on.reach_or_all(below)
    with on.open_memory() as memory:
        answer = memory.admin.metrics(scope) if metrics else memory.admin.stats(scope)
    if metrics and not on.json:
        from ..quality.metrics import exposition

        typer.echo(exposition(answer, None if scope is None else str(scope)), nl=False)
        return
    if on.json:
        emit(answer)
    else:
        shown.tell_stats(answer)
