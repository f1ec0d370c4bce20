"""`eidet maintain`, `detail`, `restore`, `pin`, `hold`, `end-session`, `unarchive`, `fit` and their like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..core.errors import BadInput, MissingExtra
from ..core.record import Record
from ..core.scope import Scope
from ..upkeep.archive import archive_of
from .json_output import emit, emit_or_tell
from .memory_options import Below, Which, command
from .panels import LIFE
from .show import ID_WIDTH, LISTED, console, local_time, show_record, style_text, table

if TYPE_CHECKING:
    from ..upkeep import Maintained
    from ..upkeep.curve import Curve
    from ..upkeep.fit import Fitted

BARS: Final = "▁▂▃▄▅▆▇█"
DAYS: Final = (0, 1, 3, 7, 14, 30, 60, 90, 180, 365)
SHOWN: Final = 50

Id = Annotated[str, typer.Argument(metavar="ID")]
By = Annotated[str | None, typer.Option("--by", help="Who does it, for the history.")]
Archived = Annotated[
    str | None,
    typer.Option(
        "--archive", metavar="FOLDER", help="Where forgotten memories are archived: a folder, or s3://bucket."
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--llm", help="Model that words summaries, such as ollama:qwen3; default: rules."),
]


def add_to(app: typer.Typer) -> None:
    for run in (maintain, detail, restore, pin, unpin, hold, release, end_session, unarchive, fit):
        command(app, LIFE)(run)


def maintain(
    on: Which,
    below: Below = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done, and why.")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="One of the steps, such as move; repeatable.")
    ] = None,
    forget_below: Annotated[
        float | None, typer.Option(help="Forget what is weaker than this, from 0 to 1.")
    ] = None,
    archive: Archived = None,
    llm: Model = None,
) -> None:
    """Keep memories in order: expire, retain, forget, merge, weigh, promote, move, summarise, consolidate."""
    settings = on.settings().upkeep
    if forget_below is not None:
        settings = replace(settings, forget_below=forget_below)
    with on.open_memory() as memory:
        done = memory.upkeep.maintain(
            on.reach_or_all(below), dry_run=dry_run, only=only, settings=settings, archive=archive, llm=llm
        )
    if on.json:
        emit(asdict(done) | {"changes": [change._asdict() for change in done.changes]})
    else:
        _tell_maintained(done)


def _tell_maintained(done: Maintained) -> None:
    out = console()
    if done.changes and (done.dry_run or len(done.changes) <= SHOWN):
        made = table("what")
        made.add_column("which", overflow="fold", min_width=ID_WIDTH)
        made.add_column("why", ratio=1, overflow="fold")
        for change in done.changes:
            made.add_row(
                change.what, style_text(f"{change.id}\n", (change.scope, "dim")), style_text(change.because)
            )
        out.print(made)
    out.print(style_text(str(done)))
    for failure in done.failed:
        console(stderr=True).print(style_text(f"failed: {failure}"))


def detail(on: Which, id: Id) -> None:
    """Show a memory in full, as it was before its tier reduced it."""
    with on.open_memory() as memory:
        record = memory.upkeep.detail(id, scope=on.one_scope)
    tell_changed(on, record, most=len(record.text))


def restore(on: Which, id: Id) -> None:
    """Bring a memory back to the middle tier with all its detail."""
    with on.open_memory() as memory:
        record = memory.upkeep.restore(id, scope=on.one_scope)
    tell_changed(on, record, f"restored: it is in tier {record.tier}, with all its detail")


def pin(on: Which, id: Id, by: By = None) -> None:
    """Protect a memory from upkeep and from expiry."""
    with on.open_memory() as memory:
        record = memory.upkeep.pin(id, scope=on.one_scope, by=by)
    tell_changed(on, record, "pinned: upkeep leaves it alone, and it does not expire")


def unpin(on: Which, id: Id, by: By = None) -> None:
    """Let a pinned memory age again."""
    with on.open_memory() as memory:
        record = memory.upkeep.unpin(id, scope=on.one_scope, by=by)
    tell_changed(on, record, "unpinned: it ages again")


def hold(on: Which, id: Id, by: By = None) -> None:
    """Put a memory under a legal hold: nobody can change or delete it."""
    with on.open_memory() as memory:
        record = memory.upkeep.hold(id, scope=on.one_scope, by=by)
    tell_changed(on, record, "held: nobody can change or delete it until it is released")


def release(on: Which, id: Id, by: By = None) -> None:
    """End a legal hold."""
    with on.open_memory() as memory:
        record = memory.upkeep.release(id, scope=on.one_scope, by=by)
    tell_changed(on, record, "released: it can be changed and deleted again")


def end_session(
    on: Which, session: Annotated[str, typer.Argument(metavar="SESSION")], llm: Model = None
) -> None:
    """Summarise the messages of a session in an episode."""
    with on.open_memory() as memory:
        record = memory.upkeep.end_session(session, scope=on.one_scope, llm=llm)
    tell_changed(on, record, f"summarised {len(record.derived_from):,} messages")


def unarchive(
    on: Which,
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="The archive's folder, or s3://bucket/prefix.")
    ],
    ids: Annotated[list[str] | None, typer.Option("--id", help="Only this id; repeatable.")] = None,
    since: Annotated[str | None, typer.Option(help="Only what was created at this time or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only what was created at this time or earlier.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="Only list its content.")] = False,
    claim: Annotated[
        bool,
        typer.Option("--claim", help="Only make it this memory's own, after its file was moved or restored."),
    ] = False,
) -> None:
    """Bring forgotten memories back from an archive."""
    if claim:
        with on.open_memory() as memory:
            count = memory.upkeep.claim_archive(folder)
        emit_or_tell(on.json, {"claimed": count}, f"claimed {count:,} pieces of {folder}")
        return
    if listing:
        _tell_pieces(on, folder)
        return
    if on.scope is None:
        scope = None
    else:
        scope = Scope(on.scope)
    with on.open_memory(creates=True) as memory:
        count = memory.upkeep.unarchive(folder, ids=ids, scope=scope, since=since, until=until)
    emit_or_tell(on.json, {"unarchived": count}, f"brought back {count:,} records from {folder}")


def _tell_pieces(on: Which, folder: str) -> None:
    """By the manifests alone."""
    archive = archive_of(folder)
    assert archive is not None
    pieces = [{"name": name, **archive.manifest(name)} for name in archive.names()]
    if on.json:
        emit(pieces)
        return
    made = table("piece", "archived", "records", "scopes", "created")
    for piece in pieces:
        first, last = (local_time(at) for at in piece.get("created") or (None, None))
        scopes = ", ".join(f"{scope} {count:,}" for scope, count in (piece.get("scopes") or {}).items())
        row = (piece["name"], local_time(piece.get("archived")), f"{piece['count']:,}", scopes)
        made.add_row(*map(style_text, row), f"{first} to {last}")
    console().print(made)


def tell_changed(on: Which, record: Record, done: str = "", most: int = LISTED) -> None:
    """What was done, and the record it was done to."""
    if on.json:
        emit(record.to_dict())
        return
    if done:
        console().print(style_text((done, "bold")))
    console().print(show_record(record, most))


def fit(
    on: Which,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An access log (the setting access_log); else the use counts."),
    ] = None,
    window_days: Annotated[
        float, typer.Option(help="Days within which a memory counts as used again.")
    ] = 7.0,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the curves to this file.")] = None,
) -> None:
    """Fit the forgetting curve that best explains the recorded uses."""
    from ..upkeep.tier_plan import curve_of

    start, path = curve_of(on.settings().upkeep), log or on.settings().access_log
    with on.open_memory() as memory:
        found = memory.upkeep.fit(path, scope=on.reach_or_all(False), window_days=window_days)
    if plot is not None:
        draw(plot, {"as set": start, "fitted": found.curve})
    if path:
        source = f"the log {path}"
    else:
        source = "use counts alone, assumed to be evenly spread"
    _tell_fit(on, found, start, source)


def _tell_fit(on: Which, found: Fitted, start: Curve, source: str) -> None:
    if on.json:
        emit(asdict(found) | {"from": source})
        return
    out = console()
    out.print(style_text(f"from {found.windows:,} windows ({found.used:,} with a use), {source}"))
    out.print(style_text(f"loss {found.loss_before:.4f} as set, {found.loss_after:.4f} fitted"))
    out.print(style_text(f"as set  {sparkline(start)}\nfitted  {sparkline(found.curve)}   {_axis()}"))
    out.print(style_text("\n[eidet.upkeep]"))
    for name in ("half_life_days", "spacing_gain", "importance_gain", "shape"):
        out.print(style_text(f"{name} = {getattr(found.curve, name):.4g}"))


def sparkline(curve: Curve, days: Sequence[float] = DAYS) -> str:
    from ..upkeep.curve import points

    return "".join(BARS[min(int(left * len(BARS)), len(BARS) - 1)] for _, left in points(curve, days))


def _axis() -> str:
    return f"strength after {', '.join(map(str, DAYS))} days without use"


def draw(path: Path, curves: dict[str, Curve]) -> None:
    """The curves as a picture, for three importances."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("eidet fit --plot", extra="plot") from error
    from ..upkeep.curve import points

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes: Any = figure.subplots()
    days = [day / 2 for day in range(361)]
    for (name, curve), style in zip(curves.items(), ("--", "-"), strict=False):
        for importance, colour in ((0.1, "tab:blue"), (0.5, "tab:green"), (0.9, "tab:red")):
            line = points(curve, days, importance)
            axes.plot(*zip(*line, strict=True), style, color=colour, label=f"{name}, importance {importance}")
    axes.set(xlabel="days without use", ylabel="strength", ylim=(0, 1), title="Forgetting curve")
    axes.legend(fontsize=8)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be drawn: {error}") from error
