"""Identifiers: what names one thing in a query, and how else it may be written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.text.flags import MOST_IDENTIFIERS, identifiers_in

LINES = Path(__file__).with_name("identifiers.txt").read_text(encoding="utf-8").splitlines()


def names_in(text: str) -> list[str]:
    return [one.text for one in identifiers_in(text)]


@pytest.mark.parametrize("line", LINES)
def test_what_names_one_thing_is_found_and_amounts_years_and_brands_are_not(line: str) -> None:
    text, _, names = line.rpartition(" |")
    assert names_in(text) == [name for name in names.strip().split(" & ") if name]


def test_a_time_that_was_read_is_no_identifier() -> None:
    text = "what was paid on 2026-05-04?"
    assert names_in(text) == ["2026-05-04"]
    assert identifiers_in(text, [(17, 27)]) == ()


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("INV-2024-001", {"INV2024001", "INV 2024 001"}),
        ("v2.3.1", {"v231", "231"}),
        ("getUserName", {"getUserName", "get User Name"}),
        ("get_user_name", {"getusername", "get user name"}),
    ],
)
def test_it_is_written_in_several_ways_but_never_by_short_parts_alone(text: str, ways: set[str]) -> None:
    (found,) = identifiers_in(f"what is {text}")
    assert set(found.ways) == ways


@settings(derandomize=True, deadline=None, max_examples=examples(200))
@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    found = identifiers_in(text)
    assert len(found) <= MOST_IDENTIFIERS
    assert all(one.text in text and one.ways for one in found)
