"""Orders the best hits by time: the first or the last if asked for, and later records beside older ones.

Only facts decide which of two statements holds. If they do not, both are shown, each with the day of the
other, and neither gets a high score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from ..core.hit import Hit
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.validate import local
from ..core.where import Where
from ..graph.scope_graph import ScopeGraph, View
from ..graph.validity import FIRM
from ..index import Candidates, Probe
from ..store import Head
from ..text import term_id
from ..text.analysis import has_statements, is_question, terms_in
from .fuse import TIME, add_words, rescore
from .query import key_of
from .understand import LAST

if TYPE_CHECKING:
    from . import Query, Recall

STATEMENT: Final = 160  # characters of the longest statement about one thing
COMPARED: Final = 8  # hits that are compared with the best
UNSURE: Final = 0.6  # the highest score of two that may contradict each other
REPLACED: Final = 0.45  # the highest score of a replaced record, as a share of its successor's
LIKELY: Final = 0.1  # the lowest score of a best hit whose changes are looked for
CLOSE: Final = 0.5  # the lowest cosine of a text about the same thing, as a share of the best one's
MOSTLY: Final = 2 / 3  # share of the question's words in the best that the other must have
MOST: Final = 0.4  # share of the best one's value that suffices to tie two records
SOME: Final = 0.1  # likewise, for two that are about the same thing
_TELL_NOTHING: Final = frozenset((Kind.STATE, Kind.ACTION, Kind.DOCUMENT, Kind.PROCEDURE))  # in sentences
_OWNED: Final = re.compile(r"(\w+)['\u2019]s\b")
_NUMBER: Final = re.compile(r"\d+")
_WHICH_ONE: Final = frozenset(
    map(
        term_id,
        ("first", "last", "latest", "recent", "newest", "earliest", "oldest", "time", "thing", "origin"),
    )
)  # stems of words that say which of several is meant: no statement need have them

FURTHER: Final = 3  # later records read because they share the best hit's value
PROBED: Final = 50  # candidates for these from the index

Shares = Mapping[int, float]  # by seq: the share of another record's value that this one has


def put_in_time(hits: list[Hit], moment: str, terms: frozenset[int], found: Candidates) -> list[Hit]:
    """Puts the earliest or latest of the hits about the same thing as the best one first."""
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
    return _let_fall([first, *same[1:], *rest])


def _nearness_of(found: Candidates, record: Record) -> float:
    """Returns the cosine that the search found for a record; 0 if the record has changed since."""
    at = int(found.seq.searchsorted(record.seq))
    return float(found.dense[at]) if at < len(found) and found.seq[at] == record.seq else 0.0


def _tells_of(record: Record, subject: set[int]) -> bool:
    return bool(subject) and _is_statement(record) and subject <= terms_in(record.terms)


def _is_statement(record: Record) -> bool:
    tells = record.kind not in _TELL_NOTHING and not is_question(record.terms)
    return tells and len(record.text) <= STATEMENT


def _when(record: Record) -> tuple[float, int]:
    return record.occurred, record.seq


class ChangesShown:
    """Shows what changed since the best hit of a question about the present.

    `terms` are those of the question, `names` the names among them.
    """

    def __init__(
        self, recall: Recall, query: Query, terms: frozenset[int], names: frozenset[int], head: Head
    ) -> None:
        self._recall, self._query, self._terms, self._names = recall, query, terms, names
        self._head, self._view = head, View(now=query.now)

    def show(self, hits: list[Hit]) -> list[Hit]:
        """Marks each hit that was surely replaced, and puts beside the best one a record that may replace it.

        Puts guesses behind statements.
        """
        hits = self._put_latest_reading(hits)
        replaced = self._find_replaced(hits)
        hits = [_mark_replaced(hit, replaced.get(hit.record.seq)) for hit in hits]
        hits = _put_replaced_behind(hits, replaced)
        if not hits or hits[0].score < LIKELY or not _is_statement(hits[0].record):
            return hits
        best = hits[0].record
        further, shares = self._find_later(best)
        known = {key_of(hit.record) for hit in hits[:COMPARED]}
        more = (_hit_of(record, hits) for record in further if key_of(record) not in known)
        others = [*hits[1:COMPARED], *more]
        for hit in sorted(others, key=lambda hit: _when(hit.record), reverse=True):
            other = hit.record
            is_asked_before = max(best.occurred, other.occurred) > self._query.asked
            if is_asked_before or best.occurred == other.occurred or hit.superseded_by is not None:
                continue
            if self._may_tell_same(best, other, shares.get(other.seq, 0.0)):
                guesses = self._is_guess(best), self._is_guess(other)
                later = guesses[0] == guesses[1] and self._covers_as_much(best, other)
                return _show_both(hits, hit, first=later or guesses == (True, False))
        return hits

    def _put_latest_reading(self, hits: list[Hit]) -> list[Hit]:
        """Puts the latest of several readings first if the best hit is one: "gauge: 4", "gauge: 7"."""
        if not hits:
            return hits
        best = hits[0].record
        later = [hit for hit in hits[1:] if best.occurred < hit.record.occurred <= self._query.asked]
        latest = max(
            (hit for hit in later if self._is_reading_of(hit.record, best)),
            key=lambda hit: _when(hit.record),
            default=hits[0],
        )
        first = rescore(latest, hits[0].score, TIME)
        return [first, *(hit for hit in hits if hit is not latest)]

    def _is_reading_of(self, one: Record, best: Record) -> bool:
        """Returns whether two records differ in numbers alone, or are states of what the question names."""
        if one.who != best.who or not terms_in(best.terms) & self._terms <= terms_in(one.terms):
            return False
        if not (one.kind == best.kind == Kind.STATE):
            return _NUMBER.sub("#", one.text) == _NUMBER.sub("#", best.text)
        fields, others = best.data or {}, one.data or {}
        shared = (text for name, text in fields.items() if isinstance(text, str) and others.get(name) == text)
        return fields.keys() == others.keys() and bool(self._recall.read_ids(tuple(shared)) & self._terms)

    def _is_guess(self, record: Record) -> bool:
        """Returns whether a record states facts, but none firmly: "maybe", "I heard"."""
        graphs = self._recall.graphs
        if graphs is None or not has_statements(record.terms):
            return False
        intervals = graphs.ask(
            record.scope, lambda graph: graph.find_intervals(record.seq, self._view), self._head
        )
        said = (one for interval in intervals for one in interval.said if one.source.seq == record.seq)
        return max((one.statement.confidence for one in said), default=FIRM) < FIRM

    def _find_later(self, older: Record) -> tuple[list[Record], Shares]:
        """Finds the later records that share most of a record's value, and the share that each record has."""
        recall, query = self._recall, self._query
        value = terms_in(older.terms) - self._terms - self._names - recall.read_ids((older.who or "",))
        if not value:
            return [], {}
        probe = Probe(
            scope=Scope(older.scope),
            now=query.now,
            where=query.where,
            terms=tuple(value),
            depth=PROBED,
            head=self._head,
        )
        found = recall.index.search(probe)
        later = ((found.words > 0) & (found.traits.occurred >= older.occurred)).nonzero()[0]
        if not len(later) or found.rarity <= 0:
            return [], {}
        best = later[(-found.words[later]).argsort(kind="stable")][:PROBED]
        shares = {int(found.seq[row]): float(found.words[row]) / found.rarity for row in best}
        shares.pop(older.seq, None)
        read = recall.read(older.scope, list(shares)[:FURTHER])
        return [record for record in read if record is not None], shares

    def _covers_as_much(self, best: Record, other: Record) -> bool:
        """Returns whether the other record is later and covers as much of the question."""
        held, has = terms_in(best.terms) & self._terms, terms_in(other.terms) & self._terms
        return _when(other) > _when(best) and len(has) >= len(held)

    def _may_tell_same(self, best: Record, other: Record, share: float) -> bool:
        """Returns whether two statements may be about the same thing, by words of the question or their own.

        `share` is the share of the best one's value that the other has.
        """
        if not _is_statement(other) or _NUMBER.sub("#", best.text) == _NUMBER.sub("#", other.text):
            return False  # two readings of a series replace nothing
        held, has = terms_in(best.terms), terms_in(other.terms)
        names = held & self._names
        is_other = _owns(other, names) - _owns(best, names)
        if not names <= has or (not names and best.who != other.who) or is_other:
            return False
        topic = (held & self._terms) - self._names
        alike = len(topic & has) >= MOSTLY * len(topic) if topic else bool(names)
        if share >= MOST or (share >= SOME and (alike or bool(names))):
            return True
        return alike and (len(topic) > 1 or topic >= self._terms - self._names)

    def _find_replaced(self, hits: Sequence[Hit]) -> dict[int, Record]:
        """Maps the seq of a hit to the record that replaced its last fact; omits hits that still hold.

        A record that the caller may not see replaces nothing.
        """
        graphs, found = self._recall.graphs, dict[int, Record]()
        if graphs is None:
            return found
        living, where = Where(alive_at=self._query.now), self._query.where
        seen = living if where is None else living & where
        for path in dict.fromkeys(hit.record.scope for hit in hits):
            own = [hit.record for hit in hits if hit.record.scope == path]
            seqs = [record.seq for record in own if has_statements(record.terms)]
            newer = graphs.ask(path, partial(self._list_newer, seqs), self._head) if seqs else {}
            records = self._recall.read(path, list(newer.values())) if newer else ()
            for seq, record in zip(newer, records, strict=True):
                if record is not None and record.seq != seq and seen.matches(record):
                    found[seq] = record
        return found

    def _list_newer(self, seqs: Sequence[int], graph: ScopeGraph) -> dict[int, int]:
        """Maps the seqs of records that no longer hold to the seqs of those that replaced or ended them."""
        newer: dict[int, int] = {}
        for seq in seqs:
            intervals = graph.find_intervals(seq, self._view)
            if any(interval.end is None or interval.end > self._query.asked for interval in intervals):
                continue
            closed = [interval for interval in intervals if interval.closer is not None]
            if closed:
                last = max(closed, key=lambda interval: interval.end or 0.0)
                by = last.closer if last.successor is None else last.successor.first
                assert by is not None
                newer[seq] = by.source.seq
        return newer


def _owns(record: Record, names: AbstractSet[int]) -> set[str]:
    """Returns the names whose belongings a text is about: "Ann's brother" is not Ann."""
    return {owner for owner in _OWNED.findall(record.text) if term_id(owner.lower()) in names}


def _hit_of(record: Record, hits: Sequence[Hit]) -> Hit:
    there = (hit for hit in hits if key_of(hit.record) == key_of(record))
    return next(there, None) or Hit(record=record, score=0.0)


def _without(record: Record, hits: Sequence[Hit]) -> list[Hit]:
    return [hit for hit in hits if key_of(hit.record) != key_of(record)]


def _show_both(hits: list[Hit], other: Hit, *, first: bool) -> list[Hit]:
    """Puts the best hit and another in the first two places, each with the day of the other."""
    best, rest = hits[0], _without(other.record, hits[1:])
    score = min(best.score, UNSURE)
    if first:
        best, other = other, best
    behind = max(min(other.score, score), score / 2, min(rest[0].score, score) if rest else 0.0)
    both = [rescore(best, score, TIME), rescore(other, behind, TIME)]
    for at, against in ((0, other.record), (1, best.record)):
        order = "a later" if _when(against) > _when(both[at].record) else "an earlier"
        both[at] = add_words(both[at], f"{order} record speaks of this: {_day(against)}", first=True)
    return _let_fall([*both, *rest])


def _mark_replaced(hit: Hit, by: Record | None) -> Hit:
    if by is None or hit.superseded_by is not None:
        return hit
    words = f"replaced on {_day(by)} by “{_shorten(by.text)}”"
    return replace(add_words(hit, words, first=True), superseded_by=by.id)


def _put_replaced_behind(hits: list[Hit], replaced: Mapping[int, Record]) -> list[Hit]:
    """Puts the record that replaced the best hit before it, with at least its score."""
    if not hits or (by := replaced.get(hits[0].record.seq)) is None or _when(by) <= _when(hits[0].record):
        return hits
    older, newer = hits[0], _hit_of(by, hits)
    rest = _without(newer.record, hits[1:])
    first = add_words(newer, f"tells of a change since {_day(older.record)}", first=True)
    first = rescore(first, max(older.score, newer.score), TIME)
    most = max(first.score * REPLACED, rest[0].score if rest else 0.0)
    return [first, rescore(older, min(older.score, most), TIME), *rest]


def _let_fall(hits: Sequence[Hit]) -> list[Hit]:
    """Lowers scores so that no hit has a higher score than one before it."""
    fallen: list[Hit] = []
    for hit in hits:
        fallen.append(rescore(hit, min(hit.score, fallen[-1].score), TIME) if fallen else hit)
    return fallen


def _day(record: Record) -> str:
    return f"{local(record.occurred):%Y-%m-%d}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rstrip() + "…"
