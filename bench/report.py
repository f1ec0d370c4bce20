"""Turns the results of the benchmarks into their page, its plot, and the table in the README."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from common import RESULTS

ROOT = Path(__file__).parents[1]
NOTES = ROOT / "bench" / "notes"
SHOWN = ("`remember`", "hybrid `recall` at 10,000,", "hybrid `recall` at 1,000,000,", "new process")
COMMAND = "for name in add recall dialogue scopes neighbours start report; do python bench/$name.py; done"


def main() -> None:
    results = json.loads(RESULTS.read_text())
    plot(results)
    table = summary(results)
    (NOTES / "benchmarks.md").write_text(benchmarks_page(results, table))
    readme = ROOT / "README.md"
    block = f"<!-- bench -->\n{shorten(table)}\n<!-- /bench -->"
    text = re.sub(r"<!-- bench -->.*<!-- /bench -->", lambda _: block, readme.read_text(), flags=re.DOTALL)
    readme.write_text(text)


def benchmarks_page(results: dict[str, Any], table: str) -> str:
    """What matters most, the plot, and the goals."""
    plotted = "![cost against size](cost.png)"
    more = "`bench/results.json` has every figure."
    notes = (NOTES / "goals.md").read_text()
    return "\n\n".join(["# Benchmarks", measured(results), table, plotted, more, notes]).rstrip() + "\n"


def measured(results: dict[str, Any]) -> str:
    machine = results["machine"]
    return (
        f"Measured on an otherwise idle machine with {machine['cores']} cores, Python {machine['python']}, "
        f"made-up texts of 30 words, the default embedder; reproduce with `{COMMAND}`."
    )


def summary(results: dict[str, Any]) -> str:
    rows = [("what", "measured", "floor in the same run", "ratio")]
    add = results["add one by one"]
    floor = 1 / (1 / add["floor: embedding per second"] + 1 / add["floor: bare insert+commit per second"])
    rows.append(
        (
            "`remember`, one by one, survives kill -9",
            f"{add['remember per second']:,.0f}/s",
            f"{floor:,.0f}/s one embedding + one bare SQLite insert",
            f"{floor / add['remember per second']:.1f}x the time",
        )
    )
    bulk = results["add in bulk"]["remember 10,000 in one call, per second"]
    rows.append(("`remember`, 10,000 in one call", f"{bulk:,.0f}/s", "", ""))
    rows += [
        (
            f"hybrid `recall` at {size:,}, top 10",
            f"{values['recall p50 ms']:.2f} ms p50, {values['recall p95 ms']:.2f} ms p95",
            f"{values['floor: numpy float32 scan with top 10, ms']:.2f} ms numpy scan",
            f"{values['recall / scan']:.2f}",
        )
        for size, values in by_size(results)
    ]
    rows += [
        (f"`recall` with all signals, {name}", f"{values['recall p50 ms']:.2f} ms p50", "", "")
        for name, values in results.items()
        if name.startswith("dialogue")
    ]
    if scopes := results.get("10,000 scopes of 100"):
        warm = f"{scopes['warm p50 ms (goal 0.4)']:.2f} ms"
        rows.append(("`recall` in one of 10,000 scopes of 100, warm", warm, "", ""))
    start = results["start"]
    first = "first recall at 100,000 with cache file, s (goal 1.5)"
    rows.append(("new process to first answer at 100,000", f"{start[first]:.2f} s", "", ""))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---|---|---|---|", *lines[1:]])


def shorten(table: str) -> str:
    """Keep what the README shows: the two first columns of some rows."""
    head, _, *rows = table.splitlines()
    kept = [head, *(row for row in rows if row.removeprefix("| ").startswith(SHOWN))]
    lines = ["|".join([*row.split("|")[:3], ""]) for row in kept]
    return "\n".join([lines[0], "|---|---|", *lines[1:]])


def by_size(results: dict[str, Any]) -> list[tuple[int, dict[str, float]]]:
    found = {name.removeprefix("recall at "): values for name, values in results.items()}
    sizes = {
        int(name.replace(",", "")): found[name]
        for name in found
        if name[0].isdigit() and "scopes" not in name
    }
    return sorted(sizes.items())


def plot(results: dict[str, Any]) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    sizes = by_size(results)
    at = [size for size, _ in sizes]
    figure, axes = plt.subplots(figsize=(7, 4.2))
    for key, label, style in (
        ("recall p50 ms", "hybrid recall, top 10", "o-"),
        ("with a 1 % filter, p50 ms", "the same with a 1 % filter", "s-"),
        ("floor: numpy float32 scan with top 10, ms", "numpy float32 scan alone", "x--"),
    ):
        axes.plot(at, [values[key] for _, values in sizes], style, label=label)
    axes.set(xscale="log", yscale="log", xlabel="records in the scope", ylabel="milliseconds, p50")
    axes.grid(True, which="both", alpha=0.25)
    axes.legend()
    figure.tight_layout()
    figure.savefig(NOTES / "cost.png", dpi=130)


if __name__ == "__main__":
    main()
