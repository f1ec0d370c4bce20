"""Explains a hit's rank in words: "mentions 48213; from 4 May 2026, the day asked for; by Ann"."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ..core.hit import Reasons, Signal, Trace
from ..core.record import Record
from ..core.validate import local
from ..index import Candidates
from ..text import Analyzer, term_id
from ..text.analysis import ACTOR, NAMED, NUMBERED, TIMED, decode_analysis, terms_in
from ..text.dates import Dated
from .fuse import RANKED
from .understand import Understood

if TYPE_CHECKING:
    from . import Query, Ranking, Recall

NEAR_MEANING: Final = 0.35  # the lowest cosine that an explanation mentions
WORDS_SAID: Final = 6  # words of the query that an explanation names
_TELLS: Final = {TIMED: "says when", NUMBERED: "has a number", NAMED: "has a name", ACTOR: "has a name"}
_MARKS = ".,;:!?()[]'\"“”‘’…"
_SIMPLE: Final = {
    "reply": "follows that question",
    "asked": "fits what the query names",
    "question": "is itself a question",
}


def explain_hit(ranking: Ranking, at: int, record: Record, analyzer: Analyzer) -> Reasons:
    """Explains a hit: its signals, the words of the query that it has, and phrases for them."""
    asked, held = ranking.asked, terms_in(record.terms)
    matched = tuple(word for id, word in _name_terms(asked.text, ranking.terms) if id in held)
    signals = ranking.ranked.signals(at)
    words = _in_words({signal.name: signal for signal in signals}, record, asked, matched, held, analyzer)
    return Reasons(signals=signals, matched=matched, words=tuple(words))


@lru_cache(maxsize=32)  # the same for all hits of a recall
def _name_terms(text: str, terms: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    """Returns the id of each term of a query, with the word as it was typed."""
    typed = [word.strip(_MARKS) for word in text.casefold().split()]
    return tuple((term_id(term), _as_typed(typed, term)) for term in terms)


def _in_words(
    signals: dict[str, Signal],
    record: Record,
    asked: Understood,
    matched: tuple[str, ...],
    held: set[int],
    analyzer: Analyzer,
) -> Iterator[str]:
    for one in asked.identifiers:
        if any(_has_all(way, held, analyzer) for way in one.ways):
            yield f"mentions {one.text}"
    if asked.session and (session := asked.names_session(record.scope, record.session)):
        yield f"from session {session.number:,} of {asked.session.total:,}"
    if asked.dates:
        yield _time_in_words(record, asked.dates, fits="date" in signals)
    if "speaker" in signals:
        yield _speaker_in_words(record)
    yield from _match_in_words(signals, matched)
    if "form" in signals:
        yield from _form_in_words(record, asked.expects)
    for name, words in _SIMPLE.items():
        if name in signals:
            yield words


def _match_in_words(signals: dict[str, Signal], matched: tuple[str, ...]) -> Iterator[str]:
    if matched:
        yield "has " + ", ".join(matched[:WORDS_SAID])
    if "dense" in signals and signals["dense"].value >= NEAR_MEANING:
        yield "is close in meaning"
    elif not matched and "words" in signals and signals["words"].value > 0:
        yield "has similar words"
    if "context" in signals and not matched:
        yield "stands beside what matches"


def _has_all(way: str, held: set[int], analyzer: Analyzer) -> bool:
    return held.issuperset(map(term_id, analyzer.terms(way)))


def _speaker_in_words(record: Record) -> str:
    return "is about who was asked for" if record.who is None else f"by {record.who}"


def _form_in_words(record: Record, expects: int) -> Iterator[str]:
    has = decode_analysis(record.terms).flags & expects
    for flag, words in _TELLS.items():
        if has & flag:
            yield words


def _time_in_words(record: Record, dates: tuple[Dated, ...], *, fits: bool) -> str:
    """Describes how a record fits the time asked for, or how far off it is."""
    happened = local(record.occurred)
    day = happened.toordinal()
    day_in_words = f"{happened.day} {happened:%B %Y}"
    if any(one.first <= day <= one.last for one in dates):
        return f"from {day_in_words}, {_name_range(dates, day)}"
    for first, last in decode_analysis(record.terms).days:
        if any(one.first <= last and first <= one.last for one in dates):
            return "speaks of the time asked for"
    off = min(max(one.first - day, day - one.last) for one in dates)
    if off <= 7:
        return f"from {day_in_words}, {off} day{'s' * (off > 1)} off the time asked for"
    if fits:  # for "in May", the year was only guessed
        return "fits the time asked for, in another year"
    return f"from {day_in_words}, not the time asked for"


def _name_range(dates: tuple[Dated, ...], day: int) -> str:
    one = next(one for one in dates if one.first <= day <= one.last)
    return "the day asked for" if one.first == one.last else "within the time asked for"


def _as_typed(typed: list[str], term: str) -> str:
    """Returns the word of the query behind a term, as it was typed."""
    for word in typed:
        if word == term or word.startswith(term[: max(3, len(term) - 1)]):
            return term if _joins_parts(word, term) else word
    return term


def _joins_parts(word: str, term: str) -> bool:
    """Returns whether the word ties several parts, such as "77/9485", of which the term is only one."""
    return term != word and any(sign in word for sign in "/-_.:")


# --- the trace of an answer


def trace_answer(
    recall: Recall, query: Query, ranking: Ranking, millis: dict[str, float], notes: tuple[str, ...]
) -> Trace:
    """Tells how an answer was found: terms, filter, best of each arm, weights and times."""
    started, found = time.perf_counter(), ranking.found
    arms = {name: _list_arm(recall, found, name, query.recipe.depth) for name in RANKED}
    return Trace(
        query=query.text,
        terms=ranking.terms,
        scopes=tuple(found.scopes),
        searched=found.searched,
        filtered=found.searched - found.kept,
        arms={name: best for name, best in arms.items() if best},
        weights=ranking.ranked.list_weights(),
        millis=millis | {"trace": (time.perf_counter() - started) * 1000},
        notes=notes,
        scope=query.scope.path,
    )


def _list_arm(recall: Recall, found: Candidates, name: str, depth: int) -> tuple[tuple[str, float], ...]:
    """Returns the ids and scores of the best candidates of one arm, best first."""
    scores = getattr(found, name)
    rows = np.flatnonzero(scores > 0)
    rows = rows[np.argsort(-scores[rows], kind="stable")][:depth]
    records = recall.fetch(found, rows)
    return tuple((record.id, float(scores[row])) for row, record in zip(rows, records, strict=True) if record)
