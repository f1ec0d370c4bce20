"""The transactions of the members that take part in a joint write, and what is refused while one does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from ...core.errors import EidetError, Unavailable
from .. import Transaction
from ..abilities import Leaps
from .member import Member
from .members import Members

T = TypeVar("T")


class MemberFailed(EidetError):
    """A member was unavailable inside of a joint write. Not `Unavailable`: the other members are fine."""

    def __init__(self, member: Member, error: Unavailable) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


class CannotWait(EidetError):
    """Needs a member that is away."""


class MustMove(EidetError):
    """A record has to change its store: the write is made again while nobody reads."""


class NeedsOutbox(EidetError):
    """Something has to wait: the write is made again with an outbox."""


class RanAgain(EidetError):
    """A member ran its part again: what the others wrote is undone, and all begin anew."""


@contextmanager
def as_failure_of(member: Member) -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        raise MemberFailed(member, error) from error


class Parts:
    """`away` are the members that take no part, and why."""

    def __init__(self, members: Members, away: Mapping[Member, Unavailable]) -> None:
        self.members, self.away = members, away
        self.transactions: dict[Member, Transaction] = {}

    def open(self, member: Member, transaction: Transaction) -> None:
        if member in self.transactions:
            raise RanAgain(f"the {member.name} store ran its part again")
        self.transactions[member] = transaction
        if not member.leaps_inside:
            member.leaps_inside = isinstance(transaction, Leaps)

    @contextmanager
    def using(self, member: Member) -> Iterator[Any]:
        if member in self.away:
            raise MemberFailed(member, self.away[member])
        with as_failure_of(member):
            yield self.transactions[member]

    def ask(self, job: Callable[[Member, Transaction], T]) -> list[T]:
        """What each member answers."""
        answers = []
        for member in self.transactions:
            with self.using(member) as transaction:
                answers.append(job(member, transaction))
        return answers

    def need_all(self, what: str) -> None:
        for member, error in self.away.items():
            raise CannotWait(f"the {member.name} store is down, and {what} cannot wait for it: {error}")

    def need_all_at_home(self) -> None:
        """Vectors are replaced only while nothing waits for a store."""
        self.need_all("new vectors")
        if (reason := self.members.waiting.reason_to_wait()) is not None:
            raise CannotWait(reason)
