"""Where a fact comes from: the sentences behind it, its rivals, and decisions about it."""

from __future__ import annotations

from ..core.condition import Condition
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.where import Where
from ..store import Store
from .asking import Asking, statement_id
from .fact import Explanation, Fact
from .inference import Inferred, Reasoner
from .quotations import quote
from .scope_graph import ScopeGraph, View
from .validity import Interval


def find_fact(asking: Asking, scope: Scope, id: str, view: View) -> Fact | None:
    """The fact with an id: that of one of its statements, or of what a rule makes."""

    def find(graph: ScopeGraph) -> Fact | None:
        interval = _find_interval(asking, graph, id, view)
        if interval is None:
            return None
        return asking.make_facts(graph, [interval])[0]

    return asking.graphs.ask(scope.path, find)


def _find_interval(asking: Asking, graph: ScopeGraph, id: str, view: View) -> Interval | None:
    if id.startswith("~"):
        return _find_inferred(graph, id, view)
    source = id.rpartition("#")[0] or id
    for record in asking.graphs.read(graph.scope, list(dict.fromkeys((id, source)))):
        ids = {record.seq: record.id}
        for interval in graph.find_intervals(record.seq, view):
            if any(statement_id(assertion, ids) == id for assertion in interval.said):
                return interval
    return None


def _find_inferred(graph: ScopeGraph, id: str, view: View) -> Interval | None:
    _, subject, relation, value = id.split("~", 3)
    for interval in Reasoner(graph, view).list_from(subject, relation):
        if interval.object == value and isinstance(interval, Inferred):
            return interval
    return None


def list_rivals(asking: Asking, fact: Fact, view: View) -> list[Fact]:
    """The facts that contradict one, where nothing decides."""

    def find(graph: ScopeGraph) -> list[Fact]:
        interval = _find_interval(asking, graph, fact.id, view)
        if interval is None:
            return []
        return asking.make_facts(graph, interval.rivals)

    return asking.graphs.ask(fact.scope, find)


def explain_fact(asking: Asking, fact: Fact, view: View) -> Explanation:
    """The sentences that state a fact and that ended it; of an inferred one, those of its premises."""

    def explain(graph: ScopeGraph) -> Explanation:
        interval = _find_interval(asking, graph, fact.id, view)
        if interval is None:
            return Explanation(fact=fact)
        rule, premises = "", list[Fact]()
        if isinstance(interval, Inferred):
            rule, premises = interval.rule, asking.make_facts(graph, interval.premises)
        ended = [] if interval.closer is None else [interval.closer]
        return Explanation(
            fact=fact,
            quotations=quote(asking.graphs, graph, interval.said),
            ended_by=quote(asking.graphs, graph, ended),
            rule=rule,
            premises=tuple(premises),
        )

    return asking.graphs.ask(fact.scope, explain)


def list_decisions(store: Store, scope: Scope, now: float) -> list[Record]:
    """What was decided in a scope, the oldest first."""
    decided = Condition("data.decision", "exists", True)
    return store.find(Where(scope=scope, kinds=Kind.TRIPLE, conditions=(decided,), alive_at=now))
