"""What follows the ranking: later records beside the ones that they may change; instructions that apply."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ..core.hit import Hit
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..graph.scope_graph import Moments, ScopeGraph, View
from ..index import Candidates, Probe
from ..store import Head
from .asked_moment import NOW
from .clues import Clues
from .fact_look import Moment, find_replaced
from .later_records import Lookup, Shares, show_later
from .second_look import Measures
from .standing import add_standing, is_request, list_wishes
from .understand import Understood

if TYPE_CHECKING:
    from . import Query, Recall

FURTHER: Final = 3  # later records that are read because they name what the best hit says
PROBED: Final = 50  # records that the index gives of those


class AskedQuery(NamedTuple):
    """A query, what was understood of it, and what its hits are read for."""

    query: Query
    understood: Understood
    clues: Clues


def show_changes(
    recall: Recall, hits: list[Hit], question: AskedQuery, measures: Measures, head: Head
) -> list[Hit]:
    """Where the present is asked for, the hits with what later records say. An identifier names one thing."""
    if not hits or question.understood.moment != NOW or question.understood.identifiers:
        return hits
    query = question.query
    replaced: dict[int, Record] = {}
    if recall.graphs is not None:
        read = partial(_read_visible, recall, query)
        replaced = find_replaced(recall.graphs, head, hits, Moment(query.asked, query.now), read)
    covered = partial(measures.read, "words")
    lookup = Lookup(partial(_find_later, recall, query, head), covered, replaced, query.asked)
    return show_later(hits, question.clues, lookup)


def _find_later(
    recall: Recall, query: Query, head: Head, older: Record, value: frozenset[int]
) -> tuple[list[Record], Shares]:
    """Records later than one that have the most of its value, and the share of it that each record has."""
    if not value:
        return [], {}
    probe = Probe(
        scope=Scope(older.scope),
        now=query.now,
        where=query.where,
        terms=tuple(value),
        depth=PROBED,
        head=head,
    )
    found = recall.index.search(probe)
    later = ((found.words > 0) & (found.traits.occurred >= older.occurred)).nonzero()[0]
    if not len(later) or found.rarity <= 0:
        return [], {}
    best = later[(-found.words[later]).argsort(kind="stable")][:PROBED]
    shares = {int(found.seq[row]): float(found.words[row]) / found.rarity for row in best}
    shares.pop(older.seq, None)
    seqs = list(shares)[:FURTHER]
    return [record for record in recall.read(older.scope, seqs) if record is not None], shares


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


def add_instructions(
    recall: Recall, hits: list[Hit], question: AskedQuery, found: Candidates, head: Head
) -> list[Hit]:
    """What the user wants whenever such a thing is asked, behind what was found."""
    graphs, query = recall.graphs, question.query
    if graphs is None or question.understood.identifiers or query.scope.below:
        return hits
    if graphs.ask(query.scope.path, _states_nothing, head):
        return hits
    moments = Moments(view=View(now=query.now), at=query.asked)
    ask = partial(list_wishes, moments=moments, requested=is_request(query.words))
    wishes = graphs.ask(query.scope.path, ask, head)
    if not wishes.instructions and not wishes.preferences:
        return hits
    return add_standing(hits, found, wishes, query, recall.read)


def _states_nothing(graph: ScopeGraph) -> bool:
    return not graph.index.sources
