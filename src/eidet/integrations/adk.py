"""Google's Agent Development Kit over a memory: `EidetMemoryService` and `EidetSessionService`.

Each user of each app has a scope of their own below `scope`: `adk/my_app/ann` holds what the memory
service was given, `adk/my_app/ann/sessions` the sessions. The state of an app is in `adk/my_app`.
"""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ..core.draft import Draft
from ..core.record import Record, key_id
from ..core.scope import Scope
from ..core.validate import QUERY_CHARS, dump_json
from ..core.where import Where
from ..memory import Memory
from .extras import (
    RisingTimes,
    digest_text,
    drop_known,
    finish,
    join_key,
    make_missing,
    quote_label,
    read_all,
)

try:
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.events.event_actions import EventActions
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.base_session_service import (
        BaseSessionService,
        GetSessionConfig,
        ListSessionsResponse,
    )
    from google.adk.sessions.session import Session
    from google.adk.sessions.state import State
    from google.genai.types import Content, Part
except ModuleNotFoundError as error:
    raise make_missing("Google's Agent Development Kit", "adk") from error

SEARCHED: Final = 1_000_000  # characters of a memory that are searched; it is kept as a whole
SHOWN: Final = 1000  # characters of a value of a state that are searched
_MEMORY: Final = "adk:memory"  # sources tell apart what a scope holds
_EVENT: Final = "adk:event"
_SESSION: Final = "adk:session"
_STATE: Final = "adk:state"
_USER_STATE: Final = "adk:user_state"
_APP_STATE: Final = "adk:app_state"


class EidetMemoryService(BaseMemoryService):
    """The long-term memory of an ADK app: `Runner(memory_service=EidetMemoryService(memory), …)`.

    `load_memory` and `preload_memory` find whatever the scope of the user holds: events of earlier
    sessions, and facts that you remember there yourself. `limit` is how many entries a search gives.
    """

    def __init__(self, memory: Memory, *, scope: str = "adk", limit: int = 10) -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self.limit = limit
        self._lock = threading.Lock()

    async def add_session_to_memory(self, session: Session) -> None:
        """Stores what was said in a session; skips events already stored."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores what was said in some events, all or none; skips events without words."""
        drafts = [
            _draft_of_event(event, session_id, custom_metadata) for event in events if _text_of(event.content)
        ]
        await finish(partial(self._add, drafts, self._scope(app_name, user_id)))

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Stores memories as facts, all or none; one with an id that exists takes its place."""
        drafts = [_draft_of_entry(entry, custom_metadata) for entry in memories]
        if drafts:
            write = partial(self.memory.remember, drafts, scope=self._scope(app_name, user_id))
            await finish(write)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Finds memories for a query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        ask = partial(self.memory.recall, scope=self._scope(app_name, user_id), limit=self.limit)
        hits = await asyncio.to_thread(ask, query[:QUERY_CHARS])
        return SearchMemoryResponse(memories=[_entry_of(hit.record) for hit in hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forgets a memory for good: it does not come back when its session is added again."""
        if memory_id:
            await finish(partial(self.memory.forget, memory_id, scope=self._scope(app_name, user_id)))

    def _scope(self, app_name: str, user_id: str) -> str:
        return f"{self.scope}/{quote_label(app_name)}/{quote_label(user_id)}"

    def _add(self, drafts: Sequence[Draft], scope: str) -> None:
        with self._lock:
            fresh = drop_known(self.memory, drafts, scope)
            self.memory.remember(fresh, scope=scope)


class EidetSessionService(BaseSessionService):
    """Keeps sessions across restarts: `Runner(session_service=EidetSessionService(memory), …)`.

    Each event and each key of a state is a record of its own, so that processes which write at once
    don't undo each other. An event is stored with the state that it changes, all or none; the state of
    the app is written just before. An event that is appended again is stored once.
    """

    def __init__(self, memory: Memory, *, scope: str = "adk") -> None:
        self.memory = memory
        self.scope: str = Scope.exactly(scope).path
        self._times = RisingTimes(memory.parts.clock)
        self._lock = threading.Lock()

    async def create_session(
        self,
        *,
        app_name: str,
        user_id: str,
        state: dict[str, Any] | None = None,
        session_id: str | None = None,
    ) -> Session:
        """A new session; `AlreadyExistsError` if the user has one with this id."""
        id = (session_id or "").strip() or str(uuid.uuid4())
        given = json.loads(EventActions(state_delta=state or {}).model_dump_json())
        session = Session(
            app_name=app_name, user_id=user_id, id=id, last_update_time=self.memory.parts.clock()
        )
        await finish(partial(self._create, session, given["state_delta"]))
        created: Session = await asyncio.to_thread(self._read_session, app_name, user_id, id, None)
        return created

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Returns a session with its events and its state; None if there is none."""
        return await asyncio.to_thread(self._read_session, app_name, user_id, session_id.strip(), config)

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """The sessions of a user, or of all users, without events; the latest is the last."""
        sessions = await asyncio.to_thread(self._list, app_name, user_id)
        sessions.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=sessions)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Deletes a session with its events and its state; the state of user and app stays."""
        await finish(partial(self._delete, app_name, user_id, session_id.strip()))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """The state that all sessions of a user share, without the prefix `user:`."""
        scope = self._scope(app_name, user_id)
        return _state_of(await asyncio.to_thread(self._read, _USER_STATE, scope))

    async def append_event(self, session: Session, event: Event) -> Event:
        """Stores an event, then adds it to the session given. A cancelled call is finished first."""
        if event.partial:
            return event
        await finish(partial(self._append, session, event))
        if event not in session.events:
            await super().append_event(session=session, event=event)
            session.last_update_time = event.timestamp
        return event

    def _scope(self, app_name: str, user_id: str) -> str:
        return f"{self._app_scope(app_name)}/{quote_label(user_id)}/sessions"

    def _app_scope(self, app_name: str) -> str:
        return f"{self.scope}/{quote_label(app_name)}"

    def _create(self, session: Session, given: Mapping[str, Any]) -> None:
        scope = self._scope(session.app_name, session.user_id)
        with self._lock:
            if self.memory.get(key_id(join_key(_SESSION, session.id)), scope=scope) is not None:
                raise AlreadyExistsError(f"Session with id {session.id} already exists.")
            self._write(session, session.last_update_time, given, [])

    def _append(self, session: Session, event: Event) -> None:
        data = _dump_event(event)
        scope = self._scope(session.app_name, session.user_id)
        with self._lock:
            if self.memory.get(key_id(join_key(_SESSION, session.id)), scope=scope) is None:
                raise SessionNotFoundError(f"Session {session.id} not found.")
            fresh = drop_known(self.memory, [self._draft_event(session, event, data)], scope)
            if fresh:
                self._write(session, event.timestamp, data["actions"]["state_delta"], fresh)

    def _write(self, session: Session, at: float, delta: Mapping[str, Any], events: Iterable[Draft]) -> None:
        """The app's state first: if the rest fails, the caller tries again, and that says the same."""
        shared, own = _split_state(delta, session.id)
        self.memory.remember(shared, scope=self._app_scope(session.app_name), again=True)
        drafts = [_draft_session(session, at), *own, *events]
        self.memory.remember(drafts, scope=self._scope(session.app_name, session.user_id), again=True)

    def _draft_event(self, session: Session, event: Event, data: Mapping[str, Any]) -> Draft:
        whole = dump_json(data, sort_keys=True)
        (at,) = self._times.take(1)
        return Draft(
            key=join_key(_EVENT, session.id, event.id, digest_text(whole)),
            kind="message",
            text=(_text_of(event.content) or whole)[: self.memory.parts.settings.text_chars],
            data=data,
            who=event.author or None,
            session=session.id,
            occurred=at,
            source=_EVENT,
        )

    def _read_session(
        self, app_name: str, user_id: str, id: str, config: GetSessionConfig | None
    ) -> Session | None:
        scope = self._scope(app_name, user_id)
        record = self.memory.get(key_id(join_key(_SESSION, id)), scope=scope)
        if record is None:
            return None
        state = _state_of(self._read(_STATE, scope, id))
        state |= self._read_shared(app_name)
        state |= _state_of(self._read(_USER_STATE, scope), State.USER_PREFIX)
        return _make_session(record, state, self._read_events(scope, id, config))

    def _read_events(self, scope: str, id: str, config: GetSessionConfig | None) -> list[Event]:
        config = config or GetSessionConfig()
        if config.num_recent_events == 0:
            return []
        events = [
            Event.model_validate_json(dump_json(record.data))
            for record in read_all(
                self.memory, Where(source=_EVENT), scope, session=id, newest=config.num_recent_events
            )
        ]
        return _keep_after(events, config.after_timestamp)

    def _read_shared(self, app_name: str) -> dict[str, Any]:
        return _state_of(self._read(_APP_STATE, self._app_scope(app_name)), State.APP_PREFIX)

    def _list(self, app_name: str, user_id: str | None) -> list[Session]:
        scope = f"{self._app_scope(app_name)}/**"
        if user_id is not None:
            scope = self._scope(app_name, user_id)
        shared = self._read_shared(app_name)
        states: dict[tuple[str, str | None], dict[str, Any]] = {}
        for record in (*self._read(_STATE, scope), *self._read(_USER_STATE, scope)):
            part = states.setdefault((record.scope, record.session), {})
            prefix = State.USER_PREFIX if record.source == _USER_STATE else ""
            part |= _state_of([record], prefix)
        sessions = []
        for record in self._read(_SESSION, scope):
            own = states.get((record.scope, record.session), {})
            users = states.get((record.scope, None), {})
            sessions.append(_make_session(record, own | shared | users, []))
        return sessions

    def _read(self, source: str, scope: str, session: str | None = None) -> list[Record]:
        return read_all(self.memory, Where(source=source), scope, session=session)

    def _delete(self, app_name: str, user_id: str, id: str) -> None:
        with self._lock:
            self.memory.forget(session=id, scope=self._scope(app_name, user_id), for_good=False)


def _text_of(content: Content | None) -> str:
    """The words of a content; what a model only thought is left out."""
    texts = [part.text for part in (content and content.parts) or () if part.text and not part.thought]
    return "\n".join(texts).strip()


def _draft_of_event(event: Event, session_id: str | None, metadata: Mapping[str, object] | None) -> Draft:
    draft = _draft_of_entry(MemoryEntry(content=event.content, author=event.author), metadata)
    key = join_key(_MEMORY, session_id or "", event.id)
    return replace(draft, key=key, kind="message", session=session_id or None, occurred=event.timestamp)


def _draft_of_entry(entry: MemoryEntry, metadata: Mapping[str, object] | None) -> Draft:
    known = entry.model_copy(update={"custom_metadata": {**entry.custom_metadata, **(metadata or {})}})
    data = json.loads(known.model_dump_json(include={"content", "custom_metadata"}, exclude_none=True))
    return Draft(
        id=entry.id,
        kind="fact",
        text=(_text_of(entry.content) or dump_json(data["content"]))[:SEARCHED],
        data=data,
        who=entry.author or None,
        occurred=entry.timestamp,
        source=_MEMORY,
    )


def _entry_of(record: Record) -> MemoryEntry:
    """A record as ADK shows it to models; one that ADK did not write has its text alone."""
    whole = record.whole
    given: dict[str, Any] = {"content": Content(role="user", parts=[Part(text=whole.text)])}
    if record.source == _MEMORY:
        given = MemoryEntry.model_validate_json(dump_json(whole.data)).model_dump(exclude_none=True)
    return MemoryEntry(**given, id=record.id, author=record.who, timestamp=record.when.isoformat())


def _dump_event(event: Event) -> dict[str, Any]:
    """Converts an event to JSON, without what is meant for this invocation alone."""
    data: dict[str, Any] = json.loads(event.model_dump_json(exclude_none=True))
    delta = {
        name: value
        for name, value in data["actions"]["state_delta"].items()
        if not name.startswith(State.TEMP_PREFIX)
    }
    data["actions"]["state_delta"] = delta
    return data


def _keep_after(events: list[Event], after: float | None) -> list[Event]:
    """The events since the last one that is too old."""
    if after is None:
        return events
    start = len(events)
    while start > 0 and events[start - 1].timestamp >= after:
        start -= 1
    return events[start:]


def _split_state(delta: Mapping[str, Any], session_id: str) -> tuple[list[Draft], list[Draft]]:
    """Splits a change of state: the app's part, and that of the user and the session."""
    shared, own = [], []
    for name, value in delta.items():
        if name.startswith(State.APP_PREFIX):
            shared.append(_draft_state(_APP_STATE, name.removeprefix(State.APP_PREFIX), value))
        elif name.startswith(State.USER_PREFIX):
            own.append(_draft_state(_USER_STATE, name.removeprefix(State.USER_PREFIX), value))
        elif not name.startswith(State.TEMP_PREFIX):
            own.append(_draft_state(_STATE, name, value, session_id))
    return shared, own


def _draft_state(source: str, name: str, value: Any, session_id: str | None = None) -> Draft:
    return Draft(
        key=join_key(source, session_id or "", name),
        kind="working",
        text=f"{name}: {dump_json(value)[:SHOWN]}",
        data={"name": name, "value": value},
        session=session_id,
        source=source,
    )


def _state_of(records: Iterable[Record], prefix: str = "") -> dict[str, Any]:
    return {prefix + record.data["name"]: record.data["value"] for record in records}


def _draft_session(session: Session, at: float) -> Draft:
    return Draft(
        key=join_key(_SESSION, session.id),
        kind="summary",
        text=f"session {session.id}",
        data={"app_name": session.app_name, "user_id": session.user_id, "last_update_time": at},
        session=session.id,
        source=_SESSION,
    )


def _make_session(record: Record, state: dict[str, Any], events: list[Event]) -> Session:
    return Session(**record.whole.data, id=record.session, state=state, events=events)
