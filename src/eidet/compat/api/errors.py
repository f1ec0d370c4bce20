"""The errors of this door, in its own vocabulary.

MemoryAPIException
├── MemoryStoreException         a memory could not be stored or changed
├── MemoryRetrievalException     memories could not be read
├── MemoryMaintenanceException   tiers could not be kept in order
└── MemoryConfigException        a setting is wrong, or does not fit what is there

InvalidAgentId inherits from the first three.

The `severity` of an error says whether the same call can succeed: see `Severity`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, Final

from ...core.errors import (
    BadInput,
    Conflict,
    Corrupt,
    EidetError,
    Misconfigured,
    NotFound,
    Refused,
    Unavailable,
)

log: logging.Logger = logging.getLogger("eidet.compat.api")


class Severity(StrEnum):
    """The severity of an error, which decides what to do about it."""

    RECOVERABLE = "recoverable"  # change the call, or go on with what the other tiers gave
    POTENTIALLY_RECOVERABLE = "potentially_recoverable"  # change the settings, or try again later
    FATAL = "fatal"  # stored bytes are damaged, or this is a bug


class MemoryAPIException(EidetError):
    """The root of this door's errors. `context` says what was being done, for logs."""

    severity: Severity = Severity.RECOVERABLE

    def __init__(
        self, message: str, *, severity: Severity | None = None, context: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        if severity is not None:
            self.severity = severity
        self.context: dict[str, Any] = dict(context or {})


class MemoryStoreException(MemoryAPIException):
    """A memory could not be stored or changed."""


class MemoryRetrievalException(MemoryAPIException):
    """Memories could not be read."""


class MemoryMaintenanceException(MemoryAPIException):
    """Tiers could not be kept in order."""


class MemoryConfigException(MemoryAPIException):
    """Raised if a setting is wrong, or does not fit what is there."""

    severity = Severity.POTENTIALLY_RECOVERABLE


class InvalidAgentId(MemoryStoreException, MemoryRetrievalException, MemoryMaintenanceException):
    """Raised for a value that cannot be an agent's id."""


_SEVERITY: Final[tuple[tuple[type[Exception] | tuple[type[Exception], ...], Severity], ...]] = (
    ((BadInput, NotFound, Conflict, Refused), Severity.RECOVERABLE),
    ((Misconfigured, Unavailable), Severity.POTENTIALLY_RECOVERABLE),
    (Corrupt, Severity.FATAL),
)


def severity_of(error: BaseException) -> Severity:
    """Returns the severity of an error of this door or of the memory; an unexpected one is fatal."""
    if isinstance(error, MemoryAPIException):
        return error.severity
    return next((found for kind, found in _SEVERITY if isinstance(error, kind)), Severity.FATAL)


@contextmanager
def translate_errors(kind: type[MemoryAPIException], what: str, **context: Any) -> Iterator[None]:
    """Raises the memory's errors as `kind`, with what was being done, and logs them once."""
    try:
        yield
    except MemoryAPIException:
        raise
    except EidetError as error:
        severity = severity_of(error)
        details = ", ".join(f"{name}={value!r}" for name, value in context.items())
        log.log(
            logging.ERROR if severity is Severity.FATAL else logging.WARNING,
            "%s (%s): %s [%s]", what, severity, error, details,
        )  # fmt: skip
        raise kind(f"{what}: {error}", severity=severity, context=context) from error
