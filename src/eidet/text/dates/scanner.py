"""A text as words, numbers and marks, with what a reading of dates must know: the day it is, and the leaning.

Everything tied by `-/.:` to a digit is one number ("2023-05-08", "1.2.3", "555-0199", "3-7"), so that no
part of a code or of a telephone number is taken for a date. Only a month may be tied to its day ("8May").
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from .english_words import TABLE, words_of

_TOKEN = re.compile(
    r"[^\W\d_]\w*|[0-9]{1,2}(?=(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b)"
    r"|[0-9][0-9a-z]*(?:(?:[-/.:\u2013](?=[0-9])|,(?=[0-9]{3}(?![0-9])))[0-9a-z]+)*"
    r"|(?<=\w)'[^\W\d_]+|\w+|[^\w\s]"
)
_ENDS = frozenset(".!?;")
_BEYOND = [""] * 12  # more than a reading looks ahead of any word
_NEAR = 14  # words on either side that tell the tense

_FUTURE = words_of(TABLE["future"])
_PAST = words_of(TABLE["past"])
_NOT_PAST = words_of(TABLE["not_past"])  # they end in -ed
_BE = words_of("is are am be being")


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words (folded, padded with empty ones) and where each stands.

    `year` is the one that another part of the expression gives ("between March and May 2023"); `depth` is how
    many expressions this reading is inside of.
    """

    text: str
    words: list[str]
    places: list[re.Match[str]]
    now: datetime
    today: int
    past: bool
    year: int | None = None
    depth: int = 0

    def start(self, at: int) -> int:
        return self.places[at].start()

    def end(self, at: int) -> int:
        return self.places[at].end()

    def capital(self, at: int) -> bool:
        return self.text[self.start(at)].isupper()

    def opens(self, at: int) -> bool:
        """Tells whether a sentence begins here."""
        return at == 0 or self.words[at - 1] in _ENDS or self.words[at - 1] in ':"-*('

    def before(self, at: int) -> str:
        """Returns the word before one, across a hyphen ("mid-May")."""
        if at > 1 and self.words[at - 1] == "-" and self.start(at) == self.end(at - 1):
            return self.words[at - 2]
        if at > 0:
            return self.words[at - 1]
        return ""

    def lean(self, at: int) -> int:
        """Returns the tense near a word: -1 past, 1 future, 0 if nothing says."""
        if self.past:
            return -1
        return self.tense(at)

    def tense(self, at: int) -> int:
        """Detects the tense by the nearest verb of the sentence, in its clause before others."""
        before = _clue(self.words[max(at - _NEAR, 0) : at][::-1])
        after = _clue(self.words[at + 1 : at + _NEAR])
        return min(before, after, key=lambda clue: clue[0])[1]


def fold_text(text: str) -> str:
    """Folds a text to small letters and plain apostrophes, character for character."""
    low = text.lower().replace("\u2019", "'")
    if len(low) != len(text):
        low = "".join(c if len(c.lower()) != 1 else c.lower() for c in text).replace("\u2019", "'")
    return low


def scan(text: str, low: str, now: datetime, past: bool) -> Tokens:
    places = list(_TOKEN.finditer(low))
    words = [place[0] for place in places]
    words.extend(_BEYOND)
    return Tokens(text, words, places, now, now.toordinal(), past)


def _clue(words: list[str]) -> tuple[int, int]:
    """Returns how far the first word with a tense is, and which tense; commas count as distance."""
    far = 0
    for place, word in enumerate(words):
        far += 6 if word == "," else 1
        if word in _ENDS:
            break
        if word in _FUTURE or (word == "going" and "to" in words[max(place - 1, 0) : place + 2]):
            return far, 1
        if _is_past(word) and not _is_passive(words, place):
            return far, -1
    return 99, 0


def _is_passive(words: list[str], place: int) -> bool:
    """Tells whether "closed" is passive, as in "is the office closed", which is about now."""
    if words[place] in _PAST:
        return False
    return not _BE.isdisjoint(words[max(place - 3, 0) : place + 4])


def _is_past(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST)
