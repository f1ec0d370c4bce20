"""The actor of changes: who acts, from where and why. Set around calls, recorded by history and audit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from .validate import clean_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """The actor of a change. `reasons` gives the reason per record id.

    `agent` signs what is remembered and names no agent. `bound` refuses the name of any other agent.
    """

    by: str | None = None
    source: str | None = None
    why: str | None = None
    agent: str | None = None
    bound: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)


_NOBODY = Acting()
_acting: ContextVar[Acting] = ContextVar("eidet_acting", default=_NOBODY)


def acts() -> Acting:
    """Returns the current actor of this thread or task."""
    return _acting.get()


@contextmanager
def acting(*, by: str | None = None, source: str | None = None, why: str | None = None) -> Iterator[Acting]:
    """Attributes everything done inside the block to this actor, source and reason.

    Example: `with eidet.acting(by="ann", source="10.0.0.7", why="ticket 812"): …`. A nested block inherits
    what it does not set. A verb's own `by=` takes precedence. Applies to this thread or asyncio task and to
    the tasks it starts; a thread that you start has no actor.
    """
    given = {"by": by, "source": source, "why": why}
    said: dict[str, Any] = {
        name: clean_text(value, name) for name, value in given.items() if value is not None
    }
    with acting_as(replace(acts(), **said)) as now:
        yield now


def because(reasons: Mapping[str, str]) -> AbstractContextManager[Acting]:
    """Sets the reasons for single records, by id, inside the block."""
    return acting_as(replace(acts(), reasons=reasons))


@contextmanager
def acting_as(actor: Acting) -> Iterator[Acting]:
    """Replaces the current actor inside the block."""
    token = _acting.set(actor)
    try:
        yield actor
    finally:
        _acting.reset(token)
