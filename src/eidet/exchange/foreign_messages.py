"""Messages of other programs' conversations, as drafts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.draft import Draft
from .foreign_values import plain_json, with_origin
from .source_items import SourceItem, keep_present

TOOLS: Final = ("tool", "function")  # roles of those whose word is not a user's


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMessage:
    """What was said in a conversation, by whom and when."""

    where: str
    key: str
    source: str
    role: str
    text: str
    session: str
    occurred: float | None
    name: str | None = None
    agent: str | None = None
    calls: list[Any] | None = None  # of tools
    call_id: str | None = None  # the call that a tool answers
    origin: Mapping[str, Any] = field(default_factory=dict)  # what else its program says of it
    labels: Mapping[str, str] = field(default_factory=dict)

    def make_item(self) -> SourceItem:
        """The item of the message."""
        calls = plain_json(self.calls) or None
        more = keep_present(name=self.name, tool_calls=calls, tool_call_id=self.call_id)
        draft = Draft(
            key=self.key,
            kind="message",
            text=self.text or None,
            data={"role": self.role, **more},
            who=self.name or self.role,
            agent=self.agent,
            session=self.session,
            trust="tool" if self.role in TOOLS else None,
            source=self.source,
            occurred=self.occurred,
            meta=with_origin({}, self.key.partition(" ")[0], self.origin),
        )
        return SourceItem(where=self.where, labels=self.labels, draft=draft)
