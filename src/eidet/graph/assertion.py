"""Statements as the graph stores them: rows that share common parts, and the names that they mention."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ..core.record import Trust
from ..store import Entry
from ..text.facts.statement import VALUE, Mention, Reference, Statement

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


USER: Final = "user"  # the speaker of records without a name
SPEAKERS: Final = frozenset(("", "user", "human", "me", "i", "myself", "we"))
PERSON: Final = "person"
VAGUE: Final = "vague"  # a name of unclear kind: a thing unless other texts say more
THING: Final = "thing"  # a place, an organisation, an event: neither person nor value
ARTICLES: Final = ("the ", "a ", "an ")

Node = str  # one meaning of a name: `person:ann`, `person:alex/brother/ann`, `thing:porto`, `value:42`
Role = tuple[str, str]  # brother, of whom


class Signature(NamedTuple):
    """The identifying parts of a mention, normalised so that those of two texts can be equal."""

    name: str
    sort: str = ""  # PERSON, THING, VAGUE, VALUE, or "" if the text does not say
    role: str = ""
    owner: str = ""


def role_shelf(role: str, owner: str) -> str:
    return f"/{role}/{owner}"


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """Returns the key of a name: without case, article, possessive and surrounding punctuation."""
    key = " ".join(unicodedata.normalize("NFKC", name).casefold().split()).strip(" .,;:!?\"'()[]“”‘’")
    key = key.removesuffix("'s").removesuffix("’s")
    for article in ARTICLES:
        rest = key.removeprefix(article)
        if rest != key and rest:
            return rest
    return key


def first_word(name: str) -> str:
    return name.partition(" ")[0]


@lru_cache(maxsize=65_536)
def sign_mention(mention: Mention, speaker: str, *, is_personal: bool = False) -> Signature:
    """Makes the signature of a mention by name, or of the speaker. Pronouns must be resolved before.

    `is_personal` makes it a person unless its text gives another kind.
    """
    if mention.reference is Reference.SPEAKER:
        return Signature(speaker, PERSON)
    if mention.kind == VALUE:
        return Signature(name_key(mention.name) or mention.name, VALUE)
    owner = (name_key(mention.owner) or speaker) if mention.role else ""
    if owner in SPEAKERS and mention.role:
        owner = USER
    sort = PERSON if is_personal and not mention.kind else _sort_of(mention)
    return Signature(name_key(mention.name), sort, name_key(mention.role), owner)


def _sort_of(mention: Mention) -> str:
    if mention.kind == PERSON or mention.role:
        return PERSON
    if mention.kind == THING and mention.name[:1].isupper():
        return VAGUE
    return THING if mention.kind else ""


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

    def __init__(self, stated: Stated) -> None:
        entry = stated.entry
        self.seq: int = entry.seq
        self.occurred: float = entry.occurred
        self.created: float = entry.created
        self.expires: float | None = entry.expires
        self.trust: str = entry.trust
        self.rank: int = _RANKS.get(entry.trust, 0)
        self.session: str | None = entry.session
        self.step: int = entry.step or 0
        self.who: str = entry.who or ""  # the speaker as the record spells the name
        key = name_key(self.who)
        self.speaker: str = USER if key in SPEAKERS else key  # who is "I": without a name, the user
        self.is_told: bool = stated.is_told  # a caller stated it directly: the record is the statement
        self.assertions: tuple[Assertion, ...] = tuple(
            Assertion(self, position, statement) for position, statement in enumerate(stated.statements)
        )


class Assertion:
    """One statement of a record, with the entries of the names it mentions."""

    __slots__ = ("leans", "object", "position", "source", "statement", "subject")

    def __init__(self, source: SourceRow, position: int, statement: Statement) -> None:
        self.source: SourceRow = source
        self.position: int = position
        self.statement: Statement = statement
        self.subject: NameEntry = NOBODY
        self.object: NameEntry = NOBODY
        # whether its meaning depends on what was said before
        self.leans: bool = not PRONOUNS.isdisjoint((statement.subject.reference, statement.object.reference))

    @property
    def subject_name(self) -> str:
        """The subject as the text spells it, or the speaker as the record does."""
        mention = self.statement.subject
        if mention.reference is Reference.SPEAKER and self.source.speaker != USER:
            return self.source.who
        return mention.name

    @property
    def order(self) -> tuple[float, int, int, int]:
        """Its sort key in the conversation."""
        source = self.source
        return source.occurred, source.step, source.seq, self.position


class NameEntry:
    """A name with the statements that mention it. It stays when none of them does any more."""

    __slots__ = ("aliased", "naming", "said", "signature")

    def __init__(self, signature: Signature) -> None:
        self.signature: Signature = signature
        self.said: list[Assertion] = []  # with it as subject
        self.naming: list[Assertion] = []  # with it as object
        self.aliased: list[Assertion] = []  # that give it to somebody, as "my name is Ann" does

    @property
    def uses(self) -> int:
        return len(self.said) + len(self.naming) + len(self.aliased)

    def list_mentions(self) -> Iterator[tuple[str, str]]:
        """Yields the spelling and the kind of each mention."""
        for one in self.said:
            yield one.subject_name, one.statement.subject.kind
        for one in self.naming:
            yield one.statement.object.name, one.statement.object.kind
        for one in self.aliased:
            yield one.statement.object.name, ""


NOBODY: Final = NameEntry(Signature(""))  # in place of a name that is not resolved yet
