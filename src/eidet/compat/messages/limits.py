"""Stores that keep to a size: by messages, by tokens, by a window, with a handler for what overflows."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Unpack

from ...core.errors import BadInput, Refused
from ..opening import check_limit
from .base import BaseMemoryStore, FairLock, Kept, await_if_needed
from .message import Message

_STRATEGIES = ("fifo",)
_log = logging.getLogger(__name__)


class InMemoryMemoryStore(BaseMemoryStore):
    """The default store: in RAM (unless `memory` names a file), without limits unless some are given.

    Above `max_messages`, or `max_tokens` in all, the oldest messages are deleted; the newest one always
    stays.
    """

    max_messages: int | None = None
    _token_limit: int | None = None  # subclasses have a `max_tokens` of their own and count otherwise

    def __init__(
        self,
        max_messages: int | None = None,
        max_tokens: int | None = None,
        eviction_strategy: str = "fifo",
        **where: Unpack[Kept],
    ) -> None:
        super().__init__(**where)
        if eviction_strategy not in _STRATEGIES:
            raise BadInput(
                f"unknown eviction strategy {eviction_strategy!r}; there is {', '.join(_STRATEGIES)}"
            )
        self.max_messages = check_limit(max_messages, "max_messages")
        self._token_limit = check_limit(max_tokens, "max_tokens")
        self.max_tokens: int | None = self._token_limit
        self.eviction_strategy = eviction_strategy

    def _after(self) -> None:
        most, tokens = self.max_messages, self._token_limit
        if most is not None or tokens is not None:
            self._trim(keep=most, max_tokens=tokens, counter=self.token_counter)

    def _trim(self, **limits: Any) -> None:
        try:
            self.conversation.trim(**limits)
        except Refused as held:  # messages under a legal hold stay, whatever the limit
            _log.warning("the session %r is over its limit: %s", self.session_id, held)


class TokenLimitedMemoryStore(InMemoryMemoryStore):
    """Keeps at most `max_tokens`, estimated as 1.3 tokens a word; the newest message always stays."""

    def __init__(self, max_tokens: int = 4000, **where: Unpack[Kept]) -> None:
        super().__init__(max_tokens=max_tokens, **where)

    def _after(self) -> None:
        if self.token_counter is not None or self._token_limit is None:
            super()._after()
        else:  # in tenths of a token, so that nothing is rounded
            self._trim(max_tokens=10 * self._token_limit, counter=_tenths)


class SlidingWindowMemory(InMemoryMemoryStore):
    """A store of the last `window_size` messages."""

    def __init__(self, window_size: int = 10, **where: Unpack[Kept]) -> None:
        super().__init__(max_messages=window_size, **where)

    @property
    def window_size(self) -> int | None:
        return self.max_messages

    @window_size.setter
    def window_size(self, size: int) -> None:
        self.max_messages = check_limit(size, "window_size")


_Overflow = Callable[[list[Message]], Awaitable[Any] | Any]


class SafeMemoryStore(BaseMemoryStore):
    """A store of at most `max_size` messages that drops none unseen.

    When it is full, `overflow_handler` (a function or a coroutine function) gets all messages; after it
    returns, the newest 80 % are kept. If it fails, nothing is dropped or added.
    """

    def __init__(self, max_size: int, overflow_handler: _Overflow, **where: Unpack[Kept]) -> None:
        super().__init__(**where)
        if not callable(overflow_handler):
            raise BadInput(
                "overflow_handler must be a function or coroutine function that takes the messages"
            )
        self.max_size: int = check_limit(max_size, "max_size") or 1
        self.overflow_handler = overflow_handler
        self._turns = FairLock()

    async def add_message(self, message: Message) -> None:
        async with self._turns as handling:  # the handler may add to this store itself
            if not handling and await self._run(lambda: self.current_count) >= self.max_size:
                full = await self._run(lambda: list(self.messages))
                await await_if_needed(self.overflow_handler(list(full)))
                await self._run(self._make_room, full)
            await super().add_message(message)

    def _make_room(self, seen: Sequence[Message]) -> None:
        """Drops messages that the handler has seen, never those added meanwhile."""
        surplus = max(1, len(seen) - (self.max_size - int(self.max_size * 0.2)))
        try:
            self.drop([message.record_id for message in seen[:surplus] if message.record_id])
        except Refused as held:  # messages under a legal hold stay, whatever the limit
            _log.warning("the session %r is over its limit: %s", self.session_id, held)


def _tenths(text: str) -> int:
    return 13 * len(text.split())
