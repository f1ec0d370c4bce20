"""Facts that are said again after they had ended: "Ann lives in Porto", back from Rome, is news.

A fact that its scope has word for word is not stored again. If what it states was replaced since, it is.
"""

from __future__ import annotations

from functools import partial

from ..core.record import Record
from ..graph.scope_graph import ScopeGraph, View
from ..parts import Parts
from ..text.analysis import has_statements


def is_news(parts: Parts, said: Record, kept: Record, now: float) -> bool:
    """Whether a record that was taken for a repetition of another one states what no longer held."""
    if not said.occurred > kept.occurred or not has_statements(kept.terms):
        return False
    question = partial(_has_ended, seq=kept.seq, at=said.occurred, view=View(now=now))
    return parts.settings.facts and parts.graphs.ask(kept.scope, question)


def _has_ended(graph: ScopeGraph, seq: int, at: float, view: View) -> bool:
    """Whether nothing of what a record states holds at a time, whoever says so."""
    intervals = graph.find_intervals(seq, view)
    for interval in intervals:
        said = graph.trace(interval.subject, interval.relation, view)
        if any(other.holds_at(at) for other in said.find((interval.object, interval.negated))):
            return False
    return bool(intervals)
