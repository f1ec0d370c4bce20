"""Time expressions with the days they mean, and sentences that have none, from the table `dates.txt`.

A line is a sentence with its expression in brackets, the day it is said on, and the days it means; nothing if
it has no date. "?" marks a question that looks ahead and "~" a text that was stored; the others are questions
about the past.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from eidet.text.dates import Dated, dates_in, has_time

LINES = Path(__file__).with_name("dates.txt").read_text(encoding="utf-8").splitlines()
DATED = [line for line in LINES if not line.endswith(" |")]
NOTHING = [line.removesuffix(" |") for line in LINES if line.endswith(" |")]


def spans(found: tuple[Dated, ...]) -> list[tuple[str, str, str]]:
    return [(one.text, str(date.fromordinal(one.first)), str(date.fromordinal(one.last))) for one in found]


def test_the_table_is_large_enough_to_mean_something() -> None:
    assert len(DATED) >= 280
    assert len(NOTHING) >= 80


@pytest.mark.parametrize("line", DATED)
def test_an_expression_means_these_days(line: str) -> None:
    phrase, _, answer = line.partition(" | ")
    said, days = answer.split()
    first, _, last = days.partition("..")
    sentence = phrase.lstrip("?~").replace("[", "").replace("]", "")
    now = datetime.fromisoformat(said).replace(hour=12, tzinfo=UTC)
    expression = phrase[phrase.index("[") + 1 : phrase.index("]")]
    assert spans(dates_in(sentence, now, past=phrase[0] not in "?~")) == [(expression, first, last or first)]


@pytest.mark.parametrize("sentence", NOTHING)
def test_a_sentence_without_a_date_has_none(sentence: str) -> None:
    noon = datetime(2023, 5, 24, 12, tzinfo=UTC)
    assert spans(dates_in(sentence, noon)) == spans(dates_in(sentence, noon, past=False)) == []


FOREIGN = Path(__file__).with_name("dates_foreign.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", FOREIGN)
def test_other_languages_mean_these_days(line: str) -> None:
    """The day it is said on comes first if it is not 24 May 2023; "~" marks a text that was stored."""
    language, text, answer = map(str.strip, line.split("|"))
    said, _, meant = answer.rpartition(" ")
    now = datetime.fromisoformat(said or "2023-05-24").replace(hour=12, tzinfo=UTC)
    found = dates_in(text.lstrip("~"), now, language=language, past=text[0] != "~")
    first, _, last = meant.partition("..")
    assert [days for _, *days in spans(found)] == ([[first, last or first]] if meant else [])
    assert has_time(text, language) or not meant
