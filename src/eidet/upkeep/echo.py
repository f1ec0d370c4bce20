"""A guard against remembering what was only just recalled: an agent that says a memory again tells nothing.

A text is an echo if each of its sentences was just recalled, word for word, apart from words that people put
before a memory ("as I remember"). A sentence that leaves out, adds or changes any other word is new.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..core.errors import BadInput
from ..text.sentences import sentences
from ..text.words import tokens
from .consolidate import same_words

_LEADS: Final = """
    remember recall recalled remembered memory memories mentioned mention said say says told tell noted note
    know known according earlier previously before already last time user you assistant i we as from your my
    what here there is are was were have has had found following based see looks like context conversation
    me summary answer sure yes okay ok right think believe per that also to the and thanks thank please hi
    hello
    """
_LEAD_INS: Final = frozenset(_LEADS.split())
_Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoLimits:
    """How long and how many recalled texts are kept in mind."""

    seconds: float = 3_600.0
    texts: int = 512

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.texts > 0):
            raise BadInput(f"an echo guard's seconds and texts must be above 0, not {self}")


class Echoes:
    """What was recalled lately. Not for several threads at once: whoever shares it guards it."""

    def __init__(self, limits: EchoLimits | None = None) -> None:
        self._limits = limits or EchoLimits()
        self._noted: OrderedDict[str, tuple[float, frozenset[_Words]]] = OrderedDict()  # by id

    def __len__(self) -> int:
        return len(self._noted)

    def note(self, id: str, text: str, now: float) -> None:
        """Keeps a recalled text in mind; noted again, it counts from now on. Without words it is not kept."""
        self._noted.pop(id, None)
        if said := frozenset(_split_words(text)):
            self._noted[id] = now, said
        self._forget(now)

    def is_echo(self, text: str, now: float) -> str | None:
        """The id that the longest sentence of the text comes from; None if the text says something new."""
        self._forget(now)
        found: dict[_Words, str] = {}
        for words in _split_words(text):
            id = self._find(words)
            if id is None and not _LEAD_INS.issuperset(words):
                return None
            if id is not None:
                found[words] = id
        return found[max(found, key=len)] if found else None

    def _find(self, words: _Words) -> str | None:
        """The text noted last that has the sentence, or the sentence without what leads in to it."""
        starts = [at for at in range(len(words)) if _LEAD_INS.issuperset(words[:at])]
        said = {words[at:] for at in starts}
        return next((id for id, (_, kept) in reversed(self._noted.items()) if kept & said), None)

    def _forget(self, now: float) -> None:
        """Drops what is too old, then the oldest of what is too many. A clock set back drops nothing."""
        while len(self._noted) > self._limits.texts:
            self._noted.popitem(last=False)
        for id in [id for id, (at, _) in self._noted.items() if now - at > self._limits.seconds]:
            del self._noted[id]


def _split_words(text: str) -> Iterator[_Words]:
    """The words of each sentence that has any; only marks at their ends and their case may differ."""
    for sentence in sentences(text):
        if tokens(sentence):
            yield tuple(word.casefold() for word in same_words(sentence))
