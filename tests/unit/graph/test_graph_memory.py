"""Graphs in RAM: their bytes are counted as they change, and those asked for longest ago leave."""

from __future__ import annotations

from eidet import Memory
from eidet.graph import Graphs, ScopeGraph, View
from eidet.graph.validity import Interval


def weigh(graph: ScopeGraph) -> int:
    return graph.nbytes


def fill(memory: Memory, scope: str, count: int) -> None:
    memory.remember([f"Ann{number} lives in Rome" for number in range(count)], scope=scope)


def test_the_bytes_of_all_graphs_are_those_of_each() -> None:
    with Memory() as memory:
        for number, scope in enumerate("abc", start=1):
            fill(memory, scope, number)
        graphs = Graphs(memory.parts.store)
        assert sum(graphs.ask(scope, weigh) for scope in "abc") == graphs.nbytes
        fill(memory, "b", 5)
        assert sum(graphs.ask(scope, weigh) for scope in "abc") == graphs.nbytes
        graphs.drop("b")
        graphs.drop("b")
        assert sum(graphs.ask(scope, weigh) for scope in "ac") == graphs.nbytes
        graphs.close()
        assert graphs.nbytes == 0


def test_the_graphs_asked_longest_ago_leave_when_room_runs_short() -> None:
    with Memory() as memory:
        fill(memory, "a", 2)
        fill(memory, "b", 2)
        graphs = Graphs(memory.parts.store, memory_mb=0)
        graphs.ask("a", weigh)
        assert graphs.ask("b", weigh) == graphs.nbytes > 0
        assert graphs.ask("a", weigh) == graphs.nbytes


def list_homes(graph: ScopeGraph) -> list[list[Interval]]:
    return [graph.trace(subject, "lives_in", View(now=0.0)) for subject in graph.list_subjects("lives_in")]


def test_what_was_traced_stays_until_something_is_stated_or_taken_back() -> None:
    with Memory() as memory:
        fill(memory, "a", 2)
        graphs = Graphs(memory.parts.store)
        first = graphs.ask("a", list_homes)
        assert len(first) == 2
        note = memory.remember("What a day!", scope="a")
        memory.forget(note.id, scope="a")
        again = graphs.ask("a", list_homes)
        assert [id(one) for one in again] == [id(one) for one in first]
        told = memory.remember("Ben lives in Oslo", scope="a")
        assert len(graphs.ask("a", list_homes)) == 3
        memory.forget(told.id, scope="a")
        assert len(graphs.ask("a", list_homes)) == 2
