"""All that is asked of the servers goes through here: tried again within a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from ...core.errors import Unavailable
from ...net.retry import OutcomeUnknown, Retrier, RetryPolicy
from .address import RedisAddress
from .connection import Command, Node, absent, driver
from .topology import TRY_SECONDS, Servers

P = ParamSpec("P")
T = TypeVar("T")

PAGE: Final = 1000  # commands that go out at once
PAUSE: Final = 0.05  # before replicas that are late are waited for again
LONG: Final = 60  # deadlines for what may have to look at every record
Asked = tuple[str, Command]  # a key, which says where, and what is asked there


class _Deadline(threading.local):
    """When a thread gives up; None while it asks for nothing."""

    ends: float | None = None


class RedisClient:
    """The servers, the line to them, and how long whoever asks will wait."""

    def __init__(
        self, address: RedisAddress, retry_policy: RetryPolicy | None, *, name: str | None = None
    ) -> None:
        driver()
        self.address = address
        self.retrier: Retrier = Retrier(name or address.shown, retry_policy or _retry_policy(address))
        self.servers: Servers = Servers(address)
        self._mine = _Deadline()

    @contextmanager
    def deadline(self, ends: float | None = None) -> Iterator[None]:
        """All that this thread asks inside of it is answered, or given up, within one deadline.

        Without a moment that is given, that of whoever called counts.
        """
        outer = self._mine.ends
        self._mine.ends = ends or self.ends
        try:
            yield
        finally:
            self._mine.ends = outer

    def prolong(self) -> None:
        """For what may have to look at every record: each question has the deadline, all together many."""
        longer = time.monotonic() + LONG * self.retrier.policy.deadline_seconds
        self._mine.ends = max(self._mine.ends or 0.0, longer)

    @property
    def ends(self) -> float:
        """When this thread gives up."""
        return self._mine.ends or time.monotonic() + self.retrier.policy.deadline_seconds

    @property
    def left(self) -> float:
        """Seconds that the next question may take."""
        return min(max(self.ends - time.monotonic(), 0.001), self.retrier.policy.deadline_seconds)

    def read(self, asked: Iterable[Asked]) -> list[Any]:
        """One answer per question, in order; those for one server go out together."""
        wanted = list(asked)
        if self.address.cluster:
            return self._ask_all(wanted)
        answers: list[Any] = []
        for page in pages(wanted, PAGE):
            answers += self._call(page[0][0], [command for _, command in page])
        return answers

    def ask(self, key: str, command: Command) -> Any:
        return self._call(key, [command])[0]

    def write(self, key: str, command: Command, *, copied: bool = True) -> Any:
        """For what may be sent again without harm. Waits for replicas if the address says so."""
        wait = self.address.wait if copied else 0
        while True:
            millis = max(min(self.address.wait_ms, int(self.left * 500)), 1)
            commands = [command, ("WAIT", wait, millis)] if wait else [command]
            answer, *copies = self.write_all(key, commands)
            if not copies or int(copies[0]) >= wait:
                return answer
            if self.left <= PAUSE + 0.0025 * millis:
                raise OutcomeUnknown(
                    f"stored, but only {copies[0]} of {wait} replicas have it after "
                    f"{self.address.wait_ms} ms and retries: a failover now could lose it"
                )
            time.sleep(PAUSE)

    def write_all(self, key: str, commands: Sequence[Command]) -> list[Any]:
        """Several at once, each of which may be done again; replicas are not waited for."""
        return self._call(key, commands, writes=True)

    def ask_nodes(self, *commands: Command) -> list[Any]:
        """Every server that takes writes; what they answer, one after the other, errors among it."""

        def job(left: float) -> list[Any]:
            ends = time.monotonic() + left
            answers = []
            for node in self.servers.nodes(left):
                answers += node.run(commands, max(ends - time.monotonic(), 0.001), writes=False)
            return answers

        return self.retrier.call(job, deadline_seconds=self.left)

    def may(self, names: Sequence[str], key: str) -> bool:
        """Whether every server knows these commands, and lets this user call them.

        They are called without what they need, so that they do nothing.
        """
        return not any(map(absent, self.ask_nodes(*((name, key) for name in names))))

    def info(self, section: str) -> list[dict[str, str]]:
        """What each server tells of itself; nothing where it must not."""
        return [_read_info(answer) for answer in self.ask_nodes(("INFO", section))]

    def close(self) -> None:
        self.servers.close()

    def _call(self, key: str, commands: Sequence[Command], *, writes: bool = False) -> list[Any]:
        def job(left: float) -> list[Any]:
            return self.servers.run(key, commands, left, writes=writes)

        return self.retrier.call(job, deadline_seconds=self.left)

    def _ask_all(self, asked: Sequence[Asked]) -> list[Any]:
        """All nodes are asked for what they have; what one of them did not answer is asked for by itself."""
        answers: dict[int, Any] = {}
        homes: dict[Node, list[int]] = {}
        for n, (key, _) in enumerate(asked if len(asked) > 1 else ()):
            if (home := self.servers.home(key)) is not None:
                homes.setdefault(home, []).append(n)
        for home, numbers in homes.items():
            with suppress(Unavailable):
                found = home.run([asked[n][1] for n in numbers], min(self.left, TRY_SECONDS), writes=False)
                numbered = zip(numbers, found, strict=True)
                answers.update((n, answer) for n, answer in numbered if not isinstance(answer, Exception))
        return [
            answers[n] if n in answers else self.ask(key, command) for n, (key, command) in enumerate(asked)
        ]


class _Asks(Protocol):
    @property
    def client(self) -> RedisClient: ...


S = TypeVar("S", bound=_Asks)


def in_time(verb: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """However often the verb asks, one deadline holds for all of it."""

    @wraps(verb)
    def within(self: S, /, *given: P.args, **named: P.kwargs) -> T:
        with self.client.deadline():
            return verb(self, *given, **named)

    return within


def pages(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _retry_policy(address: RedisAddress) -> RetryPolicy:
    """One node that is down is no reason to leave the others alone."""
    policy = RetryPolicy(deadline_seconds=address.deadline_seconds)
    if address.fails_over:
        return replace(policy, break_after=1000, longest_pause_seconds=0.25)
    return policy


def _read_info(answer: Any) -> dict[str, str]:
    info = {}
    for line in answer.decode().splitlines() if isinstance(answer, bytes) else ():
        name, colon, value = line.partition(":")
        if colon:
            info[name] = value.strip()
    return info
