"""From hits to a block of text for a prompt that never exceeds its token budget.

The best hits that fit are told, and told in the order of time under the day they happened, so that a reader
sees what came after what. Several sections have headings. A heading, a day or a neighbour is paid for like a
line; each line has a number by which a model can cite its record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..core.hit import Hit
from ..core.record import Kind, Record, Trust
from ..text.tokens import TokenCounter, cut
from ..trust.privacy.quarantine import is_untrusted
from .nearby import Beside, Key, key_of
from .prompt_lines import (
    day_of,
    excerpt_of,
    heading_of,
    is_long,
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
    STANDING: "# Instructions and preferences",
    WORKING: "# Working state",
    MEMORY: "# Memory",
}
SHARE: Final = 0.25  # of the budget: for instructions, for the working state, for one long text told whole
FEW_WORDS: Final = 6  # a turn as short as "15:30 it is" is not understood without the one before it
_LONGEST: Final = 8  # characters a token: what is too long even so is not looked at
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
        """The ids of what is told: the line `[3] …` cites `sources[2]`."""
        return tuple(record.id for record in self.records)


class _Wish(NamedTuple):
    """A record to be told; a neighbour only if the turn that it stands beside is."""

    key: Key
    record: Record
    section: str
    beside: Key | None = None


class _Line(NamedTuple):
    """What is told of a record, and what that costs without its day and heading."""

    said: str
    bare: str  # as it is compared with others
    quoted: bool
    cost: int


_Chosen = dict[Key, _Wish]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """What was chosen as it is told."""

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
    headings: bool = True,
    fence: bool = True,
) -> Context:
    """Takes the best hits that fit, best first.

    Instructions and the working state (newest first) come before them, each up to its share of the
    budget. Of a long text the unit with most of the `terms` is told. When nothing fits whole, the
    beginning of the best is given. With `fence`, what is not trusted is quoted.
    """
    packer = _Packer(budget=budget, counter=counter, terms=terms, headings=headings, fence=fence)
    rules = [_Wish(key_of(record), record, STANDING) for record in standing]
    state = [_Wish(key_of(record), record, WORKING) for record in working]
    wishes = list(_list_wishes(hits, turns or {}))
    chosen = packer.fill(packer.fill({}, rules, int(budget * SHARE)), state, int(budget * SHARE))
    page = packer.fit_page(chosen, wishes) or packer.cut_best([*wishes, *rules, *state])
    packed = {key_of(record) for record in page.records}
    return Context(
        text=page.text,
        tokens=page.tokens,
        budget=budget,
        hits=tuple(hit for hit in hits if key_of(hit.record) in packed),
        left_out=tuple(hit for hit in hits if key_of(hit.record) not in packed),
        records=page.records,
        sections=page.sections,
    )


def _list_wishes(hits: Sequence[Hit], turns: Beside) -> Iterator[_Wish]:
    """Hits, best first, a turn of few words with those before it; after all hits the other neighbours."""
    for hit in hits:
        record, key = hit.record, key_of(hit.record)
        yield _Wish(key, record, WORKING if record.kind == Kind.WORKING else MEMORY)
        if len(record.text.split()) <= FEW_WORDS:
            yield from _list_neighbours(key, (one for one in turns.get(key, ()) if _is_before(one, record)))
    for hit in hits:
        key = key_of(hit.record)
        yield from _list_neighbours(key, turns.get(key, ()))


def _list_neighbours(key: Key, records: Iterable[Record]) -> Iterator[_Wish]:
    return (_Wish(key_of(record), record, MEMORY, beside=key) for record in records)


def _is_before(one: Record, other: Record) -> bool:
    return (one.occurred, one.seq) < (other.occurred, other.seq)


@dataclass(slots=True, kw_only=True)
class _Packer:
    """Fills a budget by what lines cost one by one, which is what they cost together or a little more."""

    budget: int
    counter: TokenCounter
    terms: AbstractSet[int]
    headings: bool
    fence: bool
    _lines: dict[Key, _Line] = field(default_factory=dict, init=False)
    _costs: dict[str, int] = field(default_factory=dict, init=False)

    def fill(self, chosen: _Chosen, wishes: Sequence[_Wish], room: int) -> _Chosen:
        """What was chosen and as much of what else is wished for as there is room for, the first first."""
        chosen = dict(chosen)
        opened = {place for wish in chosen.values() for place, _ in self._openings(wish)}
        heard = "\n".join(self._line(wish).bare for wish in chosen.values())
        too_long = float(
            "inf"
        )  # a very long text is slow to cut: where one did not fit, none as long is tried
        for wish in wishes:
            chars = likely_chars(wish.record)
            if room <= 0 or wish.key in chosen or chars > room * _LONGEST or chars >= too_long:
                continue
            if wish.beside is not None and wish.beside not in chosen:
                continue
            line, openings = self._line(wish), dict(self._openings(wish))
            cost = line.cost + sum(
                self._cost(text) for place, text in openings.items() if place not in opened
            )
            if cost > room:
                too_long = min(too_long, chars) if len(wish.record.text) > _SLOW_CHARS else too_long
            elif not (line.bare in heard and self._is_told(wish, chosen.values())):
                chosen[wish.key] = wish
                opened |= openings.keys()
                heard += f"\n{line.bare}"
                room -= cost
        return self._drop_repeats(chosen)

    def fit_page(self, chosen: _Chosen, wishes: Sequence[_Wish]) -> _Page | None:
        """What was chosen and what else there is room for by its true cost; None where nothing has room."""
        page = self._lay_out(chosen)
        for _ in range(_ROUNDS):
            more = self.fill(chosen, wishes, self.budget - page.tokens)
            if more.keys() == chosen.keys():
                break
            chosen, page = more, self._lay_out(more)
        while chosen and page.tokens > self.budget:  # counts that do not add up
            chosen = _drop_last(chosen, wishes)
            page = self._lay_out(chosen)
        return page if chosen else None

    def cut_best(self, wishes: Sequence[_Wish]) -> _Page:
        """As much of the best line as there is room for, unless that says nothing."""
        if not wishes:
            return _Page()
        best, line = wishes[0].record, self._line(wishes[0])
        if line.quoted:
            text = self._cut_quotation(best, line.said)
        else:
            text = cut(f"{stamp_of(best)} {line.said}", self.budget, self.counter)
        if len(text) <= len(stamp_of(best)):
            return _Page()
        tokens = self.counter.count(text)
        return _Page(text=text, tokens=tokens, records=(best,), sections={wishes[0].section: text})

    def _cut_quotation(self, record: Record, said: str) -> str:
        """The beginning of what is quoted, with the quotation closed; nothing where even that has no room."""
        room = self.budget
        while (room := room - _SMALLER) > 0 and (quoted := cut(said, room, self.counter)):
            text = f"{stamp_of(record)} {quote_text(record, quoted)}"
            if (over := self.counter.count(text) - self.budget) <= 0:
                return text
            room -= over
        return ""

    def _lay_out(self, chosen: _Chosen) -> _Page:
        """The lines of each section in the order of time, under their days."""
        sections: dict[str, list[str]] = {}
        records: list[Record] = []
        for section in HEADINGS:
            wishes = [wish for wish in chosen.values() if wish.section == section]
            day = ""
            for wish in sorted(wishes, key=lambda wish: (wish.record.occurred, wish.record.seq)):
                records.append(wish.record)
                lines = sections.setdefault(section, [])
                if self.headings and day != (day := heading_of(wish.record)):
                    lines.append(day)
                lines.append(self._tell(wish, len(records)))
        bodies = {name: "\n".join(lines) for name, lines in sections.items()}
        if self.headings and len(bodies) > 1:
            text = "\n\n".join(f"{HEADINGS[name]}\n{body}" for name, body in bodies.items())
        else:
            text = "\n".join(bodies.values())
        return _Page(text=text, tokens=self.counter.count(text), records=tuple(records), sections=bodies)

    def _tell(self, wish: _Wish, number: int) -> str:
        """`[3] Ann: …`; without headings `[2026-05-08] Ann: …`."""
        record, line = wish.record, self._line(wish)
        said = quote_text(record, line.said) if line.quoted else line.said
        if record.kind == Kind.EPISODE:  # which begins with its day
            said = said.removeprefix(f"[{day_of(record)}] ")
        who = "" if line.quoted else speaker_of(record)
        return f"[{number if self.headings else day_of(record)}] " + (f"{who}: {said}" if who else said)

    def _line(self, wish: _Wish) -> _Line:
        if wish.key not in self._lines:
            said, waits = self._shorten(wish.record), wish.record.trust is Trust.QUARANTINED
            quoted = waits or (self.fence and is_untrusted(wish.record))
            line = _Line(said, said.casefold().strip(_MARKS), quoted, 0)
            self._lines[wish.key] = line
            self._lines[wish.key] = line._replace(cost=self.counter.count(self._tell(wish, 99) + "\n"))
        return self._lines[wish.key]

    def _shorten(self, record: Record) -> str:
        """All of a text, or of a long one that would take too much of the budget its best unit."""
        share = self.budget * SHARE
        if not is_long(record):
            return one_line(record.text)
        if len(record.text) <= share * _LONGEST:
            whole = one_line(record.text)
            if self.counter.count(whole) <= share:
                return whole
        return excerpt_of(record, self.terms)

    def _openings(self, wish: _Wish) -> Iterator[tuple[tuple[str, str], str]]:
        """The lines that stand once before it and others: its heading and its day."""
        if self.headings:
            yield (wish.section, ""), f"\n{HEADINGS[wish.section]}"
            yield (wish.section, day_of(wish.record)), heading_of(wish.record)

    def _cost(self, text: str) -> int:
        if text not in self._costs:
            self._costs[text] = self.counter.count(text + "\n")
        return self._costs[text]

    def _is_told(self, wish: _Wish, others: Iterable[_Wish]) -> bool:
        """Whether something chosen says it already; neighbours do not count, nor are they left out for it."""
        return wish.beside is None and any(
            other.beside is None and other.key != wish.key and self._includes(other, wish) for other in others
        )

    def _includes(self, wish: _Wish, other: _Wish) -> bool:
        """Whether the other text is part of this one, word for word.

        What two people said, or one of them on two days, are two things; and what is not trusted
        takes nobody's place.
        """
        one, part = self._line(wish), self._line(other)
        said_apart = other.record.who is not None and stamp_of(wish.record) != stamp_of(other.record)
        if said_apart or not part.bare or (one.quoted and not part.quoted):
            return False
        return re.search(rf"(?<!\w){re.escape(part.bare)}(?!\w)", one.bare) is not None

    def _drop_repeats(self, chosen: _Chosen) -> _Chosen:
        """Leaves out what a longer text that was chosen later says too, and its neighbours."""
        heard = "\n".join(self._line(wish).bare for wish in chosen.values())
        for wish in list(chosen.values()):
            if heard.count(self._line(wish).bare) > 1 and self._is_told(wish, chosen.values()):
                del chosen[wish.key]
        return {key: wish for key, wish in chosen.items() if wish.beside is None or wish.beside in chosen}


def _drop_last(chosen: _Chosen, wishes: Sequence[_Wish]) -> _Chosen:
    """Without the one that is wished for least; neighbours are wished for less than their turns."""
    ordered = [wish.key for wish in wishes if chosen.get(wish.key) is wish]
    gone = ordered[-1] if ordered else next(reversed(chosen))
    return {key: wish for key, wish in chosen.items() if gone not in (key, wish.beside)}
