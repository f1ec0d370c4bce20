"""`eidet recall`, `context`, `find`, `show` and `scopes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.hit import Hit, Trace
from ..core.record import Event, Record, iso_time
from ..core.record_table import FIELDS, RecordField
from ..core.state import State
from ..core.validate import dump_json
from ..core.verb_table import CONTEXT, FIND, RECALL, RECALL_ALL
from .memory_options import Given, Options, Which, command
from .show import (
    FOLD,
    ID_WIDTH,
    LISTED,
    MINUTE,
    REST,
    RIGHT,
    SHOWN,
    console,
    emit,
    grid,
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
    from ..memory import Memory


_FILTERS: Final = ("kinds", "session", "agent", "who", "trust", "since", "until", "as_of", "known_at")
Question = Annotated[
    Given,
    Options(RECALL, *_FILTERS, "limit", "recipe", "explain", kinds="--kind", limit=("--limit", "-n")),
]
Packing = Annotated[
    Given,
    Options(
        CONTEXT,
        *("budget", "limit", "neighbours", "seen", "now", "as_of", "known_at", "headings", "recipe"),
        budget=("--budget", "-b"),
        limit=("--limit", "-n"),
    ),
]
Page = Annotated[
    Given, Options(FIND, *_FILTERS, "order", "limit", "offset", kinds="--kind", limit=("--limit", "-n"))
]
_Rerank = Annotated[
    str | None, Option(metavar="NAME", help="A reranker for the best fifty, such as fastembed:MODEL.")
]
Id = Annotated[str, Argument(metavar="ID")]


commands: Final = typer.Typer()


@command(commands)
def _recall(
    on: Which,
    query: Annotated[str, Argument(metavar="QUERY", help="What you want to know.")],
    asked: Question,
    rerank: _Rerank = None,
    every: Annotated[
        bool, Option("--all", help="Every record on the topic, in order of time; by default 100 at most.")
    ] = False,
) -> None:
    """Recall what matters for a query, best first, with reasons.

    With --all, all of it in order of time, counted; what may be missing is said.
    """
    if every:
        _recall_all(on, query, asked)
        return
    hits = on.ask(lambda memory: memory.recall(query, scope=on.reach(), rerank=rerank, **asked))
    if on.json:
        emit({"query": query} | hits.to_dict())
    else:
        _tell_hits(on, hits)
    if hits.trace is not None and not on.json:
        console().print()
        console().print(grid(("bold", ""), _describe_trace(hits.trace)))
    if hits.wants_all:
        console(stderr=True).print("this sounds like a question for all of them: --all lists and counts them")


def _recall_all(on: Which, query: str, asked: Given) -> None:
    if unused := asked.keys() - RECALL_ALL:
        raise BadInput(f"--all is in order of time: leave --{min(unused)} out")
    found = on.ask(lambda memory: memory.recall_all(query, scope=on.reach(), **asked))
    if on.json:
        emit(found.to_dict())
        return
    _tell_hits(on, found.hits)
    if found.maybe:
        console().print("\nmay belong", style="bold")
        _tell_hits(on, found.maybe)
    console(stderr=True).print(f"{found.count:,} in all" + (f"; {found.reason}" if found.reason else ""))


@command(commands)
def _context(
    on: Which,
    query: Annotated[str, Argument(metavar="QUERY", help="What the prompt is about.")],
    packing: Packing,
    counter: Annotated[str, Option(help="What counts tokens: estimate, words, file:PATH.")] = "estimate",
) -> None:
    """Build a block for a prompt, never over its budget."""
    packed = on.ask(lambda memory: memory.context(query, counter=counter, scope=on.reach(), **packing))
    if on.json:
        emit(
            {
                "text": packed.text,
                "tokens": packed.tokens,
                "budget": packed.budget,
                "used": [hit.id for hit in packed.hits],
                "told": list(packed.sources),
                "left_out": [hit.id for hit in packed.left_out],
                "sections": dict(packed.sections),
            }
        )
        return
    console().print(plain(packed.text), soft_wrap=True)
    used = f"{packed.tokens:,} of {packed.budget:,} tokens, {len(packed.hits):,} memories"
    console(stderr=True).print(f"({used}; {len(packed.left_out):,} left out)", style="dim")


@command(commands)
def _find(on: Which, asked: Page) -> None:
    """Find records by kind, session, time, person or trust.

    With --json one a line.
    """
    records = on.ask(lambda memory: memory.find(scope=on.reach(), **asked))
    on.tell_each(
        records,
        [("when", {"width": MINUTE}), "kind", ("what", REST | {"min_width": ID_WIDTH})],
        lambda one: (local_time(one.occurred), str(one.kind), show_record(one)),
        "nothing found",
    )
    if records.more:
        console(stderr=True).print(f"there are more: --limit and --offset show them ({len(records)} came)")


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
) -> None:
    """Show everything about one record, and its history.

    Exits with code 1 if there is none.
    """

    def look(memory: Memory) -> tuple[Record | None, list[Event]] | None:
        record = memory.get(id, scope=on.reach())
        events = memory.history(id, scope=on.reach()) if with_history else []
        if record is not None and detail:
            record = memory.upkeep.detail(record.id, scope=record.scope)
        return (record, events) if record or events else None

    found = on.ask(look)
    if found is None:
        typer.echo(plain(f"there is no record {id!r} in scope {on.reach()}"), err=True)
        raise typer.Exit(1)
    record, events = found
    if on.json:
        answer: dict[str, Any] = {} if record is None else record.to_dict()
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
        found = on.ask(lambda memory: memory.admin.sessions(on.reach(), limit=limit))
        on.tell_each(
            found,
            [("session", FOLD), ("records", RIGHT), ("last", {"width": MINUTE}), ("begins with", REST)],
            lambda one: (one.session, f"{one.count:,}", local_time(one.last), one.title),
            "no sessions",
        )
        return
    with on.open_memory() as memory:
        counts = memory.scopes(on.scope)
    if on.json:
        emit(counts)
    else:
        tell_table(("scope", ("records", RIGHT)), ((scope, f"{count:,}") for scope, count in counts.items()))


def _tell_hits(on: Which, hits: Sequence[Hit]) -> None:
    on.tell_each(
        hits,
        ["score", ("when", {"width": MINUTE}), *reason_columns()],
        lambda hit: (
            style_text((f"{hit.score:.2f}", "bold")),
            local_time(hit.record.occurred),
            *with_reasons(hit.record, hit.why().replace(" + ", "\n")),
        ),
        "nothing found",
    )


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


def _describe_fields(record: Record) -> Iterator[tuple[str, str]]:
    for one in FIELDS:
        if one.shown:
            yield one.name.replace("_", " "), _show_value(one, getattr(record, one.name))
    yield "digest", record.digest
    yield "vector", "none" if record.vector is None else f"{len(record.vector) // 4} numbers"


def _show_value(field: RecordField, value: Any) -> str:
    """Formats a record's value for people; absent or empty is a dash."""
    if isinstance(value, State):
        value = value.to_json()
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
