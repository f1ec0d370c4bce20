"""What a log was summed up as: a text, the messages it stands for, and up to where they go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ..core.errors import BadInput
from ..core.record import Record, Trust, key_id
from ..core.validate import Json, clean_text
from ..memory import Memory
from ..models.embed import embed_checked
from ..models.llm import Answer, Request, llm_of
from ..models.llm.consult import consult_or_fall_back
from ..upkeep.summary import Passage, summarise
from .log_order import Edge

TOKENS: Final = 400  # of an extractive summary
PROMPT_CHARS: Final = 24_000
LONGEST: Final = 20_000  # characters of an answer that can be a summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """`by` says who worded it: rules, llm or caller."""

    text: str
    edge: Edge
    sources: tuple[str, ...]
    by: str

    @classmethod
    def of(cls, records: Sequence[Record], text: str, before: Summed | None, *, by: str) -> Summed:
        """All messages that the summary stands for now, those of the one before included."""
        ids = tuple(record.id for record in records)
        edge = Edge.of(records, None if before is None else before.edge)
        return cls(text=text, edge=edge, sources=(*(before.sources if before else ()), *ids), by=by)

    @classmethod
    def read(cls, record: Record) -> Summed | None:
        """None for a record that others made under this id. One in quarantine tells nothing."""
        data: Any = record.whole.data
        if not isinstance(data, Mapping) or not isinstance(data.get("edge"), Mapping):
            return None
        return cls(
            text="" if record.trust is Trust.QUARANTINED else record.whole.text,
            edge=Edge.from_json(data["edge"]),
            sources=record.derived_from,
            by=data["by"],
        )

    def as_json(self) -> dict[str, Json]:
        return {"edge": self.edge.as_json(), "by": self.by, "messages": len(self.sources)}


def summary_id(session: str) -> str:
    return key_id(f"conversation summary\0{session}")


def make_summary(
    memory: Memory, records: Sequence[Record], before: Summed | None, llm: object, text: str | None
) -> Summed:
    """Worded by the caller, by a model, or out of what was said."""
    if text is not None:
        if not clean_text(text, "text").strip():
            raise BadInput("the summary is empty")
        return Summed.of(records, text, before, by="caller")
    known = []
    if before is not None:
        known = [Passage(text=line) for line in before.text.splitlines() if line.strip()]
    passages = known + [_passage(record) for record in records]
    outcome = consult_or_fall_back(
        None if llm is None else llm_of(llm),
        _request(passages),
        read=_text_of,
        otherwise=lambda: _by_rules(memory, passages),
    )
    return Summed.of(records, outcome.value, before, by=outcome.by)


def _passage(record: Record) -> Passage:
    return Passage(text=record.whole.text, who=record.who, day=f"{record.when:%Y-%m-%d}")


def _by_rules(memory: Memory, passages: Sequence[Passage]) -> str:
    made = summarise(passages, partial(embed_checked, memory.parts.embedder), TOKENS).text
    return made or "Nothing was said in words."


def _request(passages: Sequence[Passage]) -> Request:
    lines = "\n".join(f"[{p.day}] {p.who}: {p.text}" if p.who else p.text for p in passages)
    wish = (
        f"Sum up this conversation so far in at most {TOKENS} tokens: who said, decided or did what, "
        "with names, dates and numbers. Only the summary, no preamble."
    )
    system = "You keep the memory of an agent. You add nothing that was not said."
    return Request(
        prompt=f"{wish}\n\n{lines[-PROMPT_CHARS:]}", system=system, max_tokens=3 * TOKENS, purpose="summarise"
    )


def _text_of(answer: Answer) -> str:
    text = answer.text.strip()
    if not text or len(text) > LONGEST:
        raise ValueError("no text of a usable length")
    return text
