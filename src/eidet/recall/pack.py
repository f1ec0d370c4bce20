"""From hits to a block of text for a prompt that never exceeds its token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final

from ..core.hit import Hit
from ..core.record import Record
from ..text.tokens import TokenCounter, cut
from .choose import CONVERSATION, HEADINGS, SHARE, Candidate, Chooser, Chosen, Piece, wishes_of
from .passages import SessionTurns, Told, key_of, lines_of, passages_of
from .prompt_lines import line_of, quote_line

__all__ = ["Context", "line_of", "pack"]

_SMALLER: Final = 4  # tokens: how much less of a quotation is tried each time
_ROUNDS: Final = 3  # how often what is left of the budget is given away again


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A prompt-ready block: `str(context)` is its text.

    `hits` are those told, best first, and `left_out` those not told; `records` is all that is told, in
    that order: working state and neighbours too. `sections` has the lines of "instructions", "working",
    "facts" and "conversation", where there are any.
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
    turns: SessionTurns | None = None,
    terms: AbstractSet[int] = frozenset(),
    headings: bool = True,
    fence: bool = True,
) -> Context:
    """Takes the best hits that fit, best first; what is told comes in an order the query has no say in.

    First standing instructions, then the working state (newest first), each up to its share of the budget,
    then facts by when they were stored, then passages of conversation by when they were said. Of a long
    text the unit with most of the `terms` is told. When nothing fits whole, the beginning of the best is
    given. With `fence`, what is not trusted is quoted.
    """
    beside = turns or SessionTurns()
    chooser = Chooser(
        budget=budget,
        counter=counter,
        terms=terms,
        headings=headings,
        fence=fence,
        standing=frozenset(map(key_of, standing)),
    )
    wishes = wishes_of(hits, beside)
    rules = [Candidate(key_of(record), record) for record in standing]
    state = [Candidate(key_of(record), record) for record in working]
    chosen = chooser.fill(chooser.fill({}, rules, int(budget * SHARE)), state, int(budget * SHARE))
    page = _fit_page(chosen, wishes, chooser, beside) or _beginning([*wishes, *rules, *state], chooser)
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


def _fit_page(
    chosen: Chosen, wishes: Sequence[Candidate], chooser: Chooser, turns: SessionTurns
) -> _Page | None:
    """What was chosen and what else there is room for by its true cost; less where counts do not add up."""
    page = _page(chosen, chooser, turns)
    for _ in range(_ROUNDS):
        more = chooser.fill(chosen, wishes, chooser.budget - page.tokens)
        if more.keys() == chosen.keys():
            break
        chosen, page = more, _page(more, chooser, turns)
    while chosen and page.tokens > chooser.budget:
        chosen = _less(chosen, wishes)
        page = _page(chosen, chooser, turns)
    if chosen:
        return page
    return None


def _less(chosen: Chosen, wishes: Sequence[Candidate]) -> Chosen:
    """Without the one that is wished for least; neighbours are always wished for less than their turns."""
    last = next((wish.key for wish in reversed(wishes) if chosen.get(wish.key) is wish), None)
    if last is None:
        gone = next(reversed(chosen))
    else:
        gone = last
    return {key: wish for key, wish in chosen.items() if key != gone}


def _beginning(wishes: Sequence[Candidate], chooser: Chooser) -> _Page:
    """As much of the best line as there is room for, unless that says nothing."""
    if not wishes:
        return _Page()
    best = chooser.piece(wishes[0])
    if best.quoted:
        text = _cut_quotation(best, chooser)
    else:
        text = cut(best.line, chooser.budget, chooser.counter)
    if len(text) <= len(best.stamp):
        return _Page()
    tokens = chooser.counter.count(text)
    return _Page(text=text, tokens=tokens, records=(best.record,), sections={best.section: text})


def _cut_quotation(best: Piece, chooser: Chooser) -> str:
    """The beginning of what is quoted, with the quotation closed; nothing where even that has no room."""
    room = chooser.budget
    while (room := room - _SMALLER) > 0:
        if not (quoted := cut(best.said, room, chooser.counter)):
            break
        text = quote_line(best.record, quoted)
        if (over := chooser.counter.count(text) - chooser.budget) <= 0:
            return text
        room -= over
    return ""


def _page(chosen: Chosen, chooser: Chooser, turns: SessionTurns) -> _Page:
    parts: dict[str, list[Told]] = {section: [] for section in HEADINGS}
    for wish in chosen.values():
        piece = chooser.piece(wish)
        parts[piece.section].append(Told(piece.record, piece.line))
    passages = passages_of(parts.pop(CONVERSATION), turns)
    lists = {name: sorted(part, key=_age) for name, part in parts.items()}
    sections = {}
    for name, part in lists.items():
        sections[name] = [one.line for one in part]
    sections[CONVERSATION] = lines_of(passages, headings=chooser.headings)
    bodies = {name: "\n".join(lines) for name, lines in sections.items() if lines}
    text = _join_sections(bodies, chooser.headings)
    records = []
    for run in (*lists.values(), *passages):
        for one in run:
            records.append(one.record)
    return _Page(text=text, tokens=chooser.counter.count(text), records=tuple(records), sections=bodies)


def _age(one: Told) -> tuple[float, str]:
    return one.record.created, one.record.id


def _join_sections(bodies: Mapping[str, str], headings: bool) -> str:
    if not headings:
        return "\n".join(bodies.values())
    return "\n\n".join(f"{HEADINGS[name]}\n{body}" for name, body in bodies.items())
