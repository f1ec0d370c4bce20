"""Joins patterns with variables, such as "who works in the city where their sister lives?"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Final, NamedTuple

from ..core.errors import BadInput
from .assertion import Assertion
from .fact import Fact
from .inference import Reasoner
from .names import Node
from .scope_graph import Moments, ScopeGraph
from .validity import Interval

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
    """Finds all ways in which patterns hold in one graph. The one with the fewest candidates goes first."""

    def __init__(self, graph: ScopeGraph, moments: Moments, *, infer: bool) -> None:
        self._graph, self._moments, self._infer = graph, moments, infer
        self._reasoner = Reasoner(graph, moments.view)
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
        number = self._choose(left, bindings)
        rest = dict(left)
        del rest[number]
        for interval in self._list_candidates(left[number], bindings):
            self._moments.view.spend(1)
            more = self._bind(left[number], interval, bindings)
            if more is not None:
                yield from self._join(rest, more, {**chosen, number: interval})

    def _choose(self, left: dict[int, TriplePattern], bindings: _Bindings) -> int:
        """Returns the number of the pattern with the fewest candidates; the first of equals."""
        if len(left) == 1:
            return next(iter(left))
        self._moments.view.spend(len(left))
        return min(left, key=lambda one: (self._estimate(left[one], bindings), one))

    def _estimate(self, pattern: TriplePattern, bindings: _Bindings) -> int:
        """Estimates how many statements a pattern may visit, given the bindings."""
        index, nodes = self._graph.index, (pattern.subject, pattern.object)
        subjects, objects = (self._find(part, bindings) for part in nodes)
        counts = [index.size]
        if subjects is not None:
            counts.append(self._count(subjects, index.list_said_of))
        if objects is not None:
            counts.append(self._count(objects, index.list_naming))
        relation = self._find_relation(pattern, bindings)
        if relation is not None and subjects is None and objects is None:
            counts.append(len(index.by_relation.get(relation, ())))
        return min(counts)

    def _count(self, nodes: list[Node], statements: Callable[[int], list[Assertion]]) -> int:
        members = self._graph.identities.members_of
        return sum(len(statements(number)) for node in nodes for number in members(node))

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
        for interval in self._list_intervals(subjects, relation, objects):
            fits = objects is None or interval.object in objects
            if fits and not interval.negated and self._moments.admits(interval):
                yield interval

    def _find_relation(self, pattern: TriplePattern, bindings: _Bindings) -> str | None:
        relation = pattern.relation
        if relation is not None and relation.startswith(_VARIABLE):
            return bindings.get(relation)
        return relation

    def _list_intervals(
        self, subjects: list[Node] | None, relation: str | None, objects: list[Node] | None
    ) -> Iterator[Interval]:
        if relation is not None:
            facts = self._reasoner.list_facts if self._infer else self._reasoner.list_stated
            ends = product((None,) if subjects is None else subjects, (None,) if objects is None else objects)
            yield from chain.from_iterable(facts(relation, *pair) for pair in ends)
        elif subjects is not None:
            for subject in subjects:
                yield from self._graph.list_intervals(subject, self._moments.view)
        elif objects is not None:
            for value in objects:
                yield from self._graph.list_intervals_naming(value, self._moments.view)
        else:
            for subject, name in self._graph.list_groups():
                yield from self._graph.trace(subject, name, self._moments.view)

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
