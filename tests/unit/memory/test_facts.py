"""`memory.facts`: asking, deciding, undoing, inferring, explaining."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from tests.making import Clock, texts

from eidet import Memory
from eidet.core.errors import BadInput, NotFound
from eidet.models.llm import Answer, Request
from eidet.store import Head

LATER = 1_730_000_000.0  # in October 2024


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing", clock=Clock(LATER, tick=1.0)) as opened:
        yield opened


@pytest.mark.parametrize("id", ["~x", "~", "~a~b", "~person:ann~child", "nothing#0", "#"])
def test_an_id_that_no_fact_has_is_not_found(memory: Memory, id: str) -> None:
    memory.remember("Ann lives in Lisbon.")
    with pytest.raises(NotFound):
        memory.facts.why(id)


def test_a_fact_knows_its_times_its_sources_and_what_took_its_place(memory: Memory) -> None:
    first = memory.remember("Ann lives in Lisbon.", occurred="2024-01-10")
    second = memory.remember("Ann moved to Porto.", occurred="2024-06-03")
    lisbon, porto = memory.facts.timeline("Ann", relation="lives_in")
    assert (lisbon.sources, porto.sources) == ((first.id,), (second.id,))
    assert lisbon.valid_to == porto.valid_from
    assert lisbon.superseded_by == porto.id
    assert lisbon.known_to == second.created
    assert porto.valid_to is porto.known_to is None
    assert lisbon.to_dict()["valid_from"] == "2024-01-10T00:00:00+00:00"


def test_joins_over_patterns_bind_variables(memory: Memory) -> None:
    for subject, relation, thing in (
        ("Ann", "sibling", "Maria"),
        ("Maria", "lives_in", "Porto"),
        ("Acme", "located_in", "Porto"),
        ("Bob", "works_at", "Acme"),
        ("Cleo", "works_at", "Beta"),
    ):
        memory.facts.add(subject, relation, thing)
    found = memory.facts.match(
        ("?who", "works_at", "?firm"),
        ("?firm", "located_in", "?town"),
        ("?somebody", "sibling", "?sister"),
        ("?sister", "lives_in", "?town"),
    )
    assert {(one["who"], one["town"], one["sister"]) for one in found} == {("Bob", "Porto", "Maria")}
    assert len(found[0].facts) == 4


def test_what_follows_by_rules_is_explained_and_never_stored(memory: Memory) -> None:
    memory.facts.add("Ann", "child", "Leo")
    memory.facts.add("Leo", "child", "Mia")
    memory.facts.add("flat", "located_in", "Porto")
    memory.facts.add("Porto", "located_in", "Portugal")
    stored = memory.count(kinds="triple")
    asked = {
        ("Leo", "parent"): "Ann",
        ("Mia", "grandparent"): "Ann",
        ("Ann", "grandchild"): "Mia",
        ("flat", "located_in"): "Portugal",
    }
    for (subject, relation), expected in asked.items():
        found = memory.facts.match(subject=subject, relation=relation, object=expected)
        assert found, (subject, relation)
        fact = found[0].facts[0]
        reason = memory.facts.why(fact)
        assert fact.derived == reason.rule != ""
        assert reason.premises
        assert reason.quotations
        assert memory.facts.match(subject=subject, relation=relation, object=expected, infer=False) == []
    assert memory.count(kinds="triple") == stored
    with pytest.raises(BadInput, match="follows from"):
        memory.facts.retract(memory.facts.match(subject="Leo", relation="parent")[0].facts[0])


def test_what_follows_is_found_from_either_end(memory: Memory) -> None:
    for child, aunt in (("Leo", "Ann"), ("Mia", "Bea")):
        memory.facts.add(aunt, "child", child)
    memory.facts.add("Ann", "sibling", "Bea")
    memory.facts.add("worker", "depends_on", "queue")
    memory.facts.add("disk", "needed_by", "queue")
    for relation, subject, value in (("cousin", "Leo", "Mia"), ("depends_on", "worker", "disk")):
        for ends in ((subject, None), (None, value), (subject, value), (None, None)):
            found = memory.facts.match(subject=ends[0], relation=relation, object=ends[1])
            assert (subject, value) in {(one.facts[0].subject, one.facts[0].object) for one in found}, ends


def test_paths_and_neighbours(memory: Memory) -> None:
    memory.remember("Ann works at Acme. Bob works at Acme. Bob lives in Porto.")
    (path,) = memory.facts.paths("Ann", "Porto")
    assert texts(path) == ["Ann works at Acme", "Bob works at Acme", "Bob lives in Porto"]
    assert memory.facts.paths("Ann", "Porto", hops=2) == []
    assert [one.entity.name for one in memory.facts.neighbours("Bob")] == ["Acme", "Porto"]
    with pytest.raises(BadInput, match="from 1 to 4"):
        memory.facts.paths("Ann", "Porto", hops=5)


def test_why_quotes_the_sentence(memory: Memory) -> None:
    record = memory.remember("The weather is fine. Ann lives in Lisbon. We talked.", who="Bob")
    reason = memory.facts.why(memory.facts.about("Ann")[0])
    assert [(one.id, one.text, one.who) for one in reason.quotations] == [
        (record.id, "Ann lives in Lisbon", "Bob")
    ]
    assert "Ann lives in Lisbon" in str(reason)


def test_each_side_of_a_contradiction_names_who_said_it_and_when(memory: Memory) -> None:
    memory.remember("Cleo was born in 1990.", who="Ann", source="mail 7", occurred="2026-05-01")
    memory.remember("Cleo was born in 1991.", who="Bob", occurred="2026-05-01")
    memory.remember("Cleo was born in 1992.", trust="web", occurred="2026-05-01")
    (found,) = memory.facts.contradictions()
    told = {fact.object: [quoted.origin for quoted in said] for fact, said in found.sides}
    assert told == {
        "1990": ["Ann, mail 7, 2026-05-01"],
        "1991": ["Bob, 2026-05-01"],
        "1992": ["web, 2026-05-01"],
    }
    assert "1991 (Bob, 2026-05-01)" in str(found)
    (first,) = found.to_dict()["quotations"][0]
    assert (first["who"], first["source"], first["text"]) == ("Ann", "mail 7", "Cleo was born in 1990")


def test_contradictions_are_listed_resolved_and_reopened(memory: Memory) -> None:
    memory.facts.add("Ann", "lives_in", "Lisbon", since="2024-01-01", sources=["a"])
    memory.facts.add("Ann", "lives_in", "Porto", since="2024-01-01", sources=["b"])
    (found,) = memory.facts.contradictions()
    assert sorted(texts(found.facts)) == ["Ann lives in Lisbon", "Ann lives in Porto"]
    porto = next(fact for fact in found.facts if fact.object == "Porto")
    decision = memory.facts.resolve(porto, because="she said so")
    assert memory.facts.contradictions() == []
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Porto"]
    assert [one.id for one in memory.facts.decisions()] == [decision.id]
    memory.facts.undo(decision)
    assert len(memory.facts.contradictions()) == 1
    with pytest.raises(NotFound, match="no decision"):
        memory.facts.undo(decision)
    with pytest.raises(NotFound, match="there is no contradiction of"):
        memory.facts.resolve(memory.facts.add("Bob", "lives_in", "Rome"))


def test_what_is_said_again_after_a_retraction_counts_again(memory: Memory) -> None:
    fact = memory.facts.add("Ann", "likes", "jazz")
    memory.facts.retract(fact.id)
    assert memory.facts.about("Ann") == []
    memory.remember("Ann likes jazz.")
    assert texts(memory.facts.about("Ann")) == ["Ann likes jazz"]


def test_a_told_fact_stays_until_its_last_source_is_forgotten(memory: Memory) -> None:
    one = memory.remember("She mentioned Lisbon in passing, early on.")
    other = memory.remember("Lisbon came up again over lunch today.")
    memory.facts.add("Ann", "lives_in", "Lisbon", sources=[one.id, other.id])
    memory.forget(one.id)
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Lisbon"]
    memory.forget(other.id)
    assert memory.facts.about("Ann") == []


def test_namesakes_are_asked_for_by_what_tells_them_apart(memory: Memory) -> None:
    memory.facts.add("Alex Miller", "likes", "tea")
    memory.facts.add("Alex Smith", "likes", "jazz")
    assert sorted(entity.name for entity in memory.facts.entities("Alex")) == ["Alex Miller", "Alex Smith"]
    with pytest.raises(BadInput, match="Alex Miller, Alex Smith"):
        memory.facts.merge("Alex", "Alex Smith")
    with pytest.raises(NotFound, match="no entity called"):
        memory.facts.merge("Alex Smith", "Zoe")


def test_a_profile_tells_what_holds_and_what_is_to_come(memory: Memory) -> None:
    memory.facts.add("Ann", "lives_in", "Lisbon", since="2024-01-10")
    memory.facts.add("Ann", "lives_in", "Porto", since="2025-06-03")
    memory.facts.add("Ann", "likes", "jazz", confidence=0.3, since="2024-02-01")
    assert memory.facts.profile("Ann").splitlines() == [
        "Ann",
        "- Ann lives in Lisbon (2024-01-10 to 2025-06-03)",
        "- perhaps: Ann likes jazz (since 2024-02-01)",
        "- from 2025-06-03: Ann lives in Porto",
    ]
    assert memory.facts.profile("Nobody") == ""


def test_instructions_come_before_preferences(memory: Memory) -> None:
    memory.remember("I prefer aisle seats.")
    memory.remember("Always answer in metric.")
    assert [fact.object for fact in memory.facts.instructions()] == ["Always answer in metric", "aisle seats"]
    assert [fact.object for fact in memory.facts.instructions(preferences=False)] == [
        "Always answer in metric"
    ]


def test_quarantined_records_give_no_facts(memory: Memory) -> None:
    record = memory.remember("Ann lives in Lisbon.")
    memory.trust.quarantine(record.id)
    assert memory.facts.about("Ann") == []
    memory.trust.approve(record.id)
    assert texts(memory.facts.about("Ann")) == ["Ann lives in Lisbon"]


@pytest.mark.parametrize(
    ("subject", "relation", "thing"), [("", "likes", "tea"), ("Ann", "", "tea"), ("Ann", "likes", True)]
)
def test_a_fact_has_a_subject_a_relation_and_an_object(
    memory: Memory, subject: str, relation: str, thing: str
) -> None:
    with pytest.raises(BadInput):
        memory.facts.add(subject, relation, thing)


def test_shredding_a_key_takes_the_facts_with_it() -> None:
    with Memory(embedder="hashing", key=bytes(range(32))) as sealed:
        sealed.remember("Ann lives in Lisbon.", scope="ann")
        assert texts(sealed.facts.about("Ann", scope="ann")) == ["Ann lives in Lisbon"]
        sealed.keys.shred("ann")
        assert sealed.facts.about("Ann", scope="ann") == []


def test_what_is_forgotten_leaves_the_graph_in_ram_at_once(memory: Memory) -> None:
    record = memory.remember("Ann lives in Lisbon.")
    assert memory.facts.about("Ann")
    memory.forget(record.id)
    head = memory.parts.graphs.ask("default", lambda graph: (graph.head, graph.index.size), Head(0, 0))
    assert head == (memory.parts.store.head(), 0)


@dataclass
class Scripted:
    """A model that says what it is told to."""

    says: str
    name: str = "scripted"

    def ask(self, request: Request) -> Answer:
        return Answer(text=self.says, model=self.name, tokens_in=1, tokens_out=1)


def test_a_model_adds_facts_that_go_with_their_record(memory: Memory) -> None:
    record = memory.remember("Ann packed up and has called Porto home since May.", who="Bob", session="s")
    model = Scripted('{"facts": [{"subject": "Ann", "relation": "lives_in", "object": "Porto"}]}')
    added = memory.facts.read(model, [record.id])
    assert texts(added) == ["Ann lives in Porto"]
    stored = memory.get(added[0].id)
    assert stored is not None
    assert (stored.derived_from, stored.session, stored.who) == ((record.id,), "s", "Bob")
    assert texts(memory.facts.read(model, [record.id])) == ["Ann lives in Porto"]
    assert len(memory.facts.timeline("Ann")[0].sources) == 1  # the same again is no new source
    assert memory.facts.read(Scripted("no JSON"), [record.id]) == []
    memory.forget(record.id)
    assert memory.facts.about("Ann") == []
