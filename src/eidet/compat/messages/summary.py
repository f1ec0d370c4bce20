"""A store that summarises old messages, an agent that stores its own messages, and an app of agents."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from ...core.errors import BadInput, Misconfigured, NotFound
from ...core.record import Trust
from ...models.llm import LLM, llm_of
from ...text.tokens import counter_of
from ...views.messages import drop_results, fit_messages, summary_id
from ..opening import check_limit, check_whole
from .base import BaseMemoryStore, FairLock, Kept, await_if_needed, check_page
from .limits import InMemoryMemoryStore
from .message import Message, local_time, make_request, message_from
from .wrappers import Around

KEPT = 10
BEGINNING = "Previous conversation summary: "
_log = logging.getLogger(__name__)


class SummaryMemory(BaseMemoryStore):
    """A store that summarises its messages once there are `threshold`, and keeps the last ten.

    `summarizer_agent` is the name of an agent, called through `context` (not needed before), a function or
    coroutine function that takes the request, or an LLM of `eidet.models.llm`. If it is absent or fails,
    the summary is made of the sentences that say most. Summarised messages leave the history, not the
    memory.
    """

    context: RunContext | None = None

    def __init__(
        self,
        summarizer_agent: str | LLM | Callable[[str], Any] | None = None,
        threshold: int = 50,
        *,
        context: RunContext | None = None,
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
        async with self._turns as summing_up:  # the summarizer may use this store itself
            due = not summing_up and await self._run(lambda: self.current_count) + 1 >= self.threshold
            if due:
                self._check_context()
            await super().add_message(message)
            if due:
                await self.summarize_and_compress()

    async def summarize_and_compress(self) -> None:
        """Summarises the current history, and keeps its last ten messages."""
        self._check_context()
        seen = await super().get_history()
        if len(seen) > KEPT:
            text = await self._summarise(seen)
            await self._run(self._compress, text, len(seen))

    @property
    def summaries(self) -> list[Message]:
        """Returns one system message per summary, oldest first."""
        record = self.memory.get(summary_id(self.session_id), scope=self.scope)
        if record is None or record.trust is Trust.QUARANTINED:
            return []
        parts, then = record.whole.text.removeprefix(BEGINNING).split(f"\n\n{BEGINNING}"), local_time(record)
        return [Message(role="system", content=BEGINNING + part, timestamp=then) for part in parts]

    @property
    def recent_messages(self) -> Sequence[Message]:
        """The messages that were not summarised."""
        return self.messages

    async def get_history(
        self, limit: int | None = None, offset: int = 0, roles: list[str] | None = None
    ) -> list[Message]:
        """Returns the history as any store does, with the summaries as its oldest messages."""
        limit, offset, roles = check_page(limit, offset, roles)
        recent = await super().get_history(roles=roles)
        earlier = [] if roles and "system" not in roles else await self._run(lambda: self.summaries)
        everything = [*earlier, *recent]
        end = max(len(everything) - offset, 0)
        return everything[0 if limit is None else max(end - limit, 0) : end]

    async def get_context_window(self, max_tokens: int = 4000) -> list[Message]:
        """Returns the summaries that fit half of the tokens, then the newest messages that fit the rest."""
        half, counter = check_whole(max_tokens, "max_tokens", least=1) // 2, counter_of(self.token_counter)
        summaries = fit_messages(await self._run(lambda: self.summaries), half, counter)
        window = [message for message in summaries if message.tokens(counter) <= half]
        left = max(1, max_tokens - sum(message.tokens(counter) for message in window))
        recent = fit_messages(await super().get_history(limit=left), left, counter)
        return [*window, *drop_results(recent)]

    def _check_context(self) -> None:
        """Raises if a named summarizer has no context, before the message that fills the store is added."""
        if isinstance(self.summarizer_agent, str) and self.context is None:
            raise Misconfigured(
                f"the agent {self.summarizer_agent!r} needs a context: set store.context, enter "
                "app.run_context(), or give a function as summarizer_agent"
            )

    async def _summarise(self, messages: Sequence[Message]) -> str | None:
        """Returns the summary of the agent or function; None if it is absent, fails or returns nothing."""
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
            keep = max(KEPT, len(log) - seen + KEPT)  # later messages are not in the summary
            if text is None:
                model = self.summarizer_agent if isinstance(self.summarizer_agent, LLM) else None
                log.summarise(keep=keep, llm=model)
            else:
                flat = text.replace(f"\n\n{BEGINNING}", f"\n{BEGINNING}")
                texts = [str(message) for message in self.summaries] + [BEGINNING + flat]
                log.summarise(keep=keep, text="\n\n".join(texts))


class LLMAgent:
    """An agent that asks a model with its system prompt and memory, and stores both sides.

    `llm` is an object with `chat_completion(messages)`, or what `eidet.models.llm.llm_of` takes: an LLM, a
    name such as "openai:gpt-…", or a function or coroutine function of the prompt, or of the messages as
    dicts if its parameter is a list or named `messages`. Agents with the same store share it.
    """

    def __init__(
        self,
        name: str,
        llm: object,
        memory_store: BaseMemoryStore | None = None,
        system_prompt: str | None = None,
        *,
        max_context_tokens: int = 4000,
    ) -> None:
        self.name = name
        self.llm: LLM | object = llm if hasattr(llm, "chat_completion") else llm_of(llm)
        self.memory_store: InMemoryMemoryStore | BaseMemoryStore = (
            InMemoryMemoryStore() if memory_store is None else memory_store
        )
        self.system_prompt = system_prompt
        self.max_context_tokens = max_context_tokens

    async def run(self, input_message: str | Message) -> Message:
        """Returns the answer. The input stays in the memory even if the model fails."""
        await self.memory_store.add_message(message_from(input_message))
        window = await self.memory_store.get_context_window(max_tokens=self.max_context_tokens)
        prompt = [Message(role="system", content=self.system_prompt)] if self.system_prompt else []
        answer = await _ask(self.llm, [*prompt, *window])
        await self.memory_store.add_message(answer)
        return answer


class RunContext:
    """Agents by name. Stores that need an agent (`SummaryMemory`) call it through this context."""

    def __init__(self, agents: Mapping[str, LLMAgent]) -> None:
        self._agents = agents

    async def call_agent(self, agent_name: str, input_message: str | Message) -> Message:
        if agent_name not in self._agents:
            known = ", ".join(sorted(self._agents)) or "none yet"
            raise NotFound(f"there is no agent named {agent_name!r}; there are {known}")
        return await self._agents[agent_name].run(input_message)


class App:
    """A registry of agents: `async with app.run_context() as rt: await rt.call_agent(…)`."""

    def __init__(self, *agents: LLMAgent) -> None:
        self._agents: dict[str, LLMAgent] = {}
        for agent in agents:
            self.register_agent(agent)

    def register_agent(self, agent: LLMAgent) -> LLMAgent:
        if self._agents.setdefault(agent.name, agent) is not agent:
            raise BadInput(f"an agent named {agent.name!r} already exists")
        return agent

    @asynccontextmanager
    async def run_context(self) -> AsyncIterator[RunContext]:
        context = RunContext(self._agents)
        for agent in self._agents.values():
            _give_context(agent.memory_store, context)
        yield context


def _give_context(store: object, context: RunContext) -> None:
    """Gives the context to a store that calls agents by name, through any wrappers."""
    while isinstance(store, Around):
        store = store.store
    if hasattr(store, "context"):
        store.context = context


async def _ask(llm: Any, messages: Sequence[Message]) -> Message:
    if callable(chat := getattr(llm, "chat_completion", None)):
        return message_from(await await_if_needed(chat(list(messages))))
    answer = await asyncio.to_thread(llm.ask, make_request(messages, purpose="agent"))
    return Message(role="assistant", content=answer.text)
