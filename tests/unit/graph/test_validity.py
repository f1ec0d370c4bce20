"""What held when: closing, reopening, late statements, contradictions."""

from __future__ import annotations

from itertools import permutations

import pytest
from tests.saying import VIEW, day, entry, graph_of, say, spans, values_at

from eidet.graph.assertion import Stated
from eidet.graph.scope_graph import ScopeGraph, View
from eidet.store.model import Entry
from eidet.text.facts.statement import Statement

JANUARY, MARCH, JUNE, SEPTEMBER = map(day, ("2024-01-10", "2024-03-01", "2024-06-03", "2024-09-01"))
LISBON = (entry(1, JANUARY), say("Ann", "lives_in", "Lisbon"))
PORTO = (entry(2, JUNE), say("Ann", "lives_in", "Porto"))
MADRID = (entry(3, MARCH), say("Ann", "lives_in", "Madrid"))


@pytest.mark.parametrize("order", list(permutations((LISBON, PORTO, MADRID))))
def test_a_late_statement_takes_its_place_in_between(order: tuple[tuple[Entry, Statement], ...]) -> None:
    graph = graph_of(*order)
    assert spans(graph, "Ann", "lives_in") == [
        ("Lisbon", JANUARY, MARCH),
        ("Madrid", MARCH, JUNE),
        ("Porto", JUNE, None),
    ]


def test_no_longer_closes_without_a_successor() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE), say("Ann", "lives_in", "Lisbon", ended=True)))
    assert spans(graph, "Ann", "lives_in") == [("Lisbon", JANUARY, JUNE)]
    assert values_at(graph, "Ann", "lives_in", SEPTEMBER) == []


def test_used_to_without_a_beginning_ends_where_the_next_value_begins() -> None:
    graph = graph_of(PORTO, (entry(3, SEPTEMBER), say("Ann", "lives_in", "Rome", ended=True)))
    assert spans(graph, "Ann", "lives_in") == [("Rome", None, JUNE), ("Porto", JUNE, None)]


def test_many_values_of_a_relation_hold_together() -> None:
    graph = graph_of(
        (entry(1, JANUARY), say("Ann", "likes", "jazz")), (entry(2, JUNE), say("Ann", "likes", "tea"))
    )
    assert values_at(graph, "Ann", "likes", SEPTEMBER) == ["jazz", "tea"]


def test_equal_statements_add_a_source_and_confidence() -> None:
    once = graph_of(LISBON)
    twice = graph_of(LISBON, (entry(2, MARCH), say("Ann", "lives_in", "Lisbon")))
    (one,) = once.trace("person:ann", "lives_in", VIEW)
    (two,) = twice.trace("person:ann", "lives_in", VIEW)
    assert [said.source.seq for said in two.said] == [1, 2]
    assert (one.start, two.start) == (JANUARY, JANUARY)
    assert two.confidence > one.confidence


def test_a_hedge_closes_nothing() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE), say("Ann", "lives_in", "Porto", confidence=0.3)))
    assert values_at(graph, "Ann", "lives_in", SEPTEMBER) == ["Lisbon", "Porto"]
    lisbon, porto = graph.trace("person:ann", "lives_in", VIEW)
    assert lisbon.confidence > 0.5 > porto.confidence
    assert not lisbon.rivals


def test_a_denial_closes_what_it_denies_and_stands_itself() -> None:
    graph = graph_of(
        (entry(1, JANUARY), say("Ann", "likes", "meat")),
        (entry(2, JUNE), say("Ann", "likes", "meat", negated=True)),
        (entry(3, SEPTEMBER), say("Ann", "likes", "meat")),
    )
    assert spans(graph, "Ann", "likes") == [
        ("meat", JANUARY, JUNE),
        ("not meat", JUNE, SEPTEMBER),
        ("meat", SEPTEMBER, None),
    ]


@pytest.mark.parametrize("seqs", [(1, 2), (2, 1)])
def test_two_sources_of_one_moment_contradict_each_other(seqs: tuple[int, int]) -> None:
    graph = graph_of(
        (entry(seqs[0], JANUARY), say("Ann", "lives_in", "Lisbon")),
        (entry(seqs[1], JANUARY), say("Ann", "lives_in", "Porto")),
    )
    lisbon, porto = graph.trace("person:ann", "lives_in", VIEW)
    assert lisbon.rivals == [porto]
    assert porto.rivals == [lisbon]
    assert lisbon.end is porto.end is None


def test_whoever_says_it_again_later_decides_a_contradiction() -> None:
    graph = graph_of(
        (entry(1, JANUARY), say("Ann", "lives_in", "Lisbon")),
        (entry(2, JANUARY), say("Ann", "lives_in", "Porto")),
        (entry(3, JUNE), say("Ann", "lives_in", "Porto")),
    )
    assert values_at(graph, "Ann", "lives_in", SEPTEMBER) == ["Porto"]


def test_of_one_text_the_later_sentence_counts() -> None:
    graph = ScopeGraph("s")
    graph.add(
        [Stated(entry(1, JANUARY), [say("Ann", "lives_in", "Lisbon"), say("Ann", "lives_in", "Porto")])]
    )
    assert values_at(graph, "Ann", "lives_in", JUNE) == ["Porto"]


def test_what_strangers_say_does_not_close_what_the_user_says() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE, trust="web"), say("Ann", "lives_in", "Porto")))
    lisbon, porto = graph.trace("person:ann", "lives_in", VIEW)
    assert lisbon.end is None
    assert lisbon.rivals == [porto]
    assert porto.confidence < lisbon.confidence


def test_quarantined_sources_give_nothing() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE, trust="quarantined"), say("Ann", "lives_in", "Porto")))
    assert spans(graph, "Ann", "lives_in") == [("Lisbon", JANUARY, None)]


def test_an_expired_source_opens_again_what_it_had_closed() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE, expires=SEPTEMBER), say("Ann", "lives_in", "Porto")))
    assert len(spans(graph, "Ann", "lives_in", View(now=SEPTEMBER - 1))) == 2
    assert spans(graph, "Ann", "lives_in", View(now=SEPTEMBER)) == [("Lisbon", JANUARY, None)]


def test_said_times_count_more_than_the_time_of_saying() -> None:
    graph = graph_of(
        (entry(1, SEPTEMBER), say("Ann", "works_at", "Acme", since=JANUARY, until=JUNE)),
        (entry(2, SEPTEMBER), say("Ann", "works_at", "Beta", since=JUNE)),
        (entry(3, SEPTEMBER), say("Ann", "works_at", "Core", until=JANUARY)),
    )
    assert spans(graph, "Ann", "works_at") == [
        ("Core", None, JANUARY),
        ("Acme", JANUARY, JUNE),
        ("Beta", JUNE, None),
    ]


def test_a_plan_for_later_leaves_the_present_as_it_is() -> None:
    graph = graph_of(LISBON, (entry(2, MARCH), say("Ann", "lives_in", "Porto", since=JUNE)))
    assert values_at(graph, "Ann", "lives_in", MARCH) == ["Lisbon"]
    assert values_at(graph, "Ann", "lives_in", JUNE) == ["Porto"]


def test_a_fact_is_known_until_its_end_is_stored() -> None:
    graph = graph_of(LISBON, (entry(2, JUNE, created=SEPTEMBER), say("Ann", "lives_in", "Porto")))
    lisbon, _ = graph.trace("person:ann", "lives_in", VIEW)
    assert (lisbon.known_from, lisbon.known_to) == (JANUARY, SEPTEMBER)
