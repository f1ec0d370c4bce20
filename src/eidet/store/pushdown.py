"""Splits a filter: what a store can answer by itself, and whether that is already the whole answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from ..core.where import Condition, Where

Answers = Callable[[Condition], bool]

NOTHING: Final = Where(ids=())


class Sieve(NamedTuple):
    """The two parts. `coarse` passes at least what was asked for; unless `exact`, each record is checked."""

    coarse: Where
    exact: bool


def sieve(where: Where, answers: Answers) -> Sieve:
    """Splits a filter for a store that can test columns but only some JSON conditions."""
    tells = partial(_is_told, answers)
    if _all_answered(where, tells):
        return Sieve(where, True)
    return Sieve(_least(where, tells), False)


def _is_told(answers: Answers, condition: Condition) -> bool:
    return condition.of_record or answers(condition)


def _all_answered(where: Where, answers: Answers) -> bool:
    parts = (*where.every, *where.some, *where.never)
    return all(map(answers, where.conditions)) and all(_all_answered(part, answers) for part in parts)


def _least(where: Where, answers: Answers) -> Where:
    """Weakens a filter to what the store can test: conditions that it cannot test count as true."""
    return replace(
        where,
        conditions=tuple(filter(answers, where.conditions)),
        every=_each(_least, where.every, answers),
        some=_each(_least, where.some, answers),
        never=_each(_most, where.never, answers),
    )


def _most(where: Where, answers: Answers) -> Where:
    """Strengthens a filter: conditions that the store cannot test count as false."""
    if not all(map(answers, where.conditions)):
        return NOTHING
    return replace(
        where,
        every=_each(_most, where.every, answers),
        some=_each(_most, where.some, answers),
        never=_each(_least, where.never, answers),
    )


def _each(
    how: Callable[[Where, Answers], Where], parts: Iterable[Where], answers: Answers
) -> tuple[Where, ...]:
    return tuple(how(part, answers) for part in parts)
