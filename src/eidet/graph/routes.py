"""Ways through the graph: who and what is next to an entity, and how two are connected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .name_book import Node
from .scope_graph import Moments, ScopeGraph
from .validity import Interval

_Ways = dict[Node, list[tuple[Interval, ...]]]  # the shortest ways to each node, as the facts along them


class _Leg(NamedTuple):
    """One step of a way: a fact, and where it leads."""

    interval: Interval
    to: Node


def list_legs(graph: ScopeGraph, node: Node, moments: Moments) -> Iterator[_Leg]:
    """The steps from an entity, along facts that hold, in either direction. Values lead nowhere."""
    for interval in graph.list_intervals(node, moments.view):
        if _is_passable(interval, moments):
            yield _Leg(interval, interval.object)
    for interval in graph.list_intervals_naming(node, moments.view):
        if _is_passable(interval, moments):
            yield _Leg(interval, interval.subject)


def _is_passable(interval: Interval, moments: Moments) -> bool:
    if interval.negated or interval.object.startswith("value:"):
        return False
    return moments.admits(interval)


def list_paths(
    graph: ScopeGraph, start: Node, goal: Node, moments: Moments, hops: int
) -> list[tuple[Interval, ...]]:
    """All shortest ways of at most `hops` facts. The search goes on from the end that reached less."""
    if start == goal:
        return []
    ends: dict[Node, _Ways] = {start: {start: [()]}, goal: {goal: [()]}}
    fronts = dict(ends)
    for _ in range(hops):
        end = min(fronts, key=lambda one: len(fronts[one]))
        fronts[end] = _widen(graph, fronts[end], ends[end], moments)
        ends[end] |= fronts[end]
        if not fronts[end]:
            return []
        if meeting := ends[start].keys() & ends[goal].keys():
            return _join_ways(ends[start], ends[goal], sorted(meeting), moments)
    return []


def _widen(graph: ScopeGraph, front: _Ways, known: _Ways, moments: Moments) -> _Ways:
    """What is one step further than a front, with all ways to it."""
    further: _Ways = {}
    for node, ways in front.items():
        for leg in list_legs(graph, node, moments):
            if leg.to not in known:
                moments.view.spend(len(ways))
                further.setdefault(leg.to, []).extend((*way, leg.interval) for way in ways)
    return further


def _join_ways(near: _Ways, far: _Ways, meeting: list[Node], moments: Moments) -> list[tuple[Interval, ...]]:
    found: list[tuple[Interval, ...]] = []
    for node in meeting:
        moments.view.spend(len(near[node]) * len(far[node]))
        found += [(*way, *reversed(rest)) for way in near[node] for rest in far[node]]
    least = min(map(len, found))
    return [way for way in found if len(way) == least]
