"""Who is who: names, aliases, namesakes, pronouns."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from tests.saying import HE, IT, SHE, I, entry, graph_of, person, place, say, values_at

from eidet import Memory
from eidet.graph.assertion import Stated
from eidet.graph.scope_graph import ScopeGraph
from eidet.text.facts.statement import Mention, Statement

LATE = 1e9


def session(*said: Statement, **more: Any) -> ScopeGraph:
    graph = ScopeGraph("s")
    for number, statement in enumerate(said, 1):
        graph.add([Stated(entry(number, float(number), session="a", **more), [statement])])
    return graph


def names(graph: ScopeGraph, name: str) -> list[str]:
    return [graph.identities.name_of(root) for root in graph.identities.find(name)]


def test_case_articles_and_possessives_do_not_make_another_entity() -> None:
    graph = session(say("Ann", "lives_in", "Porto"), say("ANN", "likes", "the Porto"))
    assert names(graph, "ann's") == ["Ann"]
    assert len(graph.identities.list_roots()) == 2


def test_i_is_whoever_speaks() -> None:
    graph = ScopeGraph("s")
    graph.add([Stated(entry(1, 1.0), [say(I, "lives_in", "Porto")])])
    graph.add([Stated(entry(2, 2.0, who="Bob"), [say(I, "lives_in", "Rome")])])
    assert values_at(graph, "I", "lives_in", LATE) == ["Porto"]
    assert values_at(graph, "Bob", "lives_in", LATE) == ["Rome"]


def test_a_name_that_is_told_is_another_name_of_the_speaker_until_it_is_taken_back() -> None:
    graph = session(
        say(I, "lives_in", "Porto"),
        say(I, "name", Mention(name="Ann", kind="value")),
        say("Ann", "likes", "tea"),
    )
    assert values_at(graph, "Ann", "lives_in", LATE) == ["Porto"]
    assert values_at(graph, "me", "likes", LATE) == ["tea"]
    graph.remove(2)
    assert values_at(graph, "Ann", "lives_in", LATE) == []
    assert values_at(graph, "Ann", "likes", LATE) == ["tea"]


def test_pronouns_mean_the_last_fitting_entity_of_the_session() -> None:
    graph = session(
        say(person("Maria", role="sister"), "lives_in", "Porto"),
        say(SHE, "likes", IT),
        say("Bob", "lives_in", "Rome"),
        say(SHE, "works_at", "Acme"),
        say(HE, "likes", "jazz"),
    )
    assert values_at(graph, "Bob", "works_at", LATE) == ["Acme"]  # nothing says that Bob is no she
    assert values_at(graph, "Maria", "likes", LATE) == ["Porto"]
    assert values_at(graph, "Bob", "likes", LATE) == ["jazz"]


def test_a_role_tells_he_from_she() -> None:
    graph = session(
        say(person("Maria", role="sister"), "lives_in", "Porto"),
        say(person("Tom", role="brother"), "lives_in", "Rome"),
        say(SHE, "works_at", "Acme"),
    )
    assert values_at(graph, "Maria", "works_at", LATE) == ["Acme"]


def test_a_statement_that_comes_late_changes_whom_a_pronoun_means() -> None:
    graph = ScopeGraph("s")
    graph.add([Stated(entry(1, 1.0, session="a"), [say("Ann", "lives_in", "Porto")])])
    graph.add([Stated(entry(2, 3.0, session="a"), [say(SHE, "likes", "tea")])])
    assert values_at(graph, "Ann", "likes", LATE) == ["tea"]
    graph.add([Stated(entry(3, 2.0, session="a"), [say("Eve", "lives_in", "Rome")])])
    assert values_at(graph, "Eve", "likes", LATE) == ["tea"]
    graph.remove(3)
    assert values_at(graph, "Ann", "likes", LATE) == ["tea"]


def test_pronouns_do_not_reach_into_other_sessions() -> None:
    graph = ScopeGraph("s")
    graph.add([Stated(entry(1, 1.0, session="a"), [say("Ann", "lives_in", "Porto")])])
    graph.add([Stated(entry(2, 2.0, session="b"), [say(SHE, "likes", "tea")])])
    assert values_at(graph, "Ann", "likes", LATE) == []


BROTHER = say(person("Alex", role="brother"), "lives_in", "Rome")
WORK = say(person("Alex", role="from work"), "lives_in", "Oslo")
BARE = say("Alex", "likes", "tea")


@pytest.mark.parametrize("order", list(permutations((BROTHER, WORK))))
def test_two_of_one_name_stay_two_where_roles_tell_them_apart(order: tuple[Statement, ...]) -> None:
    graph = session(*order)
    assert sorted(names(graph, "Alex")) == ["Alex (brother)", "Alex (from work)"]
    assert values_at(graph, "Alex (brother)", "lives_in", LATE) == ["Rome"]
    assert values_at(graph, "Alex (from work)", "lives_in", LATE) == ["Oslo"]


def test_surnames_tell_namesakes_apart_and_a_bare_name_of_several_is_neither() -> None:
    graph = ScopeGraph("s")
    graph.add([Stated(entry(1, 1.0, session="a"), [say("Alex Miller", "lives_in", "Rome")])])
    graph.add([Stated(entry(2, 2.0, session="a"), [say("Alex", "likes", "tea")])])
    graph.add([Stated(entry(3, 3.0, session="b"), [say("Alex Smith", "lives_in", "Oslo")])])
    graph.add([Stated(entry(4, 4.0, session="b"), [say("Alex", "likes", "jazz")])])
    assert values_at(graph, "Alex Miller", "likes", LATE) == []
    assert values_at(graph, "Alex Smith", "likes", LATE) == []
    assert sorted(names(graph, "Alex")) == ["Alex", "Alex Miller", "Alex Smith"]
    assert values_at(graph, "person:alex", "likes", LATE) == ["tea", "jazz"]


def test_a_bare_name_is_the_only_one_there_is() -> None:
    graph = session(BARE, say("Alex Miller", "lives_in", "Rome"))
    assert values_at(graph, "Alex", "lives_in", LATE) == ["Rome"]
    assert values_at(graph, "Alex Miller", "likes", LATE) == ["tea"]


def test_a_role_and_a_surname_of_one_person_belong_together() -> None:
    graph = session(
        say(person("Alex Miller", role="brother"), "lives_in", "Rome"),
        say(person("Alex", role="brother"), "likes", "tea"),
        say(person("Alex", role="boss"), "likes", "golf"),
    )
    assert values_at(graph, "Alex Miller", "likes", LATE) == ["tea"]


def test_my_brother_is_the_one_whose_name_was_told() -> None:
    graph = session(BROTHER, say(Mention(kind="person", role="brother"), "likes", "tea"))
    assert values_at(graph, "Alex", "likes", LATE) == ["tea"]


def test_a_person_and_a_place_of_one_name_are_two() -> None:
    graph = session(say("Paris", "lives_in", "Rome"), say("Ann", "lives_in", place("Paris")))
    assert sorted(names(graph, "Paris")) == ["Paris", "Paris (place)"]


def test_entities_do_not_depend_on_what_was_removed() -> None:
    graph = graph_of((entry(1, 1.0), BROTHER), (entry(2, 2.0), WORK), (entry(3, 3.0), BARE))
    graph.remove(2)
    assert names(graph, "Alex") == ["Alex"]
    assert values_at(graph, "Alex", "likes", LATE) == ["tea"]


@pytest.mark.parametrize("relation", ["mentors", "likes", "owns", "friend"])
def test_a_name_that_a_relation_of_ones_own_has_means_the_same_person(relation: str) -> None:
    with Memory(embedder="hashing:64") as memory:
        memory.remember("Maria lives in Porto.")
        memory.facts.add("Ben", relation, "Maria")
        assert [one.name for one in memory.facts.entities("Maria")] == ["Maria"]
        assert memory.facts.paths("Ben", "Porto")


def test_a_place_of_the_same_name_stays_another() -> None:
    with Memory(embedder="hashing:64") as memory:
        memory.remember("Paris likes tea.")
        memory.facts.add("Ben", "lives_in", "Paris")
        assert [one.kind for one in memory.facts.entities("Paris")] == ["person", "place"]
