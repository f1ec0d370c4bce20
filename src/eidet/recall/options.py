"""Builds a query from the arguments of `recall`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..core.arguments import check_flag, check_limit, check_order, check_share, check_unit, list_given
from ..core.read_options import (
    FilterOptions,
    FindOptions,
    RecallOptions,
    check_options,
    combine_filter,
    filters_in,
)
from ..core.scope import Scope, Scopes
from ..core.validate import moment
from ..core.where import Where
from . import AUTO, Query, recipe_of
from .query_rules import LEAST

if TYPE_CHECKING:
    from ..models.rerank import Reranker

__all__ = [
    "FilterOptions",
    "FindOptions",
    "RecallOptions",
    "build_query",
    "check_options",
    "combine_filter",
    "filters_in",
]

_SAID: Final = ("kinds", "session", "who", "since", "until", "near", "box")


def _least(text: str, options: RecallOptions) -> float:
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
        least=_least(text, options),
        unit=check_unit(options.get("unit", "record")),
        reranker=_reranker_in(options.get("rerank")),
        given=list_given(**{name: values[name] for name in _SAID if name in values}),
        understand=check_flag(options.get("understand", True), "understand"),
        order=check_order(options.get("order", "-occurred")),
        explain=check_flag(options.get("explain", False), "explain"),
    )


def _reranker_in(thing: object) -> Reranker | None:
    if thing is None or thing is False:
        return None
    from ..models.rerank import reranker_of

    return reranker_of(thing)
