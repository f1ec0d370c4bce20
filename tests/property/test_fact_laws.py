"""Laws of facts: order of arrival does not matter, reopening undoes closing, the past is a replay."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import Clock, examples, texts
from tests.saying import HE, IT, SHE, I, entry, person, place, say

from eidet import Memory
from eidet.graph.assertion import Stated
from eidet.graph.scope_graph import ScopeGraph, View
from eidet.store.model import Entry
from eidet.text.facts.statement import Mention, Statement

LATE = 10_000.0
Row = tuple[str, str, str, bool, float | None, float | None, tuple[int, ...]]

PEOPLE = st.sampled_from(
    [
        *(person("Ann"), person("Bob"), person("Ann Lee"), person("Ann Ray"), I, SHE, HE),
        *(person("Alex", "brother"), person("Alex", "boss"), person("Alex"), Mention(name="Alex")),
        Mention(kind="person", role="brother"),
    ]
)
THINGS = st.sampled_from([place("Porto"), place("Lisbon"), place("Rome"), IT, person("Bob")])
RELATION = st.sampled_from(["lives_in", "lives_in", "likes", "married_to", "works_at"])
TIMES = st.none() | st.sampled_from([10.0, 20.0, 30.0, 40.0])


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    if draw(st.integers(0, 12)) == 0:
        name = draw(st.sampled_from(["Ann", "Bobby"]))
        return say(draw(PEOPLE), "name", Mention(name=name, kind="value"))
    return say(
        draw(PEOPLE),
        draw(RELATION),
        draw(THINGS),
        since=draw(TIMES),
        until=draw(TIMES),
        ended=draw(st.booleans()) and draw(st.booleans()),
        negated=draw(st.integers(0, 6)) == 0,
        confidence=draw(st.sampled_from([1.0, 1.0, 1.0, 0.3])),
    )


@dataclass(frozen=True)
class Said:
    entry: Entry
    statements: Sequence[Statement]


@st.composite
def records(draw: st.DrawFn) -> list[Said]:
    """Records with times of their own; `created` is when the memory learnt of it."""
    many: list[Said] = []
    for number in range(draw(st.integers(1, 9))):
        one = entry(
            number + 1,
            float(number + 1),
            created=draw(st.integers(1, 50)) + number / 100,
            session=draw(st.sampled_from(["a", "b", None])),
            who=draw(st.sampled_from([None, "Ann", "Cleo"])),
            trust=draw(st.sampled_from(["user", "user", "user", "web", "quarantined"])),
        )
        many.append(Said(one, draw(st.lists(statements(), min_size=1, max_size=2))))
    return many


def build(said: Sequence[Said]) -> ScopeGraph:
    graph = ScopeGraph("s")
    for one in said:
        graph.add([Stated(one.entry, one.statements)])
    return graph


def rows(graph: ScopeGraph, view: View | None = None) -> list[Row]:
    """All that the graph tells, in one order."""
    found: list[Row] = []
    name_of = graph.identities.name_of
    for subject, relation in graph.list_groups():
        for one in graph.trace(subject, relation, view or View(now=LATE)):
            seqs = tuple(sorted(assertion.source.seq for assertion in one.said))
            parts = (name_of(subject), relation, name_of(one.object), one.negated)
            found.append((*parts, one.start, one.end, seqs))
    return sorted(found, key=repr)


@settings(max_examples=examples(200))
@given(records(), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(said: list[Said], shuffle: random.Random) -> None:
    late = list(said)
    shuffle.shuffle(late)
    assert rows(build(said)) == rows(build(late))


@settings(max_examples=examples(200))
@given(records(), st.data())
def test_adding_and_removing_are_inverses(said: list[Said], data: st.DataObject) -> None:
    *rest, last = said
    graph = build(rest)
    before = rows(graph)
    graph.add([Stated(last.entry, last.statements)])
    assert rows(graph) == rows(build(said))
    graph.remove(last.entry.seq)
    assert rows(graph) == before
    gone = data.draw(st.sampled_from(said))
    whole = build(said)
    whole.remove(gone.entry.seq)
    assert rows(whole) == rows(build([one for one in said if one is not gone]))


@settings(max_examples=examples(200))
@given(records())
def test_erasing_a_source_leaves_no_fact_that_only_it_supports(said: list[Said]) -> None:
    graph = build(said)
    for one in said:
        graph.remove(one.entry.seq)
        assert all(one.entry.seq not in row[-1] for row in rows(graph))
    assert rows(graph) == []
    assert graph.identities.list_roots() == []


SENTENCES = [
    *(
        "Ann lives in Lisbon.",
        "Ann moved to Porto.",
        "She works at Acme.",
        "Ann quit Acme.",
        "I live in Rome.",
    ),
    *("My name is Ann.", "My brother Alex likes jazz.", "Alex from work lives in Oslo.", "Alex likes tea."),
]
STEPS = st.lists(st.tuples(st.sampled_from(SENTENCES), st.integers(0, 5)), min_size=1, max_size=6)


@settings(max_examples=examples(60))
@given(STEPS, st.data())
def test_what_was_known_then_is_a_replay(steps: list[tuple[str, int]], data: st.DataObject) -> None:
    """Texts that happened at other times, revisions included; the second memory stops at that time."""
    clock = Clock(1_000.0, tick=1.0)
    until = data.draw(st.integers(1, len(steps)))
    with Memory(embedder="hashing", clock=clock) as memory:
        then = tell(memory, steps[:until])
        known_at = clock.now
        tell(memory, steps[until:])
        for name, times in then.items():
            known = memory.facts.timeline(name, known_at=known_at)
            assert [(fact.text, fact.valid_from, fact.valid_to) for fact in known] == times


Times = list[tuple[str, float | None, float | None]]


def tell(memory: Memory, steps: list[tuple[str, int]]) -> dict[str, Times]:
    """Stores or revises texts; the timelines of all entities after that."""
    for text, number in steps:
        memory.remember(text, id=f"r{number}", occurred=500.0 + 10 * number, keep_duplicates=True)
    found: dict[str, Times] = {}
    for entity in memory.facts.entities():
        facts = memory.facts.timeline(entity.name)
        found[entity.name] = [(fact.text, fact.valid_from, fact.valid_to) for fact in facts]
    return found


@settings(max_examples=examples(60))
@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(["Porto", "Rome", "Oslo"])), max_size=6))
def test_no_fact_crosses_a_scope(moves: list[tuple[str, str]]) -> None:
    with Memory(embedder="hashing", clock=Clock(tick=1.0)) as memory:
        alone = {"a": list[str](), "b": list[str]()}
        for scope, town in moves:
            memory.remember(f"Ann lives in {town}.", scope=f"x/{scope}")
            alone[scope].append(town)
        for scope, towns in alone.items():
            expected = [f"Ann lives in {town}" for town in towns[-1:]]
            assert texts(memory.facts.about("Ann", scope=f"x/{scope}")) == expected
