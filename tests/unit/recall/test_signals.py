"""Each signal against a plain reading of what it means, on candidates made by hand."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.candidates import DAY, Turn, asked, found_of
from tests.making import examples

from eidet.core.record import Kind
from eidet.index import Candidates, Span
from eidet.index.turn_line import BESIDE, WINDOW
from eidet.recall.recipes import RECIPES, Recipe
from eidet.recall.signals import (
    NEXT_DAY,
    OTHER_YEAR,
    POOR,
    SPOKEN,
    Signals,
    scale_to_span,
    signals_of,
)
from eidet.recall.understand import Understood
from eidet.text.analysis import NAMED, QUESTION, TIMED
from eidet.text.dates import Dated

NOW = 1_700_000_000.0
UNIX = date(1970, 1, 1).toordinal()
often = settings(derandomize=True, deadline=None, max_examples=examples(100))


def signals(
    found: Candidates,
    what: Understood | None = None,
    *,
    zone: float = 0.0,
    **weights: Any,
) -> Signals:
    recipe = Recipe(**{"dense": 1.0, "words": 0.0, "importance": 0.0, **weights})
    return signals_of(found, what or asked(), recipe, NOW, zone)


def share(found: Candidates, name: str, what: Understood | None = None, **how: Any) -> list[float]:
    made: list[float] = signals(found, what, **{name: 1.0, **how}).shares[name].tolist()
    return made


def line(*dense: float, session: int = 0, **fields: Any) -> list[Turn]:
    """Turns of one session, in order."""
    return [Turn(dense=one, session=session, turn=at, **fields) for at, one in enumerate(dense)]


# The arms.


def test_an_arm_is_scaled_over_all_that_was_searched() -> None:
    values = np.array([0.2, 0.5, 1.0])
    assert scale_to_span(values, Span(0.0, 1.0)).tolist() == [0.2, 0.5, 1.0]
    assert scale_to_span(values, Span(0.2, 1.0)).tolist() == [0.2, 0.5, 1.0]
    assert np.allclose(scale_to_span(values, Span(-1.0, 1.0)), [0.6, 0.75, 1.0])
    assert scale_to_span(values, Span(0.5, 0.5)).tolist() == [0.4, 1.0, 1.0]
    assert scale_to_span(values, Span()).tolist() == [0.0, 0.0, 0.0]
    assert scale_to_span(np.array([-0.5, -0.2]), Span(-0.5, -0.2)).tolist() == [0.0, 1.0]


def test_words_are_aligned_where_the_index_can_tell() -> None:
    turns = [Turn(words=1.0), Turn(words=0.0)]
    assert share(found_of(turns), "words") == [1.0, 0.0]
    spans = {"dense": Span(), "words": Span(0.0, 1.0), "aligned": Span(0.0, 0.8)}
    found = found_of(turns, aligned=np.array([0.4, 0.8], np.float32), spans=spans)
    assert np.allclose(share(found, "words"), [0.5, 1.0])
    assert np.allclose(signals(found, words=1.0).values["words"], [0.4, 0.8])


# Conversation.


def turns_of(draw: st.DrawFn) -> list[Turn]:
    places = draw(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 20)), max_size=14, unique=True))
    return [
        Turn(
            dense=draw(st.integers(0, 10)) / 10,
            session=session,
            turn=turn if session >= 0 else -1,
            length=draw(st.sampled_from((3.0, 42.0, 100.0, np.inf))),
            who=draw(st.integers(-1, 1)),
            flags=draw(st.sampled_from((0, QUESTION))),
        )
        for session, turn in places
    ]


talks = st.composite(turns_of)()


def talk_of(one: Turn) -> float:
    return min(1.0, max(0.0, 2.0 - one.length / 28))


def beside(one: Turn, other: Turn) -> bool:
    return one.session == other.session >= 0 and abs(one.turn - other.turn) == 1


def own(turns: list[Turn]) -> list[float]:
    """How well each matches by itself."""
    low, high = min(0.0, *(one.dense for one in turns)), max(POOR, *(one.dense for one in turns))
    return [(one.dense - low) / (high - low) for one in turns]


@often
@given(talks)
def test_the_context_is_the_best_within_the_window_as_far_as_it_is_talk(turns: list[Turn]) -> None:
    if not any(one.session >= 0 for one in turns):
        assert "context" not in signals(found_of(turns), context=1.0).shares
        return
    base, wanted = own(turns), []
    for at, one in enumerate(turns):
        around = [
            base[n] * talk_of(other)
            for n, other in enumerate(turns)
            if other.session == one.session >= 0 and 0 < abs(other.turn - one.turn) <= WINDOW
        ]
        best = max([base[at], *around])
        wanted.append(best * talk_of(one) + base[at] * (1 - talk_of(one)))
    assert np.allclose(share(found_of(turns), "context"), wanted, atol=1e-5)


@often
@given(talks)
def test_dense_is_smoothed_with_the_turns_right_before_and_after(turns: list[Turn]) -> None:
    if not any(one.session >= 0 for one in turns):
        return
    base, smooth = own(turns), []
    for at, one in enumerate(turns):
        near = [
            (BESIDE * talk_of(one) * talk_of(other), base[n])
            for n, other in enumerate(turns)
            if beside(one, other)
        ]
        total = base[at] + sum(weight * value for weight, value in near)
        smooth.append(total / (1 + sum(weight for weight, _ in near)))
    high = max(smooth)
    wanted = [one / high * max(base) for one in smooth] if high > 0 else smooth
    assert np.allclose(signals(found_of(turns), context=1.0).shares["dense"], wanted, atol=1e-5)


@often
@given(talks)
def test_a_reply_comes_right_after_the_question_of_another(turns: list[Turn]) -> None:
    if not any(one.session >= 0 for one in turns):
        return
    base, wanted = own(turns), [0.0] * len(turns)
    for at, one in enumerate(turns):
        for n, other in enumerate(turns):
            if (
                beside(one, other)
                and other.turn < one.turn
                and other.flags & QUESTION
                and other.who != one.who
            ):
                wanted[at] = base[n] * talk_of(one)
    assert np.allclose(share(found_of(turns), "reply"), wanted, atol=1e-5)


def test_turns_of_other_sessions_are_no_context() -> None:
    turns = [*line(1.0, 0.0), *line(0.2, 0.1, session=1)]
    assert np.allclose(share(found_of(turns), "context"), [1.0, 1.0, 0.2, 0.2], atol=1e-6)


def test_candidates_need_not_come_in_the_order_of_their_turns() -> None:
    turns = line(0.9, 0.0, 0.5, 0.1, flags=QUESTION)
    straight = signals(found_of(turns), context=1.0, reply=1.0).shares
    turned = signals(found_of(turns[::-1]), context=1.0, reply=1.0).shares
    for name, values in straight.items():
        assert np.allclose(values[::-1], turned[name]), name


# What a record is.


def test_the_speaker_is_who_is_asked_about_and_a_fact_that_nobody_said_counts_if_it_may_be_theirs() -> None:
    found = found_of(
        [Turn(who=1), Turn(who=0), Turn(), Turn()], mentions=(np.array([False, True, True, False]),)
    )
    assert share(found, "speaker", asked(speaker="bob", names=("bob",))) == [1.0, 0.0, 1.0, 0.0]
    assert share(found, "speaker", asked(speaker="bob")) == [1.0, 0.0, 1.0, 1.0]  # "I": a fact is theirs, too
    for nobody in (asked(), asked(speaker="zoe", names=("zoe",))):
        assert "speaker" not in signals(found, nobody, speaker=1.0).shares


def test_what_is_asked_for_is_the_mean_of_session_kind_and_place() -> None:
    turns = [Turn(kind=Kind.FACT), Turn(kind=Kind.MESSAGE), Turn(kind=Kind.FACT)]
    inside, away = np.array([True, False, False]), np.array([0.0, 2.0, np.nan])
    kind = asked(kind=Kind.FACT)
    assert share(found_of(turns), "asked", kind) == [1.0, 0.0, 1.0]
    assert share(found_of(turns, inside=inside), "asked") == [1.0, 0.0, 0.0]
    assert np.allclose(share(found_of(turns, away=away), "asked"), [1.0, 1 / 3, 0.0])
    assert np.allclose(share(found_of(turns, inside=inside, away=away), "asked", kind), [1.0, 1 / 9, 1 / 3])
    assert "asked" not in signals(found_of(turns, away=np.full(3, np.nan)), asked=1.0).shares
    assert share(found_of(turns, away=np.zeros(3)), "asked") == [1.0] * 3


def test_importance_and_recency_are_told_as_they_are() -> None:
    found = found_of(
        [Turn(importance=0.9, occurred=NOW - 30 * DAY), Turn(importance=0.1, occurred=NOW + DAY)]
    )
    assert share(found, "importance") == [0.9, 0.1]
    assert np.allclose(share(found, "recency", half_life_days=30.0), [0.5, 1.0])


# Times.


def at(*when: int) -> float:
    return (date(*when).toordinal() - UNIX) * DAY + DAY / 2


def time_of(first: tuple[int, int, int], last: tuple[int, int, int] | None = None, **more: Any) -> Understood:
    days = {"first": date(*first).toordinal(), "last": date(*(last or first)).toordinal()}
    said: dict[str, Any] = {"text": "then", "start": 0, "end": 4, "confidence": 1.0, "grain": "day"}
    return asked(dates=(Dated(**{**said, **days, **more}),), only_time=True)


def test_what_happened_then_fits_and_a_day_beside_it_fits_nearly() -> None:
    found = found_of([Turn(occurred=at(2023, 5, day)) for day in (3, 4, 5, 6, 7)])
    assert share(found, "date", time_of((2023, 5, 5))) == [0.0, NEXT_DAY, 1.0, NEXT_DAY, 0.0]


def test_days_are_those_of_local_time() -> None:
    late = found_of([Turn(occurred=at(2023, 5, 5) + 11.5 * 3600)])
    assert share(late, "date", time_of((2023, 5, 5))) == [1.0]
    assert share(late, "date", time_of((2023, 5, 7)), zone=3600.0) == [NEXT_DAY]
    assert share(late, "date", time_of((2023, 5, 7))) == [0.0]


def test_the_longer_the_time_the_less_it_tells() -> None:
    found = found_of([Turn(occurred=at(2023, 5, 5))])
    ends = ((2023, 5, 9), (2023, 5, 31), (2023, 7, 31), (2023, 12, 31))
    assert [share(found, "date", time_of((2023, 5, 1), end))[0] for end in ends] == [1.0, 0.9, 0.7, 0.5]
    assert share(found, "date", time_of((2023, 5, 5), confidence=0.5)) == [0.5]


def test_what_a_text_speaks_of_counts_unless_it_is_much_longer_than_what_is_asked() -> None:
    day = date(2023, 5, 5).toordinal()
    turns = [
        Turn(days=((day, day),)),
        Turn(days=((day - 40, day + 40),)),
        Turn(days=((day + 1, day + 2),)),
        Turn(),
    ]
    assert np.allclose(share(found_of(turns), "date", time_of((2023, 5, 5))), [SPOKEN, 0.0, 0.0, 0.0])
    year = time_of((2023, 1, 1), (2023, 12, 31))
    assert np.allclose(share(found_of(turns), "date", year), [0.5 * SPOKEN] * 3 + [0.0])


def test_a_time_without_a_year_may_be_that_of_another_year() -> None:
    may = time_of((2023, 5, 1), (2023, 5, 31), yearless=True)
    found = found_of(
        [
            Turn(occurred=at(year, month, 15))
            for year, month in ((2023, 5), (2022, 5), (2010, 5), (2022, 9), (2024, 5))
        ]
    )
    assert np.allclose(share(found, "date", may), np.array([1, OTHER_YEAR, OTHER_YEAR, 0, OTHER_YEAR]) * 0.9)
    exact = time_of((2023, 5, 1), (2023, 5, 31))
    assert share(found, "date", exact) == [0.9, 0.0, 0.0, 0.0, 0.0]


def test_of_several_times_the_best_counts() -> None:
    found = found_of(
        [Turn(occurred=at(2023, 5, 5)), Turn(occurred=at(2023, 6, 5)), Turn(occurred=at(2023, 7, 5))]
    )
    both = asked(
        only_time=True, dates=(*time_of((2023, 5, 5)).dates, *time_of((2023, 6, 5), confidence=0.6).dates)
    )
    assert np.allclose(share(found, "date", both), [1.0, 0.6, 0.0])


# All of them.


def test_no_candidates_have_no_signals_to_speak_of() -> None:
    what = asked(
        speaker="bob",
        names=("bob",),
        expects=TIMED,
        kind=Kind.FACT,
        dates=time_of((2023, 5, 5)).dates,
    )
    found = found_of(
        [],
        mentions=(np.zeros(0, np.bool_), np.zeros(0, np.bool_)),
        inside=np.zeros(0, np.bool_),
        away=np.zeros(0),
    )
    for recipe in RECIPES.values():
        shares = signals_of(found, what, recipe, NOW, 0.0).shares
        assert shares
        assert all(len(values) == 0 for values in shares.values())


@often
@given(talks, st.sampled_from(sorted(RECIPES)))
def test_every_share_is_within_bounds(turns: list[Turn], name: str) -> None:
    made = signals_of(found_of(turns), asked(expects=NAMED), RECIPES[name], NOW, 0.0)
    for signal, values in made.shares.items():
        assert ((values >= -1e-6) & (values <= 1 + 1e-6)).all(), signal
