"""Where a fact comes from: the sentences behind it, its rivals, and decisions about it; facts in words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from ..core.condition import Condition
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.where import Where
from ..store import Store
from .asking import Asking, statement_id
from .fact import Explanation, Fact
from .inference import Inferred, Reasoner
from .scope_graph import ScopeGraph, View
from .validity import Interval


def find_fact(asking: Asking, scope: Scope, id: str, view: View) -> Fact | None:
    """The fact with an id: that of one of its statements, or of what a rule makes."""

    def find(graph: ScopeGraph) -> Fact | None:
        interval = _find_interval(asking, graph, id, view)
        return None if interval is None else asking.make_facts(graph, [interval])[0]

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
    found = Reasoner(graph, view).list_from(subject, relation)
    return next((one for one in found if one.object == value and isinstance(one, Inferred)), None)


def list_rivals(asking: Asking, fact: Fact, view: View) -> list[Fact]:
    """The facts that contradict one, where nothing decides."""

    def find(graph: ScopeGraph) -> list[Fact]:
        interval = _find_interval(asking, graph, fact.id, view)
        return [] if interval is None else asking.make_facts(graph, interval.rivals)

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
            quotations=asking.quote(graph, interval.said),
            ended_by=asking.quote(graph, ended),
            rule=rule,
            premises=tuple(premises),
        )

    return asking.graphs.ask(fact.scope, explain)


def list_decisions(store: Store, scope: Scope, now: float) -> list[Record]:
    """What was decided in a scope, the oldest first."""
    decided = Condition("data.decision", "exists", True)
    return store.find(Where(scope=scope, kinds=Kind.TRIPLE, conditions=(decided,), alive_at=now))


def _phrase_fact(fact: Fact) -> str:
    """A fact with its times, as one line."""
    sentence = fact.text
    if fact.confidence < 0.5:
        sentence = f"perhaps: {sentence}"
    when = _phrase_span(fact)
    return f"{sentence} ({when})" if when else sentence


def _phrase_span(fact: Fact) -> str:
    """From when to when, by days."""
    if fact.valid_to is None:
        return "" if fact.valid_from is None else f"since {_day_of(fact.valid_from)}"
    if fact.valid_from is None:
        return f"until {_day_of(fact.valid_to)}"
    return f"{_day_of(fact.valid_from)} to {_day_of(fact.valid_to)}"


def _day_of(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def phrase_profile(name: str, aliases: Iterable[str], now: Iterable[Fact], later: Iterable[Fact]) -> str:
    """A short text of what holds, and of what is to come."""
    lines = [name]
    others = [alias for alias in aliases if alias != name]
    if others:
        lines[0] = f"{name} (also {', '.join(others)})"
    lines += [f"- {_phrase_fact(fact)}" for fact in now]
    lines += [f"- from {_day_of(fact.valid_from or 0.0)}: {fact.text}" for fact in later]
    return "\n".join(lines)
