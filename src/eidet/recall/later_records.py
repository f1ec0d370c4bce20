"""Which later record speaks of the same as the best hit, where the present is asked for.

People tell of changes in any words: "switched from warfarin to apixaban", "Dora has the key". No rule reads
all of them, so none is trusted to say what holds. Two records are compared by what they share: the words of
the question, and what the older one says beside them, weighed by how rare it is. A later record that may
speak of the same is shown beside the older one, each with the day of the other. Neither score is above
`UNSURE` then, unless the later one leaves no doubt:

- it names the old value as what was left behind ("from warfarin", "no longer under the pot"), or
- it has all words of the question that the older one has, and a word for a change ("now", "new")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from typing import Final

from ..core.hit import Hit
from ..core.record import Kind, Record
from ..core.validate import local
from ..text import Analyzer, analyzer_of, term_id
from ..text.analysis import ACTOR, is_question, terms_in
from ..text.flags import list_names
from ..text.thesaurus import FORM, list_related
from .answer_forms import has_answer_form
from .change_words import CHANGE, DOUBT, LEFT, TIMES
from .clues import Clues
from .missing_value import YES_OR_NO
from .rescore import TIME, add_words, log_odds, rescore

UNSURE: Final = 0.6  # the most for two records of which either may hold
REPLACED: Final = 0.4  # of the score of the later record, for one that it surely replaced
LIKELY: Final = 0.15  # a best hit of a lower score is no answer that could have changed
LONG: Final = 400  # characters of a text that tells of more than one thing
STATEMENT: Final = 200  # characters of a statement about one thing
COMPARED: Final = 9  # hits that are compared with the best
EARLIER: Final = 4  # hits of which one may be what the best one changed
STEPS: Final = 3  # changes of changes that are followed
CLOSE, FAR = 2.0, 5.0  # behind the best hit in log odds: a later one that answers as well; one that tells
AS_WELL: Final = 0.9  # of what the older record covers of the question, for one that answers as well
MOST: Final = 0.5  # the share of the old value that ties two records by itself
NAMED: Final = 0.2  # likewise, of two that are about the same
ONE_WORD: Final = 0.6  # what one word of common rarity weighs, at least, among those of a value
_KINDS: Final = frozenset((Kind.STATE, Kind.ACTION, Kind.DOCUMENT))  # tell nothing in sentences

_NUMBER: Final = re.compile(r"\d+")
_PAST_FORM: Final = re.compile(r"\b\w+ed\b")
_OWN: Final = re.compile(r"\b(?:my|our|his|her|their) (\w+)")
_OWNED: Final = re.compile(r"(\w+)['\u2019]s\b")

Shares = Mapping[int, float]  # by seq: the share of a value that a record has


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is known beyond the hits.

    find_later  records later than one that have the most of its value, and the share that each has
    covered     the share of the question's words that a record has, similar ones included
    replaced    by seq, what surely replaced a record, as facts know it
    asked       when the question is asked: what is dated later says nothing of the present
    """

    find_later: Callable[[Record, frozenset[int]], tuple[list[Record], Shares]]
    covered: Callable[[Record], float]
    replaced: Mapping[int, Record]
    asked: float


@dataclass(frozen=True, slots=True)
class _Best:
    """The best hit as a question sees it.

    asked    the terms of the question that it has, and `names` those of them that are names
    value    what it says beside them
    covered  the share of the question's words that it has, similar ones included
    """

    hit: Hit
    terms: frozenset[int]
    asked: frozenset[int]
    names: frozenset[int]
    value: frozenset[int]
    covered: float

    @property
    def record(self) -> Record:
        return self.hit.record


@dataclass(frozen=True, slots=True)
class _Later:
    """A later hit. `share` is the part of the value of the best one that it has."""

    hit: Hit
    terms: frozenset[int]
    covered: float
    share: float

    @property
    def text(self) -> str:
        return self.hit.text


@dataclass(frozen=True, slots=True)
class _Link:
    """A later record that speaks of the same.

    sure      whether it leaves no doubt that it replaces the other
    first     whether it goes before the other
    strength  how much it shares
    """

    hit: Hit
    sure: bool
    first: bool
    strength: float = 0.0


def show_later(hits: list[Hit], clues: Clues, lookup: Lookup) -> list[Hit]:
    """The hits with what later records say beside the best one, or before it where that is sure."""
    hits = [_mark_replaced(hit, lookup.replaced.get(hit.record.seq)) for hit in hits]
    hits = _put_present_first(hits, clues)
    for _ in range(STEPS):
        if not hits or hits[0].score < LIKELY or not _is_statement(hits[0].record, LONG):
            return hits
        link = _find_replacing(hits, lookup.replaced) or _find_link(hits, clues, lookup)
        if link is None:
            return _show_earlier(hits, clues, lookup)
        if not link.sure:
            return _show_both(hits, link)
        hits = _put_first(hits, link)
    return hits


def _put_present_first(hits: list[Hit], clues: Clues) -> list[Hit]:
    """Where the best hit says in the past tense what is asked of the present, one as good that does not."""
    topic = clues.terms - clues.names
    if not hits or not _tells_of_past(hits[0].text, topic, clues.analyzer):
        return hits
    for place, hit in enumerate(hits[1:EARLIER], 1):
        close = log_odds(hits[0].score) - log_odds(hit.score) < CLOSE
        if (
            close
            and topic <= terms_in(hit.record.terms)
            and not _tells_of_past(hit.text, topic, clues.analyzer)
        ):
            return [rescore(hit, hits[0].score, TIME), *hits[:place], *hits[place + 1 :]]
    return hits


def _find_replacing(hits: list[Hit], replaced: Mapping[int, Record]) -> _Link | None:
    record = replaced.get(hits[0].record.seq)
    if record is None or _when(record) <= _when(hits[0].record):
        return None
    return _Link(_hit_of(record, hits), sure=True, first=True)


def _find_link(hits: list[Hit], clues: Clues, lookup: Lookup) -> _Link | None:
    """The newest of the later records that surely speak of the same; else one of those that may."""
    best = _read_best(hits[0], clues, lookup)
    further, shares = lookup.find_later(best.record, best.value)
    links: list[_Link] = []
    for hit in (*hits[1:COMPARED], *(_hit_of(record, hits) for record in further)):
        record = hit.record
        if _when(best.record) < _when(record) <= (lookup.asked, record.seq) and _is_statement(
            record, STATEMENT
        ):
            terms = frozenset(terms_in(record.terms))
            later = _Later(hit, terms, lookup.covered(record), shares.get(record.seq, 0.0))
            link = _link(best, later, clues)
            if link is not None and (link.sure or best.record.occurred < record.occurred):
                links.append(link)  # what was stored at one moment has no order, unless its words tell one
    return max(links, key=_prefer, default=None)


def _prefer(link: _Link) -> tuple[bool, bool, float, tuple[float, int]]:
    """Of those that go first, the newest is preferred; of the others, the one that shares the most."""
    strength = 0.0 if link.first else round(link.strength, 1)
    return link.sure, link.first, strength, _when(link.hit.record)


def _hit_of(record: Record, hits: Iterable[Hit]) -> Hit:
    return next((hit for hit in hits if hit.id == record.id), None) or Hit(record=record, score=0.0)


def _is_statement(record: Record, longest: int) -> bool:
    return len(record.text) <= longest and record.kind not in _KINDS and not is_question(record.terms)


def _when(record: Record) -> tuple[float, int]:
    return record.occurred, record.seq


@cache
def _list_times() -> frozenset[int]:
    return frozenset(map(term_id, analyzer_of("en").terms(TIMES)))


def _read_best(hit: Hit, clues: Clues, lookup: Lookup) -> _Best:
    terms = frozenset(terms_in(hit.record.terms))
    names = clues.names | clues.speakers
    who = hit.record.who
    said_by = frozenset(map(term_id, clues.analyzer.terms(who))) if who else frozenset[int]()
    return _Best(
        hit=hit,
        terms=terms,
        asked=terms & (clues.terms | names),
        names=terms & names,
        value=terms - clues.terms - names - said_by - _list_times(),
        covered=lookup.covered(hit.record),
    )


def _link(best: _Best, later: _Later, clues: Clues) -> _Link | None:
    """Whether a later record may speak of the same as the best one."""
    topic, text = best.asked - best.names, later.text
    if _NUMBER.sub("#", best.record.text) == _NUMBER.sub("#", text):  # two readings of a series
        return None
    held = _count_alike(later.terms, topic, clues.analyzer)
    if not (held or later.share) or not best.names <= later.terms or _speaks_of_other(best, later, clues):
        return None
    mostly = 3 * held >= 2 * len(topic) > 0  # "the blue bike" is not the red one
    covers = held == len(topic) > 0 and _answers_as_well(best, later, clues)
    named = _names_value(best, later, clues, about=bool(best.names) or 2 * held >= len(topic) > 0)
    left = _leaves_value(text, best, clues)
    if not (mostly or covers or named or left):
        return None
    changed = CHANGE.search(text) is not None
    if not (covers or named or left or changed):
        return None
    strength = later.share + later.covered
    if DOUBT.search(text):
        return _Link(later.hit, sure=False, first=False, strength=strength)
    sure = (covers and changed) or (left and (mostly or not held))
    tells = changed or has_answer_form(text, clues.wants)
    behind = log_odds(best.hit.score) - log_odds(later.hit.score)
    first = (covers and behind < CLOSE) or (changed and mostly)
    first = first or (tells and behind < FAR and (mostly or (named and bool(best.names))))
    first = first and not _tells_of_past(text, topic, clues.analyzer)
    return _Link(later.hit, sure=sure, first=sure or first, strength=strength)


def _tells_of_past(text: str, topic: AbstractSet[int], analyzer: Analyzer) -> bool:
    """Whether it says in the past tense what is asked in the present: "Ann lived in Porto"."""
    past = " ".join(_PAST_FORM.findall(text))
    return not topic.isdisjoint(map(term_id, analyzer.terms(past)))


def _answers_as_well(best: _Best, later: _Later, clues: Clues) -> bool:
    """Whether it covers as much of the question, more than a word of it, and is of another talk."""
    if best.record.session is not None and best.record.session == later.hit.record.session:
        return False
    much = len(best.asked) > 1 or best.asked == clues.terms
    return much and later.covered >= AS_WELL * best.covered


def _names_value(best: _Best, later: _Later, clues: Clues, *, about: bool) -> bool:
    """Whether it has most of the old value; or a word of it, and is about the same or has the same name."""
    if later.share >= MOST:
        return True
    if later.share < NAMED or later.share * len(best.value) < ONE_WORD:
        return False
    return about or _shares_name(best, later, clues)


def _shares_name(best: _Best, later: _Later, clues: Clues) -> bool:
    """Whether both have a name that the question has not."""
    names = frozenset(map(term_id, clues.analyzer.terms(" ".join(list_names(best.record.text)))))
    return not (names & best.value).isdisjoint(later.terms)


def _speaks_of_other(best: _Best, later: _Later, clues: Clues) -> bool:
    """Whether a later record is somebody else's, or about what belongs to who is asked about."""
    one, other = best.record.who, later.hit.record.who
    if not best.names:
        return one is not None and other is not None and one != other
    known = f"{best.record.text} {clues.wants.low}".lower()
    for owner in _OWNED.findall(later.text):
        is_asked = not best.names.isdisjoint(map(term_id, clues.analyzer.terms(owner)))
        if is_asked and not re.search(rf"\b{re.escape(owner.lower())}['\u2019]s\b", known):
            return True
    return False


def _leaves_value(text: str, best: _Best, clues: Clues) -> bool:
    """Whether a text names the old value as what was left behind, and not by somebody else."""
    if (found := LEFT.search(text)) is None:
        return False
    left = set(map(term_id, clues.analyzer.terms(found[1])))
    held = best.terms - best.names if _names_answer(clues.wants.low) else best.value
    if not left or not left <= best.terms or left.isdisjoint(held):
        return False
    before = text[: found.start()]
    known = f"{best.record.text} {clues.wants.low}".lower()
    others = _OWN.findall(before.lower())
    if not clues.expects & ACTOR:
        others += list_names(before)
    return all(other.lower() in known for other in others)


def _names_answer(question: str) -> bool:
    """Whether a question says what the answer may be: "is it …?", "this or that?"."""
    return YES_OR_NO.match(question) is not None or " or " in question


def _count_alike(has: AbstractSet[int], asked: AbstractSet[int], analyzer: Analyzer) -> int:
    """How many of the words a text has, or another form of one."""
    related = list_related(analyzer)
    return sum(term in has or _has_related(has, related.get(term, {})) for term in asked)


def _has_related(has: AbstractSet[int], related: Mapping[int, float]) -> bool:
    return any(near >= FORM and other in has for other, near in related.items())


def _mark_replaced(hit: Hit, by: Record | None) -> Hit:
    if by is None or hit.superseded_by is not None:
        return hit
    words = f"replaced on {_day(by)} by “{_shorten(by.text)}”"
    return replace(add_words(hit, words, first=True), superseded_by=by.id)


def _put_first(hits: list[Hit], link: _Link) -> list[Hit]:
    """The later record in the first place, and what it replaced behind it."""
    older, newer = hits[0], link.hit
    rest = [hit for hit in hits[1:] if hit.id != newer.id]
    first = add_words(newer, f"tells of a change since {_day(older.record)}", first=True)
    first = rescore(first, max(older.score, newer.score), TIME)
    most = max(first.score * REPLACED, rest[0].score if rest else 0.0)
    second = rescore(_mark_replaced(older, newer.record), min(older.score, most), TIME)
    return _let_fall([first, second, *rest])


def _show_both(hits: list[Hit], link: _Link) -> list[Hit]:
    """Both in the first places, each with the day of the other; the later one first if it answers as well."""
    older, newer = hits[0], link.hit
    rest = [hit for hit in hits[1:] if hit.id != newer.id]
    score = min(max(older.score, newer.score), UNSURE) if link.first else min(older.score, UNSURE)
    older = add_words(older, f"a later record speaks of this: {_day(newer.record)}", first=True)
    newer = add_words(newer, f"an earlier record speaks of this: {_day(older.record)}", first=True)
    both = [newer, older] if link.first else [older, newer]
    behind = max(min(both[1].score, score), score / 2, min(rest[0].score, score) if rest else 0.0)
    return _let_fall([rescore(both[0], score, TIME), rescore(both[1], behind, TIME), *rest])


def _show_earlier(hits: list[Hit], clues: Clues, lookup: Lookup) -> list[Hit]:
    """Likewise, where the best hit is the later one."""
    newer = hits[0]
    terms, covered = frozenset(terms_in(newer.record.terms)), lookup.covered(newer.record)
    for place, hit in enumerate(hits[1:EARLIER], 1):
        if hit.score < LIKELY or _when(hit.record) >= _when(newer.record):
            continue
        older = _read_best(hit, clues, lookup)
        share = len(older.value & terms) / max(len(older.value), 1)
        link = _link(older, _Later(newer, terms, covered, share), clues)
        if link is None or not _is_statement(hit.record, LONG):
            continue
        if not link.sure and hit.record.occurred == newer.record.occurred:
            continue
        if link.sure:
            hits[place] = _mark_replaced(hit, newer.record)
            return hits
        return _show_both([hit, *hits[:place], *hits[place + 1 :]], replace(link, first=True))
    return hits


def _let_fall(hits: list[Hit]) -> list[Hit]:
    """No hit has a higher score than one before it."""
    lowest = accumulate((hit.score for hit in hits), min)
    return [rescore(hit, score, TIME) for hit, score in zip(hits, lowest, strict=True)]


def _day(record: Record) -> str:
    return f"{local(record.occurred):%Y-%m-%d}"


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57].rstrip() + "…"
