"""Plots of a report: figures by category, recall at k, latency, and calibration of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.errors import BadInput, MissingExtra
from .figures import Run
from .report import Report


def draw(report: Report, path: Path) -> None:
    """Writes the plots in the format of the file's suffix; needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a plot", extra="plot") from error
    figure = Figure(figsize=(11, 8), layout="constrained")
    axes: Any = figure.subplots(2, 2).flat
    for place, run in enumerate(report.runs):
        _draw_categories(axes[0], run, report, place)
        _draw_curve(axes[1], run)
        axes[2].ecdf([answer.millis for answer in run.answers], label=_label(run))
        bins = [one for one in run.calibration if one.hits]
        axes[3].plot([(one.low + one.high) / 2 for one in bins], [one.gold for one in bins], "o-")
    axes[0].set(title=f"Recall@{report.k} with its 95 % interval", ylim=(0, 1))
    axes[1].set(title="Recall at k", xlabel="k", ylim=(0, 1))
    axes[2].set(title="Latency", xlabel="ms", ylabel="share of the recalls")
    axes[3].set(title="What a score means", xlabel="score", ylabel="share of gold", xlim=(0, 1), ylim=(0, 1))
    axes[2].legend(fontsize=8)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be drawn: {error}") from error


def _draw_categories(axes: Any, run: Run, report: Report, place: int) -> None:
    metric, width = f"R@{report.k}", 0.8 / len(report.runs)
    groups = {"overall": run.overall} | dict(run.categories)
    shown = {_plain(name): figures[metric] for name, figures in groups.items() if metric in figures}
    bounds = [(one.value - one.low, one.high - one.value) for one in shown.values()]
    spread = [[max(side, 0.0) for side in sides] for sides in zip(*bounds, strict=True)]
    at = [number + place * width for number in range(len(shown))]
    axes.bar(at, [one.value for one in shown.values()], width, yerr=spread)
    axes.set_xticks(at, list(shown), rotation=30, ha="right")


def _draw_curve(axes: Any, run: Run) -> None:
    ks = range(1, len(run.curve) + 1)
    axes.plot(ks, [one.value for one in run.curve])
    axes.fill_between(ks, [one.low for one in run.curve], [one.high for one in run.curve], alpha=0.2)


def _label(run: Run) -> str:
    """Returns the label of a run, without leading underscores, which matplotlib hides from the legend."""
    return _plain(run.name).lstrip("_") or "run"


def _plain(text: str) -> str:
    """Removes control characters and mathematical notation, which a name may contain."""
    return "".join(sign for sign in text if sign.isprintable()).replace("$", r"\$")
