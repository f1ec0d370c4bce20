"""Statements as the graph keeps them: small rows that share what they have in common."""

from __future__ import annotations

from typing import Final

from ..core.record import Trust
from ..store import Entry
from ..text.facts.statement import Mention, Nature, Statement
from .names import speaker_key

RANKS: Final = {
    Trust.TRUSTED.value: 3,
    Trust.USER.value: 2,
    Trust.TOOL.value: 1,
    Trust.WEB.value: 0,
    Trust.UNKNOWN.value: 0,
    Trust.QUARANTINED.value: -1,
}
WEIGHTS: Final = {3: 0.95, 2: 0.9, 1: 0.7, 0: 0.45, -1: 0.1}  # confidence in one plain sentence, by rank


class SourceRow:
    """The record that statements come from: when it was said and stored, by whom, how far it is trusted."""

    __slots__ = (
        "assertions",
        "created",
        "expires",
        "is_told",
        "occurred",
        "rank",
        "seq",
        "session",
        "speaker",
        "step",
        "trust",
    )

    def __init__(self, entry: Entry, *, is_told: bool = False) -> None:
        self.seq: int = entry.seq
        self.occurred: float = entry.occurred
        self.created: float = entry.created
        self.expires: float | None = entry.expires
        self.trust: str = entry.trust
        self.rank: int = RANKS.get(entry.trust, 0)
        self.session: str | None = entry.session
        self.step: int = entry.step or 0
        self.speaker: str = speaker_key(entry.who)
        self.is_told: bool = is_told  # somebody stated it directly: the record is the statement
        self.assertions: tuple[Assertion, ...] = ()


class Assertion:
    """One statement of a record, with the numbers of the signatures that it names."""

    __slots__ = (
        "confidence",
        "end",
        "ended",
        "leans",
        "nature",
        "negated",
        "object",
        "object_mention",
        "position",
        "relation",
        "since",
        "source",
        "start",
        "subject",
        "subject_mention",
        "until",
    )

    def __init__(self, source: SourceRow, position: int, said: Statement) -> None:
        self.source: SourceRow = source
        self.position: int = position
        self.relation: str = said.relation
        self.since: float | None = said.since
        self.until: float | None = said.until
        self.ended: bool = said.ended
        self.negated: bool = said.negated
        self.confidence: float = said.confidence
        self.nature: Nature = said.nature
        self.start: int = said.start
        self.end: int = said.end
        self.subject_mention: Mention = said.subject
        self.object_mention: Mention = said.object
        self.subject: int = -1
        self.object: int = -1
        self.leans: bool = False  # whom it names depends on what was said before it

    @property
    def order(self) -> tuple[float, int, int, int]:
        """Its place in the conversation."""
        source = self.source
        return source.occurred, source.step, source.seq, self.position

    @property
    def key(self) -> tuple[int, int]:
        return self.source.seq, self.position


def weigh_assertion(assertion: Assertion) -> float:
    """How sure one statement is: its own confidence, under the trust of its source."""
    return assertion.confidence * WEIGHTS[assertion.source.rank]
