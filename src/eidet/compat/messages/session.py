"""The messages of one session of a memory: how they are added, listed, replaced and deleted.

`Log` shows them as a list: reading and changing it reads and changes the memory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import TYPE_CHECKING, Any, overload

from ...memory import Memory
from ...views import Conversation
from ...views.messages import put_away
from ..opening import refuse_held
from .message import Message, message_as_json, message_of_record


class MessageSession:
    """The base of message stores. Subclasses have a `memory`, and decide what happens at a limit."""

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
        """The lock to hold while several changes of this store belong together."""
        lock: threading.RLock = self.__dict__.setdefault("_turn", threading.RLock())
        return lock

    def append(self, messages: Sequence[Message]) -> None:
        """Adds messages, all or none, then applies the limits of the store."""
        drafts = [message_as_json(message) for message in messages]
        with self.turn:
            self._before()
            self.conversation.extend(drafts)
            self._after()

    def drop(self, ids: Sequence[str]) -> None:
        """Deletes messages by the ids of their records; the same messages may be added again later."""
        if ids:
            put_away(self.memory, ids, scope=self.scope)

    def replace(self, ids: Sequence[str], messages: Sequence[Message]) -> None:
        """Adds messages, then deletes others, so that nothing is lost if the new ones cannot be stored."""
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
        """Removes what is over a limit, after messages were added."""


class Log(MutableSequence[Message]):
    """The messages, oldest first. Each call reads the memory; iterate to read all."""

    def __init__(self, store: MessageSession) -> None:
        self._store = store

    def __len__(self) -> int:
        return len(self._store.conversation)

    def __iter__(self) -> Iterator[Message]:
        return iter([message_of_record(record) for record in self._store.conversation.records()])

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        back = -index - 1 if index < 0 else len(self) - index - 1
        found = self._store.conversation.records(limit=1, offset=back) if back >= 0 else []
        if not found:
            raise IndexError("there is no message at this place")
        return message_of_record(found[0])

    def __setitem__(self, index: Any, value: Any) -> None:
        messages = list(self)
        messages[index] = value
        self.become(messages)

    def __delitem__(self, index: int | slice) -> None:
        doomed = [self[index]] if isinstance(index, int) else self[index]
        self._store.drop([message.record_id for message in doomed if message.record_id])

    def insert(self, index: int, value: Message) -> None:
        if index >= len(self):
            self._store.append([value])
        else:
            messages = list(self)
            messages.insert(index, value)
            self.become(messages)

    def extend(self, values: Iterable[Message]) -> None:
        self._store.append(list(values))

    def clear(self) -> None:
        self.become([])

    def become(self, wanted: Iterable[Message]) -> None:
        """Makes these the messages. Existing ones stay as they are if new ones only follow them."""
        messages = list(wanted)
        there = [record.id for record in self._store.conversation.records()]
        kept = _find_kept(there, messages)
        gone = [id for id in there if id not in set(kept)]
        self._store.replace(gone, messages[len(kept) :])

    def __add__(self, other: Iterable[Message]) -> list[Message]:
        return [*self, *other]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


def _find_kept(there: Sequence[str], wanted: Sequence[Message]) -> list[str]:
    """Lists the ids that stay if `wanted` is existing messages in order, then new ones; otherwise none."""
    places = {id: place for place, id in enumerate(there)}
    known = []
    for message in wanted:
        id = message.record_id if isinstance(message, Message) else None
        known.append(places.get(id or ""))
    first_new = known.index(None) if None in known else len(known)
    old = [place for place in known[:first_new] if place is not None]
    if any(place is not None for place in known[first_new:]) or old != sorted(set(old)):
        return []
    return [there[place] for place in old]
