"""The messages of a store as a list: reading and changing it reads and changes the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import Any, Protocol, overload

from ...views import Conversation
from .message import Message, read


class Logged(Protocol):
    """What has a log: a conversation, and how messages are added to it and deleted from it."""

    @property
    def conversation(self) -> Conversation: ...
    def append(self, messages: Sequence[Message], /) -> None: ...
    def drop(self, ids: Sequence[str], /) -> None: ...
    def replace(self, ids: Sequence[str], messages: Sequence[Message], /) -> None: ...


class Log(MutableSequence[Message]):
    """Oldest first. Each call looks into the memory, so it always tells the truth; iterate to read all."""

    def __init__(self, store: Logged) -> None:
        self._store = store

    def __len__(self) -> int:
        return len(self._store.conversation)

    def __iter__(self) -> Iterator[Message]:
        return iter([read(record) for record in self._store.conversation.records()])

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        if isinstance(index, slice):
            return list(self)[index]
        if index < 0:
            back = -index - 1
        else:
            back = len(self) - index - 1
        found = []
        if back >= 0:
            found = self._store.conversation.records(limit=1, offset=back)
        if not found:
            raise IndexError("there is no message at this place")
        return read(found[0])

    def __setitem__(self, index: Any, value: Any) -> None:
        messages = list(self)
        messages[index] = value
        self.become(messages)

    def __delitem__(self, index: int | slice) -> None:
        if isinstance(index, int):
            doomed = [self[index]]
        else:
            doomed = self[index]
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
        """Makes these the messages, with as few changes as it takes."""
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
    """The ids that stay, where `wanted` is some of what is there, in order, then new ones; else none do."""
    places = {id: place for place, id in enumerate(there)}
    known = []
    for message in wanted:
        id = message.record_id if isinstance(message, Message) else None
        known.append(places.get(id or ""))
    if None in known:
        first_new = known.index(None)
    else:
        first_new = len(known)
    old = [place for place in known[:first_new] if place is not None]
    if any(place is not None for place in known[first_new:]) or old != sorted(set(old)):
        return []
    return [there[place] for place in old]
