"""Time expressions with the days they mean, and sentences that have none, from the table `dates.txt`.

A line is a sentence with its expression in brackets, the day it is said on, and the days it means; nothing if
it has no date. "?" marks a question that looks ahead and "~" a text that was stored; the others are questions
about the past.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from eidet.text.dates import Dated, dates_in

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


@pytest.mark.parametrize(
    ("language", "text", "first", "last"),
    [
        ("de", "Das Büro ist vom 1. bis zum 14. Dezember zu.", "2026-12-01", "2026-12-14"),
        ("fr", "Le bureau est fermé du 1er au 14 décembre.", "2026-12-01", "2026-12-14"),
        ("es", "Cerrado del 1 al 14 de diciembre.", "2026-12-01", "2026-12-14"),
        ("it", "Chiuso dal 1 al 14 dicembre.", "2026-12-01", "2026-12-14"),
        ("pt", "Fechado de 1 a 14 de dezembro.", "2026-12-01", "2026-12-14"),
        ("nl", "Gesloten van 1 tot en met 14 december.", "2026-12-01", "2026-12-14"),
        ("ru", "Закрыто с 1 по 14 декабря.", "2026-12-01", "2026-12-14"),
        ("de", "Ben ist von Freitag bis Montag da.", "2026-11-20", "2026-11-23"),
        ("fr", "Ben est là de vendredi à lundi.", "2026-11-20", "2026-11-23"),
        ("es", "Ben está aquí de viernes a lunes.", "2026-11-20", "2026-11-23"),
        ("it", "Ben è qui da venerdì a lunedì.", "2026-11-20", "2026-11-23"),
        ("nl", "Ben is er van vrijdag tot maandag.", "2026-11-20", "2026-11-23"),
    ],
)
def test_other_languages_have_ranges_too(language: str, text: str, first: str, last: str) -> None:
    found = dates_in(text, datetime(2026, 11, 18, 12, tzinfo=UTC), language=language, past=False)
    spans = [(date.fromordinal(one.first), date.fromordinal(one.last)) for one in found]
    assert spans == [(date.fromisoformat(first), date.fromisoformat(last))]
