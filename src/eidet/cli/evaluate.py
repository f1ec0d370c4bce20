"""`eidet eval`: measures how well a memory answers questions, on conversations of your own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from typer import Argument, Option

from ..core.errors import BadInput
from ..core.private_files import write_private
from ..core.validate import dump_json
from .memory_options import read_choices_here
from .show import RIGHT, Column, console, count_words, plain, progress_bar, style_text, tell_table

if TYPE_CHECKING:
    from rich.text import Text

    from ..eval import Case, Comparison, Figure, Report, Run, Variant

_output: Final = partial(Option, rich_help_panel="What comes out")
_asked: Final = partial(Option, rich_help_panel="What is asked")
DEFAULT: Final = "wordllama"
_FEWEST_WRONG: Final = 10  # wrong first hits that the last two of TRUST need
TRUST: Final = ("AUROC", "right-AUROC", "calibration")  # how far the best scores can be trusted
_WORST: Final = 3  # questions that are shown
SAID: Final = 100  # characters of a record that are shown

commands: Final = typer.Typer()


@commands.command("eval")
def _evaluate(
    file: Annotated[Path, Argument(metavar="FILE", help="LoCoMo, LongMemEval or JSON lines.")],
    embedder: Annotated[
        str | None,
        Option(
            envvar="EIDET_EMBEDDER", help="Such as hashing:256; default: as eidet.toml says, or wordllama."
        ),
    ] = None,
    recipe: Annotated[str, Option(help="How signals are weighed.")] = "auto",
    place: Annotated[str, Option(help="An empty memory: a new file or a URL.")] = ":memory:",
    language: Annotated[str | None, Option(help="Language of the texts, such as de.")] = None,
    against: Annotated[
        list[str] | None,
        Option(metavar="PART=VALUE,…", help="Also run with these parts changed, and compare; repeatable."),
    ] = None,
    roles: Annotated[str, _asked(help="LongMemEval: whose turns, user or user,assistant.")] = "user",
    sessions: Annotated[int, _asked(help="LongMemEval: sessions per haystack built from evidence.")] = 50,
    limit_questions: Annotated[int | None, _asked(help="Ask only this many, drawn at random.")] = None,
    depth: Annotated[int, _asked(help="How many hits to request.")] = 20,
    budget: Annotated[
        list[int] | None, _asked(help="Tokens per context, 0 for none; repeatable [default: 200, 500, 1000].")
    ] = None,
    seed: Annotated[int, _asked(help="Seed for all random draws.")] = 0,
    json: Annotated[
        str | None, _output(metavar="FILE", help="Write JSON to this file; - is standard output.")
    ] = None,
    plot: Annotated[
        Path | None, _output(metavar="FILE", help="Draw the figures: a .png, .svg or .pdf.")
    ] = None,
    least: Annotated[
        list[str] | None, _output(metavar="FIGURE=VALUE", help="Exit with code 1 below this: R@10=0.8.")
    ] = None,
) -> None:
    """Measure how well questions find what answers them.

    Compares embedders and recipes. Exits with code 1 if a --least is not reached, or if a record of
    another scope came back.
    """
    from .. import eval as measuring

    gates = [measuring.least_of(text) for text in least or ()]
    chosen = embedder or read_choices_here().get("embedder") or DEFAULT
    base = measuring.Variant(embedder=chosen, recipe=recipe, place=place, language=language)
    others = [_change_variant(base, text) for text in against or ()]
    for path in (plot, None if json in (None, "-") else Path(str(json))):
        _check_writable(path)
    cases = measuring.read_cases(file, roles=roles.split(","), sessions=sessions, seed=seed)
    if limit_questions is not None:
        cases = measuring.limit_questions(cases, limit_questions, seed)
    budgets = [tokens for tokens in budget or measuring.BUDGETS if tokens]
    measuring.check_least(gates, cases, depth, budgets)
    ks = {*measuring.KS, *(gate.k for gate in gates if gate.k is not None)}
    with progress_bar("measuring") as tell:
        report = measuring.evaluate(
            cases, base, against=others, depth=depth, ks=sorted(ks), budgets=budgets, progress=tell
        )
    if json != "-":
        _tell_report(report)
    _write(report, json, plot)
    missed = list(measuring.find_missed(report.base, gates))
    for miss in missed:
        typer.echo(f"below: {plain(str(miss))}", err=True)
    raise typer.Exit(int(bool(missed) or any(run.leaks for run in report.runs)))


def _change_variant(base: Variant, text: str) -> Variant:
    """Returns the variant with some parts changed, such as `embedder=hashing:256,recipe=facts`."""
    known = [field.name for field in fields(base)]
    parts = dict(part.partition("=")[::2] for part in text.split(","))
    if any(name not in known or not value for name, value in parts.items()):
        raise BadInput(f"--against takes part=value,… with parts from {', '.join(known)}, not {text!r}")
    return replace(base, **parts)


def _check_writable(path: Path | None) -> None:
    """Raises `BadInput` for a file that cannot be written, before minutes are spent on measuring."""
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        raise BadInput(f"{path} cannot be written: its folder does not exist, or it is a folder itself")


def _write(report: Report, json: str | None, plot: Path | None) -> None:
    from ..eval import draw

    if json == "-":
        typer.echo(dump_json(report.to_json()))
    elif json is not None:
        write_private(Path(json), dump_json(report.to_json()) + "\n")
    if plot is not None:
        draw(report, plot)
        typer.echo(f"plot written to {plot}", err=True)


def _tell_report(report: Report) -> None:
    out = console()
    for run in report.runs:
        out.print(style_text((run.name, "bold")))
        _tell_figures(run, report)
        for line in _tell_rest(run, report):
            out.print(line)
        _tell_contexts(run, report.budgets)
        out.print()
    for comparison in report.comparisons:
        out.print(style_text((comparison.name, "bold"), " against ", (comparison.base, "bold")))
        _tell_differences(comparison, report)
        out.print()
    for line in _tell_worst(report):
        out.print(line, soft_wrap=True)
    out.print(_data_line(report.cases, report), style="dim")


def _tell_figures(run: Run, report: Report) -> None:
    main, names = f"R@{report.k}", _names_to_show(report)
    interval: Column = (f"95 % of {main}", RIGHT | {"style": "dim", "no_wrap": True})
    columns: list[Column] = ["", ("n", RIGHT), *((name, RIGHT) for name in names), interval]
    rows = [(label, *_cells_of(figures, names, main)) for label, figures in run.categories.items()]
    overall = [style_text((cell, "bold")) for cell in ("overall", *_cells_of(run.overall, names, main))]
    tell_table(columns, (overall, *rows))


def _cells_of(figures: Mapping[str, Figure], names: Sequence[str], main: str) -> list[str]:
    """Returns the number of questions, the figures, and the interval of the main one."""
    cells = [f"{figures[name].value:.3f}" for name in names]
    return [f"{figures[main].questions:,}", *cells, f"{figures[main].low:.2f}–{figures[main].high:.2f}"]


def _names_to_show(report: Report) -> list[str]:
    by_rank = [f"R@{k}" for k in (1, 5) if k in report.ks and k != report.k]
    return [*by_rank, f"R@{report.k}", f"nDCG@{report.k}", "MRR"]


def _tell_rest(run: Run, report: Report) -> Iterator[Text]:
    """Yields lines with the figures that are one number for the whole run."""
    wrong = sum(not (answer.found and answer.found[0].gold) for answer in run.answers)
    trust = TRUST if wrong >= _FEWEST_WRONG else TRUST[:1]
    names = ("hit@1", f"hit@{report.k}", f"all@{report.k}", "session-hit@5", "session-all@5")
    for label, shown in (("", names), ("best scores: ", trust)):
        figures = [f"{name} {run.overall[name].value:.3f}" for name in shown if name in run.overall]
        if figures:
            yield style_text(label + ", ".join(figures))
    p50, p95, p99 = (run.latency[name] for name in ("p50", "p95", "p99"))
    leaks = (f"{run.leaks:,} leaks between scopes", "bold red") if run.leaks else "no leaks between scopes"
    yield style_text(f"recall p50 {p50:.2f} ms, p95 {p95:.2f}, p99 {p99:.2f}; empty {run.empty:.1%}; ", leaks)


def _tell_contexts(run: Run, budgets: Sequence[int]) -> None:
    """Prints, for each budget, whether a context holds any of the gold, and which share of it."""
    ways = {"context": "context", "hits listed": "listed", "plain listed": "plain"}
    heads = [(f"{what}@{budget:,}", RIGHT) for budget in budgets for what in ("any", "all")]
    rows = [
        (label, *(f"{run.overall[f'{way}{all}@{b}'].value:.3f}" for b in budgets for all in ("", "-all")))
        for label, way in ways.items()
    ]
    if budgets:
        tell_table(("", *heads), rows)


def _tell_differences(comparison: Comparison, report: Report) -> None:
    metric = f"R@{report.k}"
    figures = {name: comparison.overall[name] for name in (*_names_to_show(report), f"all@{report.k}")}
    figures |= {f"{metric}, {name}": found[metric] for name, found in comparison.categories.items()}
    rows = (
        (
            label,
            style_text((f"{row.value:+.3f}", ("", "green", "red")[row.sign])),
            f"{row.low:+.3f} to {row.high:+.3f}",
            f"{row.won:,}",
            f"{row.lost:,}",
        )
        for label, row in figures.items()
    )
    headings = ("difference", "95 % interval", "won", "lost")
    tell_table(("", *((heading, RIGHT) for heading in headings)), rows)


def _data_line(cases: Sequence[Case], report: Report) -> str:
    asked = f"{len(report.base.answers):,} questions about {report.base.records:,} records"
    left_out = count_words(dict(sorted(report.count_left_out().items())))
    if unanswerable := sum(len(case.unanswerable) for case in cases):
        asked += f", and {unanswerable:,} that nothing answers,"
    return f"{asked} in {len(cases):,} scopes" + (f"; left out: {left_out}" if left_out else "")


def _tell_worst(report: Report) -> Iterator[Text]:
    """Yields the worst questions, with the first hits and those that were expected."""
    texts = {(case.scope, draft.id): draft.text or "" for case in report.cases for draft in case.records}

    def quote(scope: str, id: str) -> str:
        text = " ".join(texts.get((scope, id), "").split())
        return f"{id}: {text[:SAID]}…" if len(text) > SAID else f"{id}: {text}"

    for number, answer in enumerate(report.find_worst(_WORST)):
        if not number:
            yield style_text(("worst questions", "bold"))
        scope, question = answer.scope, answer.question
        yield style_text(f"  {question.text}", (f"  ({scope}, {question.id})", "dim"))
        first = quote(scope, answer.found[0].id) if answer.found else "nothing"
        yield style_text(("    came first  ", "dim"), first)
        for id in question.gold[:2]:
            places = [place for place, hit in enumerate(answer.found, 1) if hit.id == id]
            place = f"came at {places[0]}" if places else "did not come"
            yield style_text(("    expected    ", "dim"), quote(scope, id), (f"  {place}", "yellow"))
