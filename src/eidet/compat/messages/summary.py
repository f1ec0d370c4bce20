"""A store that sums old messages up."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, Protocol, Unpack, runtime_checkable

from ...core.errors import BadInput, Misconfigured
from ...core.record import Trust
from ...models.llm import LLM
from ...text.tokens import counter_of
from ...views.log_order import summary_id
from ..opening import check_limit, check_whole
from .base import BaseMemoryStore, FairLock, Kept, await_if_needed, check_page
from .message import Message, fit_messages, local_time

KEPT = 10
BEGINNING = "Previous conversation summary: "
_log = logging.getLogger(__name__)


class AgentCaller(Protocol):
    """Where agents are called by name, such as the one of `App.run_context()`."""

    async def call_agent(self, agent_name: str, input_message: Any) -> Any: ...


@runtime_checkable
class NeedsContext(Protocol):
    """A store that calls agents by name. `App.run_context()` tells it where."""

    context: AgentCaller | None


class SummaryMemory(BaseMemoryStore):
    """When `threshold` messages are there, all are summed up and the last ten stay.

    `summarizer_agent` is the name of an agent, called through `context` (which is not needed before);
    a function or coroutine function that is given the request; or an LLM of `eidet.models.llm`. Without
    one, and where it fails, the summary is made of the sentences that say most. What was summed up
    leaves the history, not the memory.
    """

    context: AgentCaller | None = None

    def __init__(
        self,
        summarizer_agent: str | LLM | Callable[[str], Any] | None = None,
        threshold: int = 50,
        *,
        context: AgentCaller | None = None,
        **where: Unpack[Kept],
    ) -> None:
        super().__init__(**where)
        self.threshold: int = check_limit(threshold, "threshold") or KEPT
        if self.threshold <= KEPT:
            raise BadInput(f"threshold must be above {KEPT}: the last {KEPT} messages always stay")
        self.summarizer_agent = summarizer_agent
        self.context = context
        self._turns = FairLock()

    async def add_message(self, message: Message) -> None:
        async with self._turns as summing_up:  # the summarizer may have this store itself
            due = not summing_up and await self._run(lambda: self.current_count) + 1 >= self.threshold
            if due:
                self._check_context()
            await super().add_message(message)
            if due:
                await self.summarize_and_compress()

    async def summarize_and_compress(self) -> None:
        """Sums up what the history holds now, but for the last ten messages."""
        self._check_context()
        seen = await super().get_history()
        if len(seen) > KEPT:
            text = await self._summarise(seen)
            await self._run(self._compress, text, len(seen))

    @property
    def summaries(self) -> list[Message]:
        """One system message per summary, oldest first."""
        record = self.memory.get(summary_id(self.session_id), scope=self.scope)
        if record is None or record.trust is Trust.QUARANTINED:
            return []
        parts, then = record.whole.text.removeprefix(BEGINNING).split(f"\n\n{BEGINNING}"), local_time(record)
        return [Message(role="system", content=BEGINNING + part, timestamp=then) for part in parts]

    @property
    def recent_messages(self) -> Sequence[Message]:
        """What was not summed up."""
        return self.messages

    async def get_history(
        self, limit: int | None = None, offset: int = 0, roles: list[str] | None = None
    ) -> list[Message]:
        """The summaries count as the oldest messages."""
        limit, offset, roles = check_page(limit, offset, roles)
        recent = await super().get_history(roles=roles)
        earlier = [] if roles and "system" not in roles else await self._run(lambda: self.summaries)
        everything = [*earlier, *recent]
        end = max(len(everything) - offset, 0)
        return everything[0 if limit is None else max(end - limit, 0) : end]

    async def get_context_window(self, max_tokens: int = 4000) -> list[Message]:
        """The summaries that fit in half of the tokens, then the newest messages that fit in the rest."""
        half, counter = check_whole(max_tokens, "max_tokens", least=1) // 2, counter_of(self.token_counter)
        summaries = fit_messages(await self._run(lambda: self.summaries), half, counter)
        window = [message for message in summaries if message.tokens(counter) <= half]
        left = max(1, max_tokens - sum(message.tokens(counter) for message in window))
        return [*window, *fit_messages(await super().get_history(limit=left), left, counter)]

    def _check_context(self) -> None:
        """Before the message that fills the store is added: without a summarizer, nothing is changed."""
        if isinstance(self.summarizer_agent, str) and self.context is None:
            raise Misconfigured(
                f"the agent {self.summarizer_agent!r} needs a context: set store.context, enter "
                "app.run_context(), or give a function as summarizer_agent"
            )

    async def _summarise(self, messages: Sequence[Message]) -> str | None:
        """The summary by the agent or function; None where there is none, it fails or says nothing."""
        if self.summarizer_agent is None or isinstance(self.summarizer_agent, LLM):
            return None
        lines = "\n".join(f"{message.role}: {message.content or ''}" for message in messages)
        request = f"Summarize this conversation:\n{lines}"
        try:
            answer = await self._call_summarizer(request)
        except Exception as error:  # noqa: BLE001  whatever the user's agent raises
            _log.warning("%s failed (%s); summarising by rules instead", self.summarizer_agent, error)
            return None
        return str(answer).strip() or None

    async def _call_summarizer(self, request: str) -> Any:
        if isinstance(self.summarizer_agent, str):
            assert self.context is not None
            return await self.context.call_agent(self.summarizer_agent, request)
        assert callable(self.summarizer_agent)
        return await await_if_needed(self.summarizer_agent(request))

    def _compress(self, text: str | None, seen: int) -> None:
        with self.turn:
            log = self.conversation
            keep = max(KEPT, len(log) - seen + KEPT)  # what came meanwhile is not in the summary
            if text is None:
                model = self.summarizer_agent if isinstance(self.summarizer_agent, LLM) else None
                log.summarise(keep=keep, llm=model)
            else:
                flat = text.replace(f"\n\n{BEGINNING}", f"\n{BEGINNING}")
                texts = [str(message) for message in self.summaries] + [BEGINNING + flat]
                log.summarise(keep=keep, text="\n\n".join(texts))
