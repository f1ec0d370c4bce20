"""The messages of one session of a memory: how they are added, listed, replaced and deleted."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...memory import Memory
from ...views import Conversation
from ...views.housekeeping import put_away
from ..opening import refuse_held
from .message import Message, message_as_json
from .message_log import Log


class MessageSession:
    """What stores of messages share. Subclasses have a `memory`, and say what happens at a limit."""

    scope: str = "default"
    session_id: str = "default"

    if TYPE_CHECKING:

        @property
        def memory(self) -> Memory:
            """The memory underneath, for the native verbs."""

    @property
    def conversation(self) -> Conversation:
        """The session as a view of the memory."""
        return Conversation(self.memory, self.session_id, scope=self.scope)

    @property
    def messages(self) -> Log:
        """All messages as a list that can be changed: `store.messages.pop(0)`."""
        return Log(self)

    @messages.setter
    def messages(self, messages: Iterable[Message]) -> None:
        with self.turn:
            Log(self).become(messages)

    @property
    def turn(self) -> threading.RLock:
        """Held while several changes of this store belong together."""
        lock: threading.RLock = self.__dict__.setdefault("_turn", threading.RLock())
        return lock

    def append(self, messages: Sequence[Message]) -> None:
        """Adds messages, all or none, and keeps to the limits of the store."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            self._before()
            self.conversation.extend(drafts)
            self._after()

    def drop(self, ids: Sequence[str]) -> None:
        """Deletes messages by the ids of their records; the same may be said again later."""
        if ids:
            put_away(self.memory, ids, scope=self.scope)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        """Adds messages and then deletes others, so that nothing is lost where the new cannot be kept."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            refuse_held(self.memory, ids, scope=self.scope)
            self.conversation.extend(drafts)
            self.drop(ids)
            self._after()

    def drop_all(self) -> None:
        with self.turn:
            self.conversation.clear()

    def _before(self) -> None:
        """Runs before messages are read or added."""

    def _after(self) -> None:
        """Runs after messages were added: what is over a limit goes."""
