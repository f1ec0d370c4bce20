"""Standing instructions and preferences that apply to a question: "always answer in metric" applies to all.

An instruction that names an occasion ("when I ask about recipes …") applies to questions about it; so does
a preference. What is alike is told by shared words or by the embedder.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from ..graph.asking import Asking
from ..graph.fact import Fact
from ..graph.identities import USER_NODE
from ..graph.names import PERSON, name_key
from ..graph.scope_graph import Moments, View
from ..index import Floats
from ..models.embed import embed_checked
from ..models.embed.quantise import row_of
from ..text.analysis import terms_in
from ..text.facts import Nature
from ..trust.privacy.quoting import is_untrusted
from . import Recall

LOOKED_AT: Final = 50  # of the latest
MOST: Final = 8  # that one context tells
ALIKE: Final = 0.28  # cosine from which an occasion is the one that a question is about
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
