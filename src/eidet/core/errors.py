"""The errors a program can tell apart.

EidetError
├── BadInput        what was given cannot be stored or asked; nothing was written
├── NotFound        the thing named does not exist in this scope
├── Conflict        another writer came first; `current` is the version now
├── Refused         a policy said no
├── Unavailable     try again later; `retry_after` says when, if known
├── Corrupt         stored bytes are damaged or not ours
└── Misconfigured   settings, files and code do not fit together
    └── MissingExtra    an optional package is not installed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar


class EidetError(Exception):
    """The root of every error Eidet raises on purpose."""


class BadInput(EidetError, ValueError):
    """Raised for input that cannot be stored or asked; nothing was written."""


class NotFound(EidetError, LookupError):
    """Raised if the record or scope named does not exist."""


class Conflict(EidetError):
    """Raised if another writer changed the record first."""

    def __init__(self, message: str, *, current: int | None = None) -> None:
        super().__init__(message)
        self.current = current


class Refused(EidetError):
    """Raised if a policy forbids the call; nothing was changed."""


class Unavailable(EidetError):
    """Raised if a store, disk or service cannot answer now; the same call may succeed later."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Corrupt(EidetError):
    """Raised if stored bytes are damaged or are not ours."""


class Misconfigured(EidetError):
    """Raised if settings, files and code do not fit together."""


class MissingExtra(Misconfigured, ImportError):
    """Raised if an optional package is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs the {extra} extra: pip install 'eidet[{extra}]'")
        self.extra = extra


T = TypeVar("T")
V = TypeVar("V")


def each_item(make: Callable[[T], V], items: Sequence[T]) -> list[V]:
    """Makes a value from each item. An error names the item that caused it."""
    made: list[V] = []
    try:
        for item in items:
            made.append(make(item))
    except BadInput as error:
        if len(items) == 1:
            raise
        raise BadInput(f"item {len(made) + 1} of {len(items):,}: {error}") from error
    return made


@contextmanager
def translate_errors(
    name: str, timeout: float | None = None, late: type[Unavailable] = Unavailable
) -> Iterator[None]:
    """Translates exceptions of the user's code to `Unavailable`, with the original as the cause."""
    try:
        yield
    except EidetError:
        raise
    except Exception as error:  # whatever the user's code raises
        if timeout is not None and isinstance(error, TimeoutError):
            raise late(f"{name} did not answer within {timeout:g} s") from None
        raise Unavailable(f"{name} raised {type(error).__name__}: {error}") from error
