"""A question with checked arguments, and the rules of a query beside its words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from ..core.arguments import check_flag, check_limit, check_share, check_unit
from ..core.read_options import RecallOptions
from ..core.record import Record
from ..core.scope import Scope, Scopes
from ..core.validate import clean_text, local, moment
from ..core.where import Where
from ..index import Candidates, Probe
from .recipes import AUTO, Recipe, recipe_of
from .understand import Understood

if TYPE_CHECKING:
    from ..models.rerank import Reranker
    from .states import StateQuery

LEAST: Final = 0.005  # the lowest score that is shown by default
LEAST_OF_SEVERAL: Final = 0.001
LATE: Final = 3  # factor on the limit of records read if a signal needs the records themselves
RERANKED: Final = 50  # hits that a reranker reads
READ: Final = 15  # least number of records read, for the exact rules


Key = tuple[str, str]  # of a record: its scope and id


def key_of(record: Record) -> Key:
    return record.scope, record.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the memory, made from the checked arguments of a verb."""

    text: str
    scope: Scope
    now: float
    asked: float  # the time of asking, to which "last week" and recency relate
    limit: int = 10
    where: Where | None = None
    vector: object = None
    recipe: Recipe = AUTO
    least: float = LEAST
    unit: str = "record"
    reranker: Reranker | None = None
    order: str = "-occurred"
    given: frozenset[str] = frozenset()  # options the caller gave, which the query's words do not override
    understand: bool = True
    explain: bool = False
    state: StateQuery | None = None  # the values to compare, for a query by state

    @property
    def words(self) -> str:
        """The text to search by words and meaning; for a state, its texts."""
        if self.state is None:
            return drop_courtesies(" ".join(self.text.split())) if self.understand else self.text
        return self.state.words


# Options that say a part of the question, by the name of that part in `Understood`.
_SAID: Final = {"session": "session", "who": "speaker", "since": "dates", "until": "dates"}


def _least_in(text: str, options: RecallOptions) -> float:
    """Returns the lowest score to show; a query by vector shows the nearest, however far."""
    given = options.get("least")
    if given is not None:
        return check_share(given, "least")
    if options.get("vector") is not None or not text.strip():
        return 0.0
    return LEAST


def build_query(
    text: str,
    scope: Scopes,
    limit: int,
    where: Where,
    options: RecallOptions,
    *,
    now: float,
    meant: float,
) -> Query:
    """Builds a query from the checked arguments of `recall`; `text` and `where` have passed the guard.

    It is asked at the time `meant`, unless the options say when.
    """
    asked, recipe = options.get("now"), options.get("recipe")
    values: Mapping[str, Any] = options
    return Query(
        text=text,
        scope=Scope.among(scope),
        now=now,
        asked=meant if asked is None else moment(asked, "now"),
        limit=check_limit(limit),
        where=where,
        vector=options.get("vector"),
        recipe=AUTO if recipe is None else recipe_of(recipe),
        least=_least_in(text, options),
        unit=check_unit(options.get("unit", "record")),
        reranker=_reranker_in(options.get("rerank")),
        given=frozenset(part for name, part in _SAID.items() if values.get(name) is not None),
        understand=check_flag(options.get("understand", True), "understand"),
        order=clean_text(options.get("order", "-occurred"), "order"),
        explain=check_flag(options.get("explain", False), "explain"),
    )


def _reranker_in(thing: object) -> Reranker | None:
    if thing is None or thing is False:
        return None
    from ..models.rerank import reranker_of

    return reranker_of(thing)


# --- rules


def least_for(query: Query, asked: Understood) -> float:
    """Returns the lowest score to show; lower for questions that want several answers."""
    if (asked.several or asked.only_time or asked.upcoming) and query.least == LEAST:
        return LEAST_OF_SEVERAL
    return query.least


def recipe_for(query: Query) -> Recipe:
    """Chooses the recipe. A caller that wants hits of any score always gets some."""
    return query.recipe if query.least > 0 else replace(query.recipe, nothing=0.0)


def count_to_read(query: Query, asked: Understood) -> int:
    """Returns how many records to read: more for a reranker or a quoted phrase, which need the records."""
    if query.reranker is not None:
        return max(query.limit, RERANKED)
    if asked.phrases:
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


# --- questions that want all records on a topic

_PHRASES: Final = (
    r"how many|how often|number of|(every|each|all the) times?|so far|over time|history of|last time",
    r"(list|name|show|show me|give me|tell me) (all|every)|over the (years?|months?|weeks?)",
    r"all (of )?(the|my|our|your|his|her|their|these|those|them)|every(one|body|thing) (who|that|we|i)",
    r"when (did|was|were|have|had) .*\blast",
    r"wie oft|wie viele|jedes mal|combien de|chaque fois|cu[aá]nt[ao]s|cada vez|quante volte|ogni volta",
    r"quantas vezes|hoe vaak|hoeveel keer",
)
_WANTS_ALL: Final = re.compile(
    rf"\b({'|'.join(_PHRASES)})\b|^\W*(all|every|list|count)\b"
    r"|^\W*(which|what) (\w+ ){0,2}?\w{2,}[^s\W]s (did|do|have|has|had|were|are)\b",
    re.IGNORECASE,
)


def asks_for_all(question: str) -> bool:
    """Returns whether a question wants every record on its topic: how many, how often, all, when last."""
    return _WANTS_ALL.search(question) is not None


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
