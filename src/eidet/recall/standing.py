"""Standing instructions and preferences that apply to a question: "always answer in metric" applies to all.

An instruction that names an occasion ("when I ask about recipes …") applies to questions about it, and so
does a preference. Likeness is that of the embedder; a request needs less of it than another question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ..core.hit import Hit, Reasons
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..graph import Graphs
from ..graph.assertion import Assertion
from ..graph.identities import USER_NODE
from ..graph.names import PERSON, name_key
from ..graph.scope_graph import Moments, ScopeGraph, View
from ..index import Candidates, Floats
from ..models.embed import embed_checked
from ..store import Head
from ..text.facts.statement import Nature, Reference
from ..text.flags import FoldedPattern
from ..trust.privacy.quarantine import is_untrusted

if TYPE_CHECKING:
    from . import Query, Recall

LOOKED_AT: Final = 50  # latest wishes of each nature that are considered
ALIKE: Final = 0.25  # least cosine of an occasion with a request …
MUCH_ALIKE: Final = 0.4  # … and any other question
FIRST_PLACES: Final = 10  # places of an answer, the last of which may go to instructions
PLACES_EACH: Final = 5  # places of an answer per instruction
ANSWERS_NOTHING: Final = 0.05  # the highest score of an instruction, which answers nothing
ReadSeqs = Callable[[str, list[int]], list[Record | None]]
_REQUEST: Final = FoldedPattern(
    r"\b(?:how (?:do|can|should|could|would|to|might)|(?:can|could|would|will) you|please|show me|help me"
    r"|explain|walk me|give me|write|draft|suggest|recommend|advise|what (?:should|would|could|can|steps)"
    r"|which (?:\w+ ){1,3}(?:should|would|do you)|tips|best way|let's|i'd like"
    r"|i'?m (?:planning|looking|working|trying|thinking|about)|i am (?:planning|looking|working|trying)"
    r"|i (?:want|need|plan|would like))\b",
)
PREFERS: Final = "prefers"
NATURES: Final = (Nature.INSTRUCTION, Nature.PREFERENCE)
_OCCASION: Final = FoldedPattern(
    r"\b(?:when(?:ever)?|if|every time|any time|for (?:all|any|every)|in (?:case|all)|wenn|falls)\b"
)


class Wishes(NamedTuple):
    """The seqs of records that state standing wishes."""

    instructions: list[int]
    preferences: list[int]


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
        return self.nature is Nature.PREFERENCE or _OCCASION.search(self.wish) is not None


def list_standing(
    recall: Recall, query: str, scope: Scope, seen: Where, *, at: float, now: float
) -> list[Record]:
    """Lists the records whose wishes apply to a question: instructions, then preferences, latest first."""
    if recall.graphs is None:
        return []
    moments = Moments(view=View(now=now), at=at)
    wishes: dict[tuple[str, str], tuple[StandingWish, Record]] = {}  # a copy in another scope counts once
    latest = _list_latest(recall.graphs, scope, moments)
    for one, record in zip(latest, recall.read_places([(one.path, one.seq) for one in latest]), strict=True):
        if record is not None and _may_instruct(one, record):
            wishes.setdefault((record.id, record.text), (one, record))
    particular = [record for one, record in wishes.values() if one.is_particular]
    left_out = {record.seq for record in particular} - _list_alike(recall, query, particular)
    alike = [pair for pair in wishes.values() if pair[1].seq not in left_out]
    chosen = [pair for pair in alike if seen.matches(pair[1])]
    return [record for _, record in sorted(chosen, key=_order)]


def _list_latest(graphs: Graphs, scope: Scope, moments: Moments) -> list[StandingWish]:
    """Lists the latest wishes of each nature, so that many preferences do not hide an instruction."""
    found: list[StandingWish] = []
    for group in graphs.ask_each(scope, partial(_list_held, moments=moments)):
        found += group
    found.sort(key=attrgetter("seq"), reverse=True)
    latest: list[StandingWish] = []
    for nature in NATURES:
        latest += [one for one in found if one.nature is nature][:LOOKED_AT]
    return latest


def _list_held(graph: ScopeGraph, moments: Moments) -> list[StandingWish]:
    found: list[StandingWish] = []
    for interval in graph.list_special(moments, NATURES):
        first, seq = interval.first, max(assertion.source.seq for assertion in interval.said)
        wish = first.object_mention.name
        found.append(StandingWish(graph.scope, seq, first.nature, interval.subject, wish))
    return found


def _may_instruct(one: StandingWish, record: Record) -> bool:
    """Accepts instructions only from people the agent works for, not from pages, tools or itself."""
    if is_untrusted(record) or record.who == "assistant":
        return False
    speaker = f"{PERSON}:{name_key(record.who or '')}"
    return one.nature is Nature.INSTRUCTION or one.subject in (USER_NODE, speaker)


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


def _order(pair: tuple[StandingWish, Record]) -> tuple[bool, float]:
    one, record = pair
    return one.nature is not Nature.INSTRUCTION, -record.occurred


def add_instructions(
    recall: Recall, hits: list[Hit], query: Query, found: Candidates, head: Head
) -> list[Hit]:
    """Adds the user's standing wishes that apply, behind the best hits."""
    graphs, path = recall.graphs, query.scope.path
    if graphs is None or not query.scope.is_one or graphs.ask(path, _states_nothing, head):
        return hits
    moments = Moments(view=View(now=query.now), at=query.asked)
    wishes = graphs.ask(path, partial(list_wishes, moments=moments, requested=is_request(query.words)), head)
    if not wishes.instructions and not wishes.preferences:
        return hits
    return add_standing(hits, found, wishes, query, recall.read)


def _states_nothing(graph: ScopeGraph) -> bool:
    return not graph.index.sources


def add_standing(
    hits: list[Hit], found: Candidates, wishes: Wishes, query: Query, read: ReadSeqs
) -> list[Hit]:
    """Puts the instructions and preferences that apply to a request into the last of the first ten places.

    `wishes` are of the one scope that was searched.
    """
    end = min(query.limit, FIRST_PLACES)
    places = end // PLACES_EACH
    chosen = _choose_wishes(hits[: end - places], found, wishes, query.words, places)
    if not chosen:
        return hits
    kept, rest = hits[: end - len(chosen)], hits[end - len(chosen) :]
    added: list[Hit] = []
    for record in read(found.scopes[0], chosen):
        if record is not None and _may_be_told(record, query):
            added.append(Hit(record=record, score=_score_between(kept, rest), reasons=_say_standing))
    seqs = {hit.record.seq for hit in added}
    return kept + added + [hit for hit in rest if hit.record.seq not in seqs]


def _choose_wishes(
    hits: Sequence[Hit], found: Candidates, wishes: Wishes, query: str, places: int
) -> list[int]:
    """Returns the seqs of the wishes that apply: instructions, and one preference for a request."""
    chosen = _choose_alike(hits, found, wishes.instructions, query)
    if not wishes.preferences:
        return chosen[:places]
    preferred = _choose_alike(hits, found, wishes.preferences, query)
    if chosen and preferred:
        return [*chosen[: places - 1], preferred[0]]
    return (chosen + preferred)[:places]


def _score_between(before: Sequence[Hit], after: Sequence[Hit]) -> float:
    """Returns a score that fits the place: that of the next hit, or a low one at the end."""
    if after:
        return after[0].score
    return min([ANSWERS_NOTHING, *[hit.score for hit in before[-1:]]])


def _may_be_told(record: Record, query: Query) -> bool:
    if is_untrusted(record) or record.who == "assistant":
        return False
    return query.where is None or query.where.matches(record)


def _choose_alike(hits: Sequence[Hit], found: Candidates, seqs: Sequence[int], query: str) -> list[int]:
    """Returns the seqs of instructions that are close to the query in meaning, closest first."""
    wanted = np.array(sorted(set(seqs) - {hit.record.seq for hit in hits}), np.int64)
    if not len(found) or not len(wanted):
        return []
    rows = found.seq.searchsorted(wanted)
    rows = rows[found.seq.take(rows, mode="clip") == wanted]
    rows = rows[found.dense[rows] >= (ALIKE if is_request(query) else MUCH_ALIKE)]
    chosen: list[int] = found.seq[rows[np.argsort(-found.dense[rows], kind="stable")]].tolist()
    return chosen


def _say_standing() -> Reasons:
    return Reasons(words=("a standing instruction that applies",))


def is_request(query: str) -> bool:
    """Returns whether the query requests something rather than only asks."""
    return _REQUEST.search(query) is not None


def list_wishes(graph: ScopeGraph, moments: Moments, *, requested: bool) -> Wishes:
    """Returns the seqs of records with instructions and, for a request, with their speakers' preferences."""
    instructions: dict[int, None] = {}
    for assertion in _list_stated(graph, Nature.INSTRUCTION.value, moments):
        instructions[assertion.source.seq] = None
    preferences: dict[int, None] = {}
    for assertion in _list_stated(graph, PREFERS, moments) if requested else ():
        if assertion.subject_mention.reference is Reference.SPEAKER:
            preferences[assertion.source.seq] = None
    return Wishes(list(instructions), list(preferences))


def _list_stated(graph: ScopeGraph, relation: str, moments: Moments) -> Iterator[Assertion]:
    """Yields the assertions of a relation that still hold."""
    for subject in graph.list_subjects(relation):
        for interval in graph.trace(subject, relation, moments.view):
            if moments.admits(interval):
                yield from interval.said
