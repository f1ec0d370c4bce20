"""Whether anybody still waits for an answer: long work looks from time to time, and stops if nobody does."""

from __future__ import annotations

import threading
from contextvars import Context, ContextVar
from typing import Final

_GIVEN_UP: Final[ContextVar[threading.Event | None]] = ContextVar("eidet_given_up", default=None)


def watch_for_giving_up(context: Context) -> threading.Event:
    """An event that tells work in this context, once it is set, that nobody waits for it any more."""
    event = threading.Event()
    context.run(_GIVEN_UP.set, event)
    return event


def is_given_up() -> bool:
    """Whether whoever asked for the present work has left."""
    event = _GIVEN_UP.get()
    return event is not None and event.is_set()
