"""Standing instructions and preferences that apply to a question: "always answer in metric" applies to all.

An instruction that names an occasion ("when I ask about recipes …") applies to questions about it, and so
does a preference. Likeness is that of the embedder; a request needs less of it than another question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..core.hit import Hit, Reasons
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..graph import Graphs
from ..graph.assertion import PERSON, Assertion, name_key
from ..graph.identities import USER_NODE
from ..graph.scope_graph import ScopeGraph, View
from ..index import Candidates, Floats
from ..models.embed import embed_checked
from ..store import Head
from ..text.facts.statement import Nature, Reference
from ..trust.privacy.quarantine import is_untrusted

if TYPE_CHECKING:
    from . import Query, Recall

LOOKED_AT: Final = 50  # latest wishes of each nature that are considered
ALIKE: Final = 0.25  # least cosine of an occasion with a request …
MUCH_ALIKE: Final = 0.4  # … and any other question
FIRST_PLACES: Final = 10  # places of an answer, the last of which may go to instructions
PLACES_EACH: Final = 5  # places of an answer per instruction
ANSWERS_NOTHING: Final = 0.05  # the highest score of an instruction, which answers nothing
_REQUEST: Final = re.compile(
    r"\b(?:how (?:do|can|should|could|would|to|might)|(?:can|could|would|will) you|please|show me|help me"
    r"|explain|walk me|give me|write|draft|suggest|recommend|advise|what (?:should|would|could|can|steps)"
    r"|which (?:\w+ ){1,3}(?:should|would|do you)|tips|best way|let's|i'd like"
    r"|i'?m (?:planning|looking|working|trying|thinking|about)|i am (?:planning|looking|working|trying)"
    r"|i (?:want|need|plan|would like))\b",
)
APPLIES: Final = ("a standing instruction that applies",)
PREFERS: Final = "prefers"
NATURES: Final = (Nature.INSTRUCTION, Nature.PREFERENCE)
_OCCASION: Final = re.compile(
    r"\b(?:when(?:ever)?|if|every time|any time|for (?:all|any|every)|in (?:case|all)|wenn|falls)\b"
)


_Wishes = tuple[set[int], set[int]]  # the seqs of records with instructions, and with preferences


class StandingWish(NamedTuple):
    """A standing wish, and the latest record that states it."""

    path: str
    seq: int
    nature: Nature
    subject: str  # the id of who wants it
    wish: str

    @property
    def is_particular(self) -> bool:
        """Whether it applies only on an occasion."""
        return self.nature is Nature.PREFERENCE or _OCCASION.search(self.wish.lower()) is not None


def list_standing(
    recall: Recall, query: str, scope: Scope, seen: Where, *, at: float, now: float
) -> list[Record]:
    """Lists the records whose wishes apply to a question: instructions, then preferences, latest first."""
    if recall.graphs is None:
        return []
    view = View(now=now, at=at)
    wishes: dict[tuple[str, str], tuple[StandingWish, Record]] = {}  # a copy in another scope counts once
    latest = _list_latest(recall.graphs, scope, view)
    for one, record in zip(latest, recall.read_places([(one.path, one.seq) for one in latest]), strict=True):
        if record is not None and _may_instruct(one, record):
            wishes.setdefault((record.id, record.text), (one, record))
    particular = [record for one, record in wishes.values() if one.is_particular]
    left_out = {record.seq for record in particular} - _list_alike(recall, query, particular)
    alike = [pair for pair in wishes.values() if pair[1].seq not in left_out]
    chosen = [pair for pair in alike if seen.matches(pair[1])]
    chosen.sort(key=lambda pair: (pair[0].nature is not Nature.INSTRUCTION, -pair[1].occurred))
    return [record for _, record in chosen]


def _list_latest(graphs: Graphs, scope: Scope, view: View) -> list[StandingWish]:
    """Lists the latest wishes of each nature, so that many preferences do not hide an instruction."""
    held = graphs.gather(scope, partial(_list_held, view=view))
    found = sorted(held, key=attrgetter("seq"), reverse=True)
    by_nature = ([one for one in found if one.nature is nature] for nature in NATURES)
    return [one for wishes in by_nature for one in wishes[:LOOKED_AT]]


def _list_held(graph: ScopeGraph, view: View) -> list[StandingWish]:
    found: list[StandingWish] = []
    for interval in graph.list_special(view, NATURES):
        first, seq = interval.first.statement, max(assertion.source.seq for assertion in interval.said)
        found.append(StandingWish(graph.scope, seq, first.nature, interval.subject, first.object.name))
    return found


def _may_instruct(one: StandingWish, record: Record) -> bool:
    """Accepts instructions only from people the agent works for, not from pages, tools or itself."""
    speaker = f"{PERSON}:{name_key(record.who or '')}"
    is_own = one.nature is Nature.INSTRUCTION or one.subject in (USER_NODE, speaker)
    return is_own and _is_told_by_user(record)


def _is_told_by_user(record: Record) -> bool:
    return not is_untrusted(record) and record.who != "assistant"


def _list_alike(recall: Recall, query: str, records: Sequence[Record]) -> set[int]:
    """Returns the seqs of records with a unit close to the query, among those with full vectors."""
    whole = [record for record in records if record.vector is not None and not record.level]
    if not whole:
        return set()
    from ..models.embed.quantise import row_of

    vector: Floats = embed_checked(recall.embedder, [query])[0]
    rows = row_of(b"".join(record.vector or b"" for record in whole)).reshape(-1, len(vector))
    lengths = np.maximum(np.linalg.norm(rows, axis=1) * np.linalg.norm(vector), 1e-12)
    near = rows @ vector / lengths >= (ALIKE if is_request(query) else MUCH_ALIKE)
    alike: set[int] = set()
    at = 0
    for record in whole:
        units = len(record.vector or b"") // (4 * len(vector))
        if near[at : at + units].any():
            alike.add(record.seq)
        at += units
    return alike


def add_instructions(
    recall: Recall, hits: list[Hit], query: Query, found: Candidates, head: Head
) -> list[Hit]:
    """Puts the standing wishes that apply into the last of the first ten places, if one scope is asked."""
    graphs, path = recall.graphs, query.scope.path
    if graphs is None or not query.scope.is_one:
        return hits
    view = View(now=query.now, at=query.asked)
    wishes = graphs.ask(path, partial(_list_wishes, view=view, query=query.words), head)
    end = min(query.limit, FIRST_PLACES)
    places = end // PLACES_EACH
    chosen = _choose_wishes(hits[: end - places], found, wishes, query.words, places)
    if not chosen:
        return hits
    kept, rest = hits[: end - len(chosen)], hits[end - len(chosen) :]
    seen = Where() if query.where is None else query.where
    added = [
        Hit(record=record, score=_score_between(kept, rest), reasons=partial(Reasons, words=APPLIES))
        for record in recall.read(found.scopes[0], chosen)
        if record is not None and _is_told_by_user(record) and seen.matches(record)
    ]
    seqs = {hit.record.seq for hit in added}
    return kept + added + [hit for hit in rest if hit.record.seq not in seqs]


def _choose_wishes(
    hits: Sequence[Hit], found: Candidates, wishes: _Wishes, query: str, places: int
) -> list[int]:
    """Returns the seqs of the wishes that apply: instructions, and one preference for a request."""
    chosen, preferred = (_choose_alike(hits, found, seqs, query) for seqs in wishes)
    if chosen and preferred:
        return [*chosen[: places - 1], preferred[0]]
    return (chosen + preferred)[:places]


def _score_between(before: Sequence[Hit], after: Sequence[Hit]) -> float:
    """Returns a score that fits the place: that of the next hit, or a low one at the end."""
    if after:
        return after[0].score
    return min([ANSWERS_NOTHING, *[hit.score for hit in before[-1:]]])


def _choose_alike(hits: Sequence[Hit], found: Candidates, seqs: set[int], query: str) -> list[int]:
    """Returns the seqs of instructions that are close to the query in meaning, closest first."""
    wanted = np.array(sorted(seqs - {hit.record.seq for hit in hits}), np.int64)
    if not len(found) or not len(wanted):
        return []
    rows = found.seq.searchsorted(wanted)
    rows = rows[found.seq.take(rows, mode="clip") == wanted]
    rows = rows[found.dense[rows] >= (ALIKE if is_request(query) else MUCH_ALIKE)]
    chosen: list[int] = found.seq[rows[np.argsort(-found.dense[rows], kind="stable")]].tolist()
    return chosen


def is_request(query: str) -> bool:
    """Returns whether the query requests something rather than only asks."""
    return _REQUEST.search(query.lower()) is not None


def _list_wishes(graph: ScopeGraph, view: View, query: str) -> _Wishes:
    """Returns the seqs of records with instructions and, for a request, with their speakers' preferences."""
    instructions = _list_stated(graph, Nature.INSTRUCTION.value, view)
    preferences = _list_stated(graph, PREFERS, view) if is_request(query) else ()
    own = (one for one in preferences if one.statement.subject.reference is Reference.SPEAKER)
    return {one.source.seq for one in instructions}, {one.source.seq for one in own}


def _list_stated(graph: ScopeGraph, relation: str, view: View) -> Iterator[Assertion]:
    """Yields the assertions of a relation that still hold."""
    for subject in graph.list_subjects(relation):
        for interval in graph.trace(subject, relation, view):
            if view.admits(interval):
                yield from interval.said
