"""The options of reading verbs besides the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

from .arguments import make_unknown, narrow_filter
from .dict_filters import Filter
from .recipe import Recipe
from .validate import Moment
from .where import Box, Near, Where


class FilterOptions(TypedDict, total=False):
    """The filter parts that `recall`, `context`, `find`, `count` and `forget` take by name."""

    kinds: str | Sequence[str] | None
    """One kind or several: fact, message, episode, document, state …"""
    tiers: str | Sequence[str] | None
    """One tier or several: short, middle, long."""
    session: str | None
    """The session that records belong to."""
    agent: str | None
    """The agent that wrote them."""
    who: str | None
    """Who said it."""
    trust: str | Sequence[str] | None
    """How far their source is trusted; names quarantined records explicitly."""
    since: Moment | None
    """Occurred at this time or later."""
    until: Moment | None
    """Occurred at this time or earlier."""
    near: Near | None
    """Within a distance of a place."""
    box: Box | None
    """Within a rectangle on the map."""


class _TimeOptions(TypedDict, total=False):
    """The time that `recall`, `context` and `find` ask about, if not the present."""

    as_of: Moment | None
    """What was true then: later records, and what had been replaced by then, are left out."""
    known_at: Moment | None
    """What the memory knew then: records and versions as they were at that time."""


class FindOptions(FilterOptions, _TimeOptions, total=False):
    """The options of `find` beside the filter: filter parts, a time, and the page wanted."""

    order: str
    """A field, or a path such as 'data.price'; a leading '-' means descending. The default is '-occurred'."""
    offset: int
    """How many records to skip."""


class RecallAllOptions(FilterOptions, _TimeOptions, total=False):
    """The options of `recall_all` beside query, scope, limit and filter."""

    now: Moment | None
    """When the query is asked, which "last week" goes by. The default is the present."""


class RecallOptions(RecallAllOptions, total=False):
    """The options of `recall` beside query, scope, limit and filter."""

    vector: Any
    """The vector of the query, if you have it already; the text is not embedded then."""
    recipe: Recipe | str | None
    """How signals are weighed: auto, dialogue, facts, documents, exact, or a Recipe of yours."""
    least: float | None
    """The lowest score of a hit, from 0 to 1; None is 0.005, and 0 shows all that was found."""
    unit: str
    """What a hit stands for: record, session or scope."""
    rerank: object
    """A Reranker, or what `reranker_of` takes, for the best fifty hits; False: none, not the memory's own."""
    understand: bool
    """Whether names, times and places are read from the query. The default is True."""
    order: str
    """Without a query or a vector: what to order by, as in `find`. The default is '-occurred'."""
    explain: bool
    """Whether the answer has a trace that tells how it came about."""


_NAMES: Final = {
    **dict.fromkeys(("context", "count", "forget"), frozenset(FilterOptions.__annotations__)),
    "find": frozenset(FindOptions.__annotations__),
    "recall": frozenset(RecallOptions.__annotations__),
    "recall_all": frozenset(RecallAllOptions.__annotations__),
}
# What a verb takes by name in its own signature.
_BESIDE: Final[dict[str, frozenset[str]]] = {
    "count": frozenset(("scope", "where")),
    "find": frozenset(("scope", "limit", "where")),
    "recall": frozenset(("scope", "limit", "where")),
    "recall_all": frozenset(("scope", "limit", "where")),
    "forget": frozenset(("scope", "where", "everything", "for_good", "by", "why")),
    "context": frozenset(
        ("scope", "limit", "where", "budget", "counter", "neighbours", "headings", "seen", "recipe", "least")
    ),
}
_FILTERS: Final = tuple(FilterOptions.__annotations__)


def check_options(verb: str, options: Mapping[str, Any]) -> None:
    """Raises `BadInput` for an option that the verb does not know, and names those that it knows."""
    unknown = options.keys() - _NAMES[verb]
    if unknown:
        raise make_unknown(verb, unknown, _NAMES[verb] | _BESIDE[verb])


def filters_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options that are parts of a filter."""
    return {name: options[name] for name in _FILTERS if name in options}


def combine_filter(verb: str, where: Filter | None, options: Mapping[str, Any]) -> Where | None:
    """Combines a filter with a verb's options; raises `BadInput` for unknown options."""
    check_options(verb, options)
    return narrow_filter(where, **filters_in(options))
