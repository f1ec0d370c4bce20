"""Statements as the graph stores them: small rows that share common parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..core.record import Trust
from ..store import Entry
from ..text.facts.statement import Mention, Nature, Reference, Statement
from .names import SPEAKERS, USER, Signature, name_key, sign_mention

_RANKS: Final = {
    Trust.TRUSTED.value: 3,
    Trust.USER.value: 2,
    Trust.TOOL.value: 1,
    Trust.WEB.value: 0,
    Trust.UNKNOWN.value: 0,
    Trust.QUARANTINED.value: -1,
}
WEIGHTS: Final = {3: 0.95, 2: 0.9, 1: 0.7, 0: 0.45, -1: 0.1}  # confidence in one plain sentence, by rank

PRONOUNS: Final = frozenset((Reference.HE, Reference.SHE, Reference.THEY, Reference.IT))


class Stated(NamedTuple):
    """A record and its statements; `is_told` if a caller stated them directly."""

    entry: Entry
    statements: Sequence[Statement]
    is_told: bool = False


class SourceRow:
    """The record that statements come from: its times, its speaker and its trust."""

    __slots__ = (
        *("assertions", "created", "expires", "is_told", "occurred", "rank"),
        *("seq", "session", "speaker", "step", "trust", "who"),
    )

    def __init__(self, entry: Entry, *, is_told: bool = False) -> None:
        self.seq: int = entry.seq
        self.occurred: float = entry.occurred
        self.created: float = entry.created
        self.expires: float | None = entry.expires
        self.trust: str = entry.trust
        self.rank: int = _RANKS.get(entry.trust, 0)
        self.session: str | None = entry.session
        self.step: int = entry.step or 0
        self.speaker: str = _speaker_key(entry.who)
        self.who: str = entry.who or ""  # the speaker as the record spells the name
        self.is_told: bool = is_told  # a caller stated it directly: the record is the statement
        self.assertions: tuple[Assertion, ...] = ()


class KnownMention:
    """A mention with its meaning by itself; equal mentions share one object."""

    __slots__ = ("leans", "mention", "signature")

    def __init__(self, mention: Mention) -> None:
        self.mention = mention
        self.leans = mention.reference in PRONOUNS  # its meaning depends on what was said before
        self.signature: Signature | None = _sign_by_name(mention)  # None if it depends on the speaker


class Assertion:
    """One statement of a record, with the numbers of the signatures it names."""

    __slots__ = (
        *("confidence", "end", "ended", "leans", "nature", "negated", "object", "position"),
        *("relation", "since", "source", "start", "subject", "until", "what", "who"),
    )

    def __init__(
        self, source: SourceRow, position: int, statement: Statement, who: KnownMention, what: KnownMention
    ) -> None:
        self.source: SourceRow = source
        self.position: int = position
        self.relation: str = statement.relation
        self.since: float | None = statement.since
        self.until: float | None = statement.until
        self.ended: bool = statement.ended
        self.negated: bool = statement.negated
        self.confidence: float = statement.confidence
        self.nature: Nature = statement.nature
        self.start: int = statement.start
        self.end: int = statement.end
        self.who: KnownMention = who
        self.what: KnownMention = what
        self.subject: int = -1
        self.object: int = -1
        self.leans: bool = who.leans or what.leans

    @property
    def subject_mention(self) -> Mention:
        return self.who.mention

    @property
    def object_mention(self) -> Mention:
        return self.what.mention

    @property
    def subject_name(self) -> str:
        """The subject as the text spells it, or the speaker as the record does."""
        mention = self.who.mention
        if mention.reference is Reference.SPEAKER and self.source.speaker != USER:
            return self.source.who
        return mention.name

    @property
    def order(self) -> tuple[float, int, int, int]:
        """Its sort key in the conversation."""
        source = self.source
        return source.occurred, source.step, source.seq, self.position

    @property
    def key(self) -> tuple[int, int]:
        return self.source.seq, self.position


def _speaker_key(who: str | None) -> str:
    """Returns the key of the speaker, who is "I"; without a name, the user of the scope."""
    key = name_key(who or "")
    return USER if key in SPEAKERS else key


def _sign_by_name(mention: Mention) -> Signature | None:
    """Returns the signature of a mention that means the same for every speaker; None for others."""
    if mention.reference is not Reference.NAME or mention.role:
        return None
    return sign_mention(mention, USER)
