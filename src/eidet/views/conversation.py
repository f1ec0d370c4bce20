"""Conversation: one ordered log of messages per session, shared by every agent that names the session."""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ..core.arguments import check_offset, narrow_filter, one
from ..core.dict_filters import Filter
from ..core.draft import Details, Draft, Message
from ..core.errors import BadInput
from ..core.hit import RememberedList
from ..core.record import Kind, Record
from ..core.validate import Moment, check_whole, clean_text
from ..core.where import Condition, Where
from ..memory import Memory
from ..models.embed import embed_checked
from ..models.llm import llm_of
from ..text.tokens import TokenCounter, counter_of
from ..upkeep.summary import SUM_UP, Passage, ask_or_fall_back, passage_of, summarise
from .messages import (
    MOST,
    Log,
    Said,
    Summary,
    add_key,
    add_place,
    draft_of,
    drop_results,
    fit_messages,
    log_id,
    message_of,
    put_away,
    summary_id,
)

_TOKENS: Final = 400  # of a summary

Counter = TokenCounter | Callable[[str], float] | str | None
_PAGE: Final = 64


class Conversation:
    """The messages of one session in the order added, whatever their timestamps.

    `agent` names the writer; every view of the session reads the whole log. The messages are records of
    the memory: `recall` finds them too, and they are as durable as other records.
    """

    def __init__(
        self,
        memory: Memory,
        session: str | None = None,
        *,
        scope: str = "default",
        agent: str | None = None,
        counter: Counter = None,
    ) -> None:
        self._memory = memory
        self._scope = one(scope)
        self._agent = agent
        self._counter = counter
        self._session = str(uuid.uuid4()) if session is None else _check_session(session)
        self._details: Details = {"scope": self._scope, "session": self._session, "agent": agent}
        self._messages = Where(kinds=(Kind.MESSAGE,), session=self._session)
        self._summary_id = summary_id(self._session)

    @property
    def session(self) -> str:
        return self._session

    @property
    def scope(self) -> str:
        return self._scope

    @property
    def agent(self) -> str | None:
        return self._agent

    # Writing.

    def add(self, message: Said, *, role: str | None = None, id: str | None = None) -> Record:
        """Adds a message at the end. With an `id` of yours, adding it again returns the stored record."""
        draft = draft_of(message, role)
        if id is None:
            return self._memory.remember(draft, **self._details)
        there = self.get(id)
        if there is not None:
            return there
        return self._memory.remember(add_key(draft, self._session, id), **self._details)

    def extend(self, messages: Iterable[Said]) -> RememberedList:
        """Adds all messages or, if one is invalid, none.

        Leaves out messages that were forgotten for good; `rejected` of the answer lists them.
        """
        if isinstance(messages, str | bytes | Mapping):
            raise BadInput("extend takes a list of messages; `add` takes one")
        return self._store([draft_of(message) for message in messages])

    def _store(self, drafts: Sequence[Draft]) -> RememberedList:
        if len(drafts) > 1:  # they share a moment, so each gets its place
            drafts = [add_place(draft) for draft in drafts]
        return RememberedList() if not drafts else self._memory.remember(list(drafts), **self._details)

    # Reading.

    def messages(
        self,
        limit: int | None = None,
        *,
        offset: int = 0,
        roles: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        where: Filter | None = None,
    ) -> list[Message]:
        """Skips the newest `offset` messages and lists the newest `limit` of the rest, oldest first.

        `since` and `until` compare the timestamps of the messages. Summarised messages are left out.
        """
        found = self.records(limit, offset=offset, roles=roles, since=since, until=until, where=where)
        return [message_of(record) for record in found]

    def records(
        self,
        limit: int | None = None,
        *,
        offset: int = 0,
        roles: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        where: Filter | None = None,
    ) -> list[Record]:
        """Lists the same messages as records of the memory."""
        asked = narrow_filter(where, since=since, until=until)
        parts = [part for part in (asked, _filter_by_roles(roles)) if part is not None]
        return self._after_summary(*parts).newest(_how_many(limit), check_offset(offset))

    def get(self, id: str) -> Record | None:
        """Returns a message of this session by the id given to `add` or by its record's; None if absent."""
        name = clean_text(id, "id")
        found = self._memory.get([log_id(self._session, name), name], scope=self._scope)
        return next((one for one in found if one is not None and self._messages.matches(one)), None)

    def window(self, max_tokens: int = 4000, *, counter: Counter = None) -> list[Message]:
        """Returns the newest messages that fit in the tokens, oldest first; always at least the newest.

        Never begins with a tool result whose call does not fit, unless it is the newest message: models
        refuse that.
        """
        return drop_results(self._fitting(max_tokens, counter))

    def _fitting(self, max_tokens: int, counter: Counter) -> list[Message]:
        count = counter_of(self._counter if counter is None else counter)
        page = _PAGE if check_whole(max_tokens, 0, math.inf, "max_tokens") else 1
        while True:
            found = self._after_summary().newest(page)
            fitting = fit_messages([message_of(record) for record in found], max_tokens, count)
            if len(fitting) < len(found) or len(found) < page:
                return fitting
            page *= 4

    def search(self, query: str, limit: int = 5) -> list[Message]:
        """Finds the messages of the session that match a query, best first, including summarised ones."""
        hits = self._memory.recall(
            query, scope=self._scope, session=self._session, kinds=Kind.MESSAGE, limit=limit
        )
        return [message_of(hit.record) for hit in hits]

    def containing(self, text: str) -> list[Message]:
        """Returns the messages that contain a text (ignoring case), oldest first; also summarised ones."""
        wanted = clean_text(text, "text").casefold()
        whole = Log(memory=self._memory, scope=self._scope, where=self._messages).newest()
        return [message for message in map(message_of, whole) if wanted in (message.content or "").casefold()]

    def count(self) -> int:
        """Counts the messages that are not summarised."""
        return self._memory.count(self._after_summary().where, scope=self._scope)

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        """Is always true: a view without messages is still a view."""
        return True

    # Shortening.

    def pop(self) -> Message | None:
        """Deletes and returns the newest message that is not summarised; None if there is none."""
        while newest := self._after_summary().newest(1):
            if put_away(self._memory, [newest[0].id], scope=self._scope):
                return message_of(newest[0])
        return None

    def trim(
        self, *, keep: int | None = None, max_tokens: int | None = None, counter: Counter = None
    ) -> list[Message]:
        """Deletes the oldest messages until at most `keep` remain, within `max_tokens`. Returns the deleted.

        `max_tokens` alone always keeps the newest message.
        """
        if keep is None and max_tokens is None:
            raise BadInput("say how much to keep: trim(keep=50), trim(max_tokens=4000), or both")
        stay = _how_many(keep)
        if max_tokens is not None:
            fitting = len(self._fitting(max_tokens, counter))
            stay = fitting if stay is None else min(stay, fitting)
        dropped = self._after_summary().but_newest(stay or 0)
        if dropped:
            put_away(self._memory, [record.id for record in dropped], scope=self._scope)
        return [message_of(record) for record in dropped]

    @property
    def summary(self) -> str | None:
        """The latest summary; None while it is in quarantine."""
        made = self._read_summary()
        return None if made is None else made.text or None

    def summarise(self, *, keep: int = 10, llm: object = None, text: str | None = None) -> str | None:
        """Summarises all but the newest `keep` messages, with the previous summary. Returns the new summary.

        It is `text` if given, else by the `llm`, else (or if that fails) an extract of the main sentences.
        The messages leave the log but not the memory: one record of kind summary names them.
        """
        older, before = self._after_summary().but_newest(_how_many(keep) or 0), self._read_summary()
        if older:
            made = _make_summary(self._memory, older, before, llm, text)
            own: Details = {"kind": Kind.SUMMARY, "id": self._summary_id, "data": made.as_json()}
            own["derived_from"] = made.sources
            self._memory.remember(made.text, **(self._details | own))
            return made.text
        if before is None:
            return None
        return before.text or None

    def clear(self) -> int:
        """Deletes the summary and all messages, including summarised ones. Returns the number of messages."""
        own = Where(ids=(self._summary_id,))
        summaries, everything = self._memory.count(own, scope=self._scope), self._messages | own
        return put_away(self._memory, where=everything, scope=self._scope) - summaries

    def _after_summary(self, *parts: Where) -> Log:
        """Returns the log of the messages that are not summarised and match the filters."""
        made = self._read_summary()
        if made is not None:
            parts = (*parts, made.after())
        return Log(memory=self._memory, scope=self._scope, where=replace(self._messages, every=parts))

    def _read_summary(self) -> Summary | None:
        record = self._memory.get(self._summary_id, scope=self._scope)
        return None if record is None else Summary.read(record)


def _make_summary(
    memory: Memory, records: Sequence[Record], before: Summary | None, llm: object, text: str | None
) -> Summary:
    """Builds a summary: the caller's, a model's, or an extract of the messages."""
    if text is not None:
        if not clean_text(text, "text").strip():
            raise BadInput("the summary is empty")
        return Summary.of(records, text, before, by="caller")
    known = []
    if before is not None:
        known = [Passage(text=line) for line in before.text.splitlines() if line.strip()]
    passages = [*known, *map(passage_of, records)]
    embed = partial(embed_checked, memory.parts.embedder)
    outcome = ask_or_fall_back(
        None if llm is None else llm_of(llm),
        SUM_UP.format(_TOKENS),
        passages,
        _TOKENS,
        lambda: summarise(passages, embed, _TOKENS) or "Nothing was said in words.",
    )
    return Summary.of(records, outcome.value, before, by=outcome.by)


def _how_many(limit: int | None) -> int | None:
    return None if limit is None else check_whole(limit, 0, MOST, "the count")


def _check_session(session: str) -> str:
    if not clean_text(session, "session").strip():
        raise BadInput("a session name must have at least one character; None starts a new one")
    return session


def _filter_by_roles(roles: str | Sequence[str] | None) -> Where | None:
    """Builds a filter by role, or by speaker for records without a role."""
    if roles is None:
        return None
    names = [roles] if isinstance(roles, str) else list(roles)
    unsaid = Condition("data.role", "exists", False)
    in_data = Where(conditions=(Condition("data.role", "in", names),))
    return Where(some=(in_data, *(Where(who=name, conditions=(unsaid,)) for name in names)))
