"""Answers for people, in tables and lines of rich, and answers as JSON.

In JSON times are ISO 8601 in UTC, and vectors are left out unless asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from json import dumps
from typing import TYPE_CHECKING, Any, Final

import typer

from ..core.event import Event
from ..core.hit import Hit, Hits, Trace
from ..core.record import Record, iso_time
from ..core.record_table import FIELDS, RecordField
from ..core.session_summary import SessionSummary
from ..core.state import State, dump_state
from ..core.validate import dump_json

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ..recall.pack import Context

BAR: Final = 24
WIDE: Final = 90  # columns; on fewer, an id beside a column of reasons would not fit on its line
MINUTE: Final = 16  # columns of a time such as 2026-05-08 09:30
ID_WIDTH: Final = 28  # columns of an id that Eidet made; it is copied, so it is never cut or wrapped
LISTED: Final = 1000  # characters of a text that are shown in a list …
SHOWN: Final = 4000  # … and of a single record
# Characters that steer a terminal, or turn the direction of what is read.
STEERING: Final = (
    *(*range(9), *range(11, 32), *range(127, 160), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029),
    *(*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080)),
)
_CONTROLS: Final = dict.fromkeys(STEERING, "\N{REPLACEMENT CHARACTER}")


def console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def plain(text: str) -> str:
    """Without control characters: what was remembered must not steer a terminal, or read backwards."""
    return text.translate(_CONTROLS)


def shorten(text: str, most: int = SHOWN) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text):,} characters; --json prints all of them)"


def style_text(*parts: str | tuple[str, str]) -> Text:
    from rich.text import Text

    return Text.assemble(
        *(plain(part) if isinstance(part, str) else (plain(part[0]), part[1]) for part in parts)
    )


def break_before_id(named: str) -> str:
    """`acme/ann/0651…` with its id on a line of its own where a terminal is narrow."""
    scope, slash, id = named.rpartition("/")
    return named if not slash or console().width >= WIDE else f"{scope}/\n{id}"


def local_time(moment: float | None) -> str:
    if moment is None:
        return ""
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M}"


def table(*columns: str) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(*columns, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")


def show_record(record: Record, most: int = LISTED) -> Text:
    """Shows who said what, with the id below."""
    who = f"{record.who}: " if record.who else ""
    return style_text((who, "bold"), shorten(record.text, most), (f"\n{record.id}", "dim"))


def tell_hits(hits: Hits) -> None:
    out = console()
    if not hits:
        console(stderr=True).print("nothing found")
    else:
        out.print(_hits_table(hits))
    if hits.trace is not None:
        out.print()
        out.print(_trace_table(hits.trace))


def _hits_table(hits: Iterable[Hit]) -> Table:
    made = table("score")
    made.add_column("when", width=MINUTE)
    add_reasons(made)
    for hit in hits:
        made.add_row(
            style_text((f"{hit.score:.2f}", "bold")),
            local_time(hit.record.occurred),
            *with_reasons(hit.record, hit.why().replace(" + ", "\n")),
        )
    return made


def add_reasons(made: Table) -> None:
    """Columns for a record and why it is there; on a narrow terminal they are one."""
    made.add_column("what", ratio=5, overflow="fold")
    if console().width >= WIDE:
        made.add_column("why", ratio=3, style="cyan", overflow="fold")


def with_reasons(record: Record, why: str) -> tuple[Text, ...]:
    """The cells of `add_reasons`."""
    if console().width >= WIDE:
        return show_record(record), style_text(why)
    return (show_record(record) + style_text((f"\n{why}", "cyan")),)


def _trace_table(trace: Trace) -> Table:
    made = grid("bold", "")
    made.add_row("terms", ", ".join(trace.terms) or "none")
    made.add_row("scopes", plain(", ".join(trace.scopes)))
    made.add_row("searched", f"{trace.searched:,} records, {trace.filtered:,} of them filtered out")
    for arm, found in trace.arms.items():
        weight = trace.weights.get(arm, 0.0)
        best = f", the best {found[0][1]:.2f}" if found else ""
        made.add_row(f"by {arm}", f"{len(found):,} found{best}, weight {weight:.2f}")
    spent = ", ".join(f"{stage} {millis:.2f}" for stage, millis in trace.millis.items())
    made.add_row("time", f"{sum(trace.millis.values()):.2f} ms ({spent})")
    for note in trace.notes:
        made.add_row("note", plain(note))
    return made


def tell_context(context: Context) -> None:
    console().print(plain(context.text), soft_wrap=True)
    used = f"{context.tokens:,} of {context.budget:,} tokens, {len(context.hits):,} memories"
    console(stderr=True).print(f"({used}; {len(context.left_out):,} left out)", style="dim")


def tell_records(records: Sequence[Record], *, scopes: bool = False) -> None:
    """A row for each; `scopes` says that they may be of several scopes."""
    if not records:
        console(stderr=True).print("nothing found")
        return
    made = table()
    made.add_column("when", width=MINUTE)
    made.add_column("kind")
    if scopes:
        made.add_column("scope", overflow="fold", max_width=24)
    made.add_column("what", ratio=1, overflow="fold", min_width=ID_WIDTH)
    for record in records:
        labels = [local_time(record.occurred), str(record.kind)]
        if scopes:
            labels.append(plain(record.scope))
        made.add_row(*labels, show_record(record))
    console().print(made)


def tell_record(record: Record, most: int = SHOWN) -> None:
    made = grid("bold", "")
    for name, value in _fields(record):
        made.add_row(name, plain(shorten(value, most)))
    console().print(made)


def _fields(record: Record) -> Iterator[tuple[str, str]]:
    for one in FIELDS:
        if one.shown:
            yield one.name.replace("_", " "), _cell(one, getattr(record, one.name))
    yield "digest", record.digest
    yield "vector", "none" if record.vector is None else f"{len(record.vector) // 4} numbers"


def _cell(field: RecordField, value: Any) -> str:
    """A value of a record for people; what is absent or empty is a dash."""
    if isinstance(value, State):
        return dump_state(value) or "-"
    if value is None or value in ({}, ()):
        return "-"
    if field.is_time:
        return local_time(value)
    if isinstance(value, tuple):
        return ", ".join(str(one) for one in value)
    return dump_json(value) if field.in_json else str(value)


def tell_heading(title: str) -> None:
    from rich.rule import Rule

    console().print()
    console().print(Rule(style_text((title, "bold")), align="left", style="dim"))


def grid(*styles: str) -> Table:
    """Columns without lines; long text hangs in its own."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2))
    for style in styles:
        made.add_column(style=style, overflow="fold")
    return made


def _tell_events(events: Sequence[Event]) -> None:
    made = table("when", "what", "version", "by")
    made.add_column("before", ratio=1)
    for event in events:
        before = "" if event.before is None else shorten(dump_json(event.before), LISTED)
        made.add_row(
            local_time(event.at), event.what, str(event.version), plain(event.by or ""), plain(before)
        )
    console().print(made)


def _tell_scopes(counts: Mapping[str, int]) -> None:
    made = table("scope")
    made.add_column("records", justify="right")
    for scope, count in counts.items():
        made.add_row(plain(scope), f"{count:,}")
    console().print(made)


def _tell_sessions(found: Sequence[SessionSummary], *, scopes: bool) -> None:
    """A line for each; `scopes` says that they may be of several scopes."""
    if not found:
        console(stderr=True).print("no sessions")
        return
    made = table()
    made.add_column("session", overflow="fold")
    if scopes:
        made.add_column("scope", overflow="fold")
    made.add_column("records", justify="right")
    made.add_column("last", width=MINUTE)
    made.add_column("begins with", ratio=1, overflow="fold")
    for one in found:
        named = [plain(one.session)]
        if scopes:
            named.append(plain(one.scope))
        made.add_row(*named, f"{one.count:,}", local_time(one.last), plain(one.title))
    console().print(made)


def _store_rows(stores: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Describes the state of the server, or of each store and its outbox."""
    if "state" in stores:
        yield "server", stores["state"]
        return
    for name in ("short", "long"):
        if name in stores:
            why = f": {stores[name]['error']}" if stores[name]["error"] else ""
            yield f"{name} store", stores[name]["state"] + why
    if waiting := stores.get("outbox", {}).get("waiting"):
        yield "outbox", f"{waiting:,} waiting"


def _tell_stats(stats: Mapping[str, Any]) -> None:
    made = grid("bold", "")
    aside = f" ({stats['quarantined']:,} in quarantine)" if stats.get("quarantined") else ""
    made.add_row("records", f"{stats['records']:,}{aside}")
    made.add_row("scopes", f"{stats['scopes']:,}")
    made.add_row("size", size_text(stats["store_bytes"]))
    made.add_row("embedder", stats["embedder"])
    made.add_row("language", stats["language"])
    for name, described in _store_rows(stats.get("stores", {})):
        made.add_row(name, described)
    console().print(made)
    _tell_retrieval(stats["retrieval"])
    for name, counts in (("kind", stats["kinds"]), ("tier", stats["tiers"])):
        if counts:
            console().print()
            console().print(_shares_table(name, counts))


def _tell_retrieval(told: Mapping[str, Any]) -> None:
    """Prints figures on recalls, if there were any."""
    if not told["recalls"]:
        return
    made = table(f"the last {told['window_days']} days")
    made.add_column("", justify="right")
    made.add_column("", style="dim")
    made.add_row("recalls", f"{told['recalls']:,}", "")
    for name in ("hit_ratio", "success_rate", "answer_accuracy", "hit_relevance"):
        made.add_row(name.replace("_", " "), *_share(told[name]))
    for name in ("p50", "p95"):
        made.add_row(f"time {name}", f"{told[f'seconds_{name}'] * 1000:.2f} ms", "")
    if told["context_use"] is not None:
        made.add_row("context budget used", f"{told['context_use']:.1%}", f"{told['contexts']:,} contexts")
    made.add_row("drift", told["drift"]["verdict"], "")
    console().print()
    console().print(made)


def _share(rate: Mapping[str, float] | None) -> tuple[str, str]:
    if rate is None:
        return "-", "nobody has judged yet"
    return f"{rate['value']:.1%}", f"{rate['low']:.1%} to {rate['high']:.1%}, of {rate['of']:,}"


def _shares_table(name: str, counts: Mapping[str, int]) -> Table:
    made = table(name)
    made.add_column("records", justify="right")
    made.add_column("", style="cyan")
    most = max(counts.values(), default=1)
    for label, count in sorted(counts.items(), key=lambda item: -item[1]):
        made.add_row(label, f"{count:,}", "█" * max(1, round(BAR * count / most)))
    return made


def size_text(count: float) -> str:
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("KB", "MB"):
        count /= 1000
        if count < 1000:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} GB"


@contextmanager
def progress_bar(label: str, *, shown: bool = True) -> Iterator[Callable[[int, int], None] | None]:
    """A bar on stderr, told (done, of how many); None where stderr is no terminal."""
    err = console(stderr=True)
    if not (shown and err.is_terminal):
        yield None
        return
    from rich.progress import Progress

    with Progress(console=err, transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


_ESCAPES: Final = {sign: dumps(chr(sign))[1:-1] for sign in STEERING if sign > 126} | {127: "\\u007f"}


def emit(answer: object) -> None:
    """One JSON document, on one line; what would steer a terminal is written as JSON escapes it."""
    typer.echo(dump_json(answer).translate(_ESCAPES))


def emit_each(answers: Iterable[object]) -> None:
    """JSON lines."""
    for answer in answers:
        emit(answer)


def emit_or_tell(json: bool, answer: object, line: str) -> None:
    """The answer as JSON where that is asked for, else a line for people."""
    if json:
        emit(answer)
    else:
        typer.echo(line)


def hits_json(query: str, hits: Hits, *, vectors: bool = False) -> dict[str, Any]:
    return {"query": query} | hits.to_dict(vectors=vectors)


def context_json(context: Context) -> dict[str, Any]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "used": [hit.id for hit in context.hits],
        "told": [record.id for record in context.records],
        "left_out": [hit.id for hit in context.left_out],
        "sections": dict(context.sections),
    }


def event_json(event: Event) -> dict[str, Any]:
    return asdict(event) | {"at": iso_time(event.at)}
