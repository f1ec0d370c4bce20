"""Every numbered capability is on the coverage page, and the tests that the page names exist and ran."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.ran import RAN

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "coverage.md"
NUMBERS = range(1, 210)
MISSING = "not yet"


class Row(NamedTuple):
    number: int
    what: str
    where: str
    tests: tuple[str, ...]


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


def test_every_number_is_there_once() -> None:
    assert [row.number for row in rows()] == list(NUMBERS)


def test_what_is_there_has_a_test_and_what_is_not_says_so() -> None:
    assert [row.number for row in rows() if bool(row.tests) == (MISSING in row.where)] == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: str(row.number))
def test_the_named_tests_exist(row: Row) -> None:
    for test in row.tests:
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), f"{path} is named for {row.number} and is not there"
        assert name in defined(path), f"{test} is named for {row.number} and is not there"


def test_the_named_tests_ran(request: pytest.FixtureRequest) -> None:
    ran, whole = request.config.stash[RAN], request.config.args_source is pytest.Config.ArgsSource.TESTPATHS
    narrowed = request.config.getoption("keyword") or request.config.getoption("markexpr")
    named = {test: row.number for row in rows() for test in row.tests}
    unproved = {
        test: number
        for test, number in named.items()
        if (test in ran or (whole and not narrowed)) and "passed" not in ran.get(test, ())
    }
    assert not unproved
