"""The life of a memory: repetitions, episodes, facts, and what a write already does."""

from __future__ import annotations

import pytest
from tests.making import Clock

from eidet import Memory, NotFound, Settings, Unavailable
from eidet.core.record import Kind
from eidet.core.settings import Upkeep
from eidet.core.state import State
from eidet.models.llm import Answer, Request

# Repetitions, episodes, facts.


def test_facts_that_say_the_same_become_one_with_its_sources(memory: Memory, clock: Clock) -> None:
    one = memory.remember("Ann lives in Lisbon.", importance=0.3)
    clock.days(1)
    two = memory.remember("Ann lives in Lisbon!", importance=0.6, source="mail")
    memory.feedback(two.id, useful=True)
    done = memory.upkeep.maintain(only="merge")
    assert done.counts == {"merge": 1}
    [kept] = memory.find()
    assert (kept.id, kept.derived_from, kept.importance, kept.uses) == (one.id, (two.id,), 0.6, 1)
    assert kept.state.to_json()["merged"] == [
        {
            "id": two.id,
            "text": "Ann lives in Lisbon!",
            "occurred": two.occurred,
            "source": "mail",
            "importance": 0.6,
        }
    ]
    assert memory.history(two.id)[-1].what == "forgotten"
    assert memory.upkeep.maintain(only="merge").counts == {}


def test_a_dry_run_leaves_the_merge_to_the_real_one(memory: Memory, clock: Clock) -> None:
    memory.remember("Ann lives in Lisbon.")
    clock.days(1)
    memory.remember("Ann lives in Lisbon!")
    for _ in range(2):
        assert memory.upkeep.maintain(dry_run=True).counts == {"merge": 1}
    assert memory.upkeep.maintain().counts == {"merge": 1}
    assert memory.upkeep.maintain().counts == {}


def test_a_record_that_was_changed_is_compared_again(memory: Memory, clock: Clock) -> None:
    memory.remember("Ann lives in Lisbon.")
    clock.days(1)
    other = memory.remember("Bob has a boat.")
    clock.days(1)
    assert memory.upkeep.maintain(only="merge", now=clock.now + 86_400).counts == {}
    memory.revise(other.id, text="Ann lives in Lisbon!")
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}


def test_a_merge_trusts_nobody_more_or_less(memory: Memory, clock: Clock) -> None:
    for trust in ("unknown", "web", "tool", "user", "trusted"):
        memory.remember("Ann lives in Lisbon.", trust=trust)
        clock.days(1)
        memory.remember("Ann lives in Lisbon!", trust=trust)
        clock.days(1)
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 5}
    assert [record.trust for record in memory.find(order="created")] == [
        *("unknown", "web", "tool", "user", "trusted")
    ]


def test_what_differs_in_more_than_words_or_is_protected_is_not_merged(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", data={"since": 2020})
    memory.remember("Ann lives in Lisbon!", data={"since": 2021})
    memory.remember("Bob has a boat.", pinned=True)
    memory.remember("Bob has a boat!")
    memory.remember([{"role": "user", "content": "yes"}] * 3)
    assert memory.upkeep.maintain(only="merge").counts == {}


TALK = [
    {"role": "user", "content": "I moved to Lisbon in May and I love the light there."},
    {"role": "assistant", "content": "Great!"},
    {"role": "user", "content": "My sister Cleo is going to visit me in October with her two dogs."},
    {"role": "assistant", "content": "Nice."},
]


def test_ending_a_session_makes_an_episode_that_names_its_messages(memory: Memory, clock: Clock) -> None:
    said = memory.remember(TALK, session="s1")
    told = memory.upkeep.end_session("s1")
    assert (told.kind, told.session) == (Kind.EPISODE, "s1")
    assert set(told.derived_from) == {record.id for record in said}
    assert "Lisbon" in told.text
    assert told.data["messages"] == 4
    clock.days(1)
    memory.remember({"role": "user", "content": "Cleo came a month early."}, session="s1")
    again = memory.upkeep.end_session("s1")
    assert (again.id, again.version, again.data["messages"]) == (told.id, 2, 5)
    with pytest.raises(NotFound, match="no messages"):
        memory.upkeep.end_session("s2")


def test_upkeep_tells_the_sessions_that_ended_or_overflow(memory: Memory, clock: Clock) -> None:
    memory.remember(TALK, session="quiet")
    clock.days(1)
    memory.remember(TALK * 3, session="busy")
    memory.remember(TALK[:2], session="small")
    done = memory.upkeep.maintain(only="summarise", settings=Upkeep(episode_messages=10))
    assert [change.because for change in done.changes] == [
        "the session ended: silent for 24 hours",
        "12 messages since the last summary",
    ]
    assert memory.upkeep.maintain(only="summarise", settings=Upkeep(episode_messages=10)).counts == {}
    assert {record.session for record in memory.find(kinds="episode")} == {"quiet", "busy"}


def test_what_several_episodes_say_becomes_a_fact_with_its_sources(memory: Memory, clock: Clock) -> None:
    for n in range(3):
        memory.remember(TALK, session=f"s{n}")
        memory.upkeep.end_session(f"s{n}")
        clock.days(1)
    done = memory.upkeep.maintain(only="consolidate")
    assert done.counts["consolidate"] >= 1
    facts = memory.find(kinds="fact")
    episodes = {record.id for record in memory.find(kinds="episode")}
    assert any("Lisbon" in fact.text for fact in facts)
    assert all(len(fact.derived_from) >= 2 and set(fact.derived_from) <= episodes for fact in facts)
    assert memory.upkeep.maintain(only="consolidate").counts == {}


class Model:
    """A model that says what it is told to."""

    name = "test"

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Answer(text=self.answer, model="test")


def test_a_model_words_the_summary_off_the_write_path(memory: Memory) -> None:
    model = Model("They talked about Lisbon.")
    memory.remember(TALK, session="s1")
    assert model.asked == []
    told = memory.upkeep.end_session("s1", llm=model)
    assert (told.text, told.state.worded_by) == ("They talked about Lisbon.", "llm")
    assert "Cleo" in model.asked[0].prompt


@pytest.mark.parametrize("answer", ["", "  ", Unavailable("away"), ValueError("broken")])
def test_a_model_that_fails_leaves_the_rules_result_and_is_logged(
    memory: Memory, answer: str | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    memory.remember(TALK, session="s1")
    told = memory.upkeep.end_session("s1", llm=Model(answer))
    assert told.state.worded_by == "rules"
    assert "Lisbon" in told.text
    assert len([line for line in caplog.records if line.name == "eidet.llm"]) == 1


# At the write path.


def test_importance_is_weighed_where_nobody_stated_it(clock: Clock) -> None:
    with Memory(embedder="hashing:64", settings=Settings(weigh=True), clock=clock) as memory:
        small, telling, stated = memory.remember(["ok thanks", "I was born in Lisbon in 1987", "x y z"])
        assert small.importance < telling.importance
        assert memory.remember("stated", importance=0.5).importance == 0.5
        state = memory.remember({"health": 0.1, "reward": 0})
        assert state.importance == pytest.approx(0.9)
        action = memory.remember("hit", kind="action", data={"reward": -1, "state_change": 0.4})
        assert action.importance == pytest.approx(0.7)
        assert (stated.state, stated.meta) == (State(weighed=True), {})
        for _ in range(30):
            memory.recall("born in Lisbon", limit=1)
        clock.days(1)
        memory.upkeep.maintain(only="weigh")
        assert memory.get(telling.id).importance > telling.importance  # type: ignore[union-attr]
