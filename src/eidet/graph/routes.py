"""Ways through the graph: who and what is next to an entity, and how two are connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .name_book import Node
from .scope_graph import Moments, ScopeGraph
from .validity import Interval


class Leg(NamedTuple):
    """One step of a way: a fact, and where it leads."""

    interval: Interval
    to: Node


def list_legs(graph: ScopeGraph, node: Node, moments: Moments) -> Iterator[Leg]:
    """The steps from an entity, along facts that hold, in either direction. Values lead nowhere."""
    for interval in graph.list_intervals(node, moments.view):
        if _is_passable(interval, moments):
            yield Leg(interval, interval.object)
    for interval in graph.list_intervals_naming(node, moments.view):
        if _is_passable(interval, moments):
            yield Leg(interval, interval.subject)


def _is_passable(interval: Interval, moments: Moments) -> bool:
    if interval.negated or interval.object.startswith("value:"):
        return False
    return moments.admits(interval)


def list_paths(
    graph: ScopeGraph, start: Node, goal: Node, moments: Moments, hops: int
) -> list[tuple[Interval, ...]]:
    """All shortest ways of at most `hops` facts, searched from both ends."""
    if start == goal:
        return []
    near, far = _Reach(graph, start, moments), _Reach(graph, goal, moments)
    for _ in range(hops):
        if len(near.front) <= len(far.front):
            near.widen()
        else:
            far.widen()
        meeting = near.ways.keys() & far.ways.keys()
        if meeting:
            return _join_ways(near, far, sorted(meeting), moments)
        if not near.front or not far.front:
            return []
    return []


class _Reach:
    """What is reached from one end, and by which steps."""

    def __init__(self, graph: ScopeGraph, start: Node, moments: Moments) -> None:
        self._graph, self._moments = graph, moments
        self.start = start
        self.front = [start]
        self.depths = {start: 0}
        self.ways: dict[Node, list[tuple[Node, Interval]]] = {start: []}

    def widen(self) -> None:
        """One step further."""
        new: dict[Node, None] = {}
        for node in self.front:
            for leg in list_legs(self._graph, node, self._moments):
                depth = self.depths.setdefault(leg.to, self.depths[node] + 1)
                if depth == self.depths[node] + 1:
                    self.ways.setdefault(leg.to, []).append((node, leg.interval))
                    new[leg.to] = None
        self.front = list(new)

    def trace_back(self, node: Node) -> list[tuple[Interval, ...]]:
        """The ways from the start to a node."""
        if node == self.start:
            return [()]
        found: list[tuple[Interval, ...]] = []
        for before, interval in self.ways[node]:
            ways = self.trace_back(before)
            self._moments.view.spend(len(ways))
            found += [(*way, interval) for way in ways]
        return found


def _join_ways(
    near: _Reach, far: _Reach, meeting: list[Node], moments: Moments
) -> list[tuple[Interval, ...]]:
    least = min(near.depths[node] + far.depths[node] for node in meeting)
    found: list[tuple[Interval, ...]] = []
    for node in meeting:
        if near.depths[node] + far.depths[node] > least:
            continue
        ways_on = far.trace_back(node)
        for way in near.trace_back(node):
            moments.view.spend(len(ways_on))
            found += [(*way, *reversed(rest)) for rest in ways_on]
    return found
