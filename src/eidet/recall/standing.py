"""Standing instructions and preferences that apply to a question: "always answer in metric" applies to all.

An instruction that names an occasion ("when I ask about recipes …") applies to questions about it; so does
a preference. What is alike is told by shared words or by the embedder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ..core.hit import Hit, Reasons
from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..graph.asking import Asking
from ..graph.fact import Fact
from ..graph.identities import USER_NODE
from ..graph.names import PERSON, name_key
from ..graph.scope_graph import Moments, ScopeGraph, View
from ..index import Candidates, Floats
from ..models.embed import embed_checked
from ..models.embed.quantise import row_of
from ..text.analysis import terms_in
from ..text.facts import Nature
from ..trust.privacy.quoting import is_untrusted

if TYPE_CHECKING:
    from . import Query, Recall

LOOKED_AT: Final = 50  # of the latest
MOST: Final = 8  # that one context tells
ALIKE: Final = 0.25  # cosine from which an occasion is the one that a request is about …
MUCH_ALIKE: Final = 0.4  # … and any other question
FIRST_PLACES: Final = 10  # of an answer, of which the last may go to instructions
PLACES_EACH: Final = 5  # one of so many places of an answer may go to an instruction
ANSWERS_NOTHING: Final = 0.05  # the score of an instruction: it is to be followed, and answers nothing
ReadSeqs = Callable[[str, list[int]], list[Record | None]]
_REQUEST: Final = re.compile(
    r"\b(?:how (?:do|can|should|could|would|to|might)|(?:can|could|would|will) you|please|show me|help me"
    r"|explain|walk me|give me|write|draft|suggest|recommend|advise|what (?:should|would|could|can|steps)"
    r"|which (?:\w+ ){1,3}(?:should|would|do you)|tips|best way|let's|i'd like"
    r"|i'?m (?:planning|looking|working|trying|thinking|about)|i am (?:planning|looking|working|trying)"
    r"|i (?:want|need|plan|would like))\b",
    re.IGNORECASE,
)
NATURES: Final = (Nature.INSTRUCTION, Nature.PREFERENCE)
_OCCASION: Final = re.compile(
    r"\b(?:when(?:ever)?|if|every time|any time|for (?:all|any|every)|in (?:case|all)|wenn|falls)\b",
    re.IGNORECASE,
)


def list_standing(
    recall: Recall, query: str, terms: frozenset[int], scope: Scope, seen: Where, *, at: float, now: float
) -> list[Record]:
    """The records that state what applies to a question, instructions first, each group the latest first."""
    if recall.graphs is None:
        return []
    moments = Moments(view=View(now=now), at=at)
    facts = Asking(recall.graphs).instructions(scope, moments, NATURES)
    stated = _read_records(recall, facts[-LOOKED_AT:])
    vector: Floats | None = None
    chosen: dict[str, tuple[Fact, Record]] = {}
    for fact, record in stated:
        if record.id in chosen or not seen.matches(record) or not _may_instruct(fact, record):
            continue
        if vector is None and _is_particular(fact):
            vector = embed_checked(recall.embedder, [query])[0]
        if _applies(fact, record, terms, vector):
            chosen[record.id] = (fact, record)
    ordered = sorted(chosen.values(), key=_order)
    return [record for _, record in ordered[:MOST]]


def _read_records(recall: Recall, facts: Sequence[Fact]) -> list[tuple[Fact, Record]]:
    """The latest record that states each fact, one round trip per scope."""
    by_scope: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.seqs:
            by_scope.setdefault(fact.scope, []).append(fact)
    found: list[tuple[Fact, Record]] = []
    for path, stated in by_scope.items():
        records = recall.store.read(path, [max(fact.seqs) for fact in stated])
        for fact, record in zip(stated, records, strict=True):
            if record is not None:
                found.append((fact, record))
    return found


def _may_instruct(fact: Fact, record: Record) -> bool:
    """Only people whom the agent works for, for themselves: not a page, a tool, or the agent itself."""
    if is_untrusted(record) or record.who == "assistant":
        return False
    speaker = f"{PERSON}:{name_key(record.who or '')}"
    return fact.nature is Nature.INSTRUCTION or fact.subject_id in (USER_NODE, speaker)


def _is_particular(fact: Fact) -> bool:
    """Whether a fact applies on an occasion only."""
    return fact.nature is Nature.PREFERENCE or _OCCASION.search(fact.object) is not None


def _applies(fact: Fact, record: Record, terms: frozenset[int], vector: Floats | None) -> bool:
    if vector is None or not _is_particular(fact):
        return True
    if terms & terms_in(record.terms):
        return True
    return _likeness(record, vector) >= ALIKE


def _likeness(record: Record, vector: Floats) -> float:
    """The cosine of the record's best unit; 0 where its tier no longer has the vector."""
    if record.vector is None or record.level:
        return 0.0
    rows = row_of(record.vector).reshape(-1, len(vector))
    length = float(np.linalg.norm(vector)) or 1.0
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0] = 1.0
    return float(np.max(rows @ vector / lengths) / length)


def _order(pair: tuple[Fact, Record]) -> tuple[bool, float]:
    fact, record = pair
    return fact.nature is not Nature.INSTRUCTION, -record.occurred


def add_instructions(
    hits: list[Hit], found: Candidates, seqs: Sequence[int], query: Query, read: ReadSeqs
) -> list[Hit]:
    """Puts the instructions that apply to a request into the last of the first ten places.

    `seqs` are those of records that instruct, of the one scope that was searched.
    """
    end = min(query.limit, FIRST_PLACES)
    places = end // PLACES_EACH
    chosen = _choose_alike(hits[: end - places], found, seqs, query.text)[:places]
    if not chosen:
        return hits
    kept, rest = hits[: end - len(chosen)], hits[end - len(chosen) :]
    added: list[Hit] = []
    for record in read(found.scopes[0], chosen):
        if record is not None and _may_be_told(record, query):
            added.append(Hit(record=record, score=_score_between(kept, rest), reasons=_say_standing))
    told = {hit.record.seq for hit in added}
    return kept + added + [hit for hit in rest if hit.record.seq not in told]


def _score_between(before: Sequence[Hit], after: Sequence[Hit]) -> float:
    """A score that fits its place: that of the next hit, or a low one at the end."""
    if after:
        return after[0].score
    return min([ANSWERS_NOTHING, *[hit.score for hit in before[-1:]]])


def _may_be_told(record: Record, query: Query) -> bool:
    if is_untrusted(record) or record.who == "assistant":
        return False
    return query.where is None or query.where.matches(record)


def _choose_alike(hits: Sequence[Hit], found: Candidates, seqs: Sequence[int], query: str) -> list[int]:
    """The seqs of instructions that are close to the query in meaning, closest first."""
    there = {hit.record.seq for hit in hits}
    least = ALIKE if _REQUEST.search(query) else MUCH_ALIKE
    wanted = np.array([seq for seq in seqs if seq not in there], np.int64)
    rows = np.flatnonzero(np.isin(found.seq, wanted) & (found.dense >= least))
    rows = rows[np.argsort(-found.dense[rows], kind="stable")]
    return [int(seq) for seq in found.seq[rows]]


def _say_standing() -> Reasons:
    return Reasons(words=("a standing instruction that applies",))


def list_instructions(graph: ScopeGraph, moments: Moments) -> list[int]:
    """The seqs of the records that instruct and still hold."""
    seqs: dict[int, None] = {}
    for assertion in graph.index.special:
        if assertion.nature is Nature.INSTRUCTION:
            subject = graph.identities.root_of(assertion.subject)
            for interval in graph.trace(subject, assertion.relation, moments.view):
                if assertion in interval.said and moments.admits(interval):
                    seqs[assertion.source.seq] = None
    return list(seqs)
