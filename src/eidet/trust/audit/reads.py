"""What an audit log is told by the verbs themselves: what is read, exported and loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...core.scope import Scope

if TYPE_CHECKING:
    from .log import AuditLog

Done = Callable[[int], int]


class Auditing:
    """Notes for an audit log; nothing where there is none."""

    def __init__(self, log: AuditLog | None) -> None:
        self._log = log

    def read(self, verb: str, scope: str | Scope, ids: Sequence[str], *, query: str | None = None) -> None:
        """Before the answer is given: what cannot be noted is not answered."""
        log = self._log
        if log is not None and log.audit.recalls:
            asked = query if log.audit.content else None
            log.note(verb, scope=str(Scope.of(scope)), ids=list(ids), count=len(ids), query=asked)

    @contextmanager
    def doing(self, verb: str, scope: str | Scope | None = None, *, file: str) -> Iterator[Done]:
        """Notes what is about to be done, and afterwards with how many records it was, or that it failed."""
        log = self._log
        if log is None:
            yield _same
            return
        place = None if scope is None else str(Scope.of(scope))
        counts: list[int] = []

        def add_count(count: int) -> int:
            counts.append(count)
            return count

        with log.about([log.describe(verb, scope=place, file=file)]) as numbers:
            yield add_count
        log.afterwards("done", of=numbers, count=sum(counts))


def _same(count: int) -> int:
    return count
