"""From hits to a block of text for a prompt that never exceeds its token budget.

The best hits that fit are told, and told in the order of time under the day they happened, so that a reader
sees what came after what. Several sections have headings. A heading, a day or a neighbour is paid for like a
line; each line has a number by which a model can cite its record.
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
from .nearby import Beside, Key, key_of
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

__all__ = ["Context", "line_of", "pack"]

STANDING, WORKING, MEMORY = "instructions", "working", "memory"
HEADINGS: Final = {
    STANDING: "# Instructions",
    WORKING: "# Working state",
    MEMORY: "# Memory",
}
SHARE: Final = 0.25  # of the budget: for the working state, and for one text told whole …
BEST: Final = 0.5  # … unless it is the best
RULES: Final = 0.12  # for instructions
FEW_WORDS: Final = 6  # a turn as short as "15:30 it is" is not understood without the one before it
_LONGEST: Final = 8  # characters a token: a text that is too long even so is not counted whole
_DENSE: Final = 5.0  # characters a token that a line has at most, …
_DENSER: Final = 1.25  # … or so many times what any line had so far
_OVERHEAD: Final = 40  # characters: what a line has beside its text, and its day
_SHORTENED: Final = 3  # characters a token, at least, of a text that was shortened to its share
_SLOW_CHARS: Final = 10_000
_SMALLER: Final = 4  # tokens: how much less of a quotation is tried each time
_ROUNDS: Final = 3  # how often what is left of the budget is given away again
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
    scope: str = ""  # where it was asked, which `feedback` goes by
    records: tuple[Record, ...] = ()
    sections: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of the records shown: the line `[3] …` cites `sources[2]`."""
        return tuple(record.id for record in self.records)


class _Wish(NamedTuple):
    """A record to be told in about so many characters; a neighbour only if the turn it stands beside is."""

    key: Key
    record: Record
    section: str
    chars: float
    beside: Key | None = None


class _Line(NamedTuple):
    """The line of a record, and its cost without day and heading."""

    said: str
    told: str  # with who said it, or quoted
    bare: str  # as it is compared with others
    quoted: bool
    day: str
    year: str
    cost: int


_Chosen = dict[Key, _Wish]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """The chosen records as they are printed."""

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
    """Takes the best hits that fit, best first; if there is room for all, only those that score `least`.

    Instructions and the working state (newest first) come before them, each up to its share of the
    budget. Of a text that would take more than its share, the part with most of the `terms` is told. When
    nothing fits, the beginning of the best is given. With `fence`, what is not trusted is quoted.
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
    """Hits by worth, a turn of few words with those before it; after all hits the other neighbours."""
    wishes = _sort_by_worth(hits, most)
    for wish in wishes:
        yield wish
        if wish.key in turns and len(wish.record.text.split()) <= FEW_WORDS:
            before = [one for one in turns[wish.key] if _is_before(one, wish.record)]
            yield from (_wish_for(one, MEMORY, most, wish.key) for one in before)
    for wish in wishes if turns else ():
        yield from (_wish_for(one, MEMORY, most, wish.key) for one in turns.get(wish.key, ()))


def _sort_by_worth(hits: Sequence[Hit], most: float) -> list[_Wish]:
    """The best hit first, the others by score and length: half as long counts as √2 times as good."""
    worth: list[tuple[float, _Wish]] = []
    for hit in hits:
        wish = _wish_for(hit.record, WORKING if hit.record.kind == Kind.WORKING else MEMORY, most)
        worth.append((hit.score / math.sqrt(_OVERHEAD + wish.chars), wish))
    return [wish for _, wish in [*worth[:1], *sorted(worth[1:], key=lambda pair: -pair[0])]]


def _is_before(one: Record, other: Record) -> bool:
    return (one.occurred, one.seq) < (other.occurred, other.seq)


def _put_repeats_last(wishes: Sequence[_Wish]) -> list[_Wish]:
    """The same text of another day, such as an entry of a diary, comes after all that says something new."""
    first = {wish.record.text: wish for wish in reversed(wishes) if wish.beside is None}
    return sorted(wishes, key=lambda wish: wish.beside is None and first[wish.record.text] is not wish)


class _Packer:
    """Fills a budget with lines; the sum of their costs is at least their cost together."""

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
        self._opened: set[tuple[str, str]] = set()  # the headings, years and days that are paid for
        self._heard = ""  # all that was chosen, as it is compared
        self._dense = _DENSE  # characters a token, at most: what is too long even so is not looked at
        self._lines: dict[Key, _Line] = {}
        self._costs: dict[str, int] = {}

    def fill(self, wishes: Sequence[_Wish], room: int) -> None:
        """Chooses as much of what is wished for as there is room for, the first first."""
        too_long = math.inf  # a very long text is slow to cut: where one did not fit, none as long is tried
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
        """Adds what fits by its true cost; None if nothing fits."""
        page = self._lay_out() if self._chosen else _Page()
        for _ in range(_ROUNDS):
            before = set(self._chosen)
            self.fill(wishes, self._budget - page.tokens)
            if self._chosen.keys() == before:
                break
            page = self._lay_out()
        while self._chosen and page.tokens > self._budget:  # counts that do not add up
            self._drop_last(wishes)
            page = self._lay_out()
        return page if self._chosen else None

    def tells_all(self, wishes: Sequence[_Wish]) -> bool:
        """Tells whether all hits are told, so that the budget chose none of them."""
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
        """The lines of each section in the order of time, under their days."""
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
        """An instruction holds whenever it was given."""
        return self._headings and section != STANDING

    def _tell(self, record: Record, told: str, number: int) -> str:
        """`[3] Ann: …`; without headings `[2026-05-08] Ann: …`."""
        return f"[{number if self._headings else day_of(record)}] {told}"

    def _line(self, wish: _Wish) -> _Line:
        """All of a text, or where that takes more than its share of the budget, the part that matters."""
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
        if said.startswith("["):  # an episode, or a text that was imported, begins with its day
            said = said.removeprefix(f"[{day_of(record)}] ")
        who = "" if quoted else speaker_of(record)
        told = quote_text(record, said) if quoted else f"{who}: {said}" if who else said
        cost = self._counter.count(self._tell(record, told, 99) + "\n")
        self._dense = max(self._dense, _DENSER * len(said) / (cost or 1))
        return _Line(said, told, bare, quoted, *days_of(record), cost)

    def _list_openings(self, section: str, line: _Line) -> list[tuple[tuple[str, str], str]]:
        """What has to be told once before the line, and is not yet: a heading, a year, a day."""
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
        """Tells whether something chosen already says it. Neighbours neither count nor are dropped for it."""
        return wish.beside is None and any(
            other.beside is None and other.key != wish.key and self._includes(other, wish)
            for other in self._chosen.values()
        )

    def _includes(self, wish: _Wish, other: _Wish) -> bool:
        """Whether the other text is part of this one, word for word.

        What two people said, or one of them on two days, are two things, and so is the same text of two
        days; and what is not trusted takes nobody's place.
        """
        one, part = self._lines[wish.key], self._lines[other.key]
        is_entry = other.record.who is not None or one.bare == part.bare
        said_apart = is_entry and stamp_of(wish.record) != stamp_of(other.record)
        if said_apart or not part.bare or (one.quoted and not part.quoted):
            return False
        return re.search(rf"(?<!\w){re.escape(part.bare)}(?!\w)", one.bare) is not None

    def _drop_repeats(self) -> None:
        """Leaves out what a longer text that was chosen later says too, and its neighbours."""
        for wish in list(self._chosen.values()):
            if self._heard.count(self._lines[wish.key].bare) > 1 and self._is_told(wish):
                self._drop(wish.key)

    def _drop_last(self, wishes: Sequence[_Wish]) -> None:
        """Leaves out what is wished for least; neighbours are wished for less than their turns."""
        ordered = [wish.key for wish in wishes if self._chosen.get(wish.key) is wish]
        self._drop(ordered[-1] if ordered else next(reversed(self._chosen)))

    def _drop(self, gone: Key) -> None:
        kept = {key: wish for key, wish in self._chosen.items() if gone not in (key, wish.beside)}
        self._chosen = kept
        self._heard = "\n".join(self._lines[key].bare for key in kept)
