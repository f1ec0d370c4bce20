"""Splitting a filter into what a store answers that cannot read its records, and the rest.

The part that is asked lets every match pass, and perhaps more. Where it is exact nothing more needs
to be looked at; else what passes is opened and tested by the whole filter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ...core.where import Where
from .codec import LABELS

Token = Callable[[str, str, str], str]  # scope, field, label -> what stands for it in the store
NOTHING: Final = "-"  # a token that no label has


class Asked(NamedTuple):
    where: Where
    exact: bool


def split_filter(where: Where, token: Token) -> Asked:
    """The part of a filter that can be asked of the store inside."""
    return _split(where, _one_scope(where), token)


def _one_scope(where: Where) -> str | None:
    """The one scope that all matches are in, if it is said."""
    if where.scope is not None and not where.scope.below:
        return where.scope.path
    return next(filter(None, map(_one_scope, where.every)), None)


def _split(where: Where, scope: str | None, token: Token) -> Asked:
    """Labels are tokens of their scope: without one scope, they are among the rest."""
    scope = scope or _one_scope(where)
    labels = {name: label for name in LABELS if (label := getattr(where, name)) is not None}
    tokens = {name: None if scope is None else token(scope, name, label) for name, label in labels.items()}
    every = [_split(part, scope, token) for part in where.every]
    some = [_split(part, scope, token) for part in where.some]
    never = [_split(part, scope, token) for part in where.never]
    of_record = tuple(condition for condition in where.conditions if condition.of_record)
    exact = of_record == where.conditions and (scope is not None or not labels)
    exact = exact and all(part.exact for part in (*every, *some, *never))
    parts: dict[str, Any] = {
        **tokens,
        "every": tuple(part.where for part in every),
        "some": tuple(part.where for part in some),
        "never": tuple(part.where for part in never if part.exact),
    }
    return Asked(replace(where, conditions=of_record, **parts), exact)
