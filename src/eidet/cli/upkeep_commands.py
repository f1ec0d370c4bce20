"""`eidet maintain`, `review`, `rebuild` and `stats`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer import Option

from ..core.errors import BadInput
from ..core.record import Record
from .memory_options import Which, command
from .show import (
    FOLD,
    ID_WIDTH,
    REST,
    RIGHT,
    console,
    emit,
    emit_or_tell,
    grid,
    local_time,
    progress_bar,
    reason_columns,
    size_text,
    style_text,
    tell_table,
    with_reasons,
)

if TYPE_CHECKING:
    from ..upkeep import Maintained

SHOWN: Final = 50


commands: Final = typer.Typer()


@command(commands)
def _maintain(
    on: Which,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be done, and why.")] = False,
    policies: Annotated[
        bool, Option("--policies", help="Only list the retention policies, and how many records are due.")
    ] = False,
    only: Annotated[list[str] | None, Option(help="One of the steps, such as move; repeatable.")] = None,
    llm: Annotated[
        str | None, Option(help="Model that words summaries, such as ollama:qwen3; default: rules.")
    ] = None,
) -> None:
    """Keep memories in order: expire, retain, forget, merge, move.

    The steps: expire, retain, forget, merge, weigh, promote, move, summarise, consolidate.
    """
    if policies:
        _tell_policies(on)
        return
    with on.open_memory() as memory:
        done = memory.upkeep.maintain(on.reach_or_all(), dry_run=dry_run, only=only, llm=llm)
    if on.json:
        emit(asdict(done) | {"changes": [change._asdict() for change in done.changes]})
    else:
        _tell_maintained(done)


def _tell_maintained(done: Maintained) -> None:
    out = console()
    if done.changes and (done.dry_run or len(done.changes) <= SHOWN):
        columns = ("what", ("which", FOLD | {"min_width": ID_WIDTH}), ("why", REST))
        rows = (
            (change.what, style_text(f"{change.id}\n", (change.scope, "dim")), change.because)
            for change in done.changes
        )
        tell_table(columns, rows)
    out.print(style_text(str(done)))
    for failure in done.failed:
        console(stderr=True).print(style_text(f"failed: {failure}"))


def _tell_policies(on: Which) -> None:
    with on.open_memory() as memory:
        found = memory.upkeep.retention(on.reach_or_all())
    if on.json:
        emit([asdict(standing) | {"says": str(standing.policy)} for standing in found])
    elif not found:
        console(stderr=True).print("there are no policies; write them as [[eidet.retention]] in --config")
    else:
        rows = (
            (str(one.policy), *(f"{count:,}" for count in (one.covered, one.due, one.held, one.kept)))
            for one in found
        )
        tell_table(("policy", "covers", "due", "due but held", "kept"), rows)


@command(commands)
def _review(
    on: Which,
    limit: Annotated[int, Option("--limit", "-n", help="How many at most.")] = 50,
) -> None:
    """List what waits for review, newest first.

    New texts wait by the setting `review`, suspicious ones by themselves.

    `eidet mark ID approve`, `approve --text …` or `reject` decides. With --json one a line.
    """
    from ..trust.privacy.service import score_of

    with on.open_memory() as memory:
        found = memory.trust.review(scope=on.reach(), limit=limit)
    on.tell_each(
        found,
        ["score", ("trust, when", {"width": 11}), *reason_columns()],
        lambda one: (
            f"{score_of(one):.2f}",
            f"{one.trust}\n{local_time(one.occurred)}",
            *with_reasons(one, "\n".join(_reasons(one))),
        ),
        "nothing to review",
    )


def _reasons(record: Record) -> list[str]:
    label, mark = record.state.poison, record.state.quarantine
    why = [] if label is None else list(label.why)
    return why if mark is None or mark.because is None else [*why, mark.because]


@command(commands)
def _rebuild(
    on: Which,
    reembed: Annotated[
        bool, Option("--reembed", help="Switch to the embedder that --embedder names; resumes.")
    ] = False,
) -> None:
    """Rebuild the index, or switch to another embedder or language.

    With --language, re-analyse every text first. With --reembed, embed every text again; if that was
    interrupted, the same command resumes it.
    """
    if not reembed:
        with on.open_for_change() as memory, progress_bar("rebuilding") as tell:
            count = memory.admin.rebuild(on.reach_or_all(), language=on.language, progress=tell)
        emit_or_tell(on.json, {"rebuilt": count}, f"rebuilt the index of {count:,} records")
        return
    if on.embedder is None:
        raise BadInput("name the new embedder: --embedder wordllama")
    if on.scope is not None or on.language is not None:
        raise BadInput("--reembed changes the embedder of the whole memory: drop --scope and --language")
    with on.open_for_change() as memory, progress_bar("embedding") as tell:
        count = memory.admin.reembed(on.embedder, progress=tell)
        name = memory.admin.stats()["embedder"]
    emit_or_tell(on.json, {"embedded": count, "embedder": name}, f"embedded {count:,} records with {name}")


@command(commands)
def _stats(
    on: Which,
    metrics: Annotated[
        bool, Option("--metrics", help="Numbers for monitoring, in the text format of Prometheus.")
    ] = False,
) -> None:
    """Show counts, sizes and recall quality, of a scope or all."""
    scope = on.reach_or_all()
    with on.open_memory() as memory:
        answer = memory.admin.metrics(scope) if metrics else memory.admin.stats(scope)
    if metrics and not on.json:
        from ..quality.metrics import exposition

        typer.echo(exposition(answer, None if scope is None else str(scope)), nl=False)
        return
    if on.json:
        emit(answer)
    else:
        _tell_stats(answer)


def _tell_stats(stats: Mapping[str, Any]) -> None:
    aside = f" ({stats['quarantined']:,} in quarantine)" if stats.get("quarantined") else ""
    rows = (
        ("records", f"{stats['records']:,}{aside}"),
        ("scopes", f"{stats['scopes']:,}"),
        ("size", size_text(stats["store_bytes"])),
        ("embedder", stats["embedder"]),
        ("language", stats["language"]),
        *((name, _describe_shares(stats[name])) for name in ("kinds", "tiers") if stats[name]),
    )
    console().print(grid(("bold", ""), rows))
    if stats["retrieval"]["recalls"]:
        _tell_retrieval(stats["retrieval"])


def _describe_shares(counts: Mapping[str, int]) -> str:
    """Lists counts, the largest first."""
    return ", ".join(f"{counts[name]:,} {name}" for name in sorted(counts, key=lambda name: -counts[name]))


def _tell_retrieval(told: Mapping[str, Any]) -> None:
    rows = [("recalls", f"{told['recalls']:,}", "")]
    for name in ("hit_ratio", "success_rate", "answer_accuracy", "hit_relevance"):
        rows.append((name.replace("_", " "), *_describe_share(told[name])))
    rows += [(f"time {name}", f"{told[f'seconds_{name}'] * 1000:.2f} ms", "") for name in ("p50", "p95")]
    if told["context_use"] is not None:
        rows.append(("context budget used", f"{told['context_use']:.1%}", f"{told['contexts']:,} contexts"))
    rows.append(("drift", told["drift"]["verdict"], ""))
    console().print()
    tell_table([f"the last {told['window_days']} days", ("", RIGHT), ("", {"style": "dim"})], rows)


def _describe_share(rate: Mapping[str, float] | None) -> tuple[str, str]:
    if rate is None:
        return "-", "nobody has judged yet"
    return f"{rate['value']:.1%}", f"{rate['low']:.1%} to {rate['high']:.1%}, of {rate['of']:,}"
