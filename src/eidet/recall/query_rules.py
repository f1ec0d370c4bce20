"""Rules of a query beside its words: the lowest score, how many records are read, and notes on losses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..core.record import Record
from ..core.validate import local
from ..index import Candidates, Probe
from .recipes import Recipe
from .understand import Understood

if TYPE_CHECKING:
    from . import Query


LEAST: Final = 0.005  # the lowest score that is shown by default
LEAST_OF_SEVERAL: Final = 0.001
LATE: Final = 3  # factor on the limit of records read if a signal needs the records themselves
RERANKED: Final = 50  # hits that a reranker reads
READ: Final = 15  # least number of records read, for the exact rules


def least_for(query: Query, asked: Understood) -> float:
    """Returns the lowest score to show; lower for questions that want several answers."""
    if (asked.several or asked.only_time or asked.upcoming) and query.least == LEAST:
        return LEAST_OF_SEVERAL
    return query.least


def recipe_for(query: Query) -> Recipe:
    """Chooses the recipe. A caller that wants hits of any score always gets some."""
    return query.recipe if query.least > 0 else replace(query.recipe, nothing=0.0)


def count_to_read(query: Query, asked: Understood) -> int:
    """Returns how many records to read: more if a signal needs the records themselves."""
    if query.reranker is not None:
        return max(query.limit, RERANKED)
    if asked.phrases or query.recipe.uses > 0:
        return max(query.limit * LATE, RERANKED)
    return max(query.limit, READ)


def list_losses(found: Candidates, records: list[Record | None], probe: Probe) -> tuple[str, ...]:
    """Lists notes on what could not be searched or read."""
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
    return 0.0 if ahead is None else ahead.total_seconds()


# --- courtesies around a question: "Hi, quick one: … Thanks!"

_GREETING: Final = (
    r"(?:hi|hey|hello|hiya|good (?:morning|afternoon|evening|day))(?: (?:there|again|all|everyone))?"
)
_OPENING: Final = (
    r"(?:just )?(?:an?(?:other)? )?(?:quick|short|small|brief) (?:one|question)(?: for you)?",
    r"(?:just )?one (?:quick )?question",
    r"(?:so )?sorry to (?:bother|ask|disturb)(?: you)?",
    r"excuse me",
    r"(?:please|pls|kindly)",
    r"(?:could|can|would|will) you (?:please |pls |kindly )?(?:tell me|let me know|say)",
    r"(?:could|can|may|might) i (?:please )?(?:ask|know)",
    r"(?:please )?(?:tell me|let me know)",
    r"do you (?:happen to )?know",
    r"(?:i was |i am |i'm |just )?(?:just )?wondering|i wonder(?:ed)?",
    r"i(?:'d| would) (?:like|love) to know|i(?:'d| would) (?:like|love) to ask",
    r"(?:many )?(?:thanks|thank you)(?: (?:in advance|so much|a lot|very much))?(?! (?:to|for)\b)",
)
_CLOSING: Final = (
    r"(?:many )?(?:thanks|thank you|thx|cheers)(?: (?:in advance|so much|a lot|very much|again))?",
    r"please|pls",
    r"if (?:you don't mind|you know|i may ask|that's ok(?:ay)?)",
    r"much appreciated",
)
_SIGN: Final = r"\s,.:;!?…–—-"
_ASKING: Final = (
    r"(?:how|what|when|where|who|whom|whose|which|why|is|are|am|was|were|do|does|did|can|could|will|would|should|has"
    r"|have|had|if|whether|about|please|quick|just|sorry|i|we|my|our|the|that|this|it)\b"
)
# a greeting ends with a sign or before a question; longer words that begin alike do not match
_BEFORE: Final = re.compile(
    rf"(?:{_GREETING}(?=[,.:;!–—-]|\s+{_ASKING})|(?:{'|'.join(_OPENING)})(?![\w'’-]))[{_SIGN}]*",
    re.IGNORECASE,
)
_WHETHER: Final = re.compile(r"(?:if|whether)\s+", re.IGNORECASE)
_AFTER: Final = re.compile(rf"[{_SIGN}]+(?:{'|'.join(_CLOSING)})[{_SIGN}]*\Z", re.IGNORECASE)
_WORDS: Final = re.compile(r"\w\W+\w|[^\W\x00-\u02ff]{3}")  # two; some scripts have no spaces
_AT_ENDS: Final = 160  # characters at each end that are searched for courtesies


def drop_courtesies(text: str) -> str:
    """Removes greetings, thanks and "could you tell me" from a query, unless hardly a word would be left."""
    left = _drop_after(_drop_before(text))
    return left if _WORDS.search(left) else text


def _drop_before(text: str) -> str:
    left = text
    while found := _BEFORE.match(left, 0, _AT_ENDS):
        left = left[found.end() :]
    if left is not text and (found := _WHETHER.match(left)):  # "I was wondering if …"
        left = left[found.end() :]
    return left


def _drop_after(text: str) -> str:
    """Removes courtesies at the end; keeps the question mark."""
    left = text
    while found := _AFTER.search(left, max(0, len(left) - _AT_ENDS)):
        mark = "?" if "?" in left[found.start() : found.end()] else ""
        left = left[: found.start()] + mark
    return left
