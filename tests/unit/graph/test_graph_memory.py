"""Graphs in RAM: their bytes are counted as they change, and those asked for longest ago leave."""

from __future__ import annotations

from eidet import Memory
from eidet.graph import Graphs, ScopeGraph


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
