"""Which lines go into a context: the best that fit, each once, and beside a turn those next to it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..core.hit import Hit
from ..core.record import Kind, Record
from ..text.tokens import TokenCounter
from ..trust.privacy.quarantine import is_untrusted
from .passages import Key, SessionTurns, header_of, key_of
from .prompt_lines import excerpt_of, is_long, likely_chars, one_line, quote_line, stamp_of

STANDING, WORKING, FACTS = "instructions", "working", "facts"
EARLIER, CONVERSATION = "earlier", "conversation"
HEADINGS: Final = {
    STANDING: "# Instructions and preferences",
    WORKING: "# Working state",
    FACTS: "# Facts",
    EARLIER: "# Earlier conversations",
    CONVERSATION: "# Conversation",
}
_SECTIONS: Final = {
    Kind.WORKING: WORKING,
    Kind.EPISODE: EARLIER,
    Kind.MESSAGE: CONVERSATION,
    Kind.INTERACTION: CONVERSATION,
    Kind.ACTION: CONVERSATION,
    Kind.STATE: CONVERSATION,
}
LATER: Final = 10  # so many hits go before the neighbours of the best one, and so many more before those
STEP: Final = 5  # of the next: on LoCoMo neighbours that come sooner take the room of better hits
SHARE: Final = 0.25  # of the budget: what a long text may take whole, and what the working state may take
_LONGEST: Final = 8  # characters a token: what is too long even so is not looked at
_SLOW_CHARS: Final = 10_000
_MARKS: Final = " .,;:!?…\"'()[]“”‘’"


def _is_slow(record: Record) -> bool:
    return len(record.text) > _SLOW_CHARS


def section_of(record: Record) -> str:
    return _SECTIONS.get(record.kind, FACTS)


class Candidate(NamedTuple):
    """A record to be told; a neighbour only if the turn that it stands beside is."""

    key: Key
    record: Record
    beside: Key | None = None


class Piece:
    """A record's line and what it costs."""

    __slots__ = ("bare", "cost", "line", "quoted", "record", "said", "section", "stamp")

    def __init__(
        self, record: Record, said: str, counter: TokenCounter, *, fence: bool, section: str | None = None
    ) -> None:
        self.record: Record = record
        self.section: str = section or section_of(record)
        self.stamp: str = stamp_of(record)
        self.said: str = said
        self.quoted: bool = fence and is_untrusted(record)
        if self.quoted:
            self.line: str = quote_line(record, said)
        elif record.kind == Kind.EPISODE and said.startswith(self.stamp):  # it tells its days itself
            self.line = said
        else:
            self.line = f"{self.stamp} {said}"
        self.cost: int = counter.count(self.line + "\n")
        self.bare: str = said.casefold().strip(_MARKS)

    def says(self, other: Piece) -> bool:
        """Whether the other text is part of this one, word for word.

        What two people said, or one of them on two days, are two things; and what is not trusted
        takes nobody's place.
        """
        if self.quoted and not other.quoted:
            return False
        turns = self.section == other.section == CONVERSATION
        if (turns and self.stamp != other.stamp) or not other.bare:
            return False
        return re.search(rf"(?<!\w){re.escape(other.bare)}(?!\w)", self.bare) is not None


Chosen = dict[Key, Candidate]


def wishes_of(hits: Iterable[Hit], turns: SessionTurns) -> list[Candidate]:
    """Hits, best first, and the neighbours of turns among those that are worth as much."""
    worth: list[tuple[float, Candidate]] = []
    for rank, hit in enumerate(hits):
        key = key_of(hit.record)
        worth.append((rank, Candidate(key, hit.record)))
        near = turns.beside.get(key, ())
        worth += [(LATER + STEP * rank, Candidate(key_of(record), record, key)) for record in near]
    worth.sort(key=lambda pair: pair[0])
    return [wish for _, wish in worth]


@dataclass(slots=True, kw_only=True)
class Chooser:
    """Fills a budget by what lines cost one by one, which is what they cost together or a little more."""

    budget: int
    counter: TokenCounter
    terms: AbstractSet[int] = frozenset()
    headings: bool = True
    fence: bool = True
    standing: AbstractSet[Key] = frozenset()  # records that are told as instructions, whatever their kind
    _pieces: dict[Key, Piece] = field(default_factory=dict, init=False)
    _costs: dict[str, int] = field(default_factory=dict, init=False)
    _refused: float = field(default=math.inf, init=False)

    def piece(self, wish: Candidate) -> Piece:
        if wish.key not in self._pieces:
            text = self._shorten(wish.record)
            section = STANDING if wish.key in self.standing else None
            self._pieces[wish.key] = Piece(wish.record, text, self.counter, fence=self.fence, section=section)
        return self._pieces[wish.key]

    def fill(self, chosen: Chosen, wishes: Sequence[Candidate], room: int) -> Chosen:
        """What was chosen and as much of what else is wished for as there is room for, the first first."""
        chosen = dict(chosen)
        opened: set[object] = set()
        for taken in chosen.values():
            opened.update(place for place, _ in self._openings(taken))
        heard = self._text_of(chosen)
        for wish in wishes:
            if room <= 0:
                break
            if wish.key in chosen or not self._may_come(wish, chosen, room):
                continue
            piece, openings = self.piece(wish), self._openings(wish)
            cost = piece.cost + sum([self._cost(line) for place, line in openings if place not in opened])
            if cost > room:
                self._refuse(wish.record)
            elif not self._repeats(wish, chosen, heard):
                chosen[wish.key] = wish
                opened.update(place for place, _ in openings)
                heard += f"\n{piece.bare}"
                room -= cost
        return self._without_repeats(chosen)

    def _may_come(self, wish: Candidate, chosen: Chosen, room: int) -> bool:
        """Before anything is counted: a neighbour needs its turn, and what is very long has no room."""
        if wish.beside is not None and wish.beside not in chosen:
            return False
        chars = likely_chars(wish.record)
        return chars <= room * _LONGEST and not (chars >= self._refused and _is_slow(wish.record))

    def _refuse(self, record: Record) -> None:
        """The best unit of a very long text is slow to find: where one did not fit, none as long is tried."""
        if _is_slow(record):
            self._refused = min(self._refused, likely_chars(record))

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

    def _openings(self, wish: Candidate) -> list[tuple[object, str]]:
        """What has to be told before a line of this kind can be, and where that is done once for all."""
        if not self.headings:
            return []
        record, section = wish.record, section_of(wish.record)
        lines: list[tuple[object, str]] = [(section, f"\n{HEADINGS[section]}")]
        if section == CONVERSATION:
            lines.append(((record.scope, record.session), header_of(record)))
        return lines

    def _cost(self, line: str) -> int:
        if line not in self._costs:
            self._costs[line] = self.counter.count(line + "\n")
        return self._costs[line]

    def _text_of(self, chosen: Chosen) -> str:
        return "\n".join([self.piece(wish).bare for wish in chosen.values()])

    def _repeats(self, wish: Candidate, chosen: Chosen, heard: str) -> bool:
        """Whether something found says it already; neighbours do not count, nor are they left out for it."""
        piece = self.piece(wish)
        if wish.beside is not None or piece.bare not in heard:
            return False
        return any(other.beside is None and self.piece(other).says(piece) for other in chosen.values())

    def _without_repeats(self, chosen: Chosen) -> Chosen:
        """Without what a longer text that was chosen later says too."""
        heard, kept = self._text_of(chosen), chosen
        for key, wish in chosen.items():
            if heard.count(self.piece(wish).bare) > 1:
                others = {other: kept[other] for other in kept if other != key}
                if self._repeats(wish, others, heard):
                    kept = others
        return {key: wish for key, wish in kept.items() if wish.beside is None or wish.beside in kept}
