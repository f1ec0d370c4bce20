"""What time says of the best hits: the first or the last where that is asked, and later records beside older.

Which of two statements holds is known only where facts say that one replaced the other. Else both are shown,
each with the day of the other, and neither has a high score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ..core.hit import Hit
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.validate import local
from ..core.where import Where
from ..graph import Graphs
from ..graph.scope_graph import ScopeGraph, View
from ..graph.validity import FIRM, Interval
from ..index import Candidates, Probe
from ..store import Head
from ..text import term_id
from ..text.analysis import has_statements, is_question, terms_in
from .asked_moment import LAST
from .rescore import TIME, add_words, rescore

if TYPE_CHECKING:
    from . import Query, Recall

STATEMENT: Final = 160  # characters of a statement about one thing
COMPARED: Final = 8  # hits that are compared with the best
UNSURE: Final = 0.6  # the score of two that may contradict each other, at most
REPLACED: Final = 0.45  # of the score of what replaced it, at most
LIKELY: Final = 0.1  # a best hit below is no answer that could have changed
CLOSE: Final = 0.5  # of the cosine of the best, for a text that tells of the same
MOSTLY: Final = 2 / 3  # of the words that the best has of the question
MOST: Final = 0.4  # the share of what the best says that ties two records by itself
SOME: Final = 0.1  # likewise, of two that are about the same
_TELL_NOTHING: Final = frozenset((Kind.STATE, Kind.ACTION, Kind.DOCUMENT, Kind.PROCEDURE))  # in sentences
_OWNED: Final = re.compile(r"(\w+)['\u2019]s\b")
_NUMBER: Final = re.compile(r"\d+")
_WHICH_ONE: Final = frozenset(
    map(
        term_id,
        ("first", "last", "latest", "recent", "newest", "earliest", "oldest", "time", "thing", "origin"),
    )
)  # stems of words that say which of several is meant: no statement need have them

FURTHER: Final = 3  # later records that are read because they name what the best hit says
PROBED: Final = 50  # records that the index gives of those

ReadSeqs = Callable[[str, list[int]], list[Record | None]]
Shares = Mapping[int, float]  # by seq: the share of what a record says that another has


def put_in_time(hits: list[Hit], moment: str, terms: frozenset[int], found: Candidates) -> list[Hit]:
    """Of the hits about the same thing as the best one, puts the first or the last in time first."""
    if len(hits) < 2:
        return hits
    subject = (terms_in(hits[0].record.terms) & terms) - _WHICH_ONE
    near = partial(_nearness_of, found)
    close = CLOSE * near(hits[0].record)
    same = [hit for hit in hits[1:] if _tells_of(hit.record, subject) and near(hit.record) >= close]
    if not same:
        return hits
    same = sorted([hits[0], *same], key=lambda hit: hit.record.occurred, reverse=moment == LAST)
    first = add_words(rescore(same[0], hits[0].score, TIME), f"is the {moment} of those")
    placed = {hit.record.seq for hit in same}
    rest = [hit for hit in hits if hit.record.seq not in placed]
    return let_fall([first, *same[1:], *rest])


def _nearness_of(found: Candidates, record: Record) -> float:
    """The cosine that the search measured of a record; 0 if it has changed since."""
    at = int(found.seq.searchsorted(record.seq))
    return float(found.dense[at]) if at < len(found) and found.seq[at] == record.seq else 0.0


def _tells_of(record: Record, subject: set[int]) -> bool:
    return bool(subject) and _is_statement(record) and subject <= terms_in(record.terms)


def _is_statement(record: Record) -> bool:
    tells = record.kind not in _TELL_NOTHING and not is_question(record.terms)
    return tells and len(record.text) <= STATEMENT


def _when(record: Record) -> tuple[float, int]:
    return record.occurred, record.seq


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a question about the present: its terms, which of them are names, and until when."""

    terms: frozenset[int]
    names: frozenset[int]
    asked: float


def show_changes(
    recall: Recall, query: Query, hits: list[Hit], terms: frozenset[int], names: frozenset[int], head: Head
) -> list[Hit]:
    """The hits of a question about the present, with what later records say of the best."""
    replaced: dict[int, Record] = {}
    if recall.graphs is not None:
        read = partial(_read_visible, recall, query)
        replaced = find_replaced(recall.graphs, head, hits, Moment(query.asked, query.now), read)
    return show_later(
        hits,
        Subject(terms, names, query.asked),
        replaced,
        partial(_find_later, recall, query, head),
        partial(_is_guess, recall.graphs, head, View(now=query.now)),
    )


def _is_guess(graphs: Graphs | None, head: Head, view: View, record: Record) -> bool:
    """Tells whether a record states facts, but none firmly: "maybe", "I heard"."""
    if graphs is None or not has_statements(record.terms):
        return False
    return graphs.ask(record.scope, partial(_only_guesses, seq=record.seq, view=view), head)


def _only_guesses(graph: ScopeGraph, seq: int, view: View) -> bool:
    said = [one for interval in graph.find_intervals(seq, view) for one in interval.said]
    own = [one.confidence for one in said if one.source.seq == seq]
    return bool(own) and max(own) < FIRM


def _find_later(
    recall: Recall, query: Query, head: Head, older: Record, value: frozenset[int]
) -> tuple[list[Record], Shares]:
    """Records later than one that have the most of its value, and the share of it that each record has."""
    value -= recall.read_ids((older.who or "",))
    if not value:
        return [], {}
    scope = Scope(older.scope)
    probe = Probe(scope=scope, now=query.now, where=query.where, terms=tuple(value), depth=PROBED, head=head)
    found = recall.index.search(probe)
    later = ((found.words > 0) & (found.traits.occurred >= older.occurred)).nonzero()[0]
    if not len(later) or found.rarity <= 0:
        return [], {}
    best = later[(-found.words[later]).argsort(kind="stable")][:PROBED]
    shares = {int(found.seq[row]): float(found.words[row]) / found.rarity for row in best}
    shares.pop(older.seq, None)
    read = recall.read(older.scope, list(shares)[:FURTHER])
    return [record for record in read if record is not None], shares


def _read_visible(recall: Recall, query: Query, path: str, seqs: list[int]) -> list[Record | None]:
    """The records that pass the query's filter and have not expired; None for all others."""
    seen = Where(alive_at=query.now) if query.where is None else Where(alive_at=query.now) & query.where
    return [record if record and seen.matches(record) else None for record in recall.read(path, seqs)]


def show_later(
    hits: list[Hit],
    subject: Subject,
    replaced: Mapping[int, Record],
    find_later: Callable[[Record, frozenset[int]], tuple[list[Record], Shares]],
    is_guess: Callable[[Record], bool],
) -> list[Hit]:
    """Gives each hit what surely replaced it, and shows beside the best a later record that may replace
    it.

    `replaced` has, by seq, what facts say took the place of a record. A guess goes behind what is stated.
    """
    hits = _put_replaced_behind([_mark_replaced(hit, replaced.get(hit.record.seq)) for hit in hits], replaced)
    if not hits or hits[0].score < LIKELY or not _is_statement(hits[0].record):
        return hits
    best = hits[0]
    terms = frozenset(terms_in(best.record.terms))
    further, shares = find_later(best.record, terms - subject.terms - subject.names)
    known = {hit.id for hit in hits[:COMPARED]}
    others = [*hits[1:COMPARED], *(_hit_of(record, hits) for record in further if record.id not in known)]
    for hit in sorted(others, key=lambda hit: _when(hit.record), reverse=True):
        pair = sorted((best.record, hit.record), key=_when)
        if pair[1].occurred > subject.asked or pair[0].occurred == pair[1].occurred:
            continue
        if hit.superseded_by is None and _may_tell_same(best.record, hit.record, subject, shares):
            guesses = is_guess(best.record), is_guess(hit.record)
            later = guesses[0] == guesses[1] and _covers_as_much(best.record, hit.record, subject)
            return _show_both(hits, hit, first=later or guesses == (True, False))
    return hits


def _covers_as_much(best: Record, other: Record, subject: Subject) -> bool:
    """Tells whether a later record covers as much of the question."""
    held, has = terms_in(best.terms) & subject.terms, terms_in(other.terms) & subject.terms
    return _when(other) > _when(best) and len(has) >= len(held)


def _may_tell_same(best: Record, other: Record, subject: Subject, shares: Shares) -> bool:
    """Tells whether two statements may be about the same thing, by words of the question or theirs."""
    if not _is_statement(other) or _NUMBER.sub("#", best.text) == _NUMBER.sub("#", other.text):
        return False  # two readings of a series replace nothing
    held, has = frozenset(terms_in(best.terms)), frozenset(terms_in(other.terms))
    names = held & subject.names
    if not names <= has or (not names and best.who != other.who) or _owns(other, names) - _owns(best, names):
        return False
    topic = (held & subject.terms) - subject.names
    alike = len(topic & has) >= MOSTLY * len(topic) if topic else bool(names)
    share = shares.get(other.seq, 0.0)
    if share >= MOST or (share >= SOME and (alike or bool(names))):
        return True
    return alike and (len(topic) > 1 or topic >= subject.terms - subject.names)


def _owns(record: Record, names: frozenset[int]) -> set[str]:
    """Returns the names whose belongings a text is about: "Ann's brother" is not Ann."""
    return {owner for owner in _OWNED.findall(record.text) if term_id(owner.lower()) in names}


def _hit_of(record: Record, hits: Sequence[Hit]) -> Hit:
    return next((hit for hit in hits if hit.id == record.id), None) or Hit(record=record, score=0.0)


def _show_both(hits: list[Hit], other: Hit, *, first: bool) -> list[Hit]:
    """The best and another in the first places, the other `first` or not, each with the day of the other."""
    best, rest = hits[0], [hit for hit in hits[1:] if hit.id != other.id]
    score = min(best.score, UNSURE)
    if first:
        best, other = other, best
    behind = max(min(other.score, score), score / 2, min(rest[0].score, score) if rest else 0.0)
    both = [rescore(best, score, TIME), rescore(other, behind, TIME)]
    for at, against in ((0, other.record), (1, best.record)):
        order = "a later" if _when(against) > _when(both[at].record) else "an earlier"
        both[at] = add_words(both[at], f"{order} record speaks of this: {_day(against)}", first=True)
    return let_fall([*both, *rest])


def _mark_replaced(hit: Hit, by: Record | None) -> Hit:
    if by is None or hit.superseded_by is not None:
        return hit
    words = f"replaced on {_day(by)} by “{_shorten(by.text)}”"
    return replace(add_words(hit, words, first=True), superseded_by=by.id)


def _put_replaced_behind(hits: list[Hit], replaced: Mapping[int, Record]) -> list[Hit]:
    """Puts the record that replaced the best hit before it, with its score."""
    if not hits or (by := replaced.get(hits[0].record.seq)) is None or _when(by) <= _when(hits[0].record):
        return hits
    older, newer = hits[0], _hit_of(by, hits)
    rest = [hit for hit in hits[1:] if hit.id != newer.id]
    first = add_words(newer, f"tells of a change since {_day(older.record)}", first=True)
    first = rescore(first, max(older.score, newer.score), TIME)
    most = max(first.score * REPLACED, rest[0].score if rest else 0.0)
    return let_fall([first, rescore(older, min(older.score, most), TIME), *rest])


def let_fall(hits: Sequence[Hit]) -> list[Hit]:
    """No hit has a higher score than one before it."""
    fallen: list[Hit] = []
    for hit in hits:
        fallen.append(rescore(hit, min(hit.score, fallen[-1].score), TIME) if fallen else hit)
    return fallen


def _day(record: Record) -> str:
    return f"{local(record.occurred):%Y-%m-%d}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Moment:
    """The time asked about, and the time it is seen from."""

    at: float
    now: float


def find_replaced(
    graphs: Graphs, head: Head, hits: Sequence[Hit], moment: Moment, read: ReadSeqs
) -> dict[int, Record]:
    """Maps the seq of a hit to the record that replaced its last fact; omits hits that still hold.

    `read` gives None for a record that the caller may not see: it replaces nothing.
    """
    found: dict[int, Record] = {}
    for path in dict.fromkeys(hit.record.scope for hit in hits):
        own = [hit.record for hit in hits if hit.record.scope == path]
        seqs = [record.seq for record in own if has_statements(record.terms)]
        newer = graphs.ask(path, partial(_list_newer, seqs=seqs, moment=moment), head) if seqs else {}
        records = read(path, list(newer.values())) if newer else ()
        for seq, record in zip(newer, records, strict=True):
            if record is not None and record.seq != seq:
                found[seq] = record
    return found


def _list_newer(graph: ScopeGraph, seqs: Sequence[int], moment: Moment) -> dict[int, int]:
    ended = ((seq, _find_ended(graph, seq, moment)) for seq in seqs)
    return {seq: _newer_seq(interval) for seq, interval in ended if interval is not None}


def _find_ended(graph: ScopeGraph, seq: int, moment: Moment) -> Interval | None:
    """The fact of a record that was replaced last; None if any of its facts still holds."""
    ended: Interval | None = None
    for interval in graph.find_intervals(seq, View(now=moment.now)):
        if interval.end is None or interval.end > moment.at:
            return None
        if interval.closer is not None and (ended is None or interval.end >= (ended.end or 0.0)):
            ended = interval
    return ended


def _newer_seq(interval: Interval) -> int:
    """The seq of what replaced a fact: its successor, or what says that it ended."""
    if interval.successor is not None:
        return interval.successor.first.source.seq
    assert interval.closer is not None
    return interval.closer.source.seq
