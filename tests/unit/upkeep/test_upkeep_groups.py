"""Repetitions, episodes of sessions, facts of episodes: planned, not made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from eidet.core.record import Kind, Record, Trust
from eidet.core.settings import Upkeep
from eidet.core.state import State
from eidet.models.embed import Vectors
from eidet.models.embed.hashing import Hashing
from eidet.upkeep import Ask, Change, Write
from eidet.upkeep.consolidate import Talk, consolidate, due_for_episode, episode, merge, talks_of
from eidet.upkeep.importance import reweigh, surprises, weigh_record

NOW = 1_700_000_000.0
WIDTH = 64
EMBEDDER = Hashing(WIDTH)
NEAR = Upkeep(alike=0.5)


def fact(text: str, at: float = 0.0, **fields: Any) -> Record:
    vector = EMBEDDER.embed([text])[0].astype("<f4").tobytes()
    said = {"created": NOW + at, "occurred": NOW + at, "vector": vector, **fields}
    return Record(**{"id": f"{text}/{at}", "scope": "s", "text": text, **said})


def merged(*records: Record) -> list[Change]:
    return list(merge(lambda: records, NEAR, WIDTH))


def test_repetitions_become_part_of_the_first() -> None:
    first, *others = (fact("Ann lives in Lisbon" + end, at) for at, end in enumerate((".", "!", "")))
    [change] = merged(others[1], first, others[0])
    assert isinstance(change, Write)
    assert change.instead == first
    assert change.absorbs == tuple(others)
    assert change.record.derived_from == tuple(one.id for one in others)
    assert [one.id for one in change.record.state.merged] == [one.id for one in others]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("note number 1", "note number 2"),
        ("It is -5 degrees in Oslo.", "It is 5 degrees in Oslo."),
        ("It costs 1,5 euros", "It costs 15 euros"),
        ("The fee is 5%.", "The fee is 5."),
        ("Ann likes tea?", "Ann likes tea."),
        ("Ann likes tea", "Ann does not like tea"),
        ("Ann saw Bob", "Bob saw Ann"),
        ("I know C.", "I know C++."),
        ("The US won", "The us won"),
        ("The password is Swordfish.", "The password is swordfish."),
        ("Nice 👍", "Nice 👎"),
        ("...", "!!!"),
    ],
)
def test_other_words_numbers_and_signs_are_other_facts(one: str, other: str) -> None:
    vector = fact("the same").vector
    assert merged(fact(one, vector=vector), fact(other, 1, vector=vector)) == []


def test_equal_words_with_vectors_of_the_caller_stay_apart() -> None:
    assert merged(fact("photo", vector=fact("sea").vector), fact("photo.", 1)) == []


def test_different_speakers_kinds_and_things_stay_apart() -> None:
    assert merged(fact("I live in Lisbon", who="Ann"), fact("I live in Lisbon.", 1, who="Bob")) == []
    assert merged(fact("Ann likes cats"), fact("Ann likes dogs", 1)) == []
    assert merged(fact("x"), fact("y").but(vector=None)) == []
    assert merged(fact("x").but(vector=b"odd")) == []


def test_nobody_is_trusted_otherwise_and_no_source_is_hidden_by_a_merge() -> None:
    usual = fact("Ann lives in Lisbon.")
    for change in (
        {"trust": Trust.TRUSTED},
        {"trust": Trust.TOOL},
        {"step": 3},
        {"state": State(ttl=60.0)},
        {"derived_from": ("page",)},
    ):
        other = fact("Ann lives in Lisbon!", 1, **change)
        assert merged(usual, other) == [], change
        assert len(merged(usual.but(**change), other)) == 1, change


def test_a_session_is_told_when_it_ended_or_grew() -> None:
    usual = Upkeep(session_idle_hours=6, episode_messages=10)
    talk = Talk(count=5, first=NOW, last=NOW)
    assert due_for_episode(talk, None, NOW + 3600, usual) is None
    assert due_for_episode(talk, None, NOW + 7 * 3600, usual) == "the session ended: silent for 7 hours"
    told = Record(id="e", scope="s", text="", data={"messages": 5})
    assert due_for_episode(talk, told, NOW + 7 * 3600, usual) is None
    assert due_for_episode(Talk(15, NOW, NOW), told, NOW, usual) == "10 messages since the last summary"
    assert due_for_episode(Talk(2, NOW, NOW), None, NOW + 1e9, usual) is None
    odd = told.but(data="nonsense")
    assert due_for_episode(talk, odd, NOW + 1e9, usual) is not None


def test_an_episode_names_its_messages_and_its_time() -> None:
    said = [fact(f"turn {n}", n, kind=Kind.MESSAGE, session="a", importance=n / 10) for n in range(4)]
    ask = episode(said, "a", "because", NOW + 9)
    assert (ask.record.kind, ask.record.session, ask.record.importance) == (Kind.EPISODE, "a", 0.3)
    assert ask.record.derived_from == tuple(one.id for one in said)
    assert ask.record.data == {"messages": 4, "from": NOW, "until": NOW + 3}
    assert talks_of([*said, fact("alone")]) == {"a": Talk(4, NOW, NOW + 3)}


def embed(texts: Sequence[str]) -> Vectors:
    return EMBEDDER.embed(texts)


def told(text: str, at: int) -> Record:
    return fact(text, at * 86400.0, kind=Kind.EPISODE, id=f"e{at}")


def test_what_two_episodes_say_becomes_a_fact_in_the_newest_words() -> None:
    one = told("[2026-05-01] Ann: I moved to Lisbon in May 2024. Great!", 1)
    two = told("[2026-06-01] Ann: I moved to Lisbon in May 2024.\nBob: What is for lunch?", 2)
    [ask] = consolidate([two, one], Upkeep(), embed, NOW)
    assert isinstance(ask, Ask)
    assert ask.rules == "Ann: I moved to Lisbon in May 2024."
    assert ask.record.derived_from == ("e1", "e2")
    assert ask.record.kind is Kind.FACT


def test_what_one_episode_says_twice_is_no_fact() -> None:
    text = "Ann: I moved to Lisbon in May 2024.\nAnn: I moved to Lisbon in May 2024."
    assert list(consolidate([told(text, 1)], Upkeep(), embed, NOW)) == []
    assert list(consolidate([], Upkeep(), embed, NOW)) == []
    assert list(consolidate([told("ok?", 1), told("ok?", 2)], Upkeep(), embed, NOW)) == []


def test_only_what_was_weighed_is_weighed_again() -> None:
    ours = weigh_record(fact("I was born in Lisbon in 1987"))
    assert ours.state == State(weighed=True)
    stated = fact("I was born in Porto in 1988", importance=0.9)
    used = ours.but(uses=100)
    [change] = reweigh([used, stated], NOW, WIDTH)
    assert isinstance(change, Write)
    assert change.record.importance > ours.importance
    assert change.recast
    assert list(reweigh([change.record], NOW, WIDTH)) == []


def test_what_is_known_surprises_less() -> None:
    window = [fact("Ann lives in Lisbon", 0), fact("Ann lives in Lisbon now", 1), fact("Zebras quarrel", 2)]
    first, again, new = surprises(window, [0, 1, 2], WIDTH)
    assert first is None
    assert again is not None
    assert new is not None
    assert again < 0.4 < new
