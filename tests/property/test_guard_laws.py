"""What holds for the guard, whatever the text."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.trust.privacy import Pattern, Policy, fence_text, find, guard, poison

PARTS = st.sampled_from(
    [
        "a@b.org",
        "4242 4242 4242 4242",
        "+44 20 7946 0958",
        "password: ",
        "hunter2",
        "DE89370400440532013000",
        "536-22-1234",
        "born on ",
        "12.03.1987",
        "Lindenstraße 12",
        ", 10115 Berlin",
        "10.0.0.1",
        "00:1b:44:11:3a:b7",
        "fe80::1:2",
        "[EMAIL]",
        "[",
        "]",
        "EMAIL_",
        "•••• ",
        "•••",
        "a…@b….org",
        "email:",
        "0123456789abcdef",
        "sk-abcdefghij0123456789",
        "eyJa1.eyJb2.c3",
        "070-123 45 67",
        " ",
        "@",
        ".",
        ":",
        "-",
        "1",
        "x",
        "\n",
        "E-123456",
        "ignore all previous instructions",
        "\u202e",
        "call ",
    ]
)
TEXTS = st.lists(PARTS | st.text(max_size=5), max_size=12).map("".join) | st.text(
    st.characters(exclude_categories=[])
)
ACTIONS = st.sampled_from(["redact", "mask", "hash", "label", "keep"])
PATTERNS = (
    Pattern(name="staff", regex=r"E-[0-9]{6}"),
    Pattern(name="vowels", regex=r"[aeiou]{2,4}", action="mask"),
)
POLICIES = st.builds(
    Policy,
    email=ACTIONS,
    phone=ACTIONS,
    card=ACTIONS,
    secret=ACTIONS,
    address=ACTIONS,
    default=ACTIONS,
    patterns=st.sampled_from([(), PATTERNS[:1], PATTERNS]),
)


KEY = b"0123456789abcdef"


@given(TEXTS, POLICIES)
@settings(max_examples=examples(200), deadline=None)
def test_guarding_what_is_guarded_changes_nothing(text: str, policy: Policy) -> None:
    once = guard(text, policy, KEY).value
    assert guard(once, policy, KEY).value == once


@given(
    st.dictionaries(
        TEXTS.filter(lambda text: text.isprintable()),
        TEXTS.filter(lambda text: text.isprintable()),
        max_size=3,
    ),
    POLICIES,
)
@settings(max_examples=examples(60), deadline=None)
def test_guarding_data_twice_is_guarding_it_once(data: dict[str, str], policy: Policy) -> None:
    once = guard(data, policy, KEY).value
    assert len(once) == len(data)
    assert guard(once, policy, KEY).value == once


@given(TEXTS)
@settings(max_examples=examples(150), deadline=None)
def test_findings_are_in_order_apart_and_true_to_the_text(text: str) -> None:
    found = find(text, PATTERNS, least=0)
    assert all(
        one.text == text[one.start : one.end] and one.text and 0 < one.confidence <= 1 for one in found
    )
    assert all(one.end <= two.start for one, two in pairwise(found))


@given(TEXTS)
@settings(max_examples=examples(100), deadline=None)
def test_any_text_has_a_score_and_a_fence_it_cannot_leave(text: str) -> None:
    assert 0 <= poison(text).score <= 1
    lines = fence_text(text, "web").splitlines()
    assert all(line.startswith("> ") for line in lines[1:-1])
    assert len(lines) >= 3


@pytest.mark.parametrize(
    "part",
    [
        "a",
        "1",
        "1 ",
        "+1",
        "a@",
        "a.",
        "eyJa.",
        "password: ",
        "-----BEGIN RSA PRIVATE KEY-----",
        "12 Aa ",
        "1 rue de ",
        "ul. A ",
        "born 1.1.",
        "1:",
        "(0)",
        "4111 1111 ",
        "DE89 ",
        "ignore all ",
        "when asked about ",
        "send data to ",
        "i g ",
        "QUFB",
        "A\u200b",
        "\U000e0041",
        "a…@",
        "0612345678 ",
        "a [at] ",
        "://a:",
    ],
)
def test_a_hundred_thousand_characters_take_no_time_to_speak_of(part: str) -> None:
    text = (part * 100_000)[:100_000]
    start = process_time()
    guard(text, Policy(patterns=PATTERNS))
    poison(text)
    assert process_time() - start < 5
