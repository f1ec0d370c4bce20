"""What a policy does to a text and to data."""

from __future__ import annotations

import contextlib
import time

import pytest

from eidet import Memory, Settings
from eidet.core.errors import BadInput, Refused
from eidet.trust.privacy import Pattern, Policy, find, guard

KEY = b"k" * 32
TEXT = "Mail Ann.Lee@example.com, card 4242 4242 4242 4242."


def test_a_mask_leaves_what_the_owner_recognises() -> None:
    assert guard(TEXT, Policy(default="mask")).value == "Mail A…@e….com, card •••• 4242."


def test_findings_say_where_and_never_what() -> None:
    told = guard(TEXT, Policy())
    assert [(one.kind, TEXT[one.start : one.end]) for one in told.findings] == [
        ("email", "Ann.Lee@example.com"),
        ("card", "4242 4242 4242 4242"),
    ]
    assert "4242" not in repr(told)
    assert "Lee" not in repr(find(TEXT))


def test_one_address_has_one_hash_however_it_is_written() -> None:
    policy = Policy(default="hash")
    one, two = (guard(text, policy, KEY).value for text in ("to ANN@example.com", "to ann@Example.com"))
    assert one == two
    assert (one.partition(":")[0], len(one)) == ("to email", len("to email:") + 16)
    assert one != guard("to bob@example.com", policy, KEY).value
    assert guard("to ann@example.com", policy, b"j" * 32).value != one


def test_policies_and_keys_are_checked() -> None:
    with pytest.raises(BadInput, match="unknown action 'burn'"):
        Policy(email="burn")
    with pytest.raises(BadInput, match="16 to 64 bytes"):
        guard("x", Policy(), b"short")


def test_data_is_guarded_in_strings_keys_and_long_numbers_with_paths() -> None:
    told = guard(
        {
            "password": "swordfish",
            "friends": {"a@b.org": 1, "c@d.org": [2]},
            "card": 4242424242424242,
            "n": 12,
        },
        Policy(),
    )
    assert told.value == {
        "password": "[SECRET]",
        "friends": {"[EMAIL]": 1, "[EMAIL] 2": [2]},
        "card": "[CARD]",
        "n": 12,
    }
    assert [one.path for one in told.findings] == [
        "data.password",
        "data.friends.(key)",
        "data.friends.(key)",
        "data.card",
    ]
    assert guard(told.value, Policy()).value == told.value


@pytest.mark.parametrize("regex", [r"(a+)+$", r"(a|aa)*b", r"(\w+\s?)*x$", r"(?:a{1,50}){1,50}b"])
def test_a_text_on_which_a_pattern_runs_away_is_refused_in_time(regex: str) -> None:
    slow, begun = Policy(patterns=(Pattern(name="slow", regex=regex),)), time.monotonic()
    with contextlib.suppress(Refused):  # where `regex` is clever enough, nothing is found
        assert guard("a" * 3_000 + "!", slow).findings == ()
    assert time.monotonic() - begun < 30


def test_a_pattern_that_takes_too_long_stores_nothing() -> None:
    slow = Policy(patterns=(Pattern(name="slow", regex=r"(?:a|aa|aaa)+$"),))
    with Memory(embedder="hashing:16", settings=Settings(guard=slow)) as memory:
        with pytest.raises(Refused, match="pattern slow takes too long"):
            memory.remember("a" * 3_000 + "!")
        assert memory.find() == []


@pytest.mark.parametrize("regex", [r"(", r"", r"x*", r"(a*)*"])
def test_patterns_that_are_none_are_refused(regex: str) -> None:
    with pytest.raises(BadInput):
        Pattern(name="bad", regex=regex)


def test_a_pattern_may_not_take_the_name_of_a_class() -> None:
    with pytest.raises(BadInput, match="name not in use"):
        Pattern(name="email", regex="x")
    with pytest.raises(BadInput, match="two patterns share a name"):
        Policy(patterns=(Pattern(name="one", regex="x"), Pattern(name="one", regex="y")))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("db postgres://ann:s3cr3t!@host/x", "secret", "s3cr3t!"),
        ("ann [at] example [dot] org", "email", "ann [at] example [dot] org"),
        ("Passwort: Geheim12", "secret", "Geheim12"),
        (
            "aws secret: wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "secret",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        ("Authorization: Bearer abcdefghij0123456789XYZ", "secret", "abcdefghij0123456789XYZ"),
    ],
)
def test_secrets_and_spellings_are_found(text: str, kind: str, value: str) -> None:
    assert [(one.kind, one.text) for one in find(text)] == [(kind, value)]


def test_findings_that_share_one_character_are_not_both_told() -> None:
    two = (Pattern(name="left", regex="abcd"), Pattern(name="right", regex="defghi"))
    assert [(one.kind, one.text) for one in find("abcdefghi", two)] == [("right", "defghi")]
    longer = (Pattern(name="left", regex="abcdef"), Pattern(name="right", regex="fghi"))
    assert [(one.kind, one.text) for one in find("abcdefghi", longer)] == [("left", "abcdef")]


def test_a_key_speaks_of_the_beginning_of_its_value_only() -> None:
    assert guard({"password": "[EMAIL] swordfish"}, Policy()).value == {"password": "[EMAIL] swordfish"}
