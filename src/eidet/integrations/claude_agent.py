"""`EidetSessionStore`: transcripts of the Claude Agent SDK in a memory, as a `SessionStore`.

Each project is a scope of its own below `scope`. Entries are restored exactly, in the order they were
appended; one that is sent again (with the same uuid) is stored once. Entries are messages of the memory
as well, so that `memory.recall` finds them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import uuid4

from ..core.draft import Draft
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.validate import dump_json
from ..core.where import Condition, Where
from ..memory import Memory
from .extras import RisingTimes, drop_known, finish, join_key, list_texts, make_missing, quote_label, read_all

try:
    from claude_agent_sdk import fold_session_summary
except ModuleNotFoundError as error:
    raise make_missing("the Claude Agent SDK", "claude-agent") from error

_PART: Final = "meta.claude_agent"
_ENTRY: Final = Where(conditions=(Condition(_PART, "=", "entry"),))
_SUMMARY: Final = Where(conditions=(Condition(_PART, "=", "summary"),))


class EidetSessionStore:
    """Keeps transcripts: `ClaudeAgentOptions(session_store=EidetSessionStore(memory))`."""

    def __init__(self, memory: Memory, *, scope: str = "claude") -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self._times = RisingTimes(memory.parts.clock)
        self._lock = threading.Lock()

    async def append(self, key: Mapping[str, str], entries: Sequence[Any]) -> None:
        """Adds entries, all or none; skips those with a uuid that is stored already."""
        if entries:
            await finish(partial(self._append, key, list(entries)))

    async def load(self, key: Mapping[str, str]) -> list[Any] | None:
        """Returns all entries of a transcript in order; None if there are none."""
        records = await asyncio.to_thread(self._entries, key)
        return None if not records else [record.data for record in records]

    async def list_sessions(self, project_key: str) -> list[dict[str, Any]]:
        """Returns the sessions of a project, with when each was last written, in milliseconds."""
        records = await asyncio.to_thread(self._summaries, project_key)
        return [{"session_id": record.session, "mtime": record.meta["mtime"]} for record in records]

    async def list_session_summaries(self, project_key: str) -> list[dict[str, Any] | None]:
        """Returns the summaries that the SDK folded, one per session."""
        records = await asyncio.to_thread(self._summaries, project_key)
        return [_tell_summary(record) for record in records]

    async def delete(self, key: Mapping[str, str]) -> None:
        """Deletes a transcript; without a subpath, the whole session."""
        await finish(partial(self._delete, key))

    async def list_subkeys(self, key: Mapping[str, str]) -> list[str]:
        """Returns the subpaths of a session, sorted."""
        read = partial(read_all, self.memory, _ENTRY, self._scope(key["project_key"]))
        records = await asyncio.to_thread(read, session=key["session_id"])
        subpaths = {str(record.meta["subpath"]) for record in records}
        return sorted(subpaths - {""})

    def _scope(self, project_key: str) -> str:
        return f"{self.scope}/{quote_label(project_key)}"

    def _append(self, key: Mapping[str, str], entries: Sequence[Any]) -> None:
        scope = self._scope(key["project_key"])
        with self._lock:
            times = self._times.take(len(entries) + 1)
            drafts = [_draft(key, entry, at) for entry, at in zip(entries, times, strict=False)]
            drafts = drop_known(self.memory, drafts, scope)
            if "subpath" not in key:
                drafts.append(self._fold(scope, key, [draft.data for draft in drafts], times[-1]))
            self.memory.remember(drafts, scope=scope, keep_duplicates=True, again=True)

    def _fold(self, scope: str, key: Mapping[str, str], entries: Sequence[Any], at: float) -> Draft:
        """Folds new entries into the session's summary, which is written together with them."""
        own = join_key(key["session_id"], "summary")
        before = _tell_summary(self.memory.get(key_id(own), scope=scope))
        folded = fold_session_summary(before, key, list(entries))
        return Draft(
            key=own,
            kind="summary",
            text=f"session {key['session_id']}",
            data=folded["data"],
            session=key["session_id"],
            meta={"claude_agent": "summary", "mtime": int(at * 1000) + 1},
        )

    def _entries(self, key: Mapping[str, str]) -> list[Record]:
        subpath = key.get("subpath", "")
        own = Where(conditions=(Condition("meta.subpath", "=", subpath),))
        scope = self._scope(key["project_key"])
        return read_all(self.memory, _ENTRY & own, scope, session=key["session_id"])

    def _summaries(self, project_key: str) -> list[Record]:
        return read_all(self.memory, _SUMMARY, self._scope(project_key))

    def _delete(self, key: Mapping[str, str]) -> None:
        where = _ENTRY | _SUMMARY
        if "subpath" in key:
            where = _ENTRY & Where(conditions=(Condition("meta.subpath", "=", key["subpath"]),))
        with self._lock:
            self.memory.forget(
                where=where, session=key["session_id"], scope=self._scope(key["project_key"]), for_good=False
            )


def _tell_summary(record: Record | None) -> dict[str, Any] | None:
    """Returns the summary that the SDK folded for a session; None before the first entries."""
    if record is None:
        return None
    return {"session_id": record.session, "mtime": record.meta["mtime"], "data": record.whole.data}


def _draft(key: Mapping[str, str], entry: Any, at: float) -> Draft:
    """Drafts an entry. One without a uuid gets one, because it is always new."""
    role, text = _parse_message(entry)
    return Draft(
        key=join_key(key["session_id"], key.get("subpath", ""), entry.get("uuid") or str(uuid4())),
        kind="message",
        text=text or dump_json(entry),
        data=entry,
        who=role,
        session=key["session_id"],
        occurred=at,
        meta={"claude_agent": "entry", "subpath": key.get("subpath", "")},
    )


def _parse_message(entry: Mapping[str, Any]) -> tuple[str | None, str]:
    """Returns the role and text of an entry; most entries that are not messages have neither."""
    message = entry.get("message")
    if not isinstance(message, Mapping):
        return None, ""
    role, texts = message.get("role"), list_texts(message.get("content"))
    return role if isinstance(role, str) else None, "\n".join(texts).strip()
