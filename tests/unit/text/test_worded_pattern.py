from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from eidet.recall import asked_moment, standing, understand
from eidet.text.flags import WordedPattern

MODULES = (asked_moment, standing, understand)
BESIDE = ("what", "did you suggest", "how many", "how much", "7", "Ann", "s", "costs less", "near (3, 4)")
PHRASES = (
    *("What was the reason?", "How come?", "Which village?", "In what country?", "Most recently?"),
    *(
        "When did it begin? When we began.",
        "To begin with",
        "At the start",
        "In the beginning",
        "At the outset",
    ),
    *(
        "Does the first",
        "Do the last",
        "I'm planning",
        "Im planning",
        "How might",
        "What can",
        "Let's",
        "How to",
    ),
    *("What steps", "What time", "How many months", "How many years", "How many hours", "Which week"),
    *(
        "Which month",
        "What year",
        "Name",
        "By (1, 2)",
        "Around (1, 2)",
        "At (1, 2)",
        "To (1, 2)",
        "Of (1, 2)",
    ),
    *("At the moment", "These days", "At present", "What's", "She's", "She remembers"),
)
TIES = (" ", " ", " ", " ", "  ", "'", "-", ", ", "? ", "", "_", "\n")


def find_patterns() -> Iterator[tuple[str, WordedPattern]]:
    for module in MODULES:
        for name, value in vars(module).items():
            if isinstance(value, WordedPattern):
                yield f"{module.__name__}.{name}", value


PATTERNS = dict(find_patterns())


def write_sentences(pattern: str, count: int) -> Iterator[str]:
    """Sentences that are made of the pattern's own letters, so that many of them nearly match."""
    pick = random.Random(pattern)
    own = re.findall(r"[a-z]+", re.sub(r"\\.", " ", pattern))
    parts = [*own, *own, *BESIDE]
    for _ in range(count):
        said = ""
        for _ in range(pick.randint(1, 5)):
            at = pick.randrange(len(parts))
            for word in parts[at : at + pick.randint(1, 2)]:
                said += pick.choice((word, word, word.upper(), word.title())) + pick.choice(TIES)
        yield said


@pytest.mark.parametrize("name", PATTERNS)
def test_it_finds_what_the_pattern_finds_in_any_case(name: str) -> None:
    pattern = PATTERNS[name]
    folding = re.compile(pattern.pattern, re.IGNORECASE)
    found = 0
    for said in write_sentences(pattern.pattern, 3_000):
        expected = folding.search(said)
        found += expected is not None
        assert _span_of(pattern.search(said)) == _span_of(expected), said
        assert _span_of(pattern.match(said)) == _span_of(folding.match(said)), said
    assert found > 10


@pytest.mark.parametrize("said", PHRASES)
def test_words_that_few_sentences_have_are_not_missed(said: str) -> None:
    for pattern in PATTERNS.values():
        assert _span_of(pattern.search(said)) == _span_of(re.search(pattern.pattern, said, re.IGNORECASE))


def test_all_patterns_were_looked_at() -> None:
    assert len(PATTERNS) > 20


def test_letters_beyond_ascii_match_as_they_did() -> None:
    pattern = WordedPattern(r"\bkey\b", "key")
    assert pattern.search("the \u212aEY, please") is not None  # the Kelvin sign
    assert pattern.match("\u212aey") is not None
    assert pattern.search("Schlüssel") is None


def test_what_is_put_in_place_leaves_the_other_letters_as_they_are() -> None:
    pattern = WordedPattern(r"\bright now\b", "now")
    assert pattern.sub(" ", "Where is Ann RIGHT now?") == "Where is Ann  ?"
    assert pattern.sub(" ", "Where is Ann?") == "Where is Ann?"


def _span_of(match: re.Match[str] | None) -> tuple[int, int] | None:
    return None if match is None else match.span()
