"""The report as one HTML file: no scripts, nothing loaded from anywhere, all texts escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Final

from .. import Draft
from .figures import Comparison, Difference, Figure, Run
from .plot import COLOURS, bars, curves, forest, plot_calibration, shares_within
from .report import Report
from .runner import QuestionAnswer, RankedHit

WORST: Final = 30
LONGEST: Final = 600  # characters of a text that are shown
_CONTROLS: Final = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\N{REPLACEMENT CHARACTER}")
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def html_of(report: Report, title: str = "Retrieval") -> str:
    """The whole page."""
    style = files(__package__).joinpath("style.css").read_text(encoding="utf-8")
    body = "\n".join(_parts(report, title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{_escape_text(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _parts(report: Report, title: str) -> Iterator[str]:
    yield _head(report, title)
    yield _cards(report)
    yield "<h2>Figures</h2>" + _table(report)
    yield "<h2>Plots</h2>" + _legend(report.runs) + "<div class=plots>" + "".join(_plots(report)) + "</div>"
    if report.comparisons:
        yield f"<h2>Against {_escape_text(report.base.name)}</h2><div class=plots>"
        yield "".join(_against(one, at, report.k) for at, one in enumerate(report.comparisons, 1)) + "</div>"
    yield _worst(report)
    yield _foot(report)


def _head(report: Report, title: str) -> str:
    left_out = ", ".join(f"{count:,} {why}" for why, count in sorted(report.count_left_out().items()))
    return (
        f"<h1>{_escape_text(title)}</h1><p class=dim>{len(report.base.answers):,} questions about "
        f"{report.base.records:,} records in {len(report.cases):,} scopes"
        + (f"; left out: {_escape_text(left_out)}" if left_out else "")
        + "</p>"
    )


def _cards(report: Report) -> str:
    run, k = report.base, report.k
    names = {
        f"R@{k}": f"recall@{k}",
        f"nDCG@{k}": f"nDCG@{k}",
        "MRR": "MRR",
        f"all@{k}": f"all gold in {k}",
        "session-all@5": "all sessions in 5",
    }
    shown = []
    for name, title in names.items():
        if name in run.overall:
            shown.append(_card(title, run.overall[name]))
    latency = f"p95 {run.latency['p95']:.1f}, p99 {run.latency['p99']:.1f}"
    shown.append(_plain_card("recall, p50", f"{run.latency['p50']:.2g} ms", latency))
    if run.tokens is not None:
        held = f"of {report.budget:,}, {run.context_gold:.0%} of gold"
        shown.append(_plain_card("context tokens", f"{run.tokens:,.0f}", held))
    mark = "good"
    if run.leaks:
        mark = "bad"
    shown.append(_plain_card("leaks", f'<span class="{mark}">{run.leaks:,}</span>', f"empty {run.empty:.1%}"))
    whose = f"<p class=note>The figures of <b>{_escape_text(run.name)}</b>, each with its 95 % interval.</p>"
    return f"<div class=cards>{''.join(shown)}</div>{whose}"


def _card(name: str, figure: Figure) -> str:
    return _plain_card(name, f"{figure.value:.3f}", f"{figure.low:.3f} – {figure.high:.3f}")


def _plain_card(name: str, value: str, below: str) -> str:
    return (
        f"<div class=card><span class=name>{name}</span><b>{value}</b><span class=spread>{below}</span></div>"
    )


def _legend(runs: Sequence[Run]) -> str:
    items = ""
    for at, run in enumerate(runs):
        items += f"<li>{_dot(at)}{_escape_text(run.name)}</li>"
    return f"<ul class=legend>{items}</ul>"


def _dot(series: int) -> str:
    return f'<span class="dot c{series % COLOURS}"></span>'


def _table(report: Report) -> str:
    names = [f"R@{k}" for k in report.ks] + [f"nDCG@{report.k}", "MRR", f"hit@{report.k}", f"all@{report.k}"]
    for name in ("session-hit@5", "session-all@5"):
        if name in report.base.overall:
            names.append(name)
    heads = "<th></th><th>questions</th>"
    for name in names:
        heads += f"<th>{name.replace('session-', 'session ')}</th>"
    rows: list[str] = []
    for at, run in enumerate(report.runs):
        rows.extend(_rows(run, at, names))
    return f"<div class=wide><table><tr>{heads}</tr>{''.join(rows)}</table></div>"


def _rows(run: Run, series: int, names: Sequence[str]) -> Iterator[str]:
    yield _row(f"{_dot(series)}<b>{_escape_text(run.name)}</b>", run.overall, names)
    for category, figures in run.categories.items():
        yield _row(f"{_dot(series)}{_escape_text(category)}", figures, names)


def _row(head: str, figures: Mapping[str, Figure], names: Sequence[str]) -> str:
    count, cells = 0, ""
    for figure in figures.values():
        count = max(count, figure.questions)
    for name in names:
        shown = f"{figures[name].value:.3f}" if name in figures else "–"
        cells += f"<td>{shown}</td>"
    return f"<tr><td>{head}</td><td>{count:,}</td>{cells}</tr>"


def _plots(report: Report) -> Iterator[str]:
    runs, names, metric = report.runs, [run.name for run in report.runs], f"R@{report.k}"
    groups: dict[str, list[Figure | None]] = {"overall": [run.overall[metric] for run in runs]}
    for category in report.base.categories:
        groups[category] = [run.categories[category].get(metric) for run in runs]
    note = "Bars are means over questions; whiskers are 95 % intervals."
    yield _card_with_plot(f"Recall@{report.k} by category", note, bars(groups, names, metric))
    yield _card_with_plot(
        "Recall at k",
        "The share of the gold among the first k hits; the band is its 95 % interval.",
        curves({run.name: run.curve for run in runs}),
    )
    yield _card_with_plot(
        "Latency",
        f"The share of recalls of {report.depth} hits that were answered within a time.",
        shares_within({run.name: _millis(run) for run in runs}),
    )
    yield _card_with_plot(
        "What a score means",
        "How often hits of a score are gold; larger points are more hits. A rising line ranks well.",
        plot_calibration({run.name: run.calibration for run in runs}),
    )


def _card_with_plot(title: str, note: str, plot: str) -> str:
    return f"<div class=card><h3>{title}</h3><p class=note>{note}</p>{plot}</div>"


def _against(comparison: Comparison, series: int, k: int) -> str:
    metric = f"R@{k}"
    rows = {"overall": comparison.overall[metric]}
    for name, figures in comparison.categories.items():
        rows[name] = figures[metric]
    main = comparison.overall[metric]
    note = f"Recall@{k}, paired over {main.questions:,} questions: won {main.won:,}, lost {main.lost:,}. "
    return _card_with_plot(
        f"{_dot(series)}{_escape_text(comparison.name)}",
        note + _verdict(main),
        forest(rows, series, f"difference in {metric}"),
    )


def _verdict(difference: Difference) -> str:
    return ("No clear difference.", "<b class=good>Better.</b>", "<b class=bad>Worse.</b>")[difference.sign]


def _worst(report: Report) -> str:
    texts = {}
    for case in report.cases:
        for draft in case.records:
            texts[(case.scope, draft.id)] = draft
    shown = "".join(_question(answer, texts, report.depth) for answer in worst(report, WORST))
    shown = shown.replace("<details>", "<details open>", 1)  # so that one sees what is in them
    note = "The least well answered, in turn from each category: what came back against the gold."
    body = "<p>All gold was found first.</p>"
    if shown:
        body = f"<p class=note>{note}</p>{shown}"
    return f"<h2>Worst questions</h2>{body}"


def worst(report: Report, count: int) -> list[QuestionAnswer]:
    """The answers of the first run with the lowest nDCG, in turn from each category."""
    values = report.base.columns[f"nDCG@{report.k}"]
    order = sorted(range(len(values)), key=lambda at: (float(values[at]), at))
    taken: dict[str | None, int] = {}
    turns: list[tuple[int, int, int]] = []
    for at in order:
        category = report.base.answers[at].question.category
        taken[category] = taken.get(category, 0) + 1
        if values[at] < 1:
            turns.append((taken[category], len(turns), at))
    return [report.base.answers[at] for _, _, at in sorted(turns)[:count]]


def _question(answer: QuestionAnswer, texts: Mapping[tuple[str, str | None], Draft], depth: int) -> str:
    question, ranks = answer.question, {hit.id: at for at, hit in enumerate(answer.found, 1) if hit.gold}
    if question.category:
        chip = f" <span class=chip>{_escape_text(question.category)}</span>"
    else:
        chip = ""
    if ranks:
        best = f"first gold at {min(ranks.values())}"
    else:
        best = f"no gold in {depth}"
    gold = ""
    for id in question.gold:
        place = f"#{ranks[id]}" if id in ranks else "missed"
        record = _record(texts.get((answer.scope, id)), id)
        gold += f"<li><span class=place>{place}</span><div>{record}</div></li>"
    hits = "".join(_hit(hit, at, texts) for at, hit in enumerate(answer.found[:5], 1))
    return (
        f"<details><summary>{_escape_text(question.text)}{chip} <span class=chip>{best}</span></summary><div>"
        f"<p class=note>{_escape_text(answer.scope)}, question {_escape_text(question.id)}</p>"
        f"<h3>Gold</h3><ul class=gold>{gold}</ul>"
        f"<h3>Returned</h3><ol class=hits>{hits or '<li>nothing</li>'}</ol></div></details>"
    )


def _hit(hit: RankedHit, rank: int, texts: Mapping[tuple[str, str | None], Draft]) -> str:
    mark = ""
    if hit.gold:
        mark = " class=right"
    if hit.leaked:
        leak = "<b class=bad>of another scope</b> "
    else:
        leak = ""
    return (
        f"<li{mark}><span class=place>#{rank}<br>{hit.score:.2f}</span>"
        f"<div>{leak}{_record(texts.get((hit.scope, hit.id)), hit.id)}"
        f"<div class=why>{_escape_text(hit.why)}</div></div></li>"
    )


def _record(draft: Draft | None, id: str) -> str:
    if draft is None:
        return _escape_text(id)
    text = draft.text or ""
    if len(text) <= LONGEST:
        shown = text
    else:
        shown = text[:LONGEST] + " …"
    if draft.who:
        who = f"<b>{_escape_text(draft.who)}:</b> "
    else:
        who = ""
    return f"{who}{_escape_text(shown)} <span class=chip>{_escape_text(id)}</span>"


def _millis(run: Run) -> list[float]:
    return [answer.millis for answer in run.answers]


def _variant_line(run: Run) -> str:
    return ", ".join(f"{name} {value}" for name, value in run.variant.describe().items())


def _foot(report: Report) -> str:
    variants = "; ".join(map(_variant_line, report.runs))
    return (
        f"<footer><p>{_escape_text(variants)}.</p><p>{report.depth} hits asked for; seed {report.seed}; "
        f"intervals by drawing the questions 2,000 times; eidet {report.to_json()['eidet']}.</p></footer>"
    )


def _escape_text(text: str | None) -> str:
    """A text of somebody's, harmless in a page."""
    return escape((text or "").translate(_CONTROLS))
