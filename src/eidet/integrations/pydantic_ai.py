"""Pydantic AI over a memory: `memory_toolset`, tools for the model, and `EidetHistory`, without tools.

`EidetHistory` processes the history of a run: it stores what user and agent say, and adds to each request
what the memory knows about the latest prompt.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import filterfalse
from typing import Annotated, Any, Final

from ..core.draft import Draft
from ..core.errors import BadInput, Conflict, EidetError, NotFound, Refused
from ..core.record import Record, key_id
from ..core.validate import QUERY_CHARS
from ..core.where import Where
from ..memory import Memory
from ..recall.prompt_lines import line_of, quote_line
from ..trust.privacy.quarantine import is_untrusted
from .extras import check_scope, drop_known, find_scope, finish, join_key, make_missing

try:
    from pydantic import Field
    from pydantic_ai import FunctionToolset, RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
except ModuleNotFoundError as error:
    raise make_missing("Pydantic AI", "pydantic-ai") from error

ScopeOf = Callable[[RunContext[Any]], str]

LOG: Final = logging.getLogger("eidet.integrations.pydantic_ai")
INSTRUCTIONS: Final = (
    "You have a long-term memory. Call recall before you answer what may depend on earlier conversations, "
    "and remember whatever will be worth knowing in later ones."
)
REMINDER: Final = "What you remember that may matter for the next message:\n\n"

Text = Annotated[str, Field(description="One thing to keep, in words that can be understood on their own.")]
Question = Annotated[str, Field(description="What you want to know, in plain words.")]
Limit = Annotated[int, Field(ge=1, le=50, description="At most this many memories.")]
RecordId = Annotated[str, Field(description="The id of a memory, as recall tells it.")]
RecordIds = Annotated[list[str], Field(min_length=1, description="Ids of memories, as recall tells them.")]


def memory_toolset(
    memory: Memory,
    *,
    scope: str | ScopeOf = "default",
    instructions: str | None = INSTRUCTIONS,
    id: str | None = "memory",
) -> FunctionToolset[Any]:
    """Returns the tools remember, recall, revise and forget: `Agent(…, toolsets=[memory_toolset(memory)])`.

    `scope` is the memory's scope, or a function that returns it for the run's context: with
    `scope=lambda ctx: f"users/{ctx.deps.user}"` one agent serves many users.
    """
    tools = _Tools(memory, check_scope(scope))
    calls = [tools.remember, tools.recall, tools.revise, tools.forget]
    return FunctionToolset(calls, instructions=instructions, id=id)


class _Tools:
    """The tools. The model reads their docstrings."""

    def __init__(self, memory: Memory, scope: str | ScopeOf) -> None:
        self._memory = memory
        self._scope = scope

    async def remember(self, ctx: RunContext[Any], text: Text) -> str:
        """Stores something worth knowing later: a fact, a preference, a decision, an event.

        Write it so that it can be understood on its own ("Ann prefers trains to flights", not "she prefers
        those"). Never store passwords. If something changed, recall it and use revise.
        """
        scope = find_scope(self._scope, ctx)
        store = partial(self._memory.remember, text, scope=scope, session=ctx.conversation_id)
        record = await _call(partial(finish, store))
        return f"stored, id={record.id}"

    async def recall(self, ctx: RunContext[Any], query: Question, limit: Limit = 10) -> str:
        """Finds what matters for a question, best first, each with its score and id."""
        search = partial(self._memory.recall, query, scope=find_scope(self._scope, ctx), limit=limit)
        hits = await _call(partial(asyncio.to_thread, search))
        lines = [f"{hit.score:.2f} id={hit.id} {_tell(hit.record)}" for hit in hits]
        return "\n".join(lines) or "nothing fits this question"

    async def revise(self, ctx: RunContext[Any], id: RecordId, text: Text) -> str:
        """Corrects or updates a memory. Its old version stays in its history."""
        change = partial(self._memory.revise, id, text=text, scope=find_scope(self._scope, ctx))
        record = await _call(partial(finish, change))
        return f"revised, id={record.id} is at version {record.version}"

    async def forget(self, ctx: RunContext[Any], ids: RecordIds) -> str:
        """Deletes memories for good, copies and summaries included. Ask the user first.

        Use revise, not forget, for something that merely changed.
        """
        erase = partial(self._memory.forget, ids, scope=find_scope(self._scope, ctx))
        gone = await _call(partial(finish, erase))
        return f"forgotten for good: {int(gone)}"


async def _call(work: Callable[[], Any]) -> Any:
    """Awaits work; raises errors as `ToolFailed`, which the model can act on, so that the run continues."""
    try:
        return await work()
    except (BadInput, NotFound, Conflict) as error:
        raise ToolFailed(f"{error}. Recall it to see what there is, then call again.") from error
    except Refused as error:
        raise ToolFailed(f"{error}. Do not try to get around it; tell the user.") from error
    except EidetError as error:
        LOG.warning("a tool failed: %s: %s", type(error).__name__, error)
        raise ToolFailed("the memory cannot do this now; tell the user") from error


def _tell(record: Record) -> str:
    """Formats a memory as a line; quotes untrusted text in a way that it cannot break out of."""
    return quote_line(record, record.text) if is_untrusted(record) else line_of(record)


class EidetHistory(AbstractCapability[Any]):
    """Processes the history of each run: `Agent(…, capabilities=[EidetHistory(memory)])`.

    The user's messages are stored before the model is called, the model's after it has answered; a stored
    message is not stored again. The model gets at most `budget` tokens of what the memory knows about the
    latest prompt and the request does not contain yet. With `turns`, the request contains only the latest
    turns. The history that a run returns is unchanged.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        scope: str | ScopeOf = "default",
        budget: int = 1000,
        turns: int | None = None,
    ) -> None:
        if turns is not None and turns < 1:
            raise BadInput(f"turns must be 1 or more, not {turns}")
        self.memory = memory
        self.budget = budget
        self.turns = turns
        self.scope: str | ScopeOf = check_scope(scope)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """Returns None: a memory cannot be serialized in the specification of an agent."""
        return None

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Stores what is new in the history, and adds what the memory knows to this request."""
        scope, session = find_scope(self.scope, ctx), ctx.conversation_id
        before, fresh = _part_history(ctx)
        await finish(partial(self._store, _list_turns(before, session), scope, again=False))
        await finish(partial(self._store, _list_turns(fresh, session), scope, again=True))
        recent = _cut_history(request_context.messages, self.turns)
        known = _list_turns(recent, session)
        asked = _find_prompt(recent)
        if asked is not None:
            text = await asyncio.to_thread(self._recall, known, scope)
            recent = _add_context(recent, asked, text)
        return replace(request_context, messages=recent)

    async def after_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: Any,  # noqa: ARG002  # Pydantic AI passes it by name
        response: ModelResponse,
    ) -> ModelResponse:
        """Stores what the model said."""
        turns = _list_turns([response], ctx.conversation_id)
        await finish(partial(self._store, turns, find_scope(self.scope, ctx), again=True))
        return response

    def _store(self, turns: Sequence[Draft], scope: str, *, again: bool) -> None:
        """Stores turns that the memory lacks, all or none; forgotten ones only if said again."""
        self.memory.remember(drop_known(self.memory, turns, scope), scope=scope, again=again)

    def _recall(self, known: Sequence[Draft], scope: str) -> str:
        """Recalls for the latest prompt, leaving out what the request already says."""
        prompts = [turn.text or "" for turn in known if turn.who == "user"]
        if not prompts:
            return ""
        shown = Where(ids=[key_id(turn.key or "") for turn in known])
        return self.memory.context(
            prompts[-1][-QUERY_CHARS:], scope=scope, budget=self.budget, where=~shown
        ).text


def _draft(who: str, text: str, at: datetime, session: str | None) -> Draft:
    """Drafts a turn. Its key is the same whenever the message is seen, in this run and in later ones."""
    return Draft(
        key=join_key(session or "", who, at.isoformat(), text),
        kind="message",
        text=text,
        who=who,
        session=session,
        occurred=at,
        meta={"pydantic_ai": "message"},
    )


def _part_history(ctx: RunContext[Any]) -> tuple[list[ModelMessage], list[ModelMessage]]:
    """Splits the history into earlier messages and, in the first request of a run, the new ones."""

    def is_new(message: ModelMessage) -> bool:
        return ctx.run_step <= 1 and message.run_id == ctx.run_id

    return list(filterfalse(is_new, ctx.messages)), list(filter(is_new, ctx.messages))


def _list_turns(messages: Sequence[ModelMessage], session: str | None) -> list[Draft]:
    """Drafts the turns of messages, without tool calls, tool results and instructions."""
    turns = []
    for message in messages:
        place = message.conversation_id or session
        if isinstance(message, ModelResponse):
            texts = [part.content for part in message.parts if isinstance(part, TextPart)]
            turns.append(_draft("assistant", "\n".join(texts), message.timestamp, place))
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                turns.append(_draft("user", _say(part), part.timestamp, place))
    return [turn for turn in turns if turn.text and turn.text.strip()]


def _say(prompt: UserPromptPart) -> str:
    """Returns a prompt as text; images and other content appear as their kind."""
    if isinstance(prompt.content, str):
        return prompt.content
    lines = []
    for item in prompt.content:
        if isinstance(item, str):
            lines.append(item)
        elif item.kind == "text":
            lines.append(item.content)
        else:
            lines.append(f"[{item.kind}]")
    return "\n".join(lines)


def _is_prompt(message: ModelMessage) -> bool:
    if not isinstance(message, ModelRequest):
        return False
    return any(isinstance(part, UserPromptPart) for part in message.parts)


def _find_prompt(messages: Sequence[ModelMessage]) -> int | None:
    """Returns the position of the user's latest prompt, or None."""
    return max((number for number, message in enumerate(messages) if _is_prompt(message)), default=None)


def _cut_history(messages: Sequence[ModelMessage], turns: int | None) -> list[ModelMessage]:
    """Returns the messages of the latest `turns`, each of which begins with a prompt; None keeps all."""
    starts = [number for number, message in enumerate(messages) if _is_prompt(message)]
    if turns is None or len(starts) <= turns:
        return list(messages)
    return list(messages[starts[-turns] :])


def _add_context(messages: Sequence[ModelMessage], asked: int, text: str) -> list[ModelMessage]:
    """Returns the messages with a text added before the prompt; does not change the given ones."""
    changed = list(messages)
    request = changed[asked]
    if text and isinstance(request, ModelRequest):
        changed[asked] = replace(request, parts=[UserPromptPart(REMINDER + text), *request.parts])
    return changed
