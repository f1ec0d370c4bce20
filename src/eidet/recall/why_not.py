"""Explains a record's place in an answer (shown, outranked, too weak, filtered out) and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

import numpy as np

from ..core.hit import Hits
from ..core.record import Record, Trust
from ..core.where import Where
from . import Query, Ranking
from .pack import Context

Stage = Literal["shown", "set aside", "filtered", "expired", "not a candidate", "too weak", "outranked"]

_LACKS: Final = {
    "dense": "its meaning is further from the question",
    "words": "it has fewer words of the question",
    "context": "less around it matches the question",
    "speaker": "it is not by the one who is asked about",
    "identifier": "it lacks the identifier that the question names",
    "date": "it is not of the time that is asked about",
    "form": "it lacks the form of an answer (a time, a number, a name)",
    "reply": "it does not follow a matching question",
    "question": "it is itself a question",
    "asked": "it is not of the session that the question names",
    "fields": "its values are further from those that are asked for",
    "kind": "its kind, speaker or length answers such questions less often",
    "importance": "it is less important",
    "recency": "it is older",
}
_TELLING: Final = 0.005  # the smallest gap that gets a sentence; all signals sum to about one


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """One signal of a record beside that of the hit it would have to beat."""

    name: str
    own: float  # its part of the sum
    wanted: float  # that of the hit
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Whereabouts:
    """Where a record stands in an answer, and why not higher.

    `rank` counts among the `of` candidates. `against` is the id of the hit that it was compared with: the
    last one shown, or the one before it.
    """

    id: str
    stage: Stage
    words: tuple[str, ...] = ()
    rank: int | None = None
    of: int = 0
    score: float | None = None
    least: float = 0.0
    against: str | None = None
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """An answer with all that is known of how it was found; nothing was counted as used.

    `removed` are the best of those records that only the caller's filter kept out, `context` is what a
    prompt would get. `ranking` is None where there was nothing to rank by.
    """

    query: Query
    hits: Hits
    removed: Hits
    context: Context
    ranking: Ranking | None = None

    def why_not(self, record: Record) -> Whereabouts:
        """Explains where a record of the scope stands in this answer."""
        stage, words = _stop_before_search(self.query, record)
        if stage is not None:
            return Whereabouts(id=record.id, stage=stage, words=words)
        if self.ranking is None:
            return _place_in_listing(record, self.hits)
        return _place_in_ranking(record, self.ranking, self.query, self.hits)


def failing_parts(where: Where, record: Record) -> Iterator[str]:
    """Yields a phrase for each part of a filter that a record fails."""
    for part in fields(Where):
        value = getattr(where, part.name)
        if value in (None, ()) or part.name in ("every", "alive_at"):
            continue
        if not replace(Where(), **{part.name: value}).matches(record):
            yield _name_part(part.name, value, record)
    for each in where.every:
        yield from failing_parts(each, record)


def _name_part(name: str, value: Any, record: Record) -> str:
    if name == "some":
        return "none of the alternatives of the filter holds for it"
    if name == "never":
        return "the filter excludes it"
    if name == "conditions":
        failing = [str(one.path) for one in value if not one.holds(record)]
        return f"it does not pass the test of {', '.join(failing)}"
    return f"{name.removesuffix('s').replace('_', ' ')}: the filter asks for {_show(value)}"


def _show(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(str, value))
    if isinstance(value, float) and value > 1e6:
        return Record(id="", scope="", text="", occurred=value).when.isoformat()[:16].replace("T", " ")
    return str(value)


def _stop_before_search(query: Query, record: Record) -> tuple[Stage | None, tuple[str, ...]]:
    """Returns the stage and reason that exclude a record before the search; (None, ()) if none does."""
    if not record.is_alive(query.now):
        return "expired", ("it has expired",)
    if not query.scope.holds(record.scope):
        return "filtered", (f"it is of the scope {record.scope}, which was not asked",)
    if query.where is None or query.where.matches(record):
        return None, ()
    if record.trust is Trust.QUARANTINED:
        return "set aside", ("it is in quarantine until somebody approves it",)
    return "filtered", tuple(failing_parts(query.where, record))


def _place_in_listing(record: Record, hits: Hits) -> Whereabouts:
    """Places a record in an answer by filter alone."""
    ids = [hit.id for hit in hits]
    if record.id in ids:
        return Whereabouts(id=record.id, stage="shown", rank=ids.index(record.id) + 1, of=len(ids))
    return Whereabouts(id=record.id, stage="outranked", words=("the order puts others before it",))


def _place_in_ranking(record: Record, ranking: Ranking, query: Query, hits: Hits) -> Whereabouts:
    found, rows = len(ranking.found), np.flatnonzero(ranking.found.seq == record.seq)
    if not len(rows):
        words = ("neither its words nor its meaning brought it among the candidates",)
        return Whereabouts(id=record.id, stage="not a candidate", words=words, of=found)
    row, shown, places = int(rows[0]), [hit.id for hit in hits], ranking.ranked.rows.tolist()
    at = places.index(row) if row in places else len(places)  # rows not worth ranking come last
    score = ranking.ranked.scores[at] if at < len(places) else 0.0
    stage: Stage = "outranked" if shown and score >= query.least else "too weak"
    rival = len(hits) - 1
    if record.id in shown:
        at, stage = shown.index(record.id), "shown"
        score, rival = hits[at].score, at - 1
    gaps = _list_gaps(ranking, row, hits[rival].record.seq) if rival >= 0 else ()
    return Whereabouts(
        id=record.id,
        stage=stage,
        words=tuple(_describe(stage, score, query.least, gaps)),
        rank=at + 1,
        of=found,
        score=score,
        least=query.least,
        against=hits[rival].id if rival >= 0 else None,
        gaps=gaps,
    )


def _list_gaps(ranking: Ranking, row: int, rival: int) -> tuple[Gap, ...]:
    """Lists the signals of a row beside those of a hit, widest gap first."""
    other = np.flatnonzero(ranking.found.seq == rival)
    if not len(other):
        return ()
    weights, gaps = ranking.ranked.list_weights(), []
    for name, shares in ranking.ranked.shares().items():
        own, wanted = float(shares[row]), float(shares[other[0]])
        if own or wanted:
            gaps.append(Gap(name=name, own=own, wanted=wanted, weight=weights.get(name, 0.0)))
    return tuple(sorted(gaps, key=lambda gap: gap.own - gap.wanted))


def _describe(stage: Stage, score: float, least: float, gaps: tuple[Gap, ...]) -> Iterator[str]:
    if stage == "too weak":
        yield f"its score {score:.4f} is below the least that is shown, {least:g}"
    for gap in gaps:
        if gap.wanted - gap.own > _TELLING:
            yield _LACKS.get(gap.name, f"it has less {gap.name}")
