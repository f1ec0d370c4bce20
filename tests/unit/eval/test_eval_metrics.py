"""Figures against values worked out by hand, and the laws they obey."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.eval.figures import differences, figures
from eidet.eval.ranking_metrics import Found, Ranks, calibration, collapse_sessions, marks

# three questions: gold at ranks 1 and 3 of 2; at rank 4 of 3; nowhere of 1
FOUND = np.array([[1, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]], np.bool_)
GOLD = np.array([2, 3, 1])


NO_SESSIONS = np.zeros(3, np.int64)
COLUMNS = Ranks(found=FOUND, gold=GOLD, session_found=FOUND, session_gold=NO_SESSIONS).columns(
    [1, 2, 3, 4, 10]
)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("R@1", [0.5, 0, 0]),
        ("R@4", [1, 1 / 3, 0]),
        ("hit@3", [1, 0, 0]),
        ("hit@4", [1, 1, 0]),
        ("all@2", [0, 0, 0]),
        ("all@4", [1, 0, 0]),
        ("MRR", [1, 0.25, 0]),
    ],
)
def test_figures_by_hand(name: str, values: list[float]) -> None:
    assert COLUMNS[name] == pytest.approx(values)


def test_nothing_found_has_no_first_rank() -> None:
    nothing = np.zeros((3, 0), np.bool_)
    ranks = Ranks(found=nothing, gold=GOLD, session_found=nothing, session_gold=NO_SESSIONS)
    assert ranks.columns([1])["MRR"].tolist() == [0, 0, 0]


def test_ndcg_by_hand() -> None:
    first = (1 + 1 / math.log2(4)) / (1 + 1 / math.log2(3))
    second = (1 / math.log2(5)) / (1 + 1 / math.log2(3) + 1 / math.log2(4))
    assert COLUMNS["nDCG@4"] == pytest.approx([first, second, 0])
    assert COLUMNS["nDCG@1"] == pytest.approx([1, 0, 0]), "no more gold fits into one rank"
    assert COLUMNS["nDCG@10"] == pytest.approx([first, second, 0]), "ranks that were not asked for"


def test_what_comes_again_counts_once() -> None:
    assert marks(["a", "x", "a", "b"], ["b", "a", "a"], 5).tolist() == [True, False, False, True, False]
    assert marks(["a", "b"], ["b"], 1).tolist() == [False]


def test_sessions_stand_where_their_best_turn_stands() -> None:
    assert collapse_sessions(["s2", None, "s1", "s2", "s3", "s1"]) == ["s2", "s1", "s3"]


def test_questions_without_sessions_have_no_session_figures() -> None:
    ranks = Ranks(found=FOUND, gold=GOLD, session_found=FOUND, session_gold=np.array([1, 0, 2]))
    columns = ranks.columns([1, 4])
    assert np.isnan(columns["session-hit@4"]).tolist() == [False, True, False]
    told = figures(columns)
    assert (told["session-hit@4"].value, told["session-hit@4"].questions) == (0.5, 2)
    assert told["hit@4"].questions == 3
    none = Ranks(found=FOUND, gold=GOLD, session_found=FOUND, session_gold=np.zeros(3, np.int64))
    assert not any(name.startswith("session") for name in none.columns([1]))


def test_calibration_counts_hits_and_gold_per_score() -> None:
    bins = calibration(np.array([0.05, 0.95, 1.0, 0.99, 1.3]), np.array([0, 1, 1, 0, 1], np.bool_))
    assert [(one.low, one.high, one.hits, one.gold) for one in bins] == [
        (0.0, 0.1, 1, 0.0),
        (0.9, 1.0, 4, 0.75),
    ]
    assert calibration(np.array([]), np.array([], np.bool_)) == []


@st.composite
def rankings(draw: st.DrawFn) -> tuple[Found, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    rows = draw(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=5))
    missing = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    return np.array(rows, np.bool_), np.array(
        [max(1, sum(r) + m) for r, m in zip(rows, missing, strict=True)]
    )


@settings(max_examples=examples(60))
@given(rankings(), st.integers(1, 6))
def test_the_laws_of_figures(
    ranking: tuple[Found, np.ndarray[tuple[int], np.dtype[np.int64]]], k: int
) -> None:
    found, gold = ranking
    nowhere = np.zeros(len(gold), np.int64)
    best = np.sort(found, axis=1)[:, ::-1]
    told, ideal = (
        Ranks(found=rows, gold=gold, session_found=rows, session_gold=nowhere).columns([k, k + 1, 6])
        for rows in (found, best)
    )
    for name in ("R", "hit", "all", "nDCG"):
        assert ((told[f"{name}@{k}"] >= 0) & (told[f"{name}@{k}"] <= 1 + 1e-12)).all()
    for name in ("R", "hit", "all"):
        assert (told[f"{name}@{k}"] <= told[f"{name}@{k + 1}"]).all(), "a longer answer has no less"
    assert (told[f"all@{k}"] <= told[f"R@{k}"]).all()
    assert (told[f"R@{k}"] <= told[f"hit@{k}"]).all()
    assert (told[f"nDCG@{k}"] <= ideal[f"nDCG@{k}"] + 1e-12).all(), "gold first is best"
    assert (told["MRR"] <= told["hit@6"]).all()


def test_intervals_hold_the_mean_and_narrow_with_more_questions() -> None:
    chance = np.random.default_rng(1)
    few, many = (figures({"R@1": chance.random(count)})["R@1"] for count in (30, 3000))
    assert few.low < few.value < few.high
    assert many.low < many.value < many.high
    assert few.high - few.low > 5 * (many.high - many.low)


def test_an_interval_is_as_wide_as_theory_says() -> None:
    told = figures({"R@1": (np.arange(400) % 4 == 0).astype(float)})["R@1"]
    assert told.high - told.low == pytest.approx(2 * 1.96 * math.sqrt(0.25 * 0.75 / 400), rel=0.1)


def test_a_constant_has_no_spread() -> None:
    told = figures({"R@1": np.full(20, 0.5)})["R@1"]
    assert (told.value, told.low, told.high) == pytest.approx((0.5, 0.5, 0.5))


def test_differences_are_paired() -> None:
    """Runs that vary a lot from question to question but differ by a constant: the difference is sure."""
    base = np.random.default_rng(2).random(100)
    told = differences({"R@1": base + 0.1}, {"R@1": base})["R@1"]
    assert (told.value, told.low, told.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (told.won, told.lost, told.questions) == (100, 0, 100)
    assert told.sign == 1
    assert differences({"R@1": base}, {"R@1": base + 0.1})["R@1"].sign == -1


def test_ties_are_neither_won_nor_lost() -> None:
    told = differences({"R@1": np.array([1.0, 0, 0.5])}, {"R@1": np.array([0.0, 1, 0.5])})["R@1"]
    assert (told.value, told.won, told.lost) == (0, 1, 1)
    assert told.low < 0 < told.high
    assert told.sign == 0
