"""Identifiers: what names one thing in a query, and how else it may be written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.text.flags import MOST_IDENTIFIERS, identifiers_in


def names_in(text: str) -> list[str]:
    return [one.text for one in identifiers_in(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("has order 48213 been shipped?", ["48213"]),
        ("what is ticket #4821 about", ["4821"]),
        ("is INV-2024-001 paid?", ["INV-2024-001"]),
        ("what did version 2.14.3 fix?", ["2.14.3"]),
        ("what changed in v2.3.1", ["v2.3.1"]),
        ("is EK 47 118 the grey Volvo?", ["EK 47 118"]),
        ("who called from +47 912 44 318?", ["+47 912 44 318"]),
        ("who edits src/billing/tax/rules.py", ["src/billing/tax/rules.py"]),
        ("did commit 9f3c21e break it?", ["9f3c21e"]),
        ("what does getUserName return", ["getUserName"]),
        ("where is parse_config called", ["parse_config"]),
        ("what does the office want in case 88/1402?", ["88/1402"]),
        ("what is at 10.20.7.14?", ["10.20.7.14"]),
        ("mails from ann@example.org", ["ann@example.org"]),
        ("what does E4012 mean, and E4021?", ["E4012", "E4021"]),
    ],
)
def test_what_names_one_thing_is_found(text: str, names: list[str]) -> None:
    assert names_in(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "what happened in 2024?",
        "what costs 872 euros a year?",
        "the bill for 87.20",
        "more than $200,000 in assets",
        "a run of 16 km in 90 minutes",
        "who is coming at 7pm on the 3rd",
        "a 5-day trip, pre-1920 coins, the 1990s",
        "which YouTube video did I like on my iPhone?",
        "a well-known and/or so-called thing",
        "500 people and 300 guests",
        "",
    ],
)
def test_amounts_years_and_brands_are_none(text: str) -> None:
    assert names_in(text) == []


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
