"""Explains facts: the sentences behind them, their rivals, and decisions; and writes facts as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

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

_T = TypeVar("_T")


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
    parts = id.split("~")
    if len(parts) != 4:
        return None
    _, subject, relation, value = parts
    found = Reasoner(graph, view).list_facts(relation, subject, value)
    return next((one for one in found if isinstance(one, Inferred)), None)


def list_decisions(store: Store, scope: Scope, now: float) -> list[Record]:
    """Lists the decisions of a scope, the oldest first."""
    decided = Condition("data.decision", "exists", True)
    return store.find(Where(scope=scope, kinds=Kind.TRIPLE, conditions=(decided,), alive_at=now))


def _phrase_fact(fact: Fact) -> str:
    """Returns a fact with its times, as one line."""
    sentence = fact.text
    if fact.confidence < 0.5:
        sentence = f"perhaps: {sentence}"
    when = _phrase_span(fact)
    return f"{sentence} ({when})" if when else sentence


def _phrase_span(fact: Fact) -> str:
    """Returns a fact's span in words, by days; "" if open at both ends."""
    if fact.valid_to is None:
        return "" if fact.valid_from is None else f"since {_day_of(fact.valid_from)}"
    if fact.valid_from is None:
        return f"until {_day_of(fact.valid_to)}"
    return f"{_day_of(fact.valid_from)} to {_day_of(fact.valid_to)}"


def _day_of(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def phrase_profile(name: str, aliases: Iterable[str], now: Iterable[Fact], later: Iterable[Fact]) -> str:
    """Returns a short text about an entity: its names, its facts, and planned facts."""
    lines = [name]
    others = [alias for alias in aliases if alias != name]
    if others:
        lines[0] = f"{name} (also {', '.join(others)})"
    lines += [f"- {_phrase_fact(fact)}" for fact in now]
    lines += [f"- from {_day_of(fact.valid_from or 0.0)}: {fact.text}" for fact in later]
    return "\n".join(lines)
