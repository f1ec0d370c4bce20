from __future__ import annotations

from eidet.text.flags import FoldedPattern


def test_it_finds_what_the_pattern_finds_in_any_case() -> None:
    pattern = FoldedPattern(r"\bkey\b")
    assert pattern.search("The KEY, please") is not None
    assert pattern.match("Key") is not None
    assert pattern.search("keys") is None


def test_letters_beyond_ascii_match_as_those_of_ascii() -> None:
    pattern = FoldedPattern(r"\bkey\b")
    assert pattern.search("the \u212aEY, please") is not None  # the Kelvin sign
    assert pattern.match("\u212aey") is not None
    assert pattern.search("Schlüssel") is None


def test_what_is_put_in_place_leaves_the_other_letters_as_they_are() -> None:
    pattern = FoldedPattern(r"\bright now\b")
    assert pattern.sub(" ", "Where is Ann RIGHT now?") == "Where is Ann  ?"
    assert pattern.sub(" ", "Where is Ann?") == "Where is Ann?"
