"""The short-term window of a conversation, and the working memory of a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Final

from ...core.errors import BadInput
from ...core.record import Kind, Record, key_id
from ...core.validate import clean_text
from ...core.where import Where
from ...memory import Memory
from ...views.messages import put_away
from ..opening import next_number
from .memory_entry import UNKNOWN, MemoryConfig, MemoryEntry, MemoryTypes, entry_of

REACH: Final = 5  # how many windows back an important message can still be kept


def choose_window(records: Sequence[Record], size: int, threshold: float) -> list[Record]:
    """Chooses the records that stay in the window; input and output are oldest first.

    The newest half always stays. The other places go to important records, newest first, and then to the
    newest others, so that unimportant records leave first.
    """
    if len(records) <= size:
        return list(records)
    newest = -(-size // 2)
    older, recent = records[:-newest], records[-newest:]
    ranked = sorted(range(len(older)), key=lambda at: (older[at].importance >= threshold, at), reverse=True)
    return [older[at] for at in sorted(ranked[: size - newest])] + list(recent)


def _list_surplus(records: Sequence[Record], capacity: int, newest: str) -> list[str]:
    """Lists the ids beyond a capacity: least important first, oldest among equals.

    Leaves out the newest, pinned records and those under a legal hold.
    """
    free = [record for record in records if record.id != newest and not record.state.is_protected]
    free.sort(key=lambda record: (record.importance, record.created, record.id))
    return [record.id for record in free[: max(len(records) - capacity, 0)]]


class TaskEntries(MutableMapping[str, MemoryEntry | str]):
    """The entries of the task at hand by key, oldest first. Assigning a text stores it.

    Above the capacity, the least important entries are deleted.
    """

    def __init__(
        self,
        memory: Memory,
        conversation: str,
        config: MemoryConfig,
        weigh: Callable[[str, Mapping[str, Any]], float],
    ) -> None:
        self._memory, self._conversation, self._config, self._weigh = memory, conversation, config, weigh

    def records(self) -> list[Record]:
        mine = Where(kinds=(Kind.WORKING,), session=self._conversation)
        found = self._memory.find(mine, scope=self._config.scope, order="created", limit=None)
        return [record for record in found if _item_of(record) is not None]

    def put(self, content: str, metadata: Mapping[str, Any], key: str | None = None) -> None:
        """Stores an entry under a key, by default a new one."""
        item = self._free_key() if key is None else key
        stored = self._memory.remember(
            clean_text(content, "content"),
            kind=Kind.WORKING,
            key=self._check_key(item),
            data={"item": item},
            meta=metadata,
            pinned=bool(metadata.get("pinned")) or None,
            importance=self._weigh(content, metadata),
            session=self._conversation,
            source=metadata.get("source", UNKNOWN),
            agent=self._config.agent,
            scope=self._config.scope,
        )
        if over := _list_surplus(self.records(), self._config.working_capacity, stored.id):
            put_away(self._memory, over, scope=self._config.scope)

    def clear(self) -> None:
        """Deletes all entries when the task is over."""
        if ids := [record.id for record in self.records()]:
            put_away(self._memory, ids, scope=self._config.scope)

    def _check_key(self, key: str) -> str:
        if not clean_text(key, "a key of the working memory"):
            raise BadInput("a key of the working memory must have at least one character")
        return f"desk\n{self._conversation}\n{key}"

    def _free_key(self) -> str:
        series = f"items in {self._config.scope} of {self._conversation}"
        return f"item_{next_number(self._memory, series)}"

    def _entries(self) -> dict[str, MemoryEntry]:
        width = self._memory.parts.embedder.width
        return {_item_of(r) or "": entry_of(r, MemoryTypes.WORKING, width) for r in self.records()}

    def __getitem__(self, key: str) -> MemoryEntry:
        return self._entries()[key]

    def __setitem__(self, key: str, value: MemoryEntry | str) -> None:
        match value:
            case str():
                self.put(value, {}, key)
            case MemoryEntry():
                self.put(value.content, value.metadata, key)
            case _:
                raise BadInput(f"working memory holds texts and entries, not {type(value).__name__}")

    def __delitem__(self, key: str) -> None:
        if not put_away(self._memory, [key_id(self._check_key(key))], scope=self._config.scope):
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries())

    def __len__(self) -> int:
        return len(self.records())

    def __repr__(self) -> str:
        return repr({key: entry.content for key, entry in self._entries().items()})


def _item_of(record: Record) -> str | None:
    item = record.data.get("item") if isinstance(record.data, dict) else None
    return item if isinstance(item, str) else None
