"""What holds of every recall, whatever is asked and whatever is remembered."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.wordbook import Wordbook

from eidet import Hits, Memory, Scope
from eidet.core.arguments import UNITS
from eidet.core.record import Record
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.quantise import dequantise, how_many, pack_vector, quantise
from eidet.recall import RECIPES
from eidet.text import analyzer_of
from eidet.text.analysis import decode_analysis
from eidet.text.sentences import units_of
from eidet.write.ingest import analyse_record, embed_units

NOW = 1_700_000_000.0
WIDTH = 8
often = settings(derandomize=True, deadline=None, max_examples=examples(60))

words = st.lists(
    st.sampled_from(("cat", "dog", "Ann", "sea", "Lisbon", "yesterday", "two", "?")), min_size=1, max_size=6
)
said = st.builds(
    lambda text, who, session, day: {
        "text": " ".join(text),
        "who": who,
        "session": session,
        "occurred": NOW - day * 86_400,
    },
    words,
    st.sampled_from((None, "Ann", "Bob", "user")),
    st.sampled_from((None, "s1", "s2")),
    st.integers(0, 3),
)
queries = (
    st.text(max_size=60)
    | words.map(" ".join)
    | st.sampled_from(
        (
            "what did Ann say yesterday?",
            'facts of session s1 near (1, 2) "cat dog"',
            "what did I see in Lisbon?",
            "?!",
            "\x00",
            "\ud800",
            "in 9999",
            "0001-01-01",
            "99999999999 years ago",
        )
    )
)


def filled(things: list[dict[str, Any]], scope: str = "a", memory: Memory | None = None) -> Memory:
    memory = memory or Memory(embedder=Wordbook(), clock=lambda: NOW)
    for at, details in enumerate(things):
        text = details["text"]
        memory.remember(text, **{k: v for k, v in details.items() if k != "text"}, scope=scope, id=f"{at}")
    return memory


@pytest.fixture(scope="module")
def talk() -> Memory:
    memory = Memory(embedder=Wordbook(), clock=lambda: NOW)
    for at in range(30):
        memory.remember(
            f"turn {at} of the cat and the sea" + (" that was a very long day" * 60 if at % 7 == 0 else ""),
            who=("Ann", "Bob", "user", "assistant", None, "!!!", "  ")[at % 7],
            session=(None, "s1", "s2")[at % 3],
            place=None if at % 2 else (1.0, 1e150),
            occurred=NOW - at * 86_400 * 40,
            scope=("a", "a/b")[at % 2],
        )
    return memory


@often
@given(queries, st.sampled_from(sorted(RECIPES)), st.sampled_from(UNITS), st.booleans(), st.booleans())
@example("what does !!! say", "auto", "record", True, False)
@example("in 9999", "dialogue", "session", True, True)
def test_any_query_is_answered_by_any_recipe_with_scores_that_fall(
    talk: Memory, query: str, recipe: str, unit: str, understand: bool, below: bool
) -> None:
    scope = Scope.under("a") if below else "a"
    hits = talk.recall(query, scope=scope, recipe=recipe, unit=unit, understand=understand, explain=True)
    assert all(0 <= hit.score <= 1 for hit in hits)
    assert all(one.score >= other.score for one, other in pairwise(hits))
    assert len({hit.id for hit in hits}) == len(hits)
    for hit in hits if query.strip() else ():
        shares = [signal.share for signal in hit.signals]
        assert not shares or sum(shares) == pytest.approx(hit.score, abs=1e-6)
        assert isinstance(hit.why(), str)


@often
@given(queries, st.sampled_from(("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1970-01-01T00:00:00Z")))
def test_a_query_may_be_asked_at_any_time(talk: Memory, query: str, now: str) -> None:
    assert all(0 <= hit.score <= 1 for hit in talk.recall(query, scope="a", now=now))


@often
@given(st.lists(said, max_size=6), st.lists(said, max_size=6), st.lists(queries, min_size=1, max_size=3))
def test_what_is_in_another_scope_changes_nothing(
    mine: list[dict[str, Any]], theirs: list[dict[str, Any]], asked: list[str]
) -> None:
    alone = filled(mine)
    beside = filled(theirs, "b")
    for query in asked:
        beside.recall(query, scope="b")  # what it learns there must not show here
    filled(mine, "a", beside)
    for query in asked:
        assert told(alone, query) == told(beside, query)


def told(memory: Memory, query: str) -> Any:
    hits: Hits = memory.recall(query, scope="a", explain=True)
    trace = hits.trace
    assert trace is not None
    reasons = [(hit.id, hit.score, hit.signals, hit.matched) for hit in hits]
    return (
        reasons,
        trace.arms,
        trace.weights,
        trace.notes,
        trace.searched,
        memory.parts.index.voices(Scope("a")),
    )


texts = st.text(max_size=50) | st.lists(
    st.sampled_from(("It rained. ", "word " * 100, "x" * 900, "\n", "何。")), max_size=20
).map("".join)


@often
@given(texts, st.sampled_from((None, "Ann")), st.integers(0, 2), st.integers(1, 20))
def test_vectors_and_analysis_have_as_many_units(text: str, who: str | None, level: int, width: int) -> None:
    hashing, english = Hashing(width), analyzer_of("en")
    count = len(units_of(text))
    [vector] = embed_units(hashing, [text])
    assert len(vector) == 4 * width * count
    low = quantise(vector, level, width)
    assert how_many(low, level, width) == count
    assert len(dequantise(low, level, width)) == len(vector)
    record = Record(id="x", scope="a", text=text, who=who, level=level)
    assert len(decode_analysis(analyse_record(record, low, width, english)).units) == count
    for given_vectors in (1, 3):
        own = pack_vector(np.ones((given_vectors, width)), width)
        assert (
            len(decode_analysis(analyse_record(record.but(level=0), own, width, english)).units)
            == given_vectors
        )


@often
@given(st.lists(texts, max_size=5))
def test_texts_are_embedded_alike_alone_and_in_company(several: list[str]) -> None:
    hashing = Hashing(WIDTH)
    assert embed_units(hashing, several) == [row for text in several for row in embed_units(hashing, [text])]
