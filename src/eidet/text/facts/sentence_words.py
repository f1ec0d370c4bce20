"""Splits a text into sentences of words for the fact reader, and computes when a sentence is valid.

Splitting takes time linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from typing import Final

from ..dates import Dated
from ..dates.days import clip_day, move_day
from ..dates.scanner import UNITS, parse_count

LONGEST: Final = 4_000  # characters of a text that are parsed for facts
_WORD_LIMIT: Final = 120  # words of a sentence that are parsed: longer ones are lists, tables or code
_PAD: Final = [""] * 6
_PIECE: Final = re.compile(
    r"https?://[^\s<>\"]{1,300}(?<![.,!?;:])"
    r"|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\w)"
    r"|[^\W_]\w*+(?:[-.'\u2019&@/+_:]\w++)*+[+#]{0,2}"
    r"|[^\w\s]|\n"
)
_CLITIC: Final = re.compile(r"(?:(?<=.)['\u2019](?:s|m|re|ve|d|ll)|(?<=.)n['\u2019]t)$", re.IGNORECASE)
_ENDS: Final = frozenset(".!?;\u2026\n")
_TITLES: Final = frozenset(("mr", "mrs", "ms", "dr", "prof", "st", "jr", "sr", "vs", "e.g", "i.e", "approx"))

_Piece = tuple[str, int]  # a word as written, and its start


class SentenceWords:
    """One sentence: its lower-case words, padded with "" on both sides, and their positions.

    Word 0 and those after `last` are padding, so that a reader may look around without bounds checks.
    """

    __slots__ = ("last", "low", "mark", "raws", "starts", "text")

    def __init__(self, text: str, pieces: list[_Piece], mark: str) -> None:
        kept = [piece for piece in pieces if piece[0] != "."][:_WORD_LIMIT]  # "." of abbreviations
        self.text = text
        self.mark = mark  # its end: ".", "?", "" …
        self.raws: list[str] = ["", *[raw for raw, _ in kept]]  # as written; word 1 is the first
        self.starts: list[int] = [0, *[start for _, start in kept]]
        self.low: list[str] = [raw.lower().replace("\u2019", "'") for raw in self.raws] + _PAD
        self.last = len(kept)  # the number of words

    def keep(self, count: int) -> None:
        """Drops the words after the first `count`."""
        self.raws, self.starts, self.last = self.raws[: count + 1], self.starts[: count + 1], count
        self.low = self.low[: count + 1] + _PAD

    def capital(self, at: int) -> bool:
        return 0 < at <= self.last and self.raws[at][0].isupper()

    def end(self, at: int) -> int:
        """Returns the end of a word in the text."""
        return self.starts[at] + len(self.raws[at])

    def cut(self, first: int, after: int) -> str:
        """Returns the text from one word up to another, as written."""
        return self.text[self.starts[first] : self.end(after - 1)]

    @property
    def sentence(self) -> str:
        return self.cut(1, self.last + 1)


def split_words(text: str) -> Iterator[SentenceWords]:
    """Splits a text into sentences. A line break ends one; titles such as "Dr." do not."""
    pieces: list[_Piece] = []
    for found in _PIECE.finditer(text):
        raw, start = found[0], found.start()
        if raw in _ENDS and not (raw == "." and pieces and pieces[-1][0].lower() in _TITLES):
            if pieces:
                yield SentenceWords(text, pieces, raw)
            pieces = []
        elif ("'" in raw or "\u2019" in raw) and (tied := _CLITIC.search(raw)):
            at = tied.start()  # I'm, Ann's, don't
            pieces += [(raw[:at], start), (raw[at:], start + at)]
        else:
            pieces.append((raw, start))
    if pieces:
        yield SentenceWords(text, pieces, "")


# --- the validity of a sentence's statements, from its time expressions

_UNIT_DAYS: Final = frozenset(("day", "week", "month", "year"))
_LONG_AGO: Final = {"decade": ("year", 10), "fortnight": ("week", 2)}
_SINCE: Final = frozenset(("since", "from", "starting", "as", "beginning"))
_UNTIL: Final = frozenset(("until", "till", "to", "through"))
_TIED: Final = frozenset(("since", "from", "until", "till"))
_ABOUT: Final = frozenset(("the", "past", "last", "over", "about", "almost", "nearly", "around"))


@dataclass(frozen=True, slots=True)
class Validity:
    """The start and end of validity in seconds since 1970; None if the text does not say.

    point    the time is that of an event, not its beginning or end
    lasting  it continues: "since March", "for two years"
    """

    since: float | None = None
    until: float | None = None
    point: bool = False
    lasting: bool = False


NO_TIME: Final = Validity()


def find_validity(words: SentenceWords, dated: Sequence[Dated], said: datetime) -> Validity:
    """Finds the time that goes with a sentence."""
    span = NO_TIME
    for found in dated:
        span = _add_time(span, found, _word_before(words, found), said)
    if span.since is not None:
        return span
    counted = (at + 1 for at in range(1, words.last) if words.low[at] == "for")  # "for three years"
    begins = (_count_back(words, at, said) for at in counted)
    began = next((one for one in begins if one is not None), None)
    return span if began is None else replace(span, since=began, lasting=True)


def _add_time(span: Validity, found: Dated, before: str, said: datetime) -> Validity:
    """Adds a time of the sentence. "Until 2023" and "to 2023" include the whole year."""
    first, after = _moment(found.first, said), _moment(found.last + 1, said)
    if before in _SINCE:
        if _UNTIL.isdisjoint(found.text.lower().split()):
            return replace(span, since=first, lasting=True)
        return replace(span, since=first, until=after)
    if before in _UNTIL:
        return replace(span, until=after)
    return Validity(since=first, until=after, point=True) if span.since is None else span


def _moment(ordinal: int, said: datetime) -> float:
    """Returns midnight of a day in the zone of the text's time."""
    day = datetime.combine(date.fromordinal(clip_day(ordinal)), time.min, said.tzinfo)
    try:
        return day.timestamp()
    except (OverflowError, ValueError, OSError):
        return 0.0


def _word_before(words: SentenceWords, found: Dated) -> str:
    first = found.text.partition(" ")[0].lower()
    if first in _TIED:
        return first
    places = (at for at in range(1, words.last + 1) if words.starts[at] >= found.start)
    return words.low[next(places, 1) - 1]


def _count_back(words: SentenceWords, at: int, said: datetime) -> float | None:
    while words.low[at] in _ABOUT:
        at += 1
    count = parse_count(words.low, at)
    if count is None or count.after > words.last:
        return None
    unit = UNITS.get(words.low[count.after], "")
    unit, times = _LONG_AGO.get(unit, (unit, 1))
    if unit not in _UNIT_DAYS:
        return None
    middle = (count.low + count.high) // 2 * times
    return _moment(move_day(said.toordinal(), -middle, unit), said)
