"""One ranking from many signals: shares that add up, whole sessions, phrases, uses and a second look."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.candidates import Turn, asked, found_of
from tests.making import examples

from eidet import Memory, Scope, Unavailable
from eidet.core.hit import Hit, Reasons, Signal
from eidet.core.record import Record
from eidet.recall.fuse import Ranked, rerank_hits, with_phrases
from eidet.recall.model import load_weights, pool_groups, rank_candidates
from eidet.recall.recipes import AUTO, RECIPES, Recipe
from eidet.recall.signals import signals_of
from eidet.text.analysis import NAMED, QUESTION

NOW = 1_700_000_000.0
often = settings(derandomize=True, deadline=None, max_examples=examples(100))
DENSE = Recipe(dense=1.0, words=0.0, importance=0.0, nothing=0.0)


def ranked(
    turns: Sequence[Turn], recipe: Recipe = DENSE, *, limit: int = 100, unit: str = "record"
) -> Ranked:
    found = found_of(turns)
    what = asked(expects=NAMED, speaker="bob")
    told = signals_of(found, what, recipe, NOW, 0.0, terms=2)
    return rank_candidates(found, told, what, recipe, limit, load_weights(), unit)


def turns_of(draw: st.DrawFn) -> list[Turn]:
    places = draw(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 20)), max_size=12, unique=True))
    return [
        Turn(
            dense=draw(st.integers(-5, 10)) / 10,
            words=draw(st.integers(0, 3)) / 3,
            session=session,
            turn=turn if session >= 0 else -1,
            who=draw(st.integers(-1, 1)),
            flags=draw(st.sampled_from((0, QUESTION, NAMED))),
            scope=draw(st.integers(0, 1)),
            length=draw(st.sampled_from((3.0, 40.0, np.inf))),
        )
        for session, turn in places
    ]


talks = st.composite(turns_of)()


@often
@given(talks, st.sampled_from(sorted(RECIPES)), st.sampled_from(("record", "session", "scope")))
def test_scores_fall_and_what_each_signal_gave_adds_up_to_them(
    turns: list[Turn], name: str, unit: str
) -> None:
    made = ranked(turns, RECIPES[name], unit=unit)
    assert len(made.scores) == len(made.rows) == len(set(made.rows.tolist()))
    assert all(0 <= score <= 1 for score in made.scores)
    assert all(one >= other for one, other in pairwise(made.scores))
    for at, score in enumerate(made.scores):
        told = made.signals(at)
        assert all(one.share >= other.share for one, other in pairwise(told))
        assert not told or sum(signal.share for signal in told) == pytest.approx(score, abs=1e-9)
        assert all(signal.share > 0 for signal in told if signal.name not in ("question", "kind"))


@often
@given(talks, st.sampled_from(sorted(RECIPES)))
def test_every_share_is_within_bounds(turns: list[Turn], name: str) -> None:
    what = asked(expects=NAMED, speaker="bob", several=True)
    made = signals_of(found_of(turns), what, RECIPES[name], NOW, 0.0)
    for signal, values in made.shares.items():
        assert ((values >= -1e-6) & (values <= 1 + 1e-6)).all(), signal


@often
@given(talks, st.sampled_from(sorted(RECIPES)))
def test_candidates_may_come_in_any_order(turns: list[Turn], name: str) -> None:
    straight, turned = (
        signals_of(found_of(order), asked(expects=NAMED), RECIPES[name], NOW, 0.0).shares
        for order in (turns, turns[::-1])
    )
    assert straight.keys() == turned.keys()
    for signal, values in straight.items():
        assert np.allclose(values[::-1], turned[signal], atol=1e-5), signal


def test_the_best_comes_first_and_of_equals_the_newer_one() -> None:
    made = ranked([Turn(dense=0.1), Turn(dense=0.9), Turn(dense=0.5), Turn(dense=0.9)])
    assert made.rows.tolist() == [3, 1, 2, 0]
    assert ranked([Turn(dense=0.5)] * 5, limit=2).rows.tolist() == [4, 3]


def test_asked_by_words_alone_what_has_none_is_no_answer() -> None:
    exact = Recipe(dense=0.0, words=1.0)
    assert ranked([Turn(words=0.5), Turn(importance=1.0), Turn(words=1.0)], exact).rows.tolist() == [2, 0]


# Whole sessions and scopes.


@often
@given(talks)
def test_there_is_one_hit_for_each_session_and_each_lone_record(turns: list[Turn]) -> None:
    rows = ranked(turns, unit="session").rows.tolist()
    groups = [turns[row].session if turns[row].session >= 0 else f"alone {row}" for row in rows]
    assert len(groups) == len(set(groups))
    assert set(groups) == {one.session if one.session >= 0 else f"alone {at}" for at, one in enumerate(turns)}
    scopes = [turns[row].scope for row in ranked(turns, unit="scope").rows.tolist()]
    assert sorted(scopes) == sorted({one.scope for one in turns})


@often
@given(st.lists(st.tuples(st.floats(-20, 20), st.integers(0, 3)), min_size=1, max_size=12))
def test_a_group_has_the_odds_of_all_its_records(turns: list[tuple[float, int]]) -> None:
    logits, groups = (np.array(column) for column in zip(*turns, strict=True))
    best, pooled = pool_groups(logits, groups)
    assert sorted(groups[best].tolist()) == sorted(set(groups.tolist()))
    for row, odds in zip(best.tolist(), pooled.tolist(), strict=True):
        own = logits[groups == groups[row]]
        assert logits[row] == own.max()
        assert odds == pytest.approx(np.log(np.exp(own).sum()))


# Late signals.


def hit(text: str, score: float, uses: int = 0) -> Hit:
    reasons = Reasons(signals=(Signal(name="dense", value=0.5, share=score),), matched=("x",))
    return Hit(record=Record(id=text, scope="a", text=text, uses=uses), score=score, reasons=lambda: reasons)


def test_who_says_what_was_quoted_comes_first_and_the_shares_still_add_up() -> None:
    hits = [hit("no", 0.61), hit("He said SEE you", 0.4), hit("see you, bye now", 0.4)]
    made = with_phrases(hits, ("see you", "bye now"), AUTO)
    assert [one.text for one in made] == ["see you, bye now", "no", "He said SEE you"]
    for one in made:
        assert sum(signal.share for signal in one.signals) == pytest.approx(one.score)
        assert 0 <= one.score <= 1
        assert one.matched == ("x",)
    assert with_phrases(hits, ("unsaid",), AUTO) is hits
    assert with_phrases(hits, ("see you",), Recipe(asked=0.0)) is hits


class Lengths:
    """Long texts first."""

    name = "by length"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [min(1.0, len(text) / 10) for text in texts]


class Away:
    name = "away"

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        raise Unavailable("the service is away", retry_after=1.0)


def test_a_reranker_gives_order_and_scores_and_the_trace_says_so() -> None:
    memory = Memory(embedder="hashing:64", clock=lambda: NOW)
    memory.remember(["plan", "plan bee", "plans"])
    hits = memory.recall("plan", rerank=Lengths(), explain=True)
    assert [(hit.text, hit.score) for hit in hits] == [("plan bee", 0.8), ("plans", 0.5), ("plan", 0.4)]
    assert (hits[0].signals[0].name, hits[0].signals[0].share) == ("by length", 0.8)
    assert hits.trace is not None
    assert hits.trace.notes == ("reranked by by length",)


def test_a_reranker_that_is_away_keeps_the_order_and_is_noted() -> None:
    memory = Memory(embedder="hashing:64", clock=lambda: NOW)
    memory.remember([f"the plan for the garden has number {n}" for n in range(60)])
    hits = memory.recall("plan", rerank=Away(), explain=True, limit=3)
    assert hits.trace is not None
    assert "not reranked: the service is away" in hits.trace.notes
    assert [one.id for one in hits] == [one.id for one in memory.recall("plan", limit=3)]
    assert rerank_hits([], "q", Away()) == ([], ())


# In a memory.


def test_a_phrase_is_found_even_if_only_one_hit_is_wanted() -> None:
    memory = Memory(embedder="hashing:64", clock=lambda: NOW)
    memory.remember(
        [f"the garden plan {marks}" for marks in ("##", "..", "!!", "::", ";;", "--", "++", "==", "~~")]
    )
    assert memory.recall("garden plan ##", limit=1)[0].text == "the garden plan ~~"
    assert memory.recall('garden "plan ##"', limit=1)[0].text == "the garden plan ##"


def test_sessions_and_scopes_are_answered_once_each() -> None:
    memory = Memory(embedder="hashing:64", clock=lambda: NOW)
    for at in range(12):
        memory.remember(f"plan {at}", session=f"s{at % 3}", scope=f"a/{at % 2}")
    both = Scope.under("a")
    assert {hit.record.session for hit in memory.recall("plan", scope="a/0", unit="session")} == {
        "s0",
        "s1",
        "s2",
    }
    assert len(memory.recall("plan", scope="a/0", unit="session")) == 3
    assert len(memory.recall("plan", scope=both, unit="session")) == 6
    assert sorted(hit.record.scope for hit in memory.recall("plan", scope=both, unit="scope")) == [
        "a/0",
        "a/1",
    ]
