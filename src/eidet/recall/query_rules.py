"""What a query asks for beside its words: which hits are shown, how many are read, what an answer lacks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..core.record import Record
from ..core.validate import local
from ..index import Candidates, Probe
from .recipes import Recipe
from .understand import Understood

if TYPE_CHECKING:
    from . import Query

LEAST: Final = 0.005  # hits of a lower score are not shown unless that is asked for
LEAST_OF_SEVERAL: Final = 0.001
LATE: Final = 3  # so many times the limit are read where a signal needs the records themselves
RERANKED: Final = 50  # hits that a reranker reads
READ: Final = 15  # hits whose texts are read at least: exact rules look at them


def least_for(query: Query, asked: Understood) -> float:
    """Questions that want several answers, such as all that happens at a time, get a lower cut-off."""
    if (asked.several or asked.only_time or asked.upcoming) and query.least == LEAST:
        return LEAST_OF_SEVERAL
    return query.least


def recipe_for(query: Query) -> Recipe:
    """Chooses the recipe. A caller that wants hits of any score always gets some."""
    if query.least > 0:
        return query.recipe
    return replace(query.recipe, nothing=0.0)


def count_to_read(query: Query, asked: Understood) -> int:
    """Returns how many records to read: more if a signal needs the records themselves."""
    if query.reranker is not None:
        return max(query.limit, RERANKED)
    if asked.phrases or query.recipe.uses > 0:
        return max(query.limit * LATE, RERANKED)
    return max(query.limit, READ)


def list_losses(found: Candidates, records: list[Record | None], probe: Probe) -> tuple[str, ...]:
    """Lists in words what could not be searched or read."""
    losses = [
        f"{n:,} damaged records of the {tier} tier were not searched" for tier, n in found.damaged.items()
    ]
    if lost := sum(record is None for record in records):
        losses.append(f"{lost:,} hits are damaged or went away while they were read")
    if probe.vector is not None and not probe.vector.any():
        losses.append("the embedder knows no word of the query: it was searched for by its words alone")
    return (*found.notes, *losses)


def zone_of(query: Query, asked: Understood) -> float:
    """Returns the offset of local time from UTC in seconds; 0 if no time is asked about."""
    if not asked.dates:
        return 0.0
    ahead = local(query.asked).utcoffset()
    if ahead is None:
        return 0.0
    return ahead.total_seconds()
