"""The report of `eidet doctor`, on one screen: what there is, what is fine, and what to do about the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from .diagnosis import CheckResult
from .show import console, grid, style_text

if TYPE_CHECKING:
    from rich.table import Table

STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red"}
ALWAYS: Final = (
    "installed",
    "extras",
    "settings",
    "file",
    "store",
    "server",
    "disk",
    "embedder",
    "protection",
    "speed",
)


def show_report(findings: Sequence[CheckResult], *, verbose: bool) -> None:
    """One row for what everybody wants to know, one line for all that is fine, and a row for each problem."""
    rows = grid("", "bold", "")
    quiet: list[str] = []
    for finding in findings:
        if finding.level == "ok" and (verbose or finding.check in ALWAYS):
            add_row(rows, finding)
        elif finding.level == "ok":
            quiet.append(finding.check)
    if quiet:
        rows.add_row(style_text(("ok", STYLES["ok"])), "others", ", ".join(list_once(quiet)))
    problems = find_problems(findings)
    if problems:
        rows.add_row()
    for finding in problems:
        add_row(rows, finding)
    console().print(rows)
    console().print(style_text(f"\n{sum_up(problems)}"))


def add_row(rows: Table, finding: CheckResult) -> None:
    label = finding.concern or finding.level
    if finding.todo:
        message = style_text(finding.message, (f"\n→ {finding.todo}", "bold"))
    else:
        message = style_text(finding.message)
    rows.add_row(style_text((label, STYLES[finding.level])), finding.check, message)


def find_problems(findings: Iterable[CheckResult]) -> list[CheckResult]:
    return [finding for finding in findings if finding.level != "ok"]


def list_once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def sum_up(problems: Sequence[CheckResult]) -> str:
    if not problems:
        return "All is well."
    if [problem.concern for problem in problems] == ["new"]:
        return "Nothing is wrong: there is no memory here yet; the arrow says how to begin."
    if len(problems) == 1:
        return "One thing to look at; the arrow says what to do."
    return f"{len(problems)} things to look at; the arrows say what to do."
