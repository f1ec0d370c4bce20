"""`eidet recall`, `context`, `find`, `show` and `scopes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.hit import Hits, Trace
from ..core.record import Event, Record, iso_time
from ..core.record_table import FIELDS, RecordField
from ..core.session_summary import SessionSummary
from ..core.state import State, dump_state
from ..core.validate import dump_json
from ..core.verb_table import CONTEXT, FIND, RECALL
from .memory_options import Filters, Given, Options, Vectors, Which, command, option, tell_elsewhere
from .show import (
    FOLD,
    ID_WIDTH,
    LISTED,
    MINUTE,
    REST,
    RIGHT,
    SHOWN,
    Column,
    console,
    context_json,
    emit,
    emit_each,
    grid,
    hits_json,
    local_time,
    plain,
    reason_columns,
    shorten,
    show_record,
    style_text,
    tell_table,
    with_reasons,
)

if TYPE_CHECKING:
    from ..recall.pack import Context


Packing = Annotated[
    Given,
    Options(
        CONTEXT,
        *("budget", "limit", "neighbours", "seen", "now", "as_of", "known_at"),
        budget=("--budget", "-b"),
        limit=("--limit", "-n"),
    ),
]
Recipe = Annotated[str, Option(help="How to rank: auto, dialogue, facts, documents, exact, or a plugin's.")]
_Rerank = Annotated[
    str | None, Option(metavar="NAME", help="A reranker for the best fifty, such as fastembed:MODEL.")
]
Id = Annotated[str, Argument(metavar="ID")]


commands: Final = typer.Typer()


@command(commands)
def _recall(
    on: Which,
    query: Annotated[str, Argument(metavar="QUERY", help="What you want to know.")],
    filters: Filters,
    limit: Annotated[
        int | None, option(RECALL["limit"], "--limit", "-n", show_default="10, with --all 100")
    ] = None,
    recipe: Recipe = "auto",
    rerank: _Rerank = None,
    explain: Annotated[bool, option(RECALL["explain"], "--explain")] = False,
    every: Annotated[bool, Option("--all", help="Every record on the topic, in order of time.")] = False,
    vectors: Vectors = False,
) -> None:
    """Recall what matters for a query, best first, with reasons.

    With --all, all of it in order of time, counted; what may be missing is said.
    """
    if every:
        _recall_all(on, query, filters, 100 if limit is None else limit, vectors)
        return
    with on.open_memory() as memory:
        hits = memory.recall(
            query,
            scope=on.reach(),
            limit=10 if limit is None else limit,
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
        _tell_hits(hits, scopes=not on.reach().is_one)
    if hits.wants_all:
        console(stderr=True).print("this sounds like a question for all of them: --all lists and counts them")


def _recall_all(on: Which, query: str, filters: Given, limit: int, vectors: bool) -> None:
    with on.open_memory() as memory:
        found = memory.recall_all(query, scope=on.reach(), limit=limit, **filters)
        if not found:
            tell_elsewhere(on, memory)
    if on.json:
        emit(found.to_dict(vectors=vectors))
        return
    _tell_hits(Hits(found.hits), scopes=not on.reach().is_one)
    if found.maybe:
        console().print("\nmay belong", style="bold")
        _tell_hits(Hits(found.maybe), scopes=not on.reach().is_one)
    console(stderr=True).print(f"{found.count:,} in all" + (f"; {found.reason}" if found.reason else ""))


@command(commands)
def _context(
    on: Which,
    query: Annotated[str, Argument(metavar="QUERY", help="What the prompt is about.")],
    packing: Packing,
    headings: Annotated[bool, option(CONTEXT["headings"])] = True,
    counter: Annotated[str, Option(help="What counts tokens: estimate, words, file:PATH.")] = "estimate",
    recipe: Recipe = "auto",
) -> None:
    """Build a block for a prompt, never over its budget."""
    with on.open_memory() as memory:
        packed = memory.context(
            query, headings=headings, counter=counter, recipe=recipe, scope=on.reach(), **packing
        )
        if not packed.hits:
            tell_elsewhere(on, memory)
    if on.json:
        emit(context_json(packed))
    else:
        _tell_context(packed)


@command(commands)
def _find(
    on: Which,
    filters: Filters,
    order: Annotated[str, option(FIND["order"])] = "-occurred",
    limit: Annotated[int, option(FIND["limit"], "--limit", "-n")] = 20,
    offset: Annotated[int, option(FIND["offset"])] = 0,
    vectors: Vectors = False,
) -> None:
    """Find records by kind, session, time, person or trust.

    With --json one a line.
    """
    with on.open_memory() as memory:
        records = memory.find(scope=on.reach(), order=order, limit=limit, offset=offset, **filters)
        if not records:
            tell_elsewhere(on, memory)
    if on.json:
        emit_each(record.to_dict(vectors=vectors) for record in records)
    else:
        _tell_records(records, scopes=not on.reach().is_one)
    if records.more:
        console(stderr=True).print(f"there are more: --limit and --offset show them ({limit} were asked for)")


@command(commands)
def _show(
    on: Which,
    id: Id,
    with_history: Annotated[
        bool, Option("--history", help="Also its history, even if it was forgotten.")
    ] = False,
    detail: Annotated[
        bool, Option("--detail", help="In full, as it was before its tier reduced it.")
    ] = False,
    vectors: Vectors = False,
) -> None:
    """Show everything about one record, and its history.

    Exits with code 1 if there is none.
    """
    with on.open_memory() as memory:
        record = memory.get(id, scope=on.reach())
        events = memory.history(id, scope=on.reach()) if with_history else []
        if record is not None and detail:
            record = memory.upkeep.detail(record.id, scope=record.scope)
        if record is None and not events:
            tell_elsewhere(on, memory)
    if record is None and not events:
        typer.echo(plain(f"there is no record {id!r} in scope {on.reach()}"), err=True)
        raise typer.Exit(1)
    if on.json:
        answer: dict[str, Any] = {} if record is None else record.to_dict(vectors=vectors)
        if with_history:
            answer["history"] = [asdict(event) | {"at": iso_time(event.at)} for event in events]
        emit(answer)
        return
    if record is not None:
        most = len(record.text) if detail else SHOWN
        rows = ((name, shorten(value, most)) for name, value in _describe_fields(record))
        console().print(grid(("bold", ""), rows))
    if with_history:
        typer.echo()
        columns = ("when", "what", "version", "by", ("before", {"ratio": 1}))
        tell_table(columns, map(_describe_event, events))


@command(commands)
def _scopes(
    on: Which,
    sessions: Annotated[
        bool, Option("--sessions", help="The sessions of the scope instead, the latest first.")
    ] = False,
    limit: Annotated[int, Option("--limit", "-n", help="How many sessions at most.")] = 20,
) -> None:
    """List the scopes that hold records, or the sessions of one.

    With --scope, that one and those below it. With --sessions and --json one a line.
    """
    if sessions:
        with on.open_memory() as memory:
            found = memory.admin.sessions(on.reach(), limit=limit)
            if not found:
                tell_elsewhere(on, memory)
        if on.json:
            emit_each(one.to_dict() for one in found)
        else:
            _tell_sessions(found, scopes=not on.reach().is_one)
        return
    with on.open_memory() as memory:
        counts = memory.scopes(on.scope)
    if on.json:
        emit(counts)
    else:
        tell_table(("scope", ("records", RIGHT)), ((scope, f"{count:,}") for scope, count in counts.items()))


def _tell_hits(hits: Hits, *, scopes: bool) -> None:
    """Prints a row for each hit; `scopes` adds a column of scopes."""
    scope: list[Column] = [("scope", FOLD | {"max_width": 24})] if scopes else []
    if hits:
        tell_table(
            ["score", ("when", {"width": MINUTE}), *scope, *reason_columns()],
            (
                (
                    style_text((f"{hit.score:.2f}", "bold")),
                    local_time(hit.record.occurred),
                    *([hit.scope] if scopes else []),
                    *with_reasons(hit.record, hit.why().replace(" + ", "\n")),
                )
                for hit in hits
            ),
        )
    else:
        console(stderr=True).print("nothing found")
    if hits.trace is not None:
        console().print()
        console().print(grid(("bold", ""), _describe_trace(hits.trace)))


def _describe_trace(trace: Trace) -> Iterator[tuple[str, str]]:
    yield "terms", ", ".join(trace.terms) or "none"
    yield "scopes", ", ".join(trace.scopes)
    yield "searched", f"{trace.searched:,} records, {trace.filtered:,} of them filtered out"
    for arm, found in trace.arms.items():
        best = f", the best {found[0][1]:.2f}" if found else ""
        yield f"by {arm}", f"{len(found):,} found{best}, weight {trace.weights.get(arm, 0.0):.2f}"
    spent = ", ".join(f"{stage} {millis:.2f}" for stage, millis in trace.millis.items())
    yield "time", f"{sum(trace.millis.values()):.2f} ms ({spent})"
    yield from (("note", note) for note in trace.notes)


def _tell_context(context: Context) -> None:
    console().print(plain(context.text), soft_wrap=True)
    used = f"{context.tokens:,} of {context.budget:,} tokens, {len(context.hits):,} memories"
    console(stderr=True).print(f"({used}; {len(context.left_out):,} left out)", style="dim")


def _tell_records(records: Sequence[Record], *, scopes: bool) -> None:
    """Prints a row for each record; `scopes` adds a column of scopes."""
    if not records:
        console(stderr=True).print("nothing found")
        return
    scope: list[Column] = [("scope", FOLD | {"max_width": 24})] if scopes else []
    tell_table(
        [("when", {"width": MINUTE}), "kind", *scope, ("what", REST | {"min_width": ID_WIDTH})],
        (
            (local_time(one.occurred), str(one.kind), *([one.scope] if scopes else []), show_record(one))
            for one in records
        ),
    )


def _describe_fields(record: Record) -> Iterator[tuple[str, str]]:
    for one in FIELDS:
        if one.shown:
            yield one.name.replace("_", " "), _show_value(one, getattr(record, one.name))
    yield "digest", record.digest
    yield "vector", "none" if record.vector is None else f"{len(record.vector) // 4} numbers"


def _show_value(field: RecordField, value: Any) -> str:
    """Formats a record's value for people; absent or empty is a dash."""
    if isinstance(value, State):
        return dump_state(value) or "-"
    if value is None or value in ({}, ()):
        return "-"
    if field.is_time:
        return local_time(value)
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value)
    return dump_json(value) if field.in_json else str(value)


def _describe_event(event: Event) -> tuple[str, ...]:
    before = "" if event.before is None else shorten(dump_json(event.before), LISTED)
    return local_time(event.at), event.what, str(event.version), event.by or "", before


def _tell_sessions(found: Sequence[SessionSummary], *, scopes: bool) -> None:
    """Prints a line for each session; `scopes` adds a column of scopes."""
    if not found:
        console(stderr=True).print("no sessions")
        return
    scope: list[Column] = [("scope", FOLD)] if scopes else []
    tell_table(
        [("session", FOLD), *scope, ("records", RIGHT), ("last", {"width": MINUTE}), ("begins with", REST)],
        (
            (one.session, *([one.scope] if scopes else []), f"{one.count:,}", local_time(one.last), one.title)
            for one in found
        ),
    )
