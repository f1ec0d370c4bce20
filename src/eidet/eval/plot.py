"""Plots as SVG, drawn for a width of 420 so that they can be read on a phone. Colours are classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import chain
from math import ceil, floor, log10
from typing import Final

from .figures import Difference, Figure
from .ranking_metrics import Bin

WIDTH: Final = 420.0
COLOURS: Final = 6
_LEFT, _RIGHT, _TOP, _HEIGHT = 40.0, 12.0, 10.0, 230.0  # of a plot with two axes


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """From values to positions, even or by powers of ten."""

    low: float
    high: float
    start: float
    end: float
    powers: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, min(max(value, self.low), self.high)
        if self.powers:
            low, high, at = log10(low), log10(high), log10(at)
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)


def bars(groups: Mapping[str, Sequence[Figure | None]], names: Sequence[str], what: str) -> str:
    """A bar with its whisker for each group and each run, from 0 to 1."""
    x, line = Axis(low=0, high=1, start=4, end=WIDTH - 46), 15.0
    drawn, y = [], 4.0
    for group, figures in groups.items():
        count = max((figure.questions for figure in figures if figure), default=0)
        drawn.append(
            f'<text x="4" y="{y + 11:.1f}" class="label">{_cut(group, 44)}'
            f'<tspan class="dim"> · {count:,} questions</tspan></text>'
        )
        y += 17
        for at, figure in enumerate(figures):
            if figure is not None:
                drawn.append(_bar(figure, f"{names[at]}, {group}", x, y, at))
            y += line
        y += 10
    return _svg(y - 6, f"{what} by category", [*_grid_down(x, (0, 0.25, 0.5, 0.75, 1), y - 10), *drawn])


def _bar(figure: Figure, label: str, x: Axis, y: float, series: int) -> str:
    middle, title = y + 5.5, f"{label}: {_spread(figure)}"
    return (
        f'<g><title>{escape(title)}</title><rect x="{x(0):.1f}" y="{y:.1f}" height="11" rx="2" '
        f'width="{max(1.0, x(figure.value) - x(0)):.1f}" class="fill c{series % COLOURS}"/>'
        + _whisker(x(figure.low), x(figure.high), middle)
        + _text(WIDTH - 4, y + 10, f"{figure.value:.3f}", "number", "end")
        + "</g>"
    )


def forest(rows: Mapping[str, Difference], series: int, what: str) -> str:
    """Differences around zero, each with its whisker."""
    reach = max([0.02, *(max(abs(row.low), abs(row.high)) for row in rows.values())])
    x = Axis(low=-reach, high=reach, start=130, end=WIDTH - 62)
    drawn = [f'<line x1="{x(0):.1f}" x2="{x(0):.1f}" y1="2" y2="{len(rows) * 22 + 2}" class="axis"/>']
    for at, (name, row) in enumerate(rows.items()):
        y = 13 + at * 22.0
        drawn.append(
            f"<g><title>{escape(f'{name}: {row.value:+.3f} ({row.low:+.3f} to {row.high:+.3f})')}</title>"
            f'<text x="4" y="{y + 4:.1f}" class="label">{_cut(name, 20)}</text>'
            + _whisker(x(row.low), x(row.high), y)
            + f'<circle cx="{x(row.value):.1f}" cy="{y:.1f}" r="4.5" class="fill c{series % COLOURS}"/>'
            + _text(WIDTH - 4, y + 4, f"{row.value:+.3f}", "number", "end")
            + "</g>"
        )
    return _svg(len(rows) * 22 + 6, what, drawn)


def curves(runs: Mapping[str, Sequence[Figure]]) -> str:
    """Recall at every rank, with the band of its interval."""
    depth = max(len(figures) for figures in runs.values())
    x, y = _across(1, max(2, depth)), _upward()
    drawn = []
    for at, (name, figures) in enumerate(runs.items()):
        over = [(x(k), y(figure.high)) for k, figure in enumerate(figures, 1)]
        under = [(x(k), y(figure.low)) for k, figure in enumerate(figures, 1)]
        drawn.append(f'<polygon points="{_points(over + under[::-1])}" class="band c{at % COLOURS}"/>')
        line = [(x(k), y(figure.value)) for k, figure in enumerate(figures, 1)]
        drawn.append(_line(line, name, at))
    ticks = {}
    for k in (1, 5, 10, 15, 20, 50, 100, 200, 500, 1000):
        if k <= depth:
            ticks[float(k)] = str(k)
    return _plot("recall at k", "k, how many hits are asked for", x, y, ticks, drawn)


def shares_within(runs: Mapping[str, Sequence[float]]) -> str:
    """Which share of the recalls was answered within so many milliseconds."""
    every: list[float] = []
    for values in runs.values():
        every.extend(values)
    x, y = _across(max(1e-3, min(every) * 0.9), max(every) * 1.1, powers=True), _upward()
    drawn = [_line(_steps(sorted(values), x, y), name, at) for at, (name, values) in enumerate(runs.items())]
    ticks = {value: f"{value:g}" for value in _round_values(x.low, x.high)}
    return _plot("share of recalls answered in time", "milliseconds", x, y, ticks, drawn)


def plot_calibration(runs: Mapping[str, Sequence[Bin]]) -> str:
    """How often hits of a score are gold; a larger point stands for more hits."""
    most = max((one.gold for one in chain.from_iterable(runs.values())), default=1.0)
    x, y = _across(0, 1), _upward(max(1, ceil(most * 5 - 1e-9)) / 5)
    drawn = []
    for at, (name, bins) in enumerate(runs.items()):
        points = [(x((one.low + one.high) / 2), y(one.gold)) for one in bins]
        drawn.append(_line(points, name, at))
        for one, (across, up) in zip(bins, points, strict=True):
            scored = f"{one.hits:,} hits scored {one.low:.1f} to {one.high:.1f}"
            title = f"{name}: of {scored}, {one.gold:.1%} are gold"
            radius = 2 + log10(one.hits)
            drawn.append(
                f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{radius:.1f}" class="fill c{at % COLOURS}">'
                f"<title>{escape(title)}</title></circle>"
            )
    ticks = {value: f"{value:g}" for value in (0, 0.2, 0.4, 0.6, 0.8, 1.0)}
    return _plot("share of hits that are gold", "score of the hit", x, y, ticks, drawn)


def _plot(what: str, below: str, x: Axis, y: Axis, ticks: Mapping[float, str], drawn: Sequence[str]) -> str:
    bottom = _TOP + _HEIGHT
    marks = [_text(x(value), bottom + 15, label, "tick", "middle") for value, label in ticks.items()]
    title = _text((x.start + x.end) / 2, bottom + 32, below, "tick", "middle")
    return _svg(bottom + 40, what, [*_grid_across(y), *marks, title, *drawn])


def _across(low: float, high: float, *, powers: bool = False) -> Axis:
    return Axis(low=low, high=high, start=_LEFT + 4, end=WIDTH - _RIGHT, powers=powers)


def _upward(high: float = 1.0) -> Axis:
    return Axis(low=0, high=high, start=_TOP + _HEIGHT, end=_TOP)


def _grid_across(y: Axis) -> Iterator[str]:
    for fifth in range(6):
        value = y.high * fifth / 5
        at, kind = f"{y(value):.1f}", "grid" if value else "axis"
        yield f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at}" y2="{at}" class="{kind}"/>'
        yield _text(_LEFT - 6, y(value) + 4, f"{value:.3g}", "tick", "end")


def _grid_down(x: Axis, values: Sequence[float], height: float) -> Iterator[str]:
    for value in values:
        at = f"{x(value):.1f}"
        yield f'<line x1="{at}" x2="{at}" y1="2" y2="{height:.1f}" class="grid"/>'


def _steps(values: Sequence[float], x: Axis, y: Axis) -> list[tuple[float, float]]:
    """At most two hundred of the points, the first and the last among them."""
    last = len(values) - 1
    chosen = sorted({round(at * last / 200) for at in range(201)})
    return [(x(values[0]), y(0)), *((x(values[at]), y((at + 1) / len(values))) for at in chosen)]


def _round_values(low: float, high: float) -> list[float]:
    """Round numbers within, by powers of ten: some, but not too many for their labels."""
    powers = range(floor(log10(low)), floor(log10(high)) + 1)
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        values = []
        for power in powers:
            for step in steps:
                values.append(step * 10.0**power)
        within = [value for value in values if low <= value <= high]
        if len(within) <= 7:
            break
    return within


def _line(points: Sequence[tuple[float, float]], name: str, series: int) -> str:
    return (
        f'<polyline points="{_points(points)}" class="line c{series % COLOURS}">'
        f"<title>{escape(name)}</title></polyline>"
    )


def _text(x: float, y: float, text: str, kind: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{text}</text>'


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _whisker(low: float, high: float, y: float) -> str:
    return (
        f'<path d="M{low:.1f} {y - 3.5:.1f}v7M{high:.1f} {y - 3.5:.1f}v7M{low:.1f} {y:.1f}H{high:.1f}" '
        'class="whisker"/>'
    )


def _spread(figure: Figure) -> str:
    return f"{figure.value:.3f} ({figure.low:.3f} to {figure.high:.3f})"


def _cut(text: str, most: int) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "…")


def _svg(height: float, what: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="{escape(what)}">'
        + "".join(drawn)
        + "</svg>"
    )
