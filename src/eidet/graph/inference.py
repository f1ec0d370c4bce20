"""Infers facts from others by rules, on demand; inferred facts are never stored.

inverse     Leo's parent is Ann, because Ann's child is Leo
symmetric   Maria's sibling is Ann, because Ann's sibling is Maria
transitive  the flat is in Portugal, because it is in Porto, and Porto is in Portugal
composed    Ann's grandchild is Mia, because Ann's child is Leo, and Leo's child is Mia
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from ..text.facts.vocabulary import relation_of
from .names import Node
from .scope_graph import ScopeGraph, View
from .validity import Interval

_STEPS: Final = 6  # steps that a transitive relation carries at most
_COMPOSED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "grandparent": (("parent", "parent"),),
    "grandchild": (("child", "child"),),
    "aunt_or_uncle": (("parent", "sibling"),),
    "niece_or_nephew": (("sibling", "child"),),
    "cousin": (("aunt_or_uncle", "child"),),
    "parent_in_law": (("married_to", "parent"),),
    "lives_in": (("lives_in", "located_in"),),
    "works_in": (("works_at", "located_in"),),
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
    """Answers for one relation at a time, from statements and the facts inferred from them."""

    def __init__(self, graph: ScopeGraph, view: View) -> None:
        self._graph, self._view = graph, view

    def list_from(self, subject: Node, relation: str, depth: int = 2) -> list[Interval]:
        """Lists the stated facts of a subject, then the inferred ones."""
        found: dict[Node, Interval] = {}
        stated = list(self._graph.trace(subject, relation, self._view))
        for interval in stated:
            if not interval.negated:
                found.setdefault(interval.object, interval)
        inferred = [*self._turn_round(subject, relation)]
        if depth:
            inferred += self._compose(subject, relation, depth)
        inferred += self._carry_on(subject, relation, [*stated, *inferred])
        new: list[Interval] = []
        for interval in inferred:
            if interval.object not in found and interval.object != subject:
                found[interval.object] = interval
                new.append(interval)
        return stated + new

    def list_to(self, value: Node, relation: str) -> list[Interval]:
        """Lists the stated facts with this object, then the inferred ones."""
        stated = list(self._graph.list_intervals_naming(value, self._view, relation))
        known = {interval.subject for interval in stated}
        possible = [one for one in self._list_possible(value, relation) if one not in known and one != value]
        found = (interval for subject in possible for interval in self.list_from(subject, relation))
        return stated + [interval for interval in found if interval.object == value]

    def list_subjects(self, relation: str, depth: int = 2) -> Iterator[Node]:
        """Yields the subjects of which a relation is stated or may be inferred, each at least once."""
        kind = relation_of(relation)
        yield from self._graph.list_subjects(relation)
        turned = relation if kind.symmetric else kind.inverse
        if turned:
            yield from self._graph.list_objects(turned)
        for first, _ in _COMPOSED.get(relation, ()):
            if depth and first != relation:
                yield from self.list_subjects(first, depth - 1)

    def _list_possible(self, value: Node, relation: str) -> list[Node]:
        """Lists the subjects of which the relation may be inferred, by the rules applied backwards."""
        possible = dict.fromkeys(self._list_turned(value, relation))
        chains = list(_COMPOSED.get(relation, ()))
        if relation_of(relation).transitive:
            chains.append((relation, relation))
        for first, second in chains:
            for middle in self._list_before(value, second):
                possible |= dict.fromkeys(self._list_before(middle, first))
        return list(possible)

    def _list_before(self, value: Node, relation: str) -> list[Node]:
        stated = self._graph.list_intervals_naming(value, self._view, relation)
        return list(dict.fromkeys([*(one.subject for one in stated), *self._list_turned(value, relation)]))

    def _list_turned(self, value: Node, relation: str) -> list[Node]:
        """Lists the objects of the inverse (or symmetric) relation of a node."""
        kind = relation_of(relation)
        turned = relation if kind.symmetric else kind.inverse
        return [one.object for one in self._graph.trace(value, turned, self._view)] if turned else []

    def _turn_round(self, subject: Node, relation: str) -> Iterator[Interval]:
        kind = relation_of(relation)
        turned, rule = kind.inverse, f"{relation} is the inverse of {kind.inverse}"
        if kind.symmetric:
            turned, rule = relation, f"{relation} is symmetric"
        if not turned:
            return
        for interval in self._graph.list_intervals_naming(subject, self._view, turned):
            if not interval.negated:
                yield Inferred(subject, relation, interval.subject, rule, (interval,))

    def _compose(self, subject: Node, relation: str, depth: int) -> Iterator[Interval]:
        for first, second in _COMPOSED.get(relation, ()):
            rule = f"{first} of {second} is {relation}"
            for one in self._list_step(subject, first, relation, depth):
                for other in self._list_step(one.object, second, relation, depth):
                    if _overlap((one, other)):
                        yield Inferred(subject, relation, other.object, rule, (one, other))

    def _list_step(self, subject: Node, step: str, relation: str, depth: int) -> list[Interval]:
        """Lists the facts for one step of a rule; a step in the rule's own relation uses only statements."""
        is_own = step == relation
        steps = (
            self._graph.trace(subject, step, self._view)
            if is_own
            else self.list_from(subject, step, depth - 1)
        )
        return [interval for interval in steps if not interval.negated]

    def _carry_on(self, subject: Node, relation: str, begun: list[Interval]) -> Iterator[Interval]:
        if not relation_of(relation).transitive:
            return
        rule, seen = f"{relation} is transitive", {subject}
        front: list[tuple[Interval, ...]] = [(one,) for one in begun]
        for _ in range(_STEPS):
            further: list[tuple[Interval, ...]] = []
            for chain in front:
                last = chain[-1].object
                if last in seen or chain[-1].negated:
                    continue
                seen.add(last)
                for step in self._graph.trace(last, relation, self._view):
                    longer = (*chain, step)
                    if not step.negated and _overlap(longer):
                        further.append(longer)
                        yield Inferred(subject, relation, step.object, rule, longer)
            front = further
