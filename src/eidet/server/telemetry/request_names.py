"""The id of the request that is being served, for logs; it travels with the request into threads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_request: ContextVar[str | None] = ContextVar("eidet_request", default=None)


def current_request() -> str | None:
    """The id of the request that this task or thread works for."""
    return _request.get()


@contextmanager
def name_request(id: str) -> Iterator[None]:
    """All that is logged inside carries this id."""
    token = _request.set(id)
    try:
        yield
    finally:
        _request.reset(token)
