"""Texts that only repeat what was just recalled: marked when they are written, if the settings ask for it.

A text is an echo if each of its sentences was just recalled, word for word, apart from words that people put
before a memory ("as I remember"). A sentence that leaves out, adds or changes any other word is new.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

from ..core.hit import Hits
from ..core.record import Record
from ..parts import Parts
from ..text.sentences import sentences
from ..text.words import tokens

ECHO_SCOPES: Final = 256
_END_MARKS: Final = ".,;:!…。，、；：！"  # of words; a question mark is not among them
_LEADS: Final = """
    remember recall recalled remembered memory memories mentioned mention said say says told tell noted note
    know known according earlier previously before already last time user you assistant i we as from your my
    what here there is are was were have has had found following based see looks like context conversation
    me summary answer sure yes okay ok right think believe per that also to the and thanks thank please hi
    hello
    """
_LEAD_INS: Final = frozenset(_LEADS.split())
_Words = tuple[str, ...]


class EchoGuard:
    """Keeps recalled texts in mind, by scope. Does nothing unless the setting `echo_guard` is on."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._echoes: dict[str, Echoes] = {}
        self._lock = threading.Lock()

    def note(self, hits: Hits, now: float) -> None:
        """Notes which texts a recall returned."""
        if not self._parts.settings.echo_guard:
            return
        with self._lock:
            for hit in hits:
                self._of(hit.record.scope).note(hit.id, hit.text, now)

    def mark(self, records: list[Record], now: float) -> list[Record]:
        """Marks texts that only repeat a recent answer; they count for half."""
        with self._lock:
            found = [self._of(record.scope).is_echo(record.text, now) for record in records]
        return [_mark_echo(record, id) for record, id in zip(records, found, strict=True)]

    def unlearn(self, scopes: Iterable[str]) -> None:
        """Drops what it noted of these scopes."""
        with self._lock:
            for scope in scopes:
                self._echoes.pop(scope, None)

    def _of(self, scope: str) -> Echoes:
        found = self._echoes.pop(scope, None) or Echoes()
        self._echoes[scope] = found
        while len(self._echoes) > ECHO_SCOPES:
            del self._echoes[next(iter(self._echoes))]
        return found


def _mark_echo(record: Record, id: str | None) -> Record:
    if id is None or id == record.id:
        return record
    return record.but(state=record.state.but(echo_of=id), importance=record.importance / 2)


class Echoes:
    """Recently recalled texts. Not safe for threads: the owner locks it."""

    def __init__(self, *, seconds: float = 3_600.0, texts: int = 512) -> None:
        """`seconds` and `texts` bound how long and how many texts are kept in mind."""
        self._seconds, self._texts = seconds, texts
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
        """Drops old entries, then the oldest beyond the limit. A clock that is set back drops nothing."""
        while len(self._noted) > self._texts:
            self._noted.popitem(last=False)
        for id in [id for id, (at, _) in self._noted.items() if now - at > self._seconds]:
            del self._noted[id]


def _split_words(text: str) -> Iterator[_Words]:
    """The words of each sentence that has any; only marks at their ends and their case may differ."""
    for sentence in sentences(text):
        if tokens(sentence):
            yield tuple(word.casefold() for word in same_words(sentence))


def same_words(text: str) -> tuple[str, ...]:
    """The words of a text as two facts must share them: only marks at the end of words may differ.

    Spacing and the first letter's case count for nothing. Every other letter, sign and digit counts.
    """
    words = (word.rstrip(_END_MARKS) for word in f"{text[:1].lower()}{text[1:]}".split())
    return tuple(filter(None, words)) or (text,)
