"""Names as keys: two ways to write one name have the same key."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from ..text.facts.statement import VALUE, Mention, Reference

USER: Final = "user"  # whoever speaks in a scope, where a record does not say who
SPEAKERS: Final = frozenset(("", "user", "human", "me", "i", "myself", "we"))
PERSON: Final = "person"
VAGUE: Final = "vague"  # a name that a text calls a thing for want of a better word: others may know more
THING: Final = "thing"  # a place, an organisation, an event: whatever is no person and no value
ARTICLES: Final = ("the ", "a ", "an ")


class Signature(NamedTuple):
    """All that a text tells of who or what is meant, in the form in which two texts can agree.

    hint    the namesake that the session spoke of last, by a surname or a role
    """

    name: str
    sort: str = ""  # PERSON, THING, VAGUE, VALUE, or "" where the text does not tell
    role: str = ""
    owner: str = ""
    hint: Signature | None = None

    @property
    def shelf(self) -> str:
        """Returns the key for looking it up: the name, or the role if there is no name."""
        return self.name or role_shelf(self.role, self.owner)

    @property
    def is_distinct(self) -> bool:
        """Tells whether a surname or a role tells it from namesakes."""
        return bool(self.role or " " in self.name)


def role_shelf(role: str, owner: str) -> str:
    return f"/{role}/{owner}"


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """Folds a name: no case, article, possessive or punctuation around it."""
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
def sign_mention(mention: Mention, speaker: str) -> Signature:
    """Makes the signature of a mention by name, or of the speaker. Pronouns are resolved before."""
    if mention.reference is Reference.SPEAKER:
        return Signature(speaker, PERSON)
    if mention.kind == VALUE:
        return Signature(name_key(mention.name) or mention.name, VALUE)
    owner = (name_key(mention.owner) or speaker) if mention.role else ""
    if owner in SPEAKERS and mention.role:
        owner = USER
    return Signature(name_key(mention.name), _sort_of(mention), name_key(mention.role), owner)


def _sort_of(mention: Mention) -> str:
    if mention.kind == PERSON or mention.role:
        return PERSON
    if mention.kind == THING and mention.name[:1].isupper():
        return VAGUE
    return THING if mention.kind else ""
