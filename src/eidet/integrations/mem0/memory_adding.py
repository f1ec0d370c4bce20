"""Adding memories as mem0 does: messages as they are, or worded by a language model."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...core.draft import Draft
from ...memory import Memory as EidetMemory
from ...models.llm import LLM
from ..extras import STEP, RisingTimes
from .entities import Home
from .extraction import Extracted, Extraction, write_conversation
from .mem0_items import Said, Writing, tell_added

PROCEDURAL: Final = "procedural_memory"
KNOWN: Final = 10  # memories that the model sees before it words new ones
QUERY: Final = 2000  # characters of a conversation by which known ones are found


@dataclass(frozen=True, slots=True)
class MemoryAdding:
    """Adds memories below one home; `llm` words them, if there is one."""

    memory: EidetMemory
    home: Home
    times: RisingTimes
    llm: LLM | None = None
    instructions: str | None = None

    def add(
        self, turns: Sequence[Said], writing: Writing, *, infer: bool = True, at: float | None = None
    ) -> list[dict[str, Any]]:
        """Remembers messages, all or none: as they are, or worded by the model where there is one."""
        if not turns:
            return []
        extracted: list[Extracted] | None = None
        if infer and self.llm is not None:
            extracted = self._extract(self.llm, turns, writing)
        if extracted is None:  # nobody worded them: nothing of what was said may be lost
            return self._store_messages(turns, writing, at)
        return self._store_facts(extracted, writing, at)

    def add_procedure(
        self, turns: Sequence[Said], writing: Writing, prompt: str | None
    ) -> list[dict[str, Any]]:
        """Remembers how a task was done, in one memory."""
        text: str | None = None
        if self.llm is not None:
            text = self._extraction(self.llm).describe_procedure(turns, prompt)
        times = self._take_times(1, None)
        worded = Extracted(text or write_conversation(turns))
        return self._store([self._draft_fact(worded, writing, times[0], memory_type=PROCEDURAL)], writing)

    def _extraction(self, llm: LLM) -> Extraction:
        return Extraction(llm, self.instructions)

    def _extract(self, llm: LLM, turns: Sequence[Said], writing: Writing) -> list[Extracted] | None:
        """New memories, without those that are there already."""
        where, scope = writing.entities.select(), self.home.place(writing.entities)
        known: list[str] = []
        for hit in self.memory.recall(
            write_conversation(turns)[-QUERY:], scope=scope, where=where, limit=KNOWN
        ):
            known.append(hit.record.whole.text)
        extracted = self._extraction(llm).list_memories(turns, known)
        if extracted is None:
            return None
        fresh: dict[str, Extracted] = {}
        for one in extracted:
            if one.text not in known:
                fresh.setdefault(one.text, one)
        return list(fresh.values())

    def _take_times(self, count: int, at: float | None) -> list[float]:
        """When each memory of one call occurred, in their order."""
        if at is None:
            return self.times.take(count)
        return [at + number * STEP for number in range(count)]

    def _store_messages(
        self, turns: Sequence[Said], writing: Writing, at: float | None
    ) -> list[dict[str, Any]]:
        drafts: list[Draft] = []
        for one, occurred in zip(turns, self._take_times(len(turns), at), strict=True):
            drafts.append(writing.draft_message(one, str(uuid.uuid4()), occurred))
        return self._store(drafts, writing)

    def _store_facts(
        self, extracted: Sequence[Extracted], writing: Writing, at: float | None
    ) -> list[dict[str, Any]]:
        drafts: list[Draft] = []
        for one, occurred in zip(extracted, self._take_times(len(extracted), at), strict=True):
            drafts.append(self._draft_fact(one, writing, occurred))
        return self._store(drafts, writing)

    def _draft_fact(self, worded: Extracted, writing: Writing, occurred: float, **more: str) -> Draft:
        if worded.attributed_to is not None:
            more["attributed_to"] = worded.attributed_to
        return writing.draft_fact(worded.text, str(uuid.uuid4()), occurred, **more)

    def _store(self, drafts: Sequence[Draft], writing: Writing) -> list[dict[str, Any]]:
        if not drafts:
            return []
        scope = self.home.place(writing.entities)
        stored = self.memory.remember(list(drafts), scope=scope, keep_duplicates=True, again=True)
        return [tell_added(record) for record in stored]
