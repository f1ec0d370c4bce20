"""Questions to the graphs of one or several scopes, answered with facts, their sources, and entities.

Explains facts: the sentences behind them, their rivals, and decisions; and writes them as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import chain, islice, product
from typing import TypeVar

from ..core.condition import Condition
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.where import Where
from ..store import Store
from ..text.facts.statement import Nature
from . import Graphs
from .assertion import Assertion, Node
from .fact import Contradiction, Entity, Explanation, Fact, Neighbour, Quotation, day_of
from .inference import FactMatch, Inferred, PatternJoin, Reasoner, TriplePattern
from .scope_graph import ScopeGraph, View
from .validity import Interval

_T = TypeVar("_T")
_Ways = dict[Node, list[tuple[Interval, ...]]]  # the shortest paths to each node, as the facts along them


class Asking:
    """Answers questions with facts."""

    def __init__(self, graphs: Graphs) -> None:
        self.graphs = graphs

    def list_facts(self, scope: Scope, choose: Callable[[ScopeGraph], Iterable[Interval]]) -> list[Fact]:
        """Lists the facts that `choose` picks in each scope."""
        return self.graphs.gather(scope, lambda graph: self.make_facts(graph, choose(graph)))

    def about(self, scope: Scope, entity: str, view: View) -> list[Fact]:
        """Lists the facts about an entity: those with it as subject, then those with it as object."""
        return self.list_facts(scope, lambda graph: _list_about(graph, entity, view))

    def timeline(self, scope: Scope, entity: str, view: View) -> list[Fact]:
        """Lists all facts that ever held about an entity, the earliest first."""
        facts = self.about(scope, entity, replace(view, at=None))
        return sorted(facts, key=_start)

    def list_all(self, scope: Scope, view: View) -> list[Fact]:
        """Lists all facts of a time, by subject and relation."""

        def list_admitted(graph: ScopeGraph) -> Iterator[Interval]:
            for group in sorted(graph.list_groups()):
                yield from filter(view.admits, graph.trace(*group, view))

        return self.list_facts(scope, list_admitted)

    def list_entities(self, scope: Scope, kind: str | None = None) -> list[Entity]:
        """Lists all entities, the most often named first."""
        found = self.graphs.gather(
            scope, lambda graph: [_describe_entity(graph, root) for root in graph.identities.list_roots()]
        )
        chosen = [entity for entity in found if kind is None or entity.kind == kind]
        return sorted(chosen, key=lambda entity: (-entity.facts, entity.name))

    def find_entities(self, scope: Scope, name: str) -> list[Entity]:
        """Finds the entities that a name or an id may mean."""
        return self.graphs.gather(
            scope, lambda graph: [_describe_entity(graph, root) for root in _find_entity(graph, name)]
        )

    def instructions(self, scope: Scope, view: View, natures: Sequence[Nature]) -> list[Fact]:
        """Lists the standing instructions and preferences that hold."""
        facts = self.list_facts(scope, lambda graph: graph.list_special(view, natures))
        return sorted(facts, key=lambda fact: (fact.nature is not Nature.INSTRUCTION, _start(fact)))

    def contradictions(self, scope: Scope, view: View) -> list[Contradiction]:
        """Lists facts that cannot hold together and between which no rule or decision chooses."""
        return self.graphs.gather(scope, lambda graph: self._list_contradictions(graph, view))

    def _list_contradictions(self, graph: ScopeGraph, view: View) -> list[Contradiction]:
        found: list[Contradiction] = []
        for subject, relation in sorted(graph.list_groups()):
            rivals = [one for one in graph.trace(subject, relation, view) if one.is_disputed]
            if rivals:
                name = graph.identities.name_of(subject)
                facts = tuple(self.make_facts(graph, rivals))
                quoted = tuple(self.quote(graph, rival.said) for rival in rivals)
                found.append(Contradiction(subject=name, relation=relation, facts=facts, quotations=quoted))
        return found

    def match(
        self, scope: Scope, patterns: Sequence[TriplePattern], view: View, *, infer: bool, limit: int
    ) -> list[FactMatch]:
        """Finds the bindings with which all patterns hold, at most `limit` of them in each scope."""

        def match(graph: ScopeGraph) -> list[FactMatch]:
            join = PatternJoin(graph, view, infer=infer)
            solutions = list(islice(join.solve(patterns), limit))
            facts = iter(self.make_facts(graph, chain.from_iterable(one.intervals for one in solutions)))
            return [
                FactMatch(
                    bindings={name: _name_bound(graph, node) for name, node in solution.bindings.items()},
                    facts=tuple(islice(facts, len(solution.intervals))),
                )
                for solution in solutions
            ]

        return self.graphs.gather(scope, match)[:limit]

    def neighbours(self, scope: Scope, entity: str, view: View) -> list[Neighbour]:
        """Lists the entities one fact away, the surest first."""

        def find(graph: ScopeGraph) -> list[Neighbour]:
            legs = [leg for root in graph.identities.find(entity) for leg in _list_legs(graph, root, view)]
            facts = self.make_facts(graph, [interval for interval, _ in legs])
            return [
                Neighbour(entity=_describe_entity(graph, end), fact=fact)
                for (_, end), fact in zip(legs, facts, strict=True)
            ]

        found = self.graphs.gather(scope, find)
        return sorted(found, key=lambda one: (-one.fact.confidence, one.entity.name, one.fact.relation))

    def paths(self, scope: Scope, start: str, goal: str, view: View, hops: int) -> list[tuple[Fact, ...]]:
        """Finds the shortest paths between two entities, as the facts along them."""

        def find(graph: ScopeGraph) -> list[tuple[Fact, ...]]:
            ends = product(graph.identities.find(start), graph.identities.find(goal))
            ways = chain.from_iterable(_list_paths(graph, *pair, view, hops) for pair in ends)
            return [tuple(self.make_facts(graph, way)) for way in ways]

        return sorted(self.graphs.gather(scope, find), key=len)

    def quote(self, graph: ScopeGraph, said: Iterable[Assertion]) -> tuple[Quotation, ...]:
        """Quotes the sentences of statements, each once. Call it inside a question."""
        wanted = list(said)
        seqs = list(dict.fromkeys(assertion.source.seq for assertion in wanted))
        records = {record.seq: record for record in self.graphs.read(graph.scope, seqs)}
        there = (one for one in wanted if one.source.seq in records)
        return tuple(dict.fromkeys(_quote_one(records[one.source.seq], one) for one in there))

    def make_facts(self, graph: ScopeGraph, intervals: Iterable[Interval]) -> list[Fact]:
        """Makes facts with the ids of their sources. Call it inside a question."""
        chosen = list(intervals)
        seqs = [assertion.source.seq for interval in chosen for assertion in interval.said]
        seqs += [one.successor.first.source.seq for one in chosen if one.successor is not None]
        ids = self.graphs.name_sources(graph, seqs)
        return [_make_fact(graph, interval, ids) for interval in chosen]


def _quote_one(record: Record, assertion: Assertion) -> Quotation:
    text, told = record.whole.text, assertion.statement
    if not assertion.source.is_told and told.end > told.start:
        text = text[told.start : told.end]
    return Quotation(
        id=record.id,
        text=text.strip(),
        occurred=record.occurred,
        who=record.who,
        trust=record.trust,
        source=record.source,
    )


def _list_about(graph: ScopeGraph, entity: str, view: View) -> list[Interval]:
    found: list[Interval] = []
    for root in _find_entity(graph, entity):
        naming = graph.list_intervals_naming(root, view)
        found += graph.list_intervals(root, view)
        found += [interval for interval in naming if interval.subject != root]
    return [interval for interval in found if view.admits(interval)]


def _make_fact(graph: ScopeGraph, interval: Interval, ids: dict[int, str]) -> Fact:
    superseded = _statement_id(interval.successor.first, ids) if interval.successor is not None else None
    rule, id = "", _statement_id(interval.first, ids)
    if isinstance(interval, Inferred):
        rule, id = interval.rule, f"~{interval.subject}~{interval.relation}~{interval.object}"
    seqs = dict.fromkeys(assertion.source.seq for assertion in interval.said)
    return Fact(
        id=id,
        scope=graph.scope,
        subject=graph.identities.name_of(interval.subject),
        relation=interval.relation,
        object=_name_object(graph, interval),
        negated=interval.negated,
        valid_from=interval.start,
        valid_to=interval.end,
        known_from=interval.known_from,
        known_to=interval.known_to,
        confidence=round(interval.confidence, 4),
        sources=tuple(ids[seq] for seq in seqs if seq in ids),
        derived=rule,
        superseded_by=superseded,
        nature=interval.nature,
        trust=max((one.source for one in interval.said), key=lambda source: source.rank).trust,
        subject_id=interval.subject,
        object_id=interval.object,
    )


def _statement_id(assertion: Assertion, ids: dict[int, str]) -> str:
    """Returns the id of a statement; if a caller stated it directly, that is the id of its record."""
    source = ids.get(assertion.source.seq, str(assertion.source.seq))
    return source if assertion.source.is_told else f"{source}#{assertion.position}"


def _name_object(graph: ScopeGraph, interval: Interval) -> str:
    """Returns the name of the object; for a value, its text as written."""
    if interval.object.startswith("value:"):
        return interval.first.statement.object.name
    return graph.identities.name_of(interval.object)


def _name_bound(graph: ScopeGraph, node: Node) -> str:
    """Returns the name of the entity, value or relation that a variable is bound to."""
    return node if ":" not in node else graph.identities.name_of(node)


def _describe_entity(graph: ScopeGraph, root: Node) -> Entity:
    identities = graph.identities
    return Entity(
        id=root,
        name=identities.name_of(root),
        kind=identities.kind_of(root),
        aliases=identities.aliases_of(root),
        scope=graph.scope,
        facts=identities.count_uses(root),
    )


def _find_entity(graph: ScopeGraph, name: str) -> list[Node]:
    """Finds the entities that a name may mean. A value ("my name is Ann") counts only if no entity fits."""
    identities = graph.identities
    roots = identities.find(name)
    if not roots and "'s " in name:  # "Ann's wife", who has no name of her own
        roots = [root for root in identities.list_roots() if identities.name_of(root) == name]
    entities = [root for root in roots if not root.startswith("value:")]
    return entities or roots


def _start(fact: Fact) -> tuple[float, float]:
    return fact.valid_from if fact.valid_from is not None else float("-inf"), fact.known_from


def _list_legs(graph: ScopeGraph, node: Node, view: View) -> Iterator[tuple[Interval, Node]]:
    """Yields the facts that hold from an entity on, in either direction, each with the entity it leads to.

    Values lead nowhere.
    """
    onward = ((one, one.object) for one in graph.list_intervals(node, view))
    back = ((one, one.subject) for one in graph.list_intervals_naming(node, view))
    for interval, end in chain(onward, back):
        is_value = interval.object.startswith("value:")
        if not interval.negated and not is_value and view.admits(interval):
            yield interval, end


def _list_paths(
    graph: ScopeGraph, start: Node, goal: Node, view: View, hops: int
) -> list[tuple[Interval, ...]]:
    """Lists all shortest paths of at most `hops` facts."""
    front: _Ways = {start: [()]}
    known = {start}
    for _ in range(hops if start != goal else 0):
        front = _widen(graph, front, known, view)
        if goal in front:
            return front[goal]
        known |= front.keys()
    return []


def _widen(graph: ScopeGraph, front: _Ways, known: AbstractSet[Node], view: View) -> _Ways:
    """Extends a front by one step, with all shortest paths to each new node."""
    further: _Ways = {}
    for node, ways in front.items():
        for interval, end in _list_legs(graph, node, view):
            if end not in known:
                view.spend(len(ways))
                further.setdefault(end, []).extend((*way, interval) for way in ways)
    return further


# --- facts by id, and why they hold


def find_fact(asking: Asking, scope: Scope, id: str, view: View) -> Fact | None:
    """Finds a fact by the id of one of its statements, or of one inferred by a rule; None if absent."""
    return _ask(asking, scope.path, id, view, lambda graph, found: asking.make_facts(graph, [found])[0])


def list_rivals(asking: Asking, fact: Fact, view: View) -> list[Fact]:
    """Lists the facts that contradict one while nothing decides between them."""
    rivals = _ask(
        asking, fact.scope, fact.id, view, lambda graph, found: asking.make_facts(graph, found.rivals)
    )
    return rivals or []


def explain_fact(asking: Asking, fact: Fact, view: View) -> Explanation:
    """Quotes the sentences that state a fact and that ended it; of an inferred one, those of its premises."""

    def explain(graph: ScopeGraph, found: Interval) -> Explanation:
        rule, premises = "", list[Fact]()
        if isinstance(found, Inferred):
            rule, premises = found.rule, asking.make_facts(graph, found.premises)
        return Explanation(
            fact=fact,
            quotations=asking.quote(graph, found.said),
            ended_by=asking.quote(graph, [found.closer] if found.closer else []),
            rule=rule,
            premises=tuple(premises),
        )

    return _ask(asking, fact.scope, fact.id, view, explain) or Explanation(fact=fact)


def _ask(
    asking: Asking, scope: str, id: str, view: View, tell: Callable[[ScopeGraph, Interval], _T]
) -> _T | None:
    """Calls `tell` with the fact that has an id; None if there is no such fact."""

    def find(graph: ScopeGraph) -> _T | None:
        found = _find_interval(asking, graph, id, view)
        return None if found is None else tell(graph, found)

    return asking.graphs.ask(scope, find)


def _find_interval(asking: Asking, graph: ScopeGraph, id: str, view: View) -> Interval | None:
    if id.startswith("~") and id.count("~") == 3:
        _, subject, relation, value = id.split("~")
        facts = Reasoner(graph, view).list_facts(relation, subject, value)
        return next((one for one in facts if isinstance(one, Inferred)), None)
    source = id.rpartition("#")[0] or id
    for record in asking.graphs.read(graph.scope, list(dict.fromkeys((id, source)))):
        ids = {record.seq: record.id}
        for interval in graph.find_intervals(record.seq, view):
            if any(_statement_id(assertion, ids) == id for assertion in interval.said):
                return interval
    return None


def list_decisions(store: Store, scope: Scope, now: float) -> list[Record]:
    """Lists the decisions of a scope, the oldest first."""
    decided = Condition("data.decision", "exists", True)
    return store.find(Where(scope=scope, kinds=Kind.TRIPLE, conditions=(decided,), alive_at=now))


def _phrase_fact(fact: Fact) -> str:
    """Returns a fact with its times, as one line."""
    sentence = fact.text if fact.confidence >= 0.5 else f"perhaps: {fact.text}"
    first, last = day_of(fact.valid_from), day_of(fact.valid_to)
    if first and last:
        return f"{sentence} ({first} to {last})"
    when = f"since {first}" if first else f"until {last}" if last else ""
    return f"{sentence} ({when})" if when else sentence


def phrase_profile(name: str, aliases: Iterable[str], now: Iterable[Fact], later: Iterable[Fact]) -> str:
    """Returns a short text about an entity: its names, its facts, and planned facts."""
    lines = [name]
    others = [alias for alias in aliases if alias != name]
    if others:
        lines[0] = f"{name} (also {', '.join(others)})"
    lines += [f"- {_phrase_fact(fact)}" for fact in now]
    lines += [f"- from {day_of(fact.valid_from)}: {fact.text}" for fact in later]
    return "\n".join(lines)
