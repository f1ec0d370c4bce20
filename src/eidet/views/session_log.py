"""What belongs to the log of a session: its messages, and the summary of those that are shown no more."""

from __future__ import annotations

from dataclasses import replace

from ..core.record import Kind, Record
from ..core.where import Where
from ..memory import Memory
from .log_order import Log
from .summaries import Summed, summary_id


class SessionLog:
    """The messages of one session of a scope. `agent` is who writes its summaries."""

    def __init__(self, memory: Memory, scope: str, session: str, agent: str | None) -> None:
        self._memory = memory
        self._scope = scope
        self._session = session
        self._agent = agent
        self.messages: Where = Where(kinds=(Kind.MESSAGE,), session=session)
        self.summary_only: Where = Where(ids=(summary_id(session),))

    def whole(self) -> Log:
        """All messages, also those that were summed up."""
        return Log(memory=self._memory, scope=self._scope, where=self.messages)

    def after_summary(self, *parts: Where) -> Log:
        """The messages after those that were summed up, as far as they pass the filters."""
        made = self.read_summary()
        if made is not None:
            parts = (*parts, made.edge.after())
        return Log(memory=self._memory, scope=self._scope, where=replace(self.messages, every=parts))

    def holds(self, record: Record) -> bool:
        return record.kind is Kind.MESSAGE and record.session == self._session

    def read_summary(self) -> Summed | None:
        record = self._memory.get(summary_id(self._session), scope=self._scope)
        return None if record is None else Summed.read(record)

    def keep_summary(self, made: Summed) -> None:
        self._memory.remember(
            made.text,
            scope=self._scope,
            session=self._session,
            agent=self._agent,
            kind=Kind.SUMMARY,
            id=summary_id(self._session),
            derived_from=made.sources,
            data=made.as_json(),
        )
