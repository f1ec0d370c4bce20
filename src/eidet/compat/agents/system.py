"""All memories of an agent in one object, and prompts made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ...core.errors import BadInput
from ...core.record import Record
from ...views import Episodic
from ..opening import OwnsMemory, Place, run
from .conversation_memory import ConversationMemory
from .semantic import SemanticMemory
from .working_memory import WorkingMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An experience: a situation, what was done, and how it ended."""

    id: str
    situation: str
    action: Any = None
    outcome: str | None = None
    success: bool | None = None
    lessons: tuple[str, ...] = ()
    timestamp: datetime
    importance: float = 0.5


class EpisodicMemory(OwnsMemory):
    """The experiences of a scope, found by similar situations."""

    def __init__(
        self, *, memory: Place = None, scope: str = "default", session_id: str | None = None
    ) -> None:
        self._take(memory)
        self.session_id = session_id
        self._view = Episodic(self.memory, scope=scope)

    async def record(
        self,
        situation: str,
        action: Any = None,
        outcome: str | None = None,
        success: bool | None = None,
        *,
        lessons: Sequence[str] = (),
        importance: float = 0.5,
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Stores an experience and returns its id."""
        kept = await run(
            self.memory,
            self._view.record,
            situation,
            action=action,
            outcome=outcome,
            success=success,
            lessons=list(lessons),
            importance=importance,
            session=self.session_id,
            meta=metadata,
        )
        return kept.id

    async def search(self, situation: str, limit: int = 5, success: bool | None = None) -> list[Episode]:
        """Returns experiences in similar situations, nearest first; `success` keeps only those with it."""
        hits = await run(self.memory, self._view.similar, situation, limit, success=success)
        return [_episode(hit.record) for hit in hits]

    async def lessons(self, situation: str, limit: int = 5) -> list[str]:
        """Returns lessons from similar situations."""
        return await run(self.memory, self._view.lessons, situation, limit)

    async def forget(self, episode_id: str) -> bool:
        """Forgets an experience. Returns whether it existed."""
        return await run(self.memory, self._view.forget, episode_id)

    def __len__(self) -> int:
        return len(self._view)

    def __bool__(self) -> bool:
        return True


def _episode(record: Record) -> Episode:
    data = record.whole.data if isinstance(record.whole.data, Mapping) else {}
    return Episode(
        id=record.id,
        situation=data.get("situation") or record.whole.text,
        action=data.get("action"),
        outcome=data.get("outcome"),
        success=data.get("success"),
        lessons=tuple(data.get("lessons") or ()),
        timestamp=datetime.fromtimestamp(record.occurred),  # noqa: DTZ006  local, as the other times
        importance=record.importance,
    )


class AgentMemorySystem(OwnsMemory):
    """Working, conversation, semantic and episodic memory.

    With a `memory` (a Memory, a path or a URL) all of them are kept there, and what was learned is
    recalled by words and by meaning. Given parts are used as they are.
    """

    def __init__(
        self,
        working: WorkingMemory | None = None,
        conversation: ConversationMemory | None = None,
        semantic: SemanticMemory | None = None,
        episodic: EpisodicMemory | None = None,
        *,
        memory: Place = None,
        scope: str = "default",
        session_id: str | None = None,
    ) -> None:
        self._take(memory)
        kept, ours = None if memory is None else self.memory, self.memory
        self.working: WorkingMemory = working or WorkingMemory(
            memory=kept, scope=scope, session_id=session_id
        )
        self.conversation: ConversationMemory = conversation or ConversationMemory(
            memory=ours, scope=scope, session_id=session_id
        )
        self.semantic: SemanticMemory = semantic or SemanticMemory(
            memory=ours, scope=scope, fallback=memory is not None
        )
        self.episodic: EpisodicMemory = episodic or EpisodicMemory(
            memory=ours, scope=scope, session_id=session_id
        )

    async def get_relevant_context(
        self, query: str, max_semantic_results: int = 3, *, max_episodes: int = 0
    ) -> str:
        """Returns the task at hand and what is known about the query; with `max_episodes`, past failures."""
        parts = []
        if self.working.task:
            parts.append("## Current Task Context\n" + self.working.get_context_string())
        if known := await self.semantic.search(query, limit=max_semantic_results):
            parts.append(_format_list("## Relevant Knowledge", (item.content for item in known)))
        failed = await self.episodic.search(query, max_episodes, success=False) if max_episodes else []
        if failed:
            lines = (f"{episode.situation}: {episode.outcome}" for episode in failed)
            parts.append(_format_list("## What Failed Before", lines))
        return "\n\n".join(parts)

    async def learn(self, content: str, importance: float = 0.5, source: str = "conversation") -> None:
        """Stores a fact, unless the same words are stored already."""
        await self.semantic.add(
            content=content, importance=importance, metadata={"source": source}, keep_duplicates=False
        )

    def start_task(self, task: str) -> None:
        if not isinstance(task, str) or not task.strip():
            raise BadInput("a task must be a non-empty text")
        self.working.set_task(task)
        self.conversation.add_message("user", task)

    def record_step(self, thought: str, action: str, result: str) -> None:
        self.working.add_thought(thought)
        self.working.add_result(action, result)

    async def end_task(self, success: bool, outcome: str) -> None:
        """Learns from a success, stores the experience of any task, and clears working memory."""
        if task := self.working.task:
            if success:
                await self.learn(f"Successfully completed: {task}. Outcome: {outcome}", importance=0.7)
            actions = list(self.working.results)
            await self.episodic.record(task, actions or None, outcome, success, importance=0.6)
        self.working.clear()


def create_memory_aware_prompt(memory: AgentMemorySystem, task: str, include_history: bool = True) -> str:
    """Builds a prompt from the task, the results so far and, with `include_history`, the conversation."""
    parts, working = [f"Current task: {task}"], memory.working
    if working.results:
        parts.append(
            _format_list("\nWhat you've already done:", (f"{k}: {v}" for k, v in working.results.items()))
        )
    if working.task:
        parts.append(f"\nCurrent goal: {working.current_goal}")
    if include_history and (lines := _list_messages(memory, task)):
        parts.append(_format_list("\nWhat was said before:", lines))
    return "\n".join(parts)


def _list_messages(memory: AgentMemorySystem, task: str) -> list[str]:
    """Lists the conversation so far, without the task itself if that is the last message."""
    summary = memory.conversation.summary
    messages = list(memory.conversation.messages)
    if messages and messages[-1].role == "user" and messages[-1].content == task:
        messages.pop()
    lines = [f"{message.role}: {message.content or ''}" for message in messages]
    return [summary, *lines] if summary else lines


def _format_list(title: str, lines: Iterable[str]) -> str:
    return "\n".join([title, *(f"- {line}" for line in lines)])
