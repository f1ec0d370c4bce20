"""Conversation memory: the messages of a session within strict limits, older ones summarised."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ...core.errors import BadInput, Misconfigured
from ...core.record import Kind
from ...models.llm import LLM, llm_of
from ...text.tokens import TokenCounter, counter_of, cut
from ...upkeep.summary import SUM_UP, Passage, ask_or_fall_back
from ...views.messages import Summary, summary_id
from ..messages.base import MessageSession
from ..messages.message import Message, message_as_json, message_from, message_of_record
from ..opening import OwnsMemory, Place, check_limit, check_whole, refuse_held

MODEL: Final = "claude-sonnet-4-20250514"
KEPT: Final = 10
_HEADING: Final = "Previous conversation summary:"
_EARLIER: Final = "[Context from earlier conversation]"
_UNDERSTOOD: Final = "I understand the context. Please continue."
_TOKENS: Final = 400  # of a summary by a client
LONGEST: Final = 1_000_000
_log = logging.getLogger(__name__)


class ConversationMemory(OwnsMemory, MessageSession):
    """The last messages, and a summary of those before.

    Above `summarize_threshold` messages, the last ten stay and the others are summarised. There are never
    more than `max_messages`, nor more than `max_tokens` with the summary (but the newest message always
    stays). Summarised messages leave the conversation, not the memory. `client` words the summary: a
    client of the Messages API, an LLM of `eidet.models.llm`, or a function of a prompt. If it is absent or
    fails, the summary is made of the beginnings of the messages.
    """

    def __init__(
        self,
        max_messages: int = 50,
        max_tokens: int = 10000,
        summarize_threshold: int = 30,
        *,
        client: object = None,
        memory: Place = None,
        scope: str = "default",
        session_id: str | None = None,
        token_counter: TokenCounter | Callable[[str], float] | str | None = None,
    ) -> None:
        self.max_messages: int = check_limit(max_messages, "max_messages") or LONGEST
        self.max_tokens: int = check_limit(max_tokens, "max_tokens") or LONGEST
        self.summarize_threshold: int = check_limit(summarize_threshold, "summarize_threshold") or LONGEST
        self.client = client
        self.scope = scope
        self.session_id: str = "default" if session_id is None else session_id
        self._take(memory)
        self._counter = counter_of(token_counter)

    @property
    def summary(self) -> str | None:
        return self.conversation.summary or None

    @summary.setter
    def summary(self, text: str | None) -> None:
        id = summary_id(self.session_id)
        with self.turn:
            if self.memory.get(id, scope=self.scope) is not None:
                self.memory.revise(id, scope=self.scope, text=text or "")
            elif text:  # a summary of messages that are not stored here
                made = Summary(text=text, by="caller")
                self.memory.remember(
                    text,
                    scope=self.scope,
                    session=self.session_id,
                    kind=Kind.SUMMARY,
                    id=id,
                    data=made.as_json(),
                )

    def add_message(self, role: str, content: str | None, **metadata: Any) -> None:
        self.append([Message(role=role, content=content, metadata=metadata)])

    def get_messages_for_llm(self) -> list[dict[str, Any]]:
        """Returns messages for a chat API: a pair with the earlier summary, if any, then the messages."""
        before = _pair(self.summary) if self.summary is not None else []
        return before + [{"role": message.role, "content": message.content} for message in self.messages]

    def search(self, query: str, limit: int = 5) -> list[Message]:
        """Returns the first messages that contain this text, ignoring case; summarised ones included."""
        found = [message_from(message) for message in self.conversation.containing(query)]
        return found[: check_whole(limit, "limit")]

    def get_last_n(self, n: int) -> list[Message]:
        return [message_of_record(record) for record in self.conversation.records(check_whole(n, "n"))]

    def clear(self) -> None:
        """Deletes the messages and the summary."""
        self.conversation.clear()

    def export(self) -> dict[str, Any]:
        """Returns the messages and the summary as JSON, complete."""
        return {"messages": [_message_as_json(message) for message in self.messages], "summary": self.summary}

    def import_from(self, data: Mapping[str, Any]) -> None:
        """Replaces the conversation by what `export` returned; changes nothing if that is refused."""
        if not isinstance(data, Mapping) or not isinstance(data.get("messages", []), list | tuple):
            raise BadInput("import_from takes what `export` returned: a dict with 'messages' and 'summary'")
        if not isinstance(summary := data.get("summary"), str | None):
            raise BadInput(f"a summary must be a text or None, not {type(summary).__name__}")
        drafts = [message_as_json(message_from(given)) for given in data.get("messages", [])]
        with self.turn:
            before = self.memory.find(
                kinds=Kind.MESSAGE, session=self.session_id, scope=self.scope, limit=LONGEST
            )
            gone = [summary_id(self.session_id), *(record.id for record in before)]
            refuse_held(self.memory, gone, scope=self.scope)
            self.conversation.extend(drafts)
            self.drop(gone)
            self.summary = summary

    # Summarising.

    def _after(self) -> None:
        messages = list(self.messages)
        keep = self._keep(messages)
        if keep < len(messages):
            left = self.max_tokens - self._cost(" ", messages[-keep:])
            text = self._summarise(messages[: len(messages) - keep])
            self.conversation.summarise(keep=keep, text=cut(text, left, self._counter) or _HEADING)

    def _keep(self, messages: Sequence[Message]) -> int:
        """Returns how many messages stay within all limits, counting the summary that would be made."""
        keep = min(len(messages), self.max_messages)
        if len(messages) > self.summarize_threshold:
            keep = min(keep, KEPT)
        while keep > 1 and self._cost(self._text_before(messages, keep), messages[-keep:]) > self.max_tokens:
            keep -= 1
        return keep

    def _text_before(self, messages: Sequence[Message], keep: int) -> str:
        leaving = messages[: len(messages) - keep]
        return _beginnings(leaving) if leaving else self.summary or ""

    def _cost(self, summary: str, messages: Sequence[Message]) -> int:
        pair = _pair(summary) if summary else []
        tokens = sum(message.tokens(self._counter) for message in messages)
        return tokens + sum(self._counter.count(part["content"]) for part in pair)

    def _summarise(self, messages: Sequence[Message]) -> str:
        """Summarises messages that leave; a client's summary also covers the one before."""
        before = [f"What was said before, in short:\n{self.summary}\n"] if self.summary else []
        lines = [*before, *(f"{message.role}: {message.content or ''}" for message in messages)]
        passages = [Passage(text=line) for line in lines]
        found = ask_or_fall_back(
            self._find_llm(), SUM_UP.format(_TOKENS), passages, _TOKENS, partial(_beginnings, messages)
        )
        return f"{_HEADING}\n{found.value}" if found.by == "llm" else found.value

    def _find_llm(self) -> LLM | None:
        """Returns the client as an LLM; None without one, or if it is none."""
        try:
            return None if self.client is None else llm_of(_as_function(self.client))
        except Misconfigured as error:
            _log.warning("the client cannot summarise: %s", error)
            return None


def _beginnings(messages: Sequence[Message]) -> str:
    lines = "\n".join(f"{message.role}: {(message.content or '')[:100]}" for message in messages)
    return f"{_HEADING}\n{lines[:1000]}"


def _pair(summary: str) -> list[dict[str, Any]]:
    return [
        {"role": "user", "content": f"{_EARLIER}\n{summary}"},
        {"role": "assistant", "content": _UNDERSTOOD},
    ]


def _message_as_json(message: Message) -> dict[str, Any]:
    """Converts a message to JSON: role, content and timestamp always, other fields only if set."""
    told = message_as_json(message) | {"timestamp": message.timestamp.isoformat()}
    return {name: value for name, value in told.items() if value or name in ("role", "content")}


def _as_function(client: Any, model: str = MODEL) -> Any:
    """Turns a client of the Messages API into a function of a prompt; returns anything else as it is."""
    create: Callable[..., Any] | None = getattr(getattr(client, "messages", None), "create", None)
    if create is None:
        return client

    def ask(prompt: str) -> str:
        answer = create(model=model, max_tokens=1024, messages=[{"role": "user", "content": prompt}])
        return "".join(block.text for block in answer.content if block.type == "text")

    return ask
