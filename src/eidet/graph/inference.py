"""Infers facts from others by rules, on demand; inferred facts are never stored.

inverse     Leo's parent is Ann, because Ann's child is Leo
symmetric   Maria's sibling is Ann, because Ann's sibling is Maria
transitive  the flat is in Portugal, because it is in Porto, and Porto is in Portugal
composed    Ann's grandchild is Mia, because Ann's child is Leo, and Leo's child is Mia
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Final

from ..text.facts.vocabulary import relation_of
from .names import Node
from .scope_graph import ScopeGraph, View
from .validity import Interval

_STEPS: Final = 6  # steps that a transitive relation carries at most
_COMPOSED: Final = {
    "grandparent": ("parent", "parent"),
    "grandchild": ("child", "child"),
    "aunt_or_uncle": ("parent", "sibling"),
    "niece_or_nephew": ("sibling", "child"),
    "cousin": ("aunt_or_uncle", "child"),
    "parent_in_law": ("married_to", "parent"),
    "lives_in": ("lives_in", "located_in"),
}


class Inferred(Interval):
    """An interval that a rule made of others."""

    __slots__ = ("premises", "rule")

    def __init__(
        self, subject: Node, relation: str, value: Node, rule: str, premises: tuple[Interval, ...]
    ) -> None:
        super().__init__(value, _latest(premises), premises[0].first)
        self.subject: Node = subject
        self.relation: str = relation
        self.end: float | None = _earliest(premises)
        self.said = {assertion: None for premise in premises for assertion in premise.said}
        self.rule: str = rule
        self.premises: tuple[Interval, ...] = premises

    @property
    def confidence(self) -> float:
        return math.prod(premise.confidence for premise in self.premises)


def _latest(premises: tuple[Interval, ...]) -> float | None:
    starts = [premise.start for premise in premises if premise.start is not None]
    return max(starts, default=None)


def _earliest(premises: tuple[Interval, ...]) -> float | None:
    ends = [premise.end for premise in premises if premise.end is not None]
    return min(ends, default=None)


def _overlap(premises: tuple[Interval, ...]) -> bool:
    start, end = _latest(premises), _earliest(premises)
    return start is None or end is None or start < end


class Reasoner:
    """Lists the facts of one relation, stated and inferred, between two ends that may be given or open."""

    def __init__(self, graph: ScopeGraph, view: View) -> None:
        self._graph, self._view = graph, view

    def list_stated(
        self, relation: str, subject: Node | None = None, value: Node | None = None
    ) -> Iterator[Interval]:
        """Yields the stated facts."""
        if subject is not None:
            stated = self._graph.trace(subject, relation, self._view)
            yield from (one for one in stated if value is None or one.object == value)
        elif value is not None:
            yield from self._graph.list_intervals_naming(value, self._view, relation)
        else:
            for each in self._graph.list_subjects(relation):
                yield from self._graph.trace(each, relation, self._view)

    def list_facts(
        self, relation: str, subject: Node | None = None, value: Node | None = None, depth: int = 2
    ) -> Iterator[Interval]:
        """Yields the stated facts, then those inferred between ends that no stated fact has."""
        seen: set[tuple[Node, Node]] = set()
        for interval in self.list_stated(relation, subject, value):
            if not interval.negated:
                seen.add((interval.subject, interval.object))
            yield interval
        for interval in self._infer(relation, subject, value, depth):
            ends = interval.subject, interval.object
            if ends not in seen and interval.subject != interval.object:
                seen.add(ends)
                yield interval

    def _infer(
        self, relation: str, subject: Node | None, value: Node | None, depth: int
    ) -> Iterator[Interval]:
        yield from self._turn_round(relation, subject, value)
        if depth and relation in _COMPOSED:
            first, second = _COMPOSED[relation]
            rule = f"{first} of {second} is {relation}"
            for pair in self._list_pairs(relation, first, second, subject, value, depth - 1):
                if _overlap(pair):
                    yield Inferred(pair[0].subject, relation, pair[1].object, rule, pair)
        if relation_of(relation).transitive:
            yield from self._carry_on(relation, subject, value)

    def _turn_round(self, relation: str, subject: Node | None, value: Node | None) -> Iterator[Interval]:
        kind = relation_of(relation)
        turned, rule = kind.inverse, f"{relation} is the inverse of {kind.inverse}"
        if kind.symmetric:
            turned, rule = relation, f"{relation} is symmetric"
        for interval in self.list_stated(turned, value, subject) if turned else ():
            if not interval.negated:
                yield Inferred(interval.object, relation, interval.subject, rule, (interval,))

    def _list_pairs(
        self, relation: str, first: str, second: str, subject: Node | None, value: Node | None, depth: int
    ) -> Iterator[tuple[Interval, Interval]]:
        """Yields the pairs of facts that a rule combines, from the end that is given."""

        def list_step(step: str, subject: Node | None, value: Node | None) -> Iterator[Interval]:
            facts = partial(self.list_facts, depth=depth)
            if step == relation:  # a step in the rule's own relation uses only statements
                facts = partial(self.list_stated)
            return (interval for interval in facts(step, subject, value) if not interval.negated)

        if subject is None and value is not None:
            for other in list_step(second, None, value):
                yield from ((one, other) for one in list_step(first, None, other.subject))
        else:
            for one in list_step(first, subject, None):
                yield from ((one, other) for other in list_step(second, one.object, value))

    def _carry_on(self, relation: str, subject: Node | None, value: Node | None) -> Iterator[Interval]:
        """Follows a transitive relation in steps, from its subject on or from its object back."""

        def list_steps(subject: Node | None, value: Node | None) -> Iterator[Interval]:
            stated = self.list_stated(relation, subject, value)
            both = chain(stated, self._turn_round(relation, subject, value))
            return (interval for interval in both if not interval.negated)

        rule, is_back = f"{relation} is transitive", subject is None and value is not None
        front: list[tuple[Interval, ...]] = [
            (one,) for one in list_steps(subject, value if is_back else None)
        ]
        seen: set[tuple[Node, Node]] = set()
        for _ in range(_STEPS):
            further: list[tuple[Interval, ...]] = []
            for way in front:
                ends = way[0].subject, way[-1].object
                if ends in seen:
                    continue
                seen.add(ends)
                for step in list_steps(None, ends[0]) if is_back else list_steps(ends[1], None):
                    longer = (step, *way) if is_back else (*way, step)
                    if _overlap(longer):
                        further.append(longer)
                        if value is None or longer[-1].object == value:
                            yield Inferred(longer[0].subject, relation, longer[-1].object, rule, longer)
            front = further
