"""Keys of names, equal for all spellings of a name."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final, NamedTuple

from ..text.facts.statement import VALUE, Mention, Reference

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
