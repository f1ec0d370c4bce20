"""Turns `peers.json` into bench/notes/comparison.md and its plots. Needs matplotlib (`eidet[plot]`)."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peers_figures import (
    FORMS,
    SETS,
    beats,
    choose_form,
    figures_of,
    list_sizes,
    read_bulk,
    read_disk,
    read_quality,
    read_rare,
    read_search,
    show,
    space,
)
from peers_list import PEERS

BENCH = Path(__file__).parent
NOTES = BENCH / "notes"
COMMAND = "python bench/peers.py --work FOLDER && python bench/peers_page.py"
IDLE = 1.5  # load, per core, up to which a machine does nothing but measure


def main() -> None:
    results = json.loads(Path(sys.argv[1] if len(sys.argv) > 1 else BENCH / "peers.json").read_text())
    shown = [name for name in PEERS if name in results["peers"]]
    plot_cost(results, shown)
    plot_quality(results, shown)
    (NOTES / "comparison.md").write_text(render(results))


def render(results: dict[str, Any]) -> str:
    """The whole page, from the results and the table of features."""
    shown = [name for name in PEERS if name in results["peers"]]
    page = [
        "# Comparison",
        "",
        introduce(results),
        "",
        *tell_better(results, shown),
        *table_speed(results, shown),
        *table_quality(results, shown),
        *table_adds(results, shown),
        *table_lag(results, shown),
        *table_left_out(results, shown),
        *table_features(),
        *explain(results, shown),
    ]
    return "\n".join(page).rstrip() + "\n"


def introduce(results: dict[str, Any]) -> str:
    run, runs = results["run"], set()
    for peer in results["peers"].values():
        runs.add(peer["run"])
    how = "in one run"
    if len(runs) > 1:
        how = f"in {len(runs)} runs"
    text = (
        f"Eidet beside other memories and stores, measured {how} on {run['day']}: {run['cores']} cores, each "
        f"in its own environment and process, the same texts, the same embedder (wordllama). "
        f"Made by `{COMMAND}`."
    )
    load = find_load(results)
    if load > IDLE * run["cores"]:
        text += (
            f"\n\n**The machine was busy** (load {load:.1f} on {run['cores']} cores): times are too long "
            "for all, and differ by chance. Compare within a column only, and roughly. "
            "Load does not touch quality."
        )
    if note := run.get("note"):
        text += f"\n\n{note}"
    return text


def find_load(results: dict[str, Any]) -> float:
    """The highest load that was seen before or after a peer."""
    seen = []
    for peer in results["peers"].values():
        seen += [peer["load before"][0], peer["load after"][0]]
    return float(max(seen))


def tell_better(results: dict[str, Any], shown: list[str]) -> list[str]:
    """Where a peer beats Eidet, said first; the floor counts as a peer."""
    lines = ["## Where others are better", ""]
    ours = results["peers"].get("eidet")
    if ours is None:
        return []
    for figure in figures_of(list_sizes(results)):
        own = figure.read(ours)
        better = []
        for name in shown:
            value = figure.read(results["peers"][name])
            if name != "eidet" and value is not None and own is not None and beats(figure, value, own):
                better.append((value, f"{PEERS[name].title} {show(value)}{space(figure.unit)}"))
        if better:
            better.sort(reverse=figure.most_is_best)
            told = ", ".join(text for _, text in better)
            lines.append(f"- **{figure.name}**: {told}; Eidet {show(own)}{space(figure.unit)}")
    lines += ["", "What they can do that Eidet cannot stands in the table of features below.", ""]
    return lines


def table_speed(results: dict[str, Any], shown: list[str]) -> list[str]:
    lines = ["## Speed, memory, disk", "", "![cost against size](comparison-cost.svg)", ""]
    for size in list_sizes(results):
        names = [name for name in shown if read_search(size, "p50 ms")(results["peers"][name]) is not None]
        lines += [
            f"### {size:,} texts",
            "",
            "| | bulk load /s | search p50 ms | p95 ms | / floor | start s | memory MB | disk MB | rare |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        floor = None
        if "floor" in names:
            floor = read_search(size, "p50 ms")(results["peers"]["floor"])
        for name in names:
            lines.append(describe_size(results["peers"][name], name, size, floor))
        lines.append("")
    return lines


def describe_size(peer: dict[str, Any], name: str, size: int, floor: float | None) -> str:
    p50 = read_search(size, "p50 ms")(peer)
    ratio = "–"
    if floor and p50:
        ratio = f"{show(p50 / floor)}x"
    cells = [
        PEERS[name].title,
        show(read_bulk(size)(peer)),
        show(p50),
        show(read_search(size, "p95 ms")(peer)),
        ratio,
        show(read_search(size, "first answer, s")(peer)),
        show(read_search(size, "memory MB")(peer)),
        show(read_disk(size)(peer)),
        f"{show(read_rare(size)(peer))} %",
    ]
    return f"| {' | '.join(cells)} |"


def table_quality(results: dict[str, Any], shown: list[str]) -> list[str]:
    lines = [
        "## Quality",
        "",
        "![quality against speed](comparison-quality.svg)",
        "",
        "Each memory or conversation in a store of its own. `everyday`: plain questions to an assistant's",
        "memory; `LoCoMo`: long conversations of two people. Every peer got the texts alone, and with date",
        "and speaker in front; the better one is shown. Eidet also takes date, speaker and session",
        "as fields. *Precise*: how much of what is shown, ten hits at most, is right.",
        "",
        "| | everyday hit@1 | hit@3 | MRR | precise | given | LoCoMo R@5 | R@10 | nDCG | precise | given |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in shown:
        quality = results["peers"][name]["quality"]
        lines.append(describe_quality(PEERS[name].title, quality, tuple(FORMS)))
        if name == "eidet":
            lines.append(describe_quality("Eidet, given what the others get", quality, ("text", "labelled")))
    return [*lines, ""]


def describe_quality(title: str, quality: dict[str, Any], forms: Sequence[str]) -> str:
    cells = [title]
    for name, figures in (
        ("everyday", ("hit@1", "hit@3", "MRR", "precision")),
        ("locomo", ("R@5", "R@10", "nDCG@10", "precision")),
    ):
        form = choose_form(quality.get(name, {}), name, forms)
        for figure in figures:
            if form is None:
                cells.append("–")
            else:
                cells.append(f"{quality[name][form].get(figure, math.nan):.3f}")
        cells.append(FORMS.get(form or "", "–"))
    return f"| {' | '.join(cells)} |"


def table_adds(results: dict[str, Any], shown: list[str]) -> list[str]:
    lines = [
        "## Adds, one by one",
        "",
        "The process then ended without closing anything, and a new one counted what it found.",
        "",
        "| | adds/s | first tenth | last tenth | added | found | safe once the call returns | many at once |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in shown:
        adds = results["peers"][name]["one by one"]
        cells = [PEERS[name].title]
        for key in ("per second", "per second, first tenth", "per second, last tenth"):
            cells.append(show(adds.get(key)))
        for key in ("added", "found after an unclosed end"):
            cells.append(f"{adds[key]:,}" if key in adds else "–")
        cells += [PEERS[name].durable, PEERS[name].bulk]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def table_lag(results: dict[str, Any], shown: list[str]) -> list[str]:
    """How soon a text is found once its `add` returned, and what a text takes on disk."""
    lines = [
        "## From a write to a search",
        "",
        "Each of 100 texts was asked for in its own words as soon as its add had returned, until it came,",
        "in a store of 1,000. The time is that of the searches. Bytes are of the largest size measured.",
        "",
        "| | found by the first search | p50 ms | worst ms | bytes a text on disk |",
        "|---|---|---|---|---|",
    ]
    for name in shown:
        peer = results["peers"][name]
        lag = peer.get("lag", {})
        sizes = [int(size) for size, figures in peer["sizes"].items() if "disk MB" in figures]
        disk = peer["sizes"][str(max(sizes))]["disk MB"] * 1e6 / max(sizes) if sizes else None
        cells = [PEERS[name].title, f"{lag['found at once']} of {lag['asked']}" if "asked" in lag else "–"]
        cells += [show(lag.get("p50 ms")), show(lag.get("worst ms"))]
        cells.append("–" if disk is None else f"{disk:,.0f}")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def table_left_out(results: dict[str, Any], shown: list[str]) -> list[str]:
    lines = []
    for name, absent in PEERS.items():
        if name not in shown:
            lines.append(f"- {absent.title}: not measured yet")
    for name in shown:
        peer = results["peers"][name]
        for size, figures in peer["sizes"].items():
            if "left out" in figures:
                lines.append(f"- {PEERS[name].title} at {int(size):,}: {figures['left out']}")
        for title, forms in peer["quality"].items():
            for form, figures in forms.items():
                if "left out" in figures:
                    lines.append(
                        f"- {PEERS[name].title}, {SETS[title]}, {FORMS[form]}: {figures['left out']}"
                    )
    if not lines:
        return []
    return ["## Left out", "", *lines, ""]


def table_features() -> list[str]:
    told = json.loads((BENCH / "peers_features.json").read_text())
    titles = [told["titles"][column] for column in told["columns"]]
    lines = [
        "## Features",
        "",
        f'Every cell links to its source, gathered on {told["read"]}. A "no" means that the page of what it',
        "can do, or the source itself, has no such thing.",
        "",
        f"| | {' | '.join(titles)} |",
        "|---" * (len(titles) + 1) + "|",
    ]
    for feature, cells in told["rows"]:
        linked = []
        for column in told["columns"]:
            value, source = cells[column]
            linked.append(f"[{value}]({source})")
        lines.append(f"| {feature} | {' | '.join(linked)} |")
    return [*lines, ""]


def explain(results: dict[str, Any], shown: list[str]) -> list[str]:
    run = results["run"]
    lines = ["## How it was measured", "", "| | versions | ranking |", "|---|---|---|"]
    for name in shown:
        versions = results["peers"][name]["versions"]
        told = ", ".join(f"{package} {version}" for package, version in versions.items())
        lines.append(f"| {PEERS[name].title} | {told} | {PEERS[name].ranking} |")
    python = next(iter(results["peers"].values()))["versions"].get("python", "?")
    notes = (BENCH / "peers_notes.md").read_text()
    notes = notes.replace("{python}", python).replace("{real}", f"{run['real texts']:,}")
    notes = notes.replace("{rounds}", str(run["rounds"])).replace("{limit}", f"{run['load seconds']:,.0f}")
    loads = ", ".join(f"{name} {results['peers'][name]['load before'][0]:.1f}" for name in shown)
    return [*lines, "", notes.rstrip(), "", f"Load of the machine when each began: {loads}."]


def plot_cost(results: dict[str, Any], shown: list[str]) -> None:
    figure, axes = open_plot()
    for name in shown:
        at, values = [], []
        for size in list_sizes(results):
            value = read_search(size, "p50 ms")(results["peers"][name])
            if value is not None:
                at.append(size)
                values.append(value)
        axes.plot(at, values, style_of(name), label=PEERS[name].title, linewidth=width_of(name))
    axes.set(xscale="log", yscale="log", xlabel="texts", ylabel="search, ms, p50")
    finish_plot(figure, axes, "comparison-cost.svg")


def plot_quality(results: dict[str, Any], shown: list[str]) -> None:
    """Up and to the left is better."""
    figure, axes = open_plot()
    size = min(10_000, list_sizes(results)[-1])
    for name in shown:
        peer = results["peers"][name]
        speed, quality = read_search(size, "p50 ms")(peer), read_quality("everyday", "hit@1")(peer)
        if speed is not None and quality is not None:
            axes.plot([speed], [quality], style_of(name)[0], label=PEERS[name].title, markersize=9)
    axes.set(xscale="log", xlabel=f"search at {size:,}, ms, p50", ylabel="everyday hit@1")
    finish_plot(figure, axes, "comparison-quality.svg")


def open_plot() -> Any:
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "eidet"  # the same figures give the same file
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7.5, 4.6))


def finish_plot(figure: Any, axes: Any, name: str) -> None:
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(NOTES / name, metadata={"Date": None})


def style_of(name: str) -> str:
    marks = dict(zip(PEERS, "osD^v<>px", strict=True))
    if name == "floor":
        return f"{marks[name]}--"
    return f"{marks[name]}-"


def width_of(name: str) -> float:
    if name == "eidet":
        return 2.6
    return 1.3


if __name__ == "__main__":
    main()
