"""Every numbered capability is on the coverage page, and the tests that it names are there.

That they ran and passed is seen at the end of a whole run: see `tests/conftest.py`.
"""

from __future__ import annotations

from tests.ran import ROOT, defined, rows, unproved

NUMBERS = range(1, 210)
MISSING = "not yet"


def test_every_number_is_there_once() -> None:
    assert [row.number for row in rows()] == list(NUMBERS)


def test_what_is_there_has_a_test_and_what_is_not_says_so() -> None:
    assert [row.number for row in rows() if bool(row.tests) == (row.where == MISSING)] == []


def is_defined(path: str, name: str) -> bool:
    return (ROOT / path).exists() and name in defined(path)


def test_the_named_tests_exist() -> None:
    named = ((row.number, test) for row in rows() for test in row.tests)
    assert [(number, test) for number, test in named if not is_defined(*test.split("::", 1))] == []


def test_a_test_that_was_skipped_failed_or_never_ran_proves_nothing() -> None:
    named = rows()[0].tests[0]
    passed = {test: {"passed"} for row in rows() for test in row.tests}
    assert unproved(passed, whole=True) == {}
    assert unproved(passed | {named: {"skipped"}}, whole=True)[named] == 1
    assert unproved({named: {"failed"}}, whole=False) == {named: 1}
    assert unproved({}, whole=False) == {}
    assert named in unproved({}, whole=True)
