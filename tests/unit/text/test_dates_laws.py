"""What phrases of time mean, on reference days at the ends of months, weeks and years.

A line is a phrase in its sentence, the day it is said on, and the days it means. "?" marks a question that
looks ahead and "~" a text that was stored; the others are questions about the past. The days are a Wednesday
(2026-11-18), the last day of a short month, a leap day, a Sunday and a Monday, and both sides of New Year.
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from eidet.text.dates import dates_in

TABLE = """
What is on [tomorrow]? | 2026-02-28 2026-03-01
What is on [tomorrow]? | 2024-02-29 2024-03-01
What is on [tomorrow]? | 2025-12-31 2026-01-01
What did we do [yesterday]? | 2026-03-01 2026-02-28
What did we do [yesterday]? | 2024-03-01 2024-02-29
What did we do [yesterday]? | 2027-01-01 2026-12-31
?What is on [next Tuesday]? | 2026-11-18 2026-11-24
?What is on [next Tuesday]? | 2026-03-02 2026-03-03
?What is on [next Tuesday]? | 2025-12-31 2026-01-06
What did we do [last Tuesday]? | 2026-11-18 2026-11-17
What did we do [last Tuesday]? | 2026-03-02 2026-02-24
What did we do [last Tuesday]? | 2027-01-01 2026-12-29
What did we do [last weekend]? | 2026-11-18 2026-11-14..2026-11-15
What did we do [last weekend]? | 2026-03-02 2026-02-28..2026-03-01
What did we do [last weekend]? | 2027-01-01 2026-12-26..2026-12-27
?What is on [this weekend]? | 2026-11-18 2026-11-21..2026-11-22
?What is on [this weekend]? | 2026-03-01 2026-02-28..2026-03-01
?What is on [next weekend]? | 2026-11-18 2026-11-28..2026-11-29
What happened [last week]? | 2026-03-02 2026-02-23..2026-03-01
What happened [last week]? | 2026-03-01 2026-02-16..2026-02-22
What happened in [the first week of March]? | 2026-11-18 2026-03-01..2026-03-07
What happened in [the first week of March]? | 2027-01-01 2026-03-01..2026-03-07
What happened in [first week of March]? | 2026-11-18 2026-03-01..2026-03-07
What happened in [the first week in March]? | 2026-11-18 2026-03-01..2026-03-07
What happened in [the last week of February]? | 2026-02-28 2026-02-22..2026-02-28
What happened in [the last week of February]? | 2024-02-29 2024-02-23..2024-02-29
What happened in [March]? | 2026-11-18 2026-03-01..2026-03-31
What happened in [March]? | 2026-02-28 2025-03-01..2025-03-31
What happened in [February]? | 2024-02-29 2024-02-01..2024-02-29
What happened in [February]? | 2026-03-01 2026-02-01..2026-02-28
What happened [last month]? | 2026-03-01 2026-02-01..2026-02-28
What happened [last month]? | 2027-01-01 2026-12-01..2026-12-31
?What is planned for [next month]? | 2025-12-31 2026-01-01..2026-01-31
?What is planned for [next month]? | 2026-11-18 2026-12-01..2026-12-31
What was on [May twenty-fifth]? | 2026-11-18 2026-05-25
What was on [May twenty-fifth]? | 2026-02-28 2025-05-25
What was on [May the twenty-fifth]? | 2026-11-18 2026-05-25
What was on [the twenty-fifth of May]? | 2026-11-18 2026-05-25
What was on [may twenty-fifth]? | 2026-11-18 2026-05-25
What was on [December first]? | 2026-11-18 2025-12-01
What was on [December first]? | 2025-12-31 2025-12-01
What was on [December thirty-first]? | 2025-12-31 2025-12-31
What was on [December thirty-first]? | 2027-01-01 2026-12-31
What was on [February twenty-ninth]? | 2026-11-18 2024-02-29
What was on [August second, 2023]? | 2026-11-18 2023-08-02
What was said [between May eighth and June ninth]? | 2026-11-18 2026-05-08..2026-06-09
What was said [April thirtieth to May twenty-sixth]? | 2026-11-18 2026-04-30..2026-05-26
What was said [from December twenty-eighth through January third]? | 2026-11-18 2025-12-28..2026-01-03
?What is coming up in [the next two months]? | 2026-11-18 2026-11-18..2027-01-18
?What is coming up in [the next two months]? | 2025-12-31 2025-12-31..2026-02-28
?What is due in [the next 10 days]? | 2026-02-28 2026-02-28..2026-03-10
?What is due in [the next 10 days]? | 2024-02-29 2024-02-29..2024-03-10
?Is the office closed on [5 December]? | 2026-11-18 2026-12-05
~The office is closed [from 1 to 14 December]. | 2026-11-18 2026-12-01..2026-12-14
~The office is closed [from the first to the fourteenth of December]. | 2026-11-18 2026-12-01..2026-12-14
~We are away [1\u201314 December]. | 2026-11-18 2026-12-01..2026-12-14
~We are away [Dec 1-14]. | 2026-11-18 2026-12-01..2026-12-14
~We are away [December first to fourteenth]. | 2026-11-18 2026-12-01..2026-12-14
~We are away [between the 1st and the 14th of December]. | 2026-11-18 2026-12-01..2026-12-14
~The fair runs [28 December to 3 January]. | 2026-11-18 2026-12-28..2027-01-03
~I will be in Rome [from Monday to Wednesday]. | 2026-11-18 2026-11-23..2026-11-25
~I will be in Rome [from Monday to Wednesday]. | 2025-12-31 2026-01-05..2026-01-07
~I was in Rome [from Monday to Wednesday]. | 2026-11-20 2026-11-16..2026-11-18
~I was in Rome [from Monday to Wednesday]. | 2027-01-01 2026-12-28..2026-12-30
~I will be in Rome [Monday through Wednesday]. | 2026-11-18 2026-11-23..2026-11-25
~I will be out of the office [Mon-Wed]. | 2026-11-18 2026-11-23..2026-11-25
"""


def list_laws() -> list[tuple[str, str, str]]:
    laws = []
    for line in TABLE.strip().splitlines():
        phrase, _, days = line.partition(" | ")
        today, _, span = days.partition(" ")
        laws.append((phrase, today, span))
    return laws


@pytest.mark.parametrize(("phrase", "today", "span"), list_laws())
def test_a_phrase_means_its_days(phrase: str, today: str, span: str) -> None:
    now = datetime.fromisoformat(today).replace(hour=12, tzinfo=UTC)
    text = phrase.lstrip("?~").replace("[", "").replace("]", "")
    found = dates_in(text, now, past=phrase[0] not in "?~")
    assert [one.text for one in found] == [phrase[phrase.index("[") + 1 : phrase.index("]")]]
    first, _, last = span.partition("..")
    days = [date.fromordinal(found[0].first).isoformat(), date.fromordinal(found[0].last).isoformat()]
    assert days == [first, last or first]


@pytest.mark.parametrize(
    "text",
    [
        "You may first ask Ann.",
        "I may second that.",
        "The band will march first.",
        "Second helpings were served.",
        "He came first, she came third.",
    ],
)
def test_words_for_numbers_are_no_days(text: str) -> None:
    assert dates_in(text, datetime(2026, 11, 18, tzinfo=UTC)) == ()


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
