"""Facts by a language model: checked against the text, with the rules to fall back on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from eidet.core.errors import Unavailable
from eidet.models.llm import Answer, Request
from eidet.text.facts.statement import Nature, Reference
from eidet.upkeep.model_facts import PURPOSE, read_facts_with

SAID = datetime(2024, 6, 15, 12, tzinfo=UTC)
TEXT = "Ann packed up and has called Porto home since May. My PIN is 4711."


@dataclass
class Scripted:
    """A model that says what it is told to."""

    says: str
    name: str = "scripted"

    def ask(self, request: Request) -> Answer:
        assert request.purpose == PURPOSE
        return Answer(text=self.says, model=self.name, tokens_in=100, tokens_out=20)


@dataclass
class Down:
    """A model that is not there."""

    name: str = "down"

    def ask(self, request: Request) -> Answer:
        raise Unavailable("nobody answers")


def fact(**said: object) -> dict[str, object]:
    return {"subject": "Ann", "relation": "lives_in", "object": "Porto", **said}


def answer(*facts: dict[str, object]) -> Scripted:
    return Scripted(json.dumps({"facts": facts}))


def test_a_models_facts_become_statements() -> None:
    outcome = read_facts_with(answer(fact(since="2024-05-01")), TEXT, said=SAID)
    (statement,) = outcome.value
    assert outcome.by == "llm"
    assert (statement.subject.name, statement.relation, statement.object.name) == ("Ann", "lives_in", "Porto")
    assert statement.object.kind == "place"
    assert statement.since == datetime(2024, 5, 1, tzinfo=UTC).timestamp()
    assert TEXT[statement.start : statement.end].startswith("Ann packed up")


@pytest.mark.parametrize(
    "invented",
    [
        fact(object="Lisbon"),
        fact(subject="Bob"),
        fact(relation="; drop table"),
        fact(subject="speaker", relation="pin_is", object="4711"),
        fact(object=" "),
    ],
)
def test_what_the_text_does_not_bear_out_is_left_out(invented: dict[str, object]) -> None:
    outcome = read_facts_with(answer(invented, fact()), TEXT, said=SAID)
    assert [one.object.name for one in outcome.value] == ["Porto"]


@pytest.mark.parametrize("llm", [Down(), Scripted("no JSON at all"), Scripted('{"facts": 3}')])
def test_nothing_is_read_where_the_model_fails(llm: Scripted | Down) -> None:
    outcome = read_facts_with(llm, "I live in Ghent.", said=SAID)
    assert outcome.value == ()
    assert outcome.cause


def test_speakers_pronouns_times_and_tastes_are_understood() -> None:
    rows = answer(
        {"subject": "speaker", "relation": "likes", "object": "tea"},
        {"subject": "she", "relation": "favourite_drink", "object": "tea", "since": "soon"},
        {"subject": "I", "relation": "instruction", "object": "always make tea", "confidence": 0.5},
    )
    first, second, third = read_facts_with(rows, "I like tea, she too; always make tea", said=SAID).value
    assert (first.subject.reference, first.nature) == (Reference.SPEAKER, Nature.PREFERENCE)
    assert (second.subject.reference, second.since) == (Reference.SHE, None)
    assert (third.nature, third.confidence) == (Nature.INSTRUCTION, 0.5)


def test_an_empty_text_asks_nobody() -> None:
    assert read_facts_with(Down(), "  ", said=SAID).value == ()
