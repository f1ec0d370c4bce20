"""Infers facts from others by rules, on demand; inferred facts are never stored.

inverse     Leo's parent is Ann, because Ann's child is Leo
symmetric   Maria's sibling is Ann, because Ann's sibling is Maria
transitive  the flat is in Portugal, because it is in Porto, and Porto is in Portugal
composed    Ann's grandchild is Mia, because Ann's child is Leo, and Leo's child is Mia

Patterns with variables are matched with stated and inferred facts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from typing import Final, NamedTuple

from ..core.errors import BadInput
from ..text.facts.vocabulary import relation_of
from .assertion import Node
from .fact import Fact
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
    """Lists facts, stated and inferred, of a relation and between two ends that may be given or open."""

    def __init__(self, graph: ScopeGraph, view: View) -> None:
        self._graph, self._view = graph, view

    def list_stated(
        self, relation: str | None, subject: Node | None = None, value: Node | None = None
    ) -> Iterator[Interval]:
        """Yields the stated facts."""
        graph = self._graph
        if subject is None and value is not None:
            yield from graph.list_intervals_naming(value, self._view, relation)
            return
        if subject is None:
            groups = graph.list_groups(relation)
        else:
            relations = graph.list_relations(subject) if relation is None else (relation,)
            groups = ((subject, name) for name in relations)
        for group in groups:
            stated = graph.trace(*group, self._view)
            yield from (one for one in stated if value is None or one.object == value)

    def list_facts(
        self, relation: str | None, subject: Node | None = None, value: Node | None = None, depth: int = 2
    ) -> Iterator[Interval]:
        """Yields the stated facts, then those inferred between ends that no stated fact has."""
        seen: set[tuple[Node, Node]] = set()
        for interval in self.list_stated(relation, subject, value):
            if not interval.negated:
                seen.add((interval.subject, interval.object))
            yield interval
        for interval in self._infer(relation, subject, value, depth) if relation is not None else ():
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


# --- patterns with variables, such as "who works in the city where their sister lives?"

_VARIABLE: Final = "?"
_Bindings = Mapping[str, Node]


class TriplePattern(NamedTuple):
    """A subject, a relation and an object: a name, a variable such as `?x`, or None for anything."""

    subject: str | None = None
    relation: str | None = None
    object: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactMatch:
    """One way in which all patterns hold: the value of each variable, and the facts."""

    bindings: dict[str, str]
    facts: tuple[Fact, ...]

    def __getitem__(self, variable: str) -> str:
        """Returns the value of a variable, named with or without its question mark."""
        return self.bindings[_VARIABLE + variable.removeprefix(_VARIABLE)]


class _Solution(NamedTuple):
    """A solution inside a graph: nodes by variable, and an interval per pattern."""

    bindings: dict[str, Node]
    intervals: tuple[Interval, ...]


def parse_patterns(patterns: Iterable[Sequence[str | None]]) -> list[TriplePattern]:
    """Parses patterns; raises `BadInput` for an invalid one."""
    found: list[TriplePattern] = []
    for pattern in patterns:
        if not isinstance(pattern, list | tuple) or len(pattern) != 3:
            raise BadInput(f"a pattern is a subject, a relation and an object, not {pattern!r:.80}")
        for part in pattern:
            if part is not None and (not isinstance(part, str) or not part.strip()):
                raise BadInput(f"a pattern has names, variables such as '?x', or None, not {part!r:.80}")
        found.append(TriplePattern(*pattern))
    if not found:
        raise BadInput("there is no pattern to match")
    return found


class PatternJoin:
    """Finds all ways in which patterns hold in one graph. The one with the most known parts goes first."""

    def __init__(self, graph: ScopeGraph, view: View, *, infer: bool) -> None:
        self._graph, self._view, self._infer = graph, view, infer
        self._reasoner = Reasoner(graph, view)
        self._meanings: dict[str, list[Node]] = {}

    def solve(self, patterns: Sequence[TriplePattern]) -> Iterator[_Solution]:
        """Yields each solution once, in no order."""
        seen: set[tuple[object, ...]] = set()
        for bindings, chosen in self._join(dict(enumerate(patterns)), {}, {}):
            intervals = tuple(chosen[number] for number in range(len(patterns)))
            mark = (*sorted(bindings.items()), *map(id, intervals))
            if mark not in seen:
                seen.add(mark)
                yield _Solution(bindings, intervals)

    def _join(
        self, left: dict[int, TriplePattern], bindings: dict[str, Node], chosen: dict[int, Interval]
    ) -> Iterator[tuple[dict[str, Node], dict[int, Interval]]]:
        if not left:
            yield bindings, chosen
            return
        self._view.spend(len(left))
        number = min(left, key=lambda one: (self._rate_openness(left[one], bindings), one))
        rest = dict(left)
        del rest[number]
        for interval in self._list_candidates(left[number], bindings):
            self._view.spend(1)
            more = self._bind(left[number], interval, bindings)
            if more is not None:
                yield from self._join(rest, more, {**chosen, number: interval})

    def _rate_openness(self, pattern: TriplePattern, bindings: _Bindings) -> tuple[int, bool, int]:
        """Rates how many facts a pattern may visit: by its open ends, then by those of its relation."""
        ends = (self._find(part, bindings) for part in (pattern.subject, pattern.object))
        relation = self._find_relation(pattern, bindings)
        stated = 0 if relation is None else len(self._graph.index.by_relation.get(relation, ()))
        return sum(end is None for end in ends), relation is None, stated

    def _find(self, part: str | None, bindings: _Bindings) -> list[Node] | None:
        """Returns the nodes that a part may be; None for any."""
        if part is None:
            return None
        if part.startswith(_VARIABLE):
            return [bindings[part]] if part in bindings else None
        if part not in self._meanings:
            self._meanings[part] = self._graph.identities.find(part)
        return self._meanings[part]

    def _list_candidates(self, pattern: TriplePattern, bindings: _Bindings) -> Iterator[Interval]:
        subjects = self._find(pattern.subject, bindings)
        objects = self._find(pattern.object, bindings)
        relation = self._find_relation(pattern, bindings)
        facts = self._reasoner.list_facts if self._infer else self._reasoner.list_stated
        ends = product((None,) if subjects is None else subjects, (None,) if objects is None else objects)
        for interval in chain.from_iterable(facts(relation, *pair) for pair in ends):
            if not interval.negated and self._view.admits(interval):
                yield interval

    def _find_relation(self, pattern: TriplePattern, bindings: _Bindings) -> str | None:
        relation = pattern.relation
        if relation is not None and relation.startswith(_VARIABLE):
            return bindings.get(relation)
        return relation

    def _bind(
        self, pattern: TriplePattern, interval: Interval, bindings: dict[str, Node]
    ) -> dict[str, Node] | None:
        """Extends the bindings by those of one more pattern; None if they disagree."""
        more = dict(bindings)
        parts = (interval.subject, interval.relation, interval.object)
        for part, value in zip(pattern, parts, strict=True):
            if part is not None and part.startswith(_VARIABLE) and more.setdefault(part, value) != value:
                return None
        return more
