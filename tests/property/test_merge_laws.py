"""Upkeep merges repetitions only: whatever differs in time, speaker, session or a number stays as it is."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, Clock, examples

from eidet import Memory
from eidet.core.record import Record

often = settings(derandomize=True, deadline=None, max_examples=examples(60))
DAY = 86_400.0
TEXTS = (
    "Went to the climbing gym.",
    "Blood pressure was {} in the morning",
    "I paid {} euros for lunch",
    "Version {} was released",
    "Ich war heute beim Sport",
    "今日は{}キロ走った",
)
NUMBERS = ("4", "5", "-5", "1.5", "15", "1,5", "120/80", "12/080", "5%", "four", "five")
MARKS = st.sampled_from(("", ".", "!", " ", "..."))
sayings = st.lists(
    st.tuples(
        st.sampled_from(NUMBERS),
        st.integers(1, 9),  # days ago
        st.sampled_from((None, "Ann", "Bob")),
        st.sampled_from((None, "monday", "tuesday")),
    ),
    unique=True,
    min_size=1,
    max_size=8,
)


def says(memory: Memory) -> list[tuple[Any, ...]]:
    found = memory.find(limit=1_000)
    return sorted((one.id, one.text, one.occurred, one.who or "", one.session or "") for one in found)


def occasions(records: list[Record]) -> list[float]:
    return sorted(time.timestamp() for record in records for time in record.times)


@often
@given(st.sampled_from(TEXTS), sayings)
def test_what_differs_in_day_speaker_session_or_number_is_never_merged(
    text: str, said: list[tuple[str, int, str | None, str | None]]
) -> None:
    distinct = {(text.format(number), ago, who, session) for number, ago, who, session in said}
    with Memory(embedder="hashing:64", clock=Clock(NOW, tick=1.0)) as memory:
        for words, ago, who, session in sorted(distinct, key=repr):
            memory.remember(words, occurred=NOW - ago * DAY, who=who, session=session)
        before = says(memory)
        assert len(before) == len(distinct)
        assert memory.upkeep.maintain(only="merge").counts == {}
        assert says(memory) == before


@often
@given(st.lists(st.tuples(st.sampled_from(TEXTS[:2]), MARKS, st.booleans()), min_size=1, max_size=8))
def test_what_was_merged_stays_countable_with_its_dates(said: list[tuple[str, str, bool]]) -> None:
    clock = Clock(NOW, tick=1.0)
    with Memory(embedder="hashing:64", clock=clock) as memory:
        for text, mark, dated in said:
            memory.remember(text + mark, occurred=NOW - DAY if dated else None, keep_duplicates=True)
            clock.days(1)
        before = occasions(memory.find(limit=1_000))
        assert len(before) == len(said)
        memory.upkeep.maintain(only="merge")
        left = memory.find(limit=1_000)
        assert occasions(left) == before
        kinds = {(text, dated) for text, _, dated in said}
        assert len(left) == len(kinds)
        assert memory.upkeep.maintain(only="merge").counts == {}
        assert memory.find(limit=1_000) == left


@often
@given(st.permutations([f"Ann likes tea{mark}" for mark in ("", ".", "!", "...", "?")]))
def test_later_repetitions_join_what_was_merged_before(order: list[str]) -> None:
    clock = Clock(NOW, tick=1.0)
    with Memory(embedder="hashing:64", clock=clock) as memory:
        for text in order:
            memory.remember(text)
            clock.days(1)
            memory.upkeep.maintain(only="merge")
        told = {len(record.times): record.text for record in memory.find()}
        assert told.keys() == {1, 4}
        assert told[1] == "Ann likes tea?"
        for hit in memory.recall("Does Ann like tea?"):
            if hit.record.state.merged:
                assert "said 4 times: " in hit.why()
