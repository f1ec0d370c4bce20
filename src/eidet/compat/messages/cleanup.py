"""A store that lets old messages go, after the important ones were archived."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Unpack

from ...core.validate import Moment, moment
from ...upkeep import is_protected
from ...upkeep.archive import Archive
from ..checks import check_positive
from .async_tools import FairLock
from .base import BaseMemoryStore, Beside, Kept
from .message import Message, read
from .servers import ArchiveMemoryStore, archive_in


class AutoCleanupMemory(BaseMemoryStore):
    """`cleanup` deletes what is older than `max_age_days`, having archived what is important of it.

    Important is a message with `metadata["important"]`. `archive_to` is a store, a folder or an
    `Archive`; without one they are kept in the same memory, as the session `<session_id>:archive`.
    In a folder or an `Archive` they are sealed, if the memory is; a store of yours seals its own. What
    is pinned or under a legal hold stays.
    Override `archive` for another place: when it raises, nothing is deleted.
    """

    def __init__(
        self,
        *,
        max_age_days: float = 30,
        archive_to: BaseMemoryStore | Archive | str | Path | None = None,
        **where: Unpack[Kept],
    ) -> None:
        super().__init__(**where)
        self.max_age: timedelta = timedelta(days=check_positive(max_age_days, "max_age_days"))
        self._archive_to = archive_to
        self._turns = FairLock()

    @property
    def archive_store(self) -> BaseMemoryStore:
        """Where the important ones go."""
        chosen = self._archive_to
        if chosen is None:
            return Beside(self, scope=self.scope, session_id=f"{self.session_id}:archive")
        if not isinstance(chosen, BaseMemoryStore):
            sealed = archive_in(self.memory, chosen)
            chosen = ArchiveMemoryStore(sealed, scope=self.scope, session_id=self.session_id)
            self._archive_to = chosen
        return chosen

    async def archive(self, messages: Sequence[Message]) -> None:
        """Keeps messages elsewhere, before they are deleted here."""
        await self.archive_store.add_messages(messages)

    async def cleanup(self, now: Moment | None = None) -> int:
        """Archives, then deletes what is too old; how many messages went."""
        async with self._turns:
            old = await self._run(self._old, now)
            if important := [message for message in old if message.metadata.get("important", False)]:
                await self.archive(important)
            await self._run(self.drop, [message.record_id for message in old if message.record_id])
            return len(old)

    def _old(self, now: Moment | None) -> list[Message]:
        today = self.memory.parts.clock() if now is None else moment(now, "now")
        records = self.conversation.records(until=today - self.max_age.total_seconds())
        return [read(record) for record in records if not is_protected(record)]
