"""Whose something is: a mention, or the owner of a role ("" for the speaker, a pronoun, a name)."""

from __future__ import annotations

from typing import Final

from .statement import Mention, Reference

_PRONOUNS: Final = frozenset({"he", "she", "they", "it"})
SPEAKER: Final = Mention(reference=Reference.SPEAKER, kind="person")


def owner_mention(owner: str) -> Mention:
    if not owner:
        return SPEAKER
    if owner in _PRONOUNS:
        return Mention(reference=Reference(owner))
    return Mention(name=owner)


def owner_name(mention: Mention) -> str:
    if mention.reference is Reference.SPEAKER:
        return ""
    if mention.reference is not Reference.NAME:
        return mention.reference.value
    return mention.name
