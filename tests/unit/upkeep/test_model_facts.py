"""Upkeep reads texts with a language model for facts that the rules do not find: each text once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.making import Clock, make_store

from eidet import Memory, Settings, Upkeep
from eidet.core.errors import Unavailable
from eidet.models.llm import Answer, Request
from eidet.upkeep.model_facts import PURPOSE

TEXT = "Ann packed up and has called Porto home since May."
READING = Settings(upkeep=Upkeep(fact_texts=2))


@dataclass
class Scripted:
    """A model that finds what it is told to, and counts what it was asked."""

    facts: list[dict[str, object]]
    says: str = ""
    name: str = "scripted"
    asked: list[str] = field(default_factory=list)
    is_down: bool = False

    def ask(self, request: Request) -> Answer:
        assert request.purpose == PURPOSE
        self.asked.append(request.prompt)
        if self.is_down:
            raise Unavailable("nobody answers")
        text = self.says or json.dumps({"facts": self.facts})
        return Answer(text=text, model=self.name, tokens_in=100, tokens_out=20)


def find(place: str) -> dict[str, object]:
    return {"subject": "Ann", "relation": "lives_in", "object": place}


@pytest.fixture
def model() -> Scripted:
    return Scripted([find("Porto"), find("Atlantis")])


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store = make_store(request.param, tmp_path, request)
    clock = Clock(1_730_000_000.0, tick=1.0)
    with closing(Memory(store, embedder="hashing:16", settings=READING, clock=clock)) as memory:
        yield memory


def list_homes(memory: Memory) -> list[str]:
    return [fact.object for fact in memory.facts.about("Ann") if fact.relation == "lives_in"]


def test_what_a_model_finds_and_the_text_bears_out_is_a_fact(memory: Memory, model: Scripted) -> None:
    source = memory.remember(TEXT, who="bob", session="s")
    assert list_homes(memory) == []
    done = memory.upkeep.maintain(llm=model, only="read_facts")
    assert (done.counts, done.failed) == ({"read_facts": 1}, ())
    (fact,) = memory.facts.about("Ann")
    assert (fact.object, fact.sources) == ("Porto", (memory.find(kinds="triple")[0].id,))
    (record,) = memory.find(kinds="triple")
    assert record.derived_from == (source.id,)
    assert (record.who, record.session, record.trust) == ("bob", "s", source.trust)
    memory.forget(source.id)
    assert list_homes(memory) == []
    assert memory.count() == 0


def test_each_text_is_read_once_and_so_many_in_one_upkeep(memory: Memory, model: Scripted) -> None:
    memory.remember([f"{TEXT} That was on day {number}." for number in range(3)], kind="message")
    memory.remember("a document of no interest", kind="document")
    memory.upkeep.maintain(llm=model, only="read_facts")
    assert len(model.asked) == 2
    memory.upkeep.maintain(llm=model, only="read_facts")
    memory.upkeep.maintain(llm=model, only="read_facts")
    assert len(model.asked) == 3
    assert [fact.object for fact in memory.facts.about("Ann")] == ["Porto"]


def test_a_revised_text_is_read_again_and_what_it_no_longer_states_goes(
    memory: Memory, model: Scripted
) -> None:
    source = memory.remember(TEXT)
    memory.upkeep.maintain(llm=model, only="read_facts")
    memory.revise(source.id, text="Ann packed up and has called Ghent home since May.")
    model.facts = [find("Ghent")]
    memory.upkeep.maintain(llm=model, only="read_facts")
    assert list_homes(memory) == ["Ghent"]
    assert len(memory.find(kinds="triple")) == 1


@pytest.fixture
def in_ram() -> Iterator[Memory]:
    with closing(Memory(embedder="hashing:16", settings=READING)) as memory:
        yield memory


def test_while_a_model_is_away_texts_wait_and_the_rules_facts_stand(in_ram: Memory, model: Scripted) -> None:
    in_ram.remember(["I live in Ghent.", TEXT])
    model.is_down = True
    assert in_ram.upkeep.maintain(llm=model, only="read_facts").counts == {}
    assert [fact.object for fact in in_ram.facts.about("I")] == ["Ghent"]
    model.is_down = False
    in_ram.upkeep.maintain(llm=model, only="read_facts")
    assert list_homes(in_ram) == ["Porto"]


@pytest.mark.parametrize("says", ["no JSON at all", '{"facts": 3}', "[]"])
def test_a_wrong_answer_loses_nothing_and_is_not_asked_for_again(
    in_ram: Memory, model: Scripted, says: str
) -> None:
    kept = in_ram.remember(TEXT)
    model.says = says
    in_ram.upkeep.maintain(llm=model, only="read_facts")
    assert in_ram.get(kept.id) == kept
    asked = len(model.asked)
    in_ram.upkeep.maintain(llm=model, only="read_facts")
    assert len(model.asked) == asked


def test_nothing_is_read_unless_the_setting_and_a_model_are_given(in_ram: Memory, model: Scripted) -> None:
    in_ram.remember(TEXT)
    assert in_ram.upkeep.maintain(only="read_facts").counts == {}
    with closing(Memory(embedder="hashing:16")) as other:
        other.remember(TEXT)
        other.upkeep.maintain(llm=model, only="read_facts")
    assert model.asked == []


def test_a_dry_run_says_what_would_be_read_and_asks_nobody(in_ram: Memory, model: Scripted) -> None:
    source = in_ram.remember(TEXT)
    told = in_ram.upkeep.maintain(llm=model, only="read_facts", dry_run=True)
    assert [(change.id, change.because) for change in told.changes] == [
        (source.id, "a model has not read it yet")
    ]
    assert model.asked == []


def test_texts_in_quarantine_are_not_read(in_ram: Memory, model: Scripted) -> None:
    source = in_ram.remember(TEXT)
    in_ram.trust.quarantine(source.id)
    in_ram.upkeep.maintain(llm=model, only="read_facts")
    assert model.asked == []
    in_ram.trust.approve(source.id)
    in_ram.upkeep.maintain(llm=model, only="read_facts")
    assert len(model.asked) == 1
