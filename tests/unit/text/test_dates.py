from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.core.errors import BadInput
from eidet.text.dates import Dated, dates_in, has_time
from eidet.text.words import LANGUAGES

NOON = datetime(2023, 5, 24, 12, tzinfo=UTC)  # a Wednesday


def one(text: str, now: datetime = NOON, *, language: str = "en", past: bool = True) -> Dated:
    (found,) = dates_in(text, now, language=language, past=past)
    return found


def days(found: Dated) -> tuple[str, str]:
    return str(date.fromordinal(found.first)), str(date.fromordinal(found.last))


def test_an_expression_is_cut_out_of_the_text_as_it_stands() -> None:
    text = "Well, TWO  weeks\nago it rained."
    found = one(text)
    assert found.text == text[found.start : found.end] == "TWO  weeks\nago"


def test_offsets_hold_where_small_letters_are_longer_than_capitals() -> None:
    text = "İİİ was here on May 8, 2023."
    assert one(text).text == "May 8, 2023"


def test_typographic_apostrophes_are_apostrophes() -> None:
    assert days(one("It was New Year’s Eve 2021.")) == ("2021-12-31", "2021-12-31")


def test_days_are_those_of_the_zone_of_now() -> None:
    late = datetime(2023, 5, 24, 23, 30, tzinfo=UTC)
    assert one("today", late).first == date(2023, 5, 24).toordinal()
    assert one("today", late.astimezone(timezone(timedelta(hours=2)))).first == date(2023, 5, 25).toordinal()


def test_a_full_date_is_certain_and_an_ambiguous_one_is_not() -> None:
    assert one("on 2023-05-08").confidence == one("on May 8, 2023").confidence == 1
    assert one("on 13/5/2023").confidence == 1
    assert one("on 8/5/2023").confidence < 0.7


@pytest.mark.parametrize(
    ("surer", "vaguer"),
    [
        ("on May 8, 2023", "on May 8"),
        ("two weeks ago", "a few weeks ago"),
        ("a few weeks ago", "recently"),
        ("yesterday", "the other day"),
    ],
)
def test_the_vaguer_of_two_is_less_certain(surer: str, vaguer: str) -> None:
    assert one(surer).confidence > one(vaguer).confidence


def test_a_guessed_year_says_so() -> None:
    assert one("in March").yearless
    assert one("on May 8").yearless
    assert one("since March").yearless
    assert not one("in March 2022").yearless
    assert not one("between March and May 2022").yearless
    assert not one("last March").yearless


def test_a_question_looks_back_and_a_message_to_the_nearest() -> None:
    assert days(one("on June 1")) == ("2022-06-01", "2022-06-01")
    assert days(one("on June 1", past=False)) == ("2023-06-01", "2023-06-01")
    assert one("on June 1", past=False).confidence < one("on June 1").confidence


def test_the_tense_of_a_message_tells_past_from_future() -> None:
    assert days(one("I will see her on Monday.", past=False))[0] == "2023-05-29"
    assert days(one("I saw her on Monday.", past=False))[0] == "2023-05-22"
    told, untold = one("I saw her on Monday.", past=False), one("Her on Monday.", past=False)
    assert told.confidence > untold.confidence


def test_a_weekday_tells_the_year_of_its_date() -> None:
    assert days(one("It was Sunday, May 8."))[0] == "2022-05-08"


def test_a_weekday_that_does_not_fit_casts_doubt_on_a_date() -> None:
    assert one("Friday, May 8, 2023").confidence < one("Monday, May 8, 2023").confidence


@pytest.mark.parametrize(
    ("text", "grain"),
    [
        ("yesterday", "day"),
        ("last weekend", "weekend"),
        ("last week", "week"),
        ("two weeks ago", "week"),
        ("in March", "month"),
        ("last summer", "season"),
        ("in 2019", "year"),
        ("between March and May 2023", "span"),
    ],
)
def test_the_grain_of(text: str, grain: str) -> None:
    assert one(text).grain == grain


def test_expressions_come_in_order_and_apart() -> None:
    found = dates_in("From 3 to 7 May we hiked, last week we slept, and tomorrow we go on.", NOON)
    assert [d.text for d in found] == ["From 3 to 7 May", "last week", "tomorrow"]


def test_days_that_no_month_has_are_no_dates() -> None:
    assert dates_in("on 2023-02-30, on 31/31/2023 and 2023-13-01", NOON) == ()
    assert dates_in("on April 31, 2023", NOON) == ()


def test_months_are_listed_and_people_are_not() -> None:
    found = dates_in("In January, February and March we met June and May.", NOON)
    assert [d.text for d in found] == ["January", "February", "March"]


def test_other_languages_guess_years_too() -> None:
    for text in ("im August", "am 8. August"):
        back, near = one(text, language="de"), one(text, language="de", past=False)
        assert back.yearless
        assert 0.5 < back.confidence < 0.8
        assert near.confidence < back.confidence
        assert near.first - back.first == 365


def test_a_weekday_alone_is_a_guess_in_every_language() -> None:
    for text, language in (("on Friday", "en"), ("am Freitag", "de"), ("vendredi", "fr")):
        assert 0.5 < one(text, language=language).confidence < 0.8


def test_the_running_season_is_not_the_last_one() -> None:
    for text, language in (("last spring", "en"), ("letzten Frühling", "de"), ("la primavera pasada", "es")):
        assert days(one(text, NOON.replace(day=31), language=language)) == ("2022-03-01", "2022-05-31")


def test_open_intervals_reach_ten_years() -> None:
    found = one("before 2020")
    assert found.last == date(2019, 12, 31).toordinal()
    assert 3650 <= found.last - found.first <= 3653


@pytest.mark.parametrize("year", [1, 2, 9998, 9999])
@pytest.mark.parametrize("past", [True, False])
def test_the_ends_of_the_calendar_are_no_trouble(year: int, past: bool) -> None:
    for now in (datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, tzinfo=UTC)):
        for text in EXPRESSIONS:
            for found in dates_in(text, now, past=past):
                assert 1 <= found.first <= found.last <= date.max.toordinal()


TIMED = (
    "for three years|at 5 pm|at 17:30|since 2019|every summer|every day|in the morning|On Fridays we dance."
    "|it takes two hours|in May|my monthly fee|on 2023-05-08|last fall"
)
UNTIMED = "|May I?|They march on.|Give me a second.|10/10 would do it again|call 555-123-4567|hello"


@pytest.mark.parametrize("text", [*TIMED.split("|"), *UNTIMED.split("|")])
def test_a_text_may_have_a_time(text: str) -> None:
    assert has_time(text) is (text in TIMED.split("|"))


def test_languages_may_be_named_and_unknown_ones_are_refused() -> None:
    assert days(one("gestern", language="german")) == ("2023-05-23", "2023-05-23")
    with pytest.raises(BadInput):
        dates_in("gestern", NOON, language="klingon")


_EXPRESSIONS = (
    "today tomorrow yesterday|last week|next weekend|this Friday|two days ago|9999 years ago"
    "|in 9999 weeks|in 3 days|since March|until May|before 2020|after last summer"
    "|the week before Christmas|early May|the end of the year|Q3|next year|last month|the 90s|Easter"
    "|the day before yesterday|between May and March|a few hours ago|February 29"
    "|the summer before last|Monday, May 8|the last ten years|the next few months|on the 31st"
    "|half a year ago|next summer|last winter|in 40 years|a year and a half ago|two winters ago"
    "|from Monday to Friday|in 9999 decades|100 hours ago|this quarter|next decade|over the weekend"
    "|the month after next|later this week|Feb 29 to March 3"
)
EXPRESSIONS = _EXPRESSIONS.split("|")
_PIECES = (
    "last next this the a an of in on two few weeks ago before after since until between and from to"
    " May may March 8 8th 2023 , . - Friday weekend summer week day month year end early mid"
    " Christmas Q3 2023-05-08 5/8 90s ' s or half past couple first other 3-7 yesterday"
)
PIECES = _PIECES.split()
NOWS = st.datetimes(timezones=st.just(UTC))


def _holds(text: str, now: datetime, language: str, past: bool) -> None:
    found = dates_in(text, now, language=language, past=past)
    assert found == dates_in(text, now, language=language, past=past)
    end = 0
    for dated in found:
        assert end <= dated.start < dated.end <= len(text)
        assert dated.text == text[dated.start : dated.end]
        assert 1 <= dated.first <= dated.last <= date.max.toordinal()
        assert 0 < dated.confidence <= 1
        assert dated.grain in ("day", "weekend", "week", "month", "season", "year", "span")
        end = dated.end
    assert has_time(text, language) or not found


@settings(max_examples=examples(100), deadline=None)
@given(st.text(), NOWS, st.sampled_from(sorted(LANGUAGES)), st.booleans())
def test_any_text_is_read_lawfully(text: str, now: datetime, language: str, past: bool) -> None:
    _holds(text, now, language, past)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12), NOWS, st.booleans())
def test_any_heap_of_time_words_is_read_lawfully(words: list[str], now: datetime, past: bool) -> None:
    _holds(" ".join(words), now, "en", past)


@settings(max_examples=examples(100), deadline=None)
@given(st.sampled_from(EXPRESSIONS), NOWS, st.booleans())
def test_any_day_can_be_now(text: str, now: datetime, past: bool) -> None:
    _holds(text, now, "en", past)


@given(st.dates(min_value=date(1500, 1, 1), max_value=date(2199, 12, 31)))
def test_every_written_date_is_that_day(day: date) -> None:
    for text in (
        f"{day}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day:%A, %B %d, %Y}",
    ):
        assert one(text).first == one(text).last == day.toordinal()
        assert one(text).confidence == 1


@given(NOWS.filter(lambda now: now.year > 1))
def test_weeks_and_weekends_stand_where_they_should(now: datetime) -> None:
    week, weekend, friday = one("last week", now), one("last weekend", now), one("last Friday", now)
    assert date.fromordinal(week.first).weekday() == 0
    assert week.first == now.toordinal() - now.weekday() - 7
    assert (weekend.first, weekend.last) == (week.last - 1, week.last)
    assert date.fromordinal(friday.first).weekday() == 4
    assert 1 <= now.toordinal() - friday.first <= 7


LONG = "1|1-|1/1/|8.5.|last |the week before |a |may |June and |friday to |2019 |'|the "


@pytest.mark.parametrize("language", ["en", "de", "ja"])
@pytest.mark.parametrize("piece", LONG.split("|"))
def test_long_texts_take_time_in_proportion(piece: str, language: str) -> None:
    short, long = (piece * (size // len(piece)) for size in (5_000, 50_000))
    assert _seconds(long, language) < 40 * max(_seconds(short, language), 0.002)


def _seconds(text: str, language: str) -> float:
    """Of this process, the best of three, so that a busy machine does not count."""

    def once() -> float:
        started = time.process_time()
        dates_in(text, NOON, language=language)
        return time.process_time() - started

    return min(once() for _ in range(3))
