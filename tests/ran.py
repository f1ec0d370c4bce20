"""The coverage page against what ran: each test, without its parameters, and how its runs ended."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests" / "coverage.md"


class Row(NamedTuple):
    number: int
    what: str
    where: str
    tests: tuple[str, ...]


@cache
def rows() -> list[Row]:
    lines = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| *\d+ *\|", line))
    return [_row([cell.strip() for cell in line.strip("|").split("|")]) for line in lines]


def _row(cells: list[str]) -> Row:
    number, what, where, tests = cells
    return Row(int(number), what, where, tuple(re.findall(r"tests/[\w/]+\.py::[\w:]+", tests)))


@cache
def defined(path: str) -> set[str]:
    """The tests that a file defines, as pytest names them."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return names | {
        f"{one.name}::{node.name}"
        for one in classes
        for node in one.body
        if isinstance(node, ast.FunctionDef)
    }


def unproved(ran: Mapping[str, set[str]], *, whole: bool) -> dict[str, int]:
    """Tests that the page names and that did not pass; in a run of some tests only those that ran count.

    What needs an extra of its own (`absent`) is for a run that has it.
    """
    named = {test: row.number for row in rows() for test in row.tests}
    return {
        test: number
        for test, number in named.items()
        if (whole or test in ran) and not {"passed", "absent"} & ran.get(test, set())
    }
