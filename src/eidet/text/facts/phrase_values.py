"""What readers of noun phrases share."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..dates.english_words import NUMBERS
from .statement import Mention

LONGEST_NAME: Final = 6  # words


class PhraseAt(NamedTuple):
    """A mention and the words it takes: from `first` up to, not with, `after`."""

    mention: Mention
    first: int
    after: int


def with_role(name: str, role: Mention) -> Mention:
    """Maria, and "my sister": the sister Maria."""
    return Mention(name=name, kind=role.kind, role=role.role, owner=role.owner)


def is_doing(found: PhraseAt) -> bool:
    """Playing tennis."""
    return found.mention.name.split()[0].endswith("ing")


def looks_like_code(word: str) -> bool:
    """A word that is a name by its look: auth-service, billing_api, node.js."""
    return word[:1].isalpha() and ("-" in word or "_" in word or "." in word or word[-1:].isdigit())


def is_age(word: str) -> bool:
    """A number from 1 to 120, in digits or as a word."""
    if word.isdecimal():
        return len(word) < 4 and 0 < int(word) <= 120
    return word in NUMBERS
