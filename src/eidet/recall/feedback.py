"""Resolves the subject of feedback: a whole answer or one record, and the scope it counts for."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import BadInput, NotFound
from ..core.hit import Hit, Hits, Trace
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import clean_text
from .pack import Context

LONGEST_NAME = 200  # characters of a judge's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The subject of feedback. `id` is None for a whole answer; `record` is set if a hit was given."""

    scope: str
    id: str | None = None
    record: Record | None = None


def find_judged(about: object, scope: Scope | None) -> Judgement:
    """Resolves what the feedback is about, and checks that it belongs to the scope, if one was named."""
    if isinstance(about, Hit):
        return _judge_hit(about.record, scope)
    if isinstance(about, Hits | Trace | Context):
        return _judge_answer(about, scope)
    if isinstance(about, str):
        id, place = clean_text(about, "an id"), scope or Scope()
        if not place.is_one:
            raise BadInput(f"an id needs one scope, not {place}; name it as a string")
        return Judgement(scope=place.path, id=id)
    raise BadInput(
        f"feedback is about a Hit, the Hits of a recall, a Trace, a Context or a record's id, "
        f"not {type(about).__name__}"
    )


def counts_of(what: Judgement, useful: bool) -> dict[str, int]:
    if not isinstance(useful, bool):
        raise BadInput(f"useful must be True or False, not {useful!r}")
    return {f"{'useful' if useful else 'useless'}_{'answers' if what.id is None else 'hits'}": 1}


def judge(by: str | None) -> str:
    """Returns the name of the tally for the feedback, one per judge if a judge is named."""
    if by is None:
        return "feedback"
    name = clean_text(by, "by")
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadInput(f"by names who judges, in 1 to {LONGEST_NAME} characters, not {len(name):,}")
    return f"feedback/{name}"


def _judge_hit(record: Record, scope: Scope | None) -> Judgement:
    if scope is not None and not scope.holds(record.scope):
        raise NotFound(f"there is no record {record.id!r} in scope {scope}; this one is in {record.scope}")
    return Judgement(scope=record.scope, id=record.id, record=record)


def _judge_answer(about: Hits | Trace | Context, scope: Scope | None) -> Judgement:
    asked = about.scope or (scope.path if scope is not None else "")
    if not asked:
        raise BadInput("this answer does not name its scope: pass scope=…")
    if scope is not None and not scope.holds(asked):
        raise BadInput(f"this answer was asked in scope {asked}, not in {scope}")
    return Judgement(scope=asked)
