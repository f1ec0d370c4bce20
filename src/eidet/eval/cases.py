"""The cases to measure: records to remember, and questions with the records that answer them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import BadInput, Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and its gold: the ids of the records that answer it, and their sessions."""

    id: str
    text: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...] = ()
    category: str | None = None
    asked: float | None = None  # None: asked now
    needed: int = 0  # the number of records in a full answer; 0: all of the gold


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One scope with its records and questions. `left_out` counts questions that are not asked, by reason.

    No record answers the `unanswerable` ones: only the scores of their hits are measured.
    """

    scope: str
    records: tuple[Draft, ...]
    questions: tuple[Question, ...]
    unanswerable: tuple[Question, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def sessions_of(gold: Sequence[str], records: Mapping[str, Draft]) -> tuple[str, ...]:
    """Lists the sessions of the gold records, each once."""
    named = (records[id].session for id in gold if id in records)
    return tuple(dict.fromkeys(session for session in named if session is not None))


def limit_questions(cases: Sequence[Case], count: int, seed: int = 0) -> list[Case]:
    """Keeps all records and at most `count` questions, drawn at random, the same for the same seed."""
    if count < 1:
        raise BadInput(f"the number of questions must be at least 1, not {count}")
    every = [(at, question.id) for at, case in enumerate(cases) for question in case.questions]
    kept = set(random.Random(seed).sample(every, min(count, len(every))))  # noqa: S311
    return [_only(case, {id for at, id in kept if at == place}) for place, case in enumerate(cases)]


def _only(case: Case, ids: set[str]) -> Case:
    drawn = tuple(question for question in case.questions if question.id in ids)
    count = len(case.questions) - len(drawn)
    left_out = {**case.left_out, "not drawn": count} if count else case.left_out
    return replace(case, questions=drawn, left_out=left_out)


def check_cases(cases: Sequence[Case]) -> None:
    """Raises unless scopes and ids are unique, and gold is among the records, as the figures require."""
    if not any(case.questions for case in cases):
        raise BadInput("there are no questions with gold to measure against")
    _unique((case.scope for case in cases), "two cases have the scope")
    for case in cases:
        where = f"scope {case.scope}"
        ids = [draft.id for draft in case.records if draft.id is not None]
        if len(ids) < len(case.records):
            raise BadInput(f"{where}: every record needs an id, by which gold names it")
        _unique(ids, f"{where}: two records have the id")
        known = set(ids)
        _unique((question.id for question in case.questions), f"{where}: two questions have the id")
        for question in case.questions:
            _check_gold(question, known, where)


def _check_gold(question: Question, ids: set[str], where: str) -> None:
    if not question.gold:
        raise BadInput(f"{where}: the gold of question {question.id!r} is empty")
    if missing := set(question.gold) - ids:
        raise BadInput(
            f"{where}: the gold of question {question.id!r} names {min(missing)!r}, not a record of it"
        )


def _unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"{what} {name!r}")
        seen.add(name)
