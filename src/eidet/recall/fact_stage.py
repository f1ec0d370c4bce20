"""The stage of a recall that asks the facts: what holds goes first; instructions that apply come along."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ..core.hit import Hit
from ..core.record import Record
from ..core.where import Where
from ..graph import Graphs
from ..graph.scope_graph import Moments, ScopeGraph, View
from ..index import Candidates
from ..store import Head
from .asked_moment import FIRST, LAST
from .clues import Clues
from .fact_look import FactQuery, apply_findings, find_facts, read_fact_query
from .standing import add_standing, is_request, list_wishes
from .understand import Understood

if TYPE_CHECKING:
    from . import Query, Recall


class AskedQuery(NamedTuple):
    """A query, what was understood of it, and what its hits are read for."""

    query: Query
    understood: Understood
    clues: Clues


def consult_facts(
    recall: Recall, hits: list[Hit], question: AskedQuery, found: Candidates, head: Head
) -> list[Hit]:
    """The hits as facts order them. An identifier leaves nothing to choose."""
    if recall.graphs is None or question.understood.identifiers:
        return hits
    paths = _list_paths(recall.graphs, hits, question.query, head)
    if not paths:
        return hits
    meant = _read_query(recall, question)
    for path in paths:
        findings = find_facts(recall.graphs, path, head, hits, meant)
        hits = apply_findings(hits, findings, path, meant, partial(_read_visible, recall, question.query))
    if question.query.scope.below:
        return hits
    return _add_standing(recall, recall.graphs, hits, question.query, found, head)


def _read_visible(recall: Recall, query: Query, path: str, seqs: list[int]) -> list[Record | None]:
    """The records that pass the query's filter and have not expired; None for all others."""
    living = Where(alive_at=query.now)
    seen: list[Record | None] = []
    for record in recall.read(path, seqs):
        passes = record is not None and living.matches(record)
        if record is not None and query.where is not None:
            passes = passes and query.where.matches(record)
        seen.append(record if passes else None)
    return seen


def _read_query(recall: Recall, question: AskedQuery) -> FactQuery:
    query, understood, clues = question
    return read_fact_query(
        query.words,
        asked=query.asked,
        now=query.now,
        language=recall.analyzer.language,
        timed=bool(understood.dates) or understood.moment in (FIRST, LAST),
        terms=clues.terms,
        names=clues.names,
    )


def _list_paths(graphs: Graphs, hits: list[Hit], query: Query, head: Head) -> list[str]:
    """The scopes whose facts are asked: the one that is meant, or those of the hits below it.

    A scope in which nothing is stated has nothing to tell.
    """
    if query.scope.below:
        return list(dict.fromkeys(hit.record.scope for hit in hits))
    path = query.scope.path
    if graphs.ask(path, _states_nothing, head):
        return []
    return [path]


def _states_nothing(graph: ScopeGraph) -> bool:
    return not graph.index.sources


def _add_standing(
    recall: Recall, graphs: Graphs, hits: list[Hit], query: Query, found: Candidates, head: Head
) -> list[Hit]:
    """What the user wants whenever such a thing is asked, behind what was found."""
    moments = Moments(view=View(now=query.now), at=query.asked)
    ask = partial(list_wishes, moments=moments, requested=is_request(query.words))
    wishes = graphs.ask(query.scope.path, ask, head)
    if not wishes.instructions and not wishes.preferences:
        return hits
    return add_standing(hits, found, wishes, query, recall.read)
