"""Errors in lists name the item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .errors import BadInput

T = TypeVar("T")
V = TypeVar("V")


def each_item(make: Callable[[T], V], items: Sequence[T]) -> list[V]:
    """What is made of each item; of several, an error says which one it was."""
    made: list[V] = []
    try:
        for item in items:
            made.append(make(item))
    except BadInput as error:
        if len(items) == 1:
            raise
        raise BadInput(f"item {len(made) + 1} of {len(items):,}: {error}") from error
    return made
