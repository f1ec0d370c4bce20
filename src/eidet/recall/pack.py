"""Packs hits into a block of text for a prompt, which never exceeds its token budget.

The best hits that fit are printed in the order of time, under the days they happened. Several sections have
headings. A heading, a day or a neighbour costs like a line; each line has a number by which a model can cite
its record.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import compress
from operator import not_
from typing import Final, NamedTuple

from ..core.hit import Hit
from ..core.record import Kind, Record, Trust
from ..text import Analyzer
from ..text.tokens import TokenCounter, cut
from ..trust.privacy.quarantine import is_untrusted
from .nearby import Beside
from .prompt_lines import (
    day_of,
    days_of,
    excerpt_of,
    likely_chars,
    line_of,
    one_line,
    quote_text,
    speaker_of,
    stamp_of,
)
from .query import Key, key_of

__all__ = ["Context", "line_of", "pack"]

STANDING, WORKING, MEMORY = "instructions", "working", "memory"
HEADINGS: Final = {
    STANDING: "# Instructions",
    WORKING: "# Working state",
    MEMORY: "# Memory",
}
SHARE: Final = 0.25  # of the budget, for the working state, and for one text printed whole …
BEST: Final = 0.5  # … unless it is the best
RULES: Final = 0.12  # for instructions
FEW_WORDS: Final = 6  # a turn as short as "15:30 it is" needs the one before it
_LONGEST: Final = 8  # characters per token; a text too long even at this rate is not counted whole
_DENSE: Final = 5.0  # the most characters per token expected of a line, …
_DENSER: Final = 1.25  # … or this factor times the most of any line so far
_OVERHEAD: Final = 40  # characters of a line beside its text, and of its day
_SHORTENED: Final = 3  # the fewest characters per token of a text shortened to its share
_SLOW_CHARS: Final = 10_000
_SMALLER: Final = 4  # tokens by which a quotation is shortened at each try
_ROUNDS: Final = 3  # rounds in which the rest of the budget is filled
_MARKS: Final = " .,;:!?…\"'()[]“”‘’"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A prompt-ready block: `str(context)` is its text.

    `hits` are those told, best first, and `left_out` those not told. `records` is all that is told, in
    that order: working state and neighbours too; the line `[3] …` tells `records[2]`. `sections` has the
    lines of "instructions", "working" and "memory", where there are any.
    """

    text: str
    tokens: int
    budget: int
    hits: tuple[Hit, ...] = ()
    left_out: tuple[Hit, ...] = ()
    scope: str = ""  # the scope asked, for `feedback`
    records: tuple[Record, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the records shown: the line `[3] …` cites `sources[2]`."""
        return tuple(record.id for record in self.records)


class _Wish(NamedTuple):
    """A record to print, with its likely length; a neighbour is printed only with the turn beside it."""

    key: Key
    record: Record
    section: str
    chars: float
    beside: Key | None = None


class _Line(NamedTuple):
    """The line of a record, and its cost without day and heading."""

    said: str
    told: str  # with the speaker, or quoted
    bare: str  # folded for comparison
    quoted: bool
    day: str
    year: str
    cost: int


_Chosen = dict[Key, _Wish]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The printed page with the chosen records."""

    text: str = ""
    tokens: int = 0
    records: tuple[Record, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)


def pack(
    hits: Sequence[Hit],
    budget: int,
    counter: TokenCounter,
    *,
    standing: Sequence[Record] = (),
    working: Sequence[Record] = (),
    turns: Beside | None = None,
    terms: AbstractSet[int] = frozenset(),
    analyzer: Analyzer | None = None,
    headings: bool = True,
    fence: bool = True,
    least: float = 0.0,
) -> Context:
    """Packs the best hits that fit, best first; if there is room for all, only those that score `least`.

    Instructions and the working state (newest first) come before them, each up to its share of the
    budget. A text that would exceed its share is cut to the part with most of the `terms`. If nothing
    fits, the beginning of the best is printed. With `fence`, untrusted text is quoted.
    """
    most = budget * SHARE * _SHORTENED
    rules = [_wish_for(record, STANDING, most) for record in standing]
    state = [_wish_for(record, WORKING, most) for record in working]
    likely = [hit for hit in hits if hit.score >= least]
    for some in (hits, likely):
        wishes = _put_repeats_last(list(_list_wishes(some, turns or {}, most)))
        packer = _Packer(budget, counter, terms, analyzer, headings, fence, wishes[0].key if wishes else None)
        for wished, share in ((rules, RULES), (state, SHARE)):
            packer.fill(wished, int(budget * share))
        page = packer.fit_page(wishes) or packer.cut_best([*wishes, *rules, *state])
        if len(likely) == len(hits) or not packer.tells_all(wishes):
            break
    packed = {key_of(record) for record in page.records}
    told = [key_of(hit.record) in packed for hit in hits]
    return Context(
        text=page.text,
        tokens=page.tokens,
        budget=budget,
        hits=tuple(compress(hits, told)),
        left_out=tuple(compress(hits, map(not_, told))),
        records=page.records,
        sections=page.sections,
    )


def _wish_for(record: Record, section: str, most: float, beside: Key | None = None) -> _Wish:
    return _Wish(key_of(record), record, section, min(likely_chars(record), most), beside)


def _list_wishes(hits: Sequence[Hit], turns: Beside, most: float) -> Iterator[_Wish]:
    """Yields hits by worth, short turns with those before them, and then the other neighbours."""
    wishes = _sort_by_worth(hits, most)
    for wish in wishes:
        yield wish
        if wish.key in turns and len(wish.record.text.split()) <= FEW_WORDS:
            before = [one for one in turns[wish.key] if _is_before(one, wish.record)]
            yield from (_wish_for(one, MEMORY, most, wish.key) for one in before)
    for wish in wishes if turns else ():
        yield from (_wish_for(one, MEMORY, most, wish.key) for one in turns.get(wish.key, ()))


def _sort_by_worth(hits: Sequence[Hit], most: float) -> list[_Wish]:
    """Sorts hits, after the best one, by score and length: half the length counts like √2 times the score."""
    worth: list[tuple[float, _Wish]] = []
    for hit in hits:
        wish = _wish_for(hit.record, WORKING if hit.record.kind == Kind.WORKING else MEMORY, most)
        worth.append((hit.score / math.sqrt(_OVERHEAD + wish.chars), wish))
    return [wish for _, wish in [*worth[:1], *sorted(worth[1:], key=lambda pair: -pair[0])]]


def _is_before(one: Record, other: Record) -> bool:
    return (one.occurred, one.seq) < (other.occurred, other.seq)


def _put_repeats_last(wishes: Sequence[_Wish]) -> list[_Wish]:
    """Puts repeats of a text from other days, such as diary entries, after all hits with new text."""
    first = {wish.record.text: wish for wish in reversed(wishes) if wish.beside is None}
    return sorted(wishes, key=lambda wish: wish.beside is None and first[wish.record.text] is not wish)


class _Packer:
    """Fills a budget with lines; the sum of their costs is an upper bound of their joint cost."""

    def __init__(
        self,
        budget: int,
        counter: TokenCounter,
        terms: AbstractSet[int],
        analyzer: Analyzer | None,
        headings: bool,
        fence: bool,
        best: Key | None,
    ) -> None:
        self._budget, self._counter = budget, counter
        self._terms, self._analyzer = terms, analyzer
        self._headings, self._fence, self._best = headings, fence, best
        self._chosen: _Chosen = {}
        self._opened: set[tuple[str, str]] = set()  # the headings, years and days already paid for
        self._heard = ""  # all chosen texts, folded for comparison
        self._dense = _DENSE  # most characters per token; a text too long even at this rate is skipped
        self._lines: dict[Key, _Line] = {}
        self._costs: dict[str, int] = {}

    def fill(self, wishes: Sequence[_Wish], room: int) -> None:
        """Chooses as many of the wishes, in order, as fit into the room."""
        too_long = math.inf  # very long texts are slow to cut: after a failure, none as long is tried
        for wish in wishes:
            chars = wish.chars
            if room <= 0 or wish.key in self._chosen or chars > room * self._dense or chars >= too_long:
                continue
            if wish.beside is not None and wish.beside not in self._chosen:
                continue
            line = self._line(wish)
            openings = self._list_openings(wish.section, line)
            cost = line.cost + sum(self._cost(text) for _, text in openings)
            if cost > room:
                too_long = min(too_long, chars) if len(wish.record.text) > _SLOW_CHARS else too_long
            elif not (line.bare in self._heard and self._is_told(wish)):
                self._chosen[wish.key] = wish
                self._opened.update(place for place, _ in openings)
                self._heard += f"\n{line.bare}"
                room -= cost
        self._drop_repeats()

    def fit_page(self, wishes: Sequence[_Wish]) -> _Page | None:
        """Adds lines that fit by their true cost; returns None if nothing fits."""
        page = self._lay_out() if self._chosen else _Page()
        for _ in range(_ROUNDS):
            before = set(self._chosen)
            self.fill(wishes, self._budget - page.tokens)
            if self._chosen.keys() == before:
                break
            page = self._lay_out()
        while self._chosen and page.tokens > self._budget:  # the counter is not additive
            self._drop_last(wishes)
            page = self._lay_out()
        return page if self._chosen else None

    def tells_all(self, wishes: Sequence[_Wish]) -> bool:
        """Returns whether all hits are printed, so that the budget excluded none."""
        return all(
            wish.key in self._chosen or (wish.key in self._lines and self._is_told(wish))
            for wish in wishes
            if wish.beside is None
        )

    def cut_best(self, wishes: Sequence[_Wish]) -> _Page:
        """Cuts the best line to what fits, unless nothing useful would be left."""
        if not wishes:
            return _Page()
        best, line = wishes[0].record, self._line(wishes[0])
        if line.quoted:
            text = self._cut_quotation(best, line.said)
        else:
            text = cut(f"{stamp_of(best)} {line.said}", self._budget, self._counter)
        if len(text) <= len(stamp_of(best)):
            return _Page()
        tokens = self._counter.count(text)
        return _Page(text=text, tokens=tokens, records=(best,), sections={wishes[0].section: text})

    def _cut_quotation(self, record: Record, said: str) -> str:
        """Cuts a quotation and closes it; empty if even that does not fit."""
        room = self._budget
        while (room := room - _SMALLER) > 0 and (quoted := cut(said, room, self._counter)):
            text = f"{stamp_of(record)} {quote_text(record, quoted)}"
            if (over := self._counter.count(text) - self._budget) <= 0:
                return text
            room -= over
        return ""

    def _lay_out(self) -> _Page:
        """Prints the lines of each section in the order of time, under their days."""
        sections: dict[str, list[str]] = {}
        records: list[Record] = []
        for section in HEADINGS:
            wishes = [wish for wish in self._chosen.values() if wish.section == section]
            day = year = ""
            for wish in sorted(wishes, key=lambda wish: (wish.record.occurred, wish.record.seq)):
                line, lines = self._lines[wish.key], sections.setdefault(section, [])
                records.append(wish.record)
                if self._has_days(section) and (day, year) != (line.day, line.year):
                    lines.append(line.day if year == line.year else f"{line.day} {line.year}")
                    day, year = line.day, line.year
                lines.append(self._tell(wish.record, line.told, len(records)))
        bodies = {name: "\n".join(lines) for name, lines in sections.items()}
        if self._headings and len(bodies) > 1:
            text = "\n\n".join(f"{HEADINGS[name]}\n{body}" for name, body in bodies.items())
        else:
            text = "\n".join(bodies.values())
        return _Page(text=text, tokens=self._counter.count(text), records=tuple(records), sections=bodies)

    def _has_days(self, section: str) -> bool:
        """Returns whether a section shows days; instructions do not, as they hold on any day."""
        return self._headings and section != STANDING

    def _tell(self, record: Record, told: str, number: int) -> str:
        """Formats a line as `[3] Ann: …`, or without headings as `[2026-05-08] Ann: …`."""
        return f"[{number if self._headings else day_of(record)}] {told}"

    def _line(self, wish: _Wish) -> _Line:
        """Returns the line of a whole text or, if that exceeds its share of the budget, of its best part."""
        line = self._lines.get(wish.key)
        if line is None:
            room, text = int(self._budget * (BEST if wish.key == self._best else SHARE)), wish.record.text
            if len(text) <= room * _LONGEST:
                line = self._write(wish.record, one_line(text))
            if line is None or line.cost > room:
                part = excerpt_of(wish.record, self._terms, self._analyzer, room, self._counter)
                line = self._write(wish.record, part)
            self._lines[wish.key] = line
        return line

    def _write(self, record: Record, said: str) -> _Line:
        waits = record.trust is Trust.QUARANTINED
        quoted = waits or (self._fence and is_untrusted(record))
        bare = said.casefold().strip(_MARKS)
        if said.startswith("["):  # episodes and imported texts begin with their day
            said = said.removeprefix(f"[{day_of(record)}] ")
        who = "" if quoted else speaker_of(record)
        told = quote_text(record, said) if quoted else f"{who}: {said}" if who else said
        cost = self._counter.count(self._tell(record, told, 99) + "\n")
        self._dense = max(self._dense, _DENSER * len(said) / (cost or 1))
        return _Line(said, told, bare, quoted, *days_of(record), cost)

    def _list_openings(self, section: str, line: _Line) -> list[tuple[tuple[str, str], str]]:
        """Lists what must be printed before the line and is not yet: heading, year and day."""
        if not self._headings:
            return []
        openings = [((section, ""), HEADINGS[section])]
        if self._has_days(section):
            openings += [((section, line.year), line.year), ((section, line.day + line.year), line.day)]
        return [(place, text) for place, text in openings if place not in self._opened]

    def _cost(self, text: str) -> int:
        if text not in self._costs:
            self._costs[text] = self._counter.count(text + "\n")
        return self._costs[text]

    def _is_told(self, wish: _Wish) -> bool:
        """Returns whether a chosen line includes this text. Neighbours are ignored on both sides."""
        return wish.beside is None and any(
            other.beside is None and other.key != wish.key and self._includes(other, wish)
            for other in self._chosen.values()
        )

    def _includes(self, wish: _Wish, other: _Wish) -> bool:
        """Returns whether this text includes the other one, word for word.

        Texts of two speakers, or of one on two days, stay separate, and so does the same text of two days;
        an untrusted text never replaces a trusted one.
        """
        one, part = self._lines[wish.key], self._lines[other.key]
        is_entry = other.record.who is not None or one.bare == part.bare
        said_apart = is_entry and stamp_of(wish.record) != stamp_of(other.record)
        if said_apart or not part.bare or (one.quoted and not part.quoted):
            return False
        return re.search(rf"(?<!\w){re.escape(part.bare)}(?!\w)", one.bare) is not None

    def _drop_repeats(self) -> None:
        """Drops lines that a longer text chosen later includes, with their neighbours."""
        for wish in list(self._chosen.values()):
            if self._heard.count(self._lines[wish.key].bare) > 1 and self._is_told(wish):
                self._drop(wish.key)

    def _drop_last(self, wishes: Sequence[_Wish]) -> None:
        """Drops the last chosen wish; neighbours come after their turns."""
        ordered = [wish.key for wish in wishes if self._chosen.get(wish.key) is wish]
        self._drop(ordered[-1] if ordered else next(reversed(self._chosen)))

    def _drop(self, gone: Key) -> None:
        kept = {key: wish for key, wish in self._chosen.items() if gone not in (key, wish.beside)}
        self._chosen = kept
        self._heard = "\n".join(self._lines[key].bare for key in kept)
