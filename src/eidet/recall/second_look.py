"""What only the texts of the best hits tell: who answers, and who says that they do not know.

The search ranks by columns. The few texts that are read anyway are looked at once more:

- what a text has of that which the question asks for adds to its odds (answer_forms.py)
- a reply that knows nothing goes behind the others
- where the first or the last is asked for, hits that tell of the same come in the order of time
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

from ..core.hit import Hit
from ..core.record import Record
from ..index import Candidates
from ..text import Analyzer, term_id
from ..text.analysis import is_question, terms_in
from ..text.thesaurus import list_related
from ..text.worded_pattern import WordedPattern
from .answer_forms import has_measure, repeats, weigh_text
from .asked_moment import FIRST, LAST, NOW
from .clues import Clues
from .later_records import LONG
from .missing_value import MISSING, MOST, lacks_value
from .rescore import TEXT, add_words, log_odds, rescore, score_of
from .signals import Signals

STATEMENT: Final = 160  # characters of a statement about one thing
CHANGE: Final = 6.0  # so far behind in log odds, what was said last before a time still counts
LOOKED_AT: Final = 15  # hits whose texts are read
HELD: Final = 6  # hits among which what held at a time is looked for
READ_BEST: Final = 0.15  # log odds that the best has more for having been read, and for its lead
AHEAD, MOST_AHEAD = 0.1, 4.5
CLOSE: Final = 0.5  # of the cosine of the best, for a text that tells of the same
ASKED: Final = 80  # characters of a question that tells nothing itself
MORE: Final = 3  # terms that such a question may have beside those of the query: when, and who asks
SHORT: Final = 120  # characters of a reply that may say that it knows nothing

# stems of the words that say which of several is meant: no statement need have them
_WHICH_ONE: Final = frozenset(
    map(
        term_id,
        ("first", "last", "latest", "recent", "newest", "earliest", "oldest", "time", "thing", "origin"),
    )
)
# verbs that go with any topic: to share a relative with one of them says nothing
_ANY_TOPIC: Final = frozenset(
    map(term_id, ("go", "get", "come", "take", "make", "give", "put", "keep", "have"))
)
_KNOWS_NOTHING: Final = WordedPattern(
    r"\b(?:no idea|not (?:sure|told me|know|found|aware)|don'?t know|haven'?t (?:told|heard|found)"
    r"|(?:have|know|found|remember|recall|say) nothing|nothing (?:about|on) that"
    r"|can(?:no|')?t (?:say|tell|find|remember)"
    r"|keine ahnung|wei(?:ß|ss) (?:ich )?(?:es |das )?(?:noch )?nicht|nichts (?:dazu|darüber))\b"
)
_ONLY_ASKS: Final = WordedPattern(
    r"(?:how|what|when|where|who|whose|which|why|is|are|do|does|can|was|were|did|has|have)\b[^.!?,;:]*\?\s*$"
)


@dataclass(frozen=True, slots=True)
class Measures:
    """What the search measured of the records that it found."""

    found: Candidates
    signals: Signals

    def read(self, signal: str, record: Record) -> float:
        """The value of a signal; 0 where it was not asked for, or the record has changed since."""
        seqs = self.found.seq
        at = int(seqs.searchsorted(record.seq))
        if signal not in self.signals.values or at == len(seqs) or seqs[at] != record.seq:
            return 0.0
        return float(self.signals.values[signal][at])


def look_again(hits: list[Hit], clues: Clues, measures: Measures) -> list[Hit]:
    """The hits in the order that their texts suggest, with the scores that follow; best first."""
    head, rest = hits[:LOOKED_AT], hits[LOOKED_AT:]
    odds, wants = {}, clues.wants
    for hit in head:
        record = hit.record
        odds[record.seq] = log_odds(hit.score) + weigh_text(record.text, wants)
    order = _put_knowing_first(sorted(head, key=lambda hit: -odds[hit.record.seq]), clues)
    if clues.moment in (FIRST, LAST):
        order = _put_in_time(order, clues, measures)
    elif clues.ended is not None and order and not _was_said_then(order[0], clues.ended, measures):
        order = _put_held_first(order, clues, clues.ended, odds)
    scores = list(_score_again(hits, sorted(odds.values(), reverse=True)))
    if order and lacks_value(order[0].text, clues.wants):
        order[0] = add_words(order[0], "has nothing of the kind asked for")
        scores = _lower_best(scores)
    rescored = []
    for hit, score in zip(order, scores, strict=True):
        rescored.append(rescore(hit, score, TEXT))
    return rescored + rest


def _lower_best(scores: list[float]) -> list[float]:
    """Where the best hit lacks what is asked for, no other is better."""
    most = min(score_of(log_odds(scores[0]) - MISSING), MOST)
    lower = []
    for score in scores:
        lower.append(min(score, most))
    return lower


def _score_again(hits: list[Hit], odds: list[float]) -> Iterator[float]:
    """The best keeps about the score that the search gave the best; the others follow by their distance.

    No place gets less than the search gave it.
    """
    if not odds:
        return
    lead = MOST_AHEAD
    if len(odds) > 1:
        lead = min(MOST_AHEAD, odds[0] - odds[1])
    best = log_odds(hits[0].score) + READ_BEST + AHEAD * lead
    for hit, one in zip(hits, odds, strict=False):
        yield max(hit.score, score_of(best + one - odds[0]))


def _put_knowing_first(hits: list[Hit], clues: Clues) -> list[Hit]:
    knowing: list[Hit] = []
    others: list[Hit] = []
    for hit in hits:
        if clues.asks and _asks(hit.record) and _asks_the_same(hit.record, clues):
            others.append(add_words(hit, "asks the same"))
        elif _knows_nothing(hit.record):
            others.append(add_words(hit, "says that it does not know"))
        else:
            knowing.append(hit)
    return knowing + others


def _asks_the_same(record: Record, clues: Clues) -> bool:
    """Whether a question says no more than the one that is asked, or a word or two: "… last year?"."""
    if repeats(record.text, clues.wants):
        return True
    if clues.moment != NOW or len(record.text) > ASKED or not _ONLY_ASKS.match(record.text):
        return False
    has = terms_in(record.terms)
    return bool(clues.terms) and clues.terms <= has and len(has) <= len(clues.terms) + MORE


def _knows_nothing(record: Record) -> bool:
    text = record.text
    if record.who is None or len(text) > SHORT or not _denies(text):
        return False
    return _KNOWS_NOTHING.search(text) is not None


def _denies(text: str) -> bool:
    """Whether a text has a part of what says that it knows nothing; quick to tell."""
    return "not" in text or "n't" in text or "no idea" in text or "nicht" in text or "keine" in text


def _put_in_time(hits: list[Hit], clues: Clues, measures: Measures) -> list[Hit]:
    """Of the hits that tell of the same as the best one, the first or the last in time goes first."""
    if len(hits) < 2:
        return hits
    subject = (terms_in(hits[0].record.terms) & clues.terms) - _WHICH_ONE
    close = CLOSE * measures.read("dense", hits[0].record)
    same = hits[:1]
    for hit in hits[1:]:
        if _is_same(hit.record, subject, clues) and measures.read("dense", hit.record) >= close:
            same.append(hit)
    if len(same) < 2:
        return hits
    same.sort(key=_when, reverse=clues.moment == LAST)
    same[0] = add_words(same[0], f"is the {clues.moment} of those")
    placed = {hit.record.seq for hit in same}
    return same + [hit for hit in hits if hit.record.seq not in placed]


def _put_held_first(hits: list[Hit], clues: Clues, ended: float, odds: Mapping[int, float]) -> list[Hit]:
    """What was said last before the end of the time asked for, about the same as the best one."""
    first = hits[0]
    if len(first.text) > LONG:
        return hits
    held = terms_in(first.record.terms)
    subject = held & clues.terms
    topic = (held | clues.terms) - clues.names
    near = odds[first.record.seq] - CHANGE
    for hit in sorted(hits[1:HELD], key=_when, reverse=True):
        if _when(hit) <= ended and odds[hit.record.seq] >= near and _tells_same(hit, subject, topic, clues):
            rest = [other for other in hits if other is not hit]
            return [add_words(hit, "was the latest at that time"), *rest]
    return hits


def _tells_same(hit: Hit, subject: set[int], topic: set[int], clues: Clues) -> bool:
    """Whether a statement is about the same as the best one."""
    if len(hit.text) > STATEMENT or _asks(hit.record):
        return False
    has = terms_in(hit.record.terms)
    if not subject or not subject <= has:
        return False
    if not subject <= clues.names or has_measure(hit.text, clues.wants):
        return True
    return touches(has - clues.names, topic, clues.analyzer)


def _was_said_then(hit: Hit, ended: float, measures: Measures) -> bool:
    """Whether it was said by the end of the time asked for, or speaks of that time."""
    return _when(hit) <= ended or measures.read("date", hit.record) > 0


def _is_same(record: Record, subject: set[int], clues: Clues) -> bool:
    """Whether it tells of the same as the best one; to have the names is not enough."""
    if not _tells_of(record, subject) and not _has_same_value(record, subject, clues):
        return False
    topic = set(clues.terms - clues.names - _WHICH_ONE)
    return not subject <= clues.names or touches(terms_in(record.terms), topic, clues.analyzer)


def _has_same_value(record: Record, subject: set[int], clues: Clues) -> bool:
    """Whether it has most of the words, and a value of the kind that is asked for."""
    has = terms_in(record.terms)
    if 2 * len(subject & has) <= len(subject) or not clues.names <= has:
        return False
    return len(record.text) <= STATEMENT and not _asks(record) and has_measure(record.text, clues.wants)


def _tells_of(record: Record, subject: set[int]) -> bool:
    return (
        bool(subject)
        and len(record.text) <= STATEMENT
        and subject <= terms_in(record.terms)
        and not _asks(record)
    )


def _asks(record: Record) -> bool:
    return is_question(record.terms)


def _when(hit: Hit) -> float:
    return hit.record.occurred


def touches(has: AbstractSet[int], topic: AbstractSet[int], analyzer: Analyzer) -> bool:
    """Whether a text has a word of the topic, or one that answers for one of those."""
    if not topic.isdisjoint(has):
        return True
    related = list_related(analyzer)
    near: set[int] = set()
    for term in topic - _ANY_TOPIC:
        near.update(related.get(term, ()))
    if not near.isdisjoint(has):
        return True
    return any(not near.isdisjoint(related.get(term, ())) for term in has)  # both are of one kind
