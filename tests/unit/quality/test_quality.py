"""From tallies to rates and to a verdict on drift."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.quality import (
    DAY,
    RESPONSIVE,
    Quality,
    Survey,
    Tally,
    quality_of,
    rate,
)
from eidet.quality.drift import Drift, drift, split, two_rates
from eidet.quality.metrics import MEANINGS, growth, metrics_of
from eidet.store.usage import TallyBuffer

often = settings(derandomize=True, deadline=None, max_examples=examples(100))


def recalls(scores: Sequence[float | None], *, day: int = 0, judged: tuple[int, int] = (0, 0)) -> list[Tally]:
    """Recalls with these best scores (None: nothing found), and judgements (useful of how many)."""
    buffer = TallyBuffer()
    for score in scores:
        buffer.count_recall("a", day, "recall", hits=score is not None, score=score, seconds=0.001)
    useful, of = judged
    buffer.add("a", day, "feedback", {"useful_hits": useful, "useless_hits": of - useful})
    return buffer.rows()


# Rates.


def test_nothing_tallied_means_nothing_known() -> None:
    assert quality_of([]) == Quality()


def test_rates_are_of_what_was_asked_and_judged() -> None:
    rows = [*recalls([0.9, 0.8, 0.7, None], judged=(3, 4)), Tally("a", 1, "list", {"recalls": 7, "empty": 7})]
    rows.append(Tally("b", 1, "feedback/ann", {"useful_answers": 1, "useless_answers": 4}))
    rows.append(Tally("b", 1, "context", {"contexts": 2, "tokens": 300, "budget": 2000}))
    found = quality_of(rows)
    assert (found.recalls, found.listings, found.contexts, found.context_tokens) == (4, 7, 2, 300)
    assert found.hit_ratio is not None
    assert found.empty_rate is not None
    assert (found.hit_ratio.value, found.empty_rate.value, found.hit_ratio.of) == (0.75, 0.25, 4)
    assert found.success_rate == rate(4, 9)
    assert found.hit_relevance == rate(3, 4)
    assert found.answer_accuracy == rate(1, 5)
    assert found.judged_by == {"ann": rate(1, 5)}
    assert found.context_use == 0.15
    assert found.hits_per_recall == 0.75


def test_wilson_intervals_are_those_of_the_textbook() -> None:
    found = rate(8, 10)
    assert found is not None
    assert (round(found.low, 3), round(found.high, 3)) == (0.490, 0.943)
    none, every = rate(0, 20), rate(20, 20)
    assert none is not None
    assert every is not None
    assert (none.low, round(none.high, 3), round(every.low, 3), every.high) == (0.0, 0.161, 0.839, 1.0)
    assert rate(0, 0) is None


@often
@given(st.integers(1, 10**9).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_an_interval_holds_its_share_and_stays_within_bounds(sample: tuple[int, int]) -> None:
    found = rate(*sample)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


@often
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(1e-5, 100)), min_size=1, max_size=60), st.integers(0, 60)
)
def test_it_does_not_matter_how_counts_are_spread_over_rows(
    pairs: list[tuple[float, float]], cut: int
) -> None:
    whole, parts = TallyBuffer(), [TallyBuffer(), TallyBuffer()]
    for at, (score, seconds) in enumerate(pairs):
        for buffer, scope in ((whole, "a"), (parts[at < cut], f"s{at % 3}")):
            buffer.count_recall(scope, at % 2, "recall", hits=1, score=score, seconds=seconds)
    assert quality_of(whole.rows()) == quality_of(parts[0].rows() + parts[1].rows())


def test_quantiles_are_near_those_of_the_data() -> None:
    chance, buffer = random.Random(2), TallyBuffer()
    times = sorted(chance.lognormvariate(-4, 1.2) for _ in range(5000))
    scores = sorted(chance.betavariate(5, 2) for _ in range(5000))
    for seconds, score in zip(times, scores, strict=True):
        buffer.count_recall("a", 0, "recall", hits=1, score=score, seconds=seconds)
    found = quality_of(buffer.rows())
    for share, told in ((0.5, found.seconds_p50), (0.95, found.seconds_p95), (0.99, found.seconds_p99)):
        assert told == pytest.approx(times[int(share * 5000)], rel=0.05)
    assert found.top_score_median == pytest.approx(scores[2500], abs=0.01)
    assert found.seconds_mean == pytest.approx(sum(times) / 5000, rel=0.01)
    assert found.responsive is not None
    assert found.responsive.value == sum(seconds <= RESPONSIVE for seconds in times) / 5000


# Drift.


def test_the_windows_follow_one_another_without_gap_or_overlap() -> None:
    rows = [Tally("a", day, "recall", {"recalls": 1}) for day in range(200)]
    reference, recent = split(rows, 100)
    assert [row.day for row in recent] == list(range(94, 101))
    assert [row.day for row in reference] == list(range(66, 94))


def test_too_few_recalls_get_no_verdict() -> None:
    many, few = recalls([0.9] * 500), recalls([0.1] * 49)
    assert drift(many, few) == Drift(verdict="unknown", reference=500, recent=49)
    assert drift(few, many).verdict == "unknown"
    assert drift([], []).verdict == "unknown"
    assert drift(many, recalls([0.1] * 50)).verdict == "drifted"


def test_few_judgements_are_not_compared() -> None:
    before, after = recalls([0.9] * 100, judged=(90, 100)), recalls([0.9] * 100, judged=(0, 19))
    assert [shift.name for shift in drift(before, after).shifts if shift.name == "success rate"] == []
    after = recalls([0.9] * 100, judged=(0, 20))
    (changed,) = drift(before, after).changed
    assert (changed.name, changed.before, changed.after, changed.worse) == ("success rate", 0.9, 0.0, True)


def test_recalls_that_are_all_empty_are_compared_by_that() -> None:
    found = drift(recalls([0.9] * 100), recalls([None] * 100))
    assert [shift.name for shift in found.changed] == ["empty rate"]
    assert found.worse


def test_a_change_that_is_certain_but_small_is_none() -> None:
    before, after = recalls([0.9] * 97_000 + [None] * 3000), recalls([0.9] * 95_000 + [None] * 5000)
    found = drift(before, after)
    assert found.p_value is not None
    assert found.p_value < 1e-9
    assert found.verdict == "steady"
    assert drift(before, after, least_effect=0.0).verdict == "drifted"


def sample(
    chance: random.Random, n: int, *, a: float = 6.0, empty: float = 0.04, useful: float = 0.8
) -> list[Tally]:
    scores = [None if chance.random() < empty else chance.betavariate(a, 3) for _ in range(n)]
    judged = n // 4
    return recalls(scores, judged=(sum(chance.random() < useful for _ in range(judged)), judged))


def alarms(runs: int, **after: float) -> float:
    chance = random.Random(3)
    found = (drift(sample(chance, 400), sample(chance, 120, **after), least_effect=0.0) for _ in range(runs))
    return sum(one.verdict == "drifted" for one in found) / runs


def test_without_a_change_at_most_one_in_twenty_verdicts_is_wrong() -> None:
    assert alarms(600) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 600)


@pytest.mark.parametrize("after", [{"a": 3.5}, {"empty": 0.2}, {"useful": 0.4}], ids=str)
def test_a_real_shift_is_seen(after: dict[str, float]) -> None:
    assert alarms(100, **after) >= 0.9


def test_what_fell_is_told_as_worse_and_what_rose_as_better() -> None:
    chance = random.Random(4)
    fell = drift(sample(chance, 800), sample(chance, 400, a=3.0, empty=0.3, useful=0.3))
    assert {shift.name for shift in fell.changed} == {"low score rate", "empty rate", "success rate"}
    assert all(shift.worse for shift in fell.changed)
    rose = drift(sample(chance, 800, a=3.0, empty=0.3, useful=0.3), sample(chance, 400))
    assert rose.verdict == "drifted"
    assert not rose.worse


def test_two_rates_are_compared_as_the_textbook_does() -> None:
    z, p = two_rates(60, 100, 40, 100)
    assert (round(z, 3), round(p, 4)) == (-2.687, 0.0072)
    assert two_rates(0, 50, 0, 50) == two_rates(50, 50, 20, 20) == (0.0, 1.0)


# Metrics.

NONE = Survey(0, 0, 0, None, 0, 0, 0, 0, 0)


def metrics(rows: list[Tally], survey: Survey, now: float = 100 * DAY) -> dict[str, float]:
    found = quality_of(rows)
    return metrics_of(found, drift([], []), survey, size=5000, stored=10, now=now)


def test_metrics_tell_shares_of_the_records() -> None:
    survey = Survey(10, 6, 7, 0.0, 5, 2, 3, 6, 2)
    found = metrics([Tally("a", 1, "forget", {"forgotten": 10})], survey)
    assert found["eidet_store_bytes_per_record"] == 500.0
    assert found["eidet_memory_used_ratio"] == 0.6
    assert found["eidet_memory_never_recalled_ratio"] == 0.4
    assert found["eidet_memory_stale_ratio"] == 0.3
    assert found["eidet_memory_duplicate_ratio"] == 0.25
    assert found["eidet_memory_growth_records_per_day"] == 0.25
    assert found["eidet_memory_retention_ratio"] == 0.5
    assert "eidet_drift_detected" not in found


def test_what_is_not_known_is_left_out() -> None:
    assert metrics([], NONE).keys() == {
        "eidet_records",
        "eidet_store_bytes",
        "eidet_store_bytes_per_record",
        "eidet_recalls",
        "eidet_judgements",
        "eidet_contexts",
    }


def test_every_metric_has_a_meaning_and_a_unit_in_its_name() -> None:
    before, after = recalls([0.9] * 100, judged=(50, 60)), recalls([0.9] * 100, judged=(50, 60))
    rows = [*before, Tally("a", 0, "context", {"contexts": 1, "tokens": 1, "budget": 2})]
    rows.append(Tally("a", 0, "feedback", {"useful_answers": 1}))
    survey = Survey(10, 6, 7, 0.0, 5, 2, 3, 6, 2)
    everything = metrics_of(quality_of(rows), drift(before, after), survey, size=1, stored=1, now=DAY)
    assert list(everything) == list(MEANINGS)
    assert all(math.isfinite(value) for value in everything.values())


@pytest.mark.parametrize(
    ("age_days", "per_day"), [(0.0, 28.0), (0.5, 28.0), (2.0, 14.0), (14.0, 2.0), (400.0, 1.0)]
)
def test_a_young_memory_grows_by_its_own_days(age_days: float, per_day: float) -> None:
    now = 1000 * DAY
    assert growth(NONE._replace(fresh=28, oldest=now - age_days * DAY), now) == per_day
    assert growth(NONE, now) is None
