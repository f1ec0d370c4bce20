"""Which of the best hits tells of a change: a newer statement that replaces the best one.

Rules of facts read what they know ("moved to", "works at"). People tell most changes in other words: "took
the key from under the pot", "Viktor took over design from Wanda". Such a statement gives itself away by what
it shares with the one that it replaces:

- it tells of a change ("now", "no longer") and is about the same
- it tells of an event ("took", "lent", "retired") and names the old value (the pot, Wanda)
- it has all the words that the question and the old statement share, and an event or a value of the kind
  that is asked for
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

from ..core.hit import Hit
from ..core.record import Record
from ..core.value_classes import dataclass
from ..text import Analyzer, term_id
from ..text.analysis import TIMED, is_question, read_analysis, terms_in
from ..text.thesaurus import ALIKE, list_related
from ..text.worded_pattern import WordedPattern
from .answer_forms import denies_answer, has_answer_form, has_measure
from .clues import Clues
from .rescore import add_words

UPDATES: Final = 9  # hits among which a change is looked for
MARKED: Final = 6  # hits among which a word for a change is enough
CHANGE: Final = 6.0  # so far behind in log odds, a statement of a change still counts
NAMED_CHANGE: Final = 11.0  # likewise, if it has the names that the question has, or names the old value
STATEMENT: Final = 160  # characters of a statement about one thing
LONG: Final = 400  # characters of a text that tells of more than one thing
PART: Final = 4  # one in so many words of the old value is named, at least: more of them share one by chance
CLOSEST: Final = 2  # hits behind the best of which half of the words are enough
DAY: Final = 86_400.0

_CHANGED: Final = WordedPattern(
    r"\b(?:now|instead|these days|nowadays|any ?more|any longer|no longer|no more|lately|renamed?"
    r"|swapp?(?:ed)?"
    r"|switch(?:ed|es)?|chang(?:ed|es)|mov(?:ed|es)|(?:has|have|got|get|the|a|with|her|his|our|my) new"
    r"|new \w+:|new \w+,|turned|got rid|gave (?:up|away)|given (?:up|away)|took over|tak(?:en|es?|ing) over"
    r"|replac(?:ed|es)"
    r"|lower(?:ed|s)|rais(?:ed|es)|increas(?:ed|es)|put (?:\w+ ){0,3}up|push(?:ed)? (?:\w+ ){0,3}back"
    r"|postpon(?:ed|es)|bring forward|brought forward|cancel+ed|dropp(?:ed|s)|quit|split up|broke up|retired"
    r"|stopp(?:ed|s)|sold|lost|is late|are over|is over|has ended|became|since (?:this|last)|from \w+ on\b"
    r"|from (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"|jetzt|inzwischen|neuerdings|nicht mehr|statt(?:dessen)?|umgezogen|gewechselt|geändert)\b"
)
# verbs that go with any topic: to share a relative with one of them says nothing
_ANY_TOPIC: Final = frozenset(
    map(term_id, ("go", "get", "come", "take", "make", "give", "put", "keep", "have"))
)
_ENDED: Final = WordedPattern(r"\b(?:used to|no longer|any ?more|(?:is|are|am) over|gave up|quit|stopped)\b")
# events after which a thing is elsewhere, somebody else has it, or a value is another
_EVENT: Final = WordedPattern(
    r"\b(?:took|taken|puts?|brought|lent|borrowed|gave|given|handed|passed|returned|left|leaves|traded|exchanged"
    r"|start(?:ed|s|ing)|began|beginning|closed|cut|rewrote|rewritten|migrated|donated|bought|gone|as of"
    r"|went (?:over|back)|goes to|through with|on to|up to|down to|delayed|rescheduled|shifted|settled|died"
    r"|joined|hired|promoted|elected|upgraded|extended|shortened|reduced|doubled|halved|hung|hangs|hid|stored"
    r"|placed|parked|packed|relocated|transferred|merged|bumped|called off|put off|married|engaged|divorced"
    r"|adopted|chose|chosen|decided|picked|opted|f[ae]ll(?:en)? for|had enough|tired of|sick of|bored|shaved"
    r"|copied|finished|ended|expired|asked for|wants|converted|gr[eo]wn?|found)\b"
)


@dataclass(frozen=True, slots=True)
class Predecessor:
    """The best hit as a question sees it, which a newer statement may replace.

    told      the ids of all its terms
    asked     of these, the words of the question; `whole` says whether they name one thing
    names     of the question
    value     what it says beside them: what may have changed
    settled   whether it tells of a change itself: only a word for a change replaces it
    """

    told: frozenset[int]
    asked: frozenset[int]
    names: frozenset[int]
    value: frozenset[int]
    whole: bool
    settled: bool


@dataclass(frozen=True, slots=True)
class Successor:
    """A newer hit that may replace the best one.

    place   among the hits; 0 is the best
    behind  the best, in log odds
    has     the ids of its terms
    marked  whether it has a word for a change; `event` whether it has one for that, or for an event
    """

    record: Record
    place: int
    behind: float
    has: frozenset[int]
    marked: bool
    event: bool


def put_change_first(hits: list[Hit], clues: Clues, odds: Mapping[int, float]) -> list[Hit]:
    """The newest statement among them that tells of a change, before the one it changes."""
    if len(hits) < 2 or len(hits[0].text) > LONG:
        return hits
    newer = _list_newer(hits, odds)
    if not newer:
        return hits
    older = _read_predecessor(hits[0].record, clues)
    newer.sort(key=lambda one: -one.record.occurred)
    for is_successor in (_surely_replaces, _may_replace):
        for one in newer:
            if is_successor(one, older, clues):
                rest = hits[: one.place] + hits[one.place + 1 :]
                return [add_words(hits[one.place], "tells of a change since"), *rest]
    return hits


def _list_newer(hits: list[Hit], odds: Mapping[int, float]) -> list[Successor]:
    """The statements that are newer than the best hit and not too far behind it."""
    first = hits[0].record
    newer = []
    for place, hit in enumerate(hits[1:UPDATES], 1):
        record, behind = hit.record, odds[first.seq] - odds[hit.record.seq]
        if record.occurred <= first.occurred + DAY or behind > NAMED_CHANGE or not _is_statement(record):
            continue
        marked = _CHANGED.search(record.text) is not None
        event = marked or _EVENT.search(record.text) is not None
        newer.append(Successor(record, place, behind, frozenset(terms_in(record.terms)), marked, event))
    return newer


def _is_statement(record: Record) -> bool:
    return len(record.text) <= STATEMENT and not is_question(record.terms)


def _read_predecessor(record: Record, clues: Clues) -> Predecessor:
    has = frozenset(terms_in(record.terms))
    names = clues.names | clues.speakers
    asked = (has & clues.terms) - names
    question = clues.terms - names
    return Predecessor(
        told=has,
        asked=asked,
        names=names,
        value=has - question - names - _list_speaker_terms(record, clues.analyzer),
        whole=bool(asked) and (asked == question or len(asked) + len(names) > 1),
        settled=_ENDED.search(record.text) is not None,
    )


def _list_speaker_terms(record: Record, analyzer: Analyzer) -> frozenset[int]:
    """A message has the words of who said it, too; they are no value."""
    if record.who is None:
        return frozenset()
    return frozenset(map(term_id, analyzer.terms(record.who)))


def _tells_change(newer: Successor, older: Predecessor, clues: Clues) -> bool:
    """Whether a statement is about the same and tells of a change, or of the value that is asked for."""
    if newer.place >= MARKED:
        return False
    if not clues.names:
        subject = older.told & clues.terms
        if not newer.marked or not subject:
            return False
        return len(subject) <= 2 * _count_alike(newer.has, subject, clues.analyzer) and newer.behind <= CHANGE
    tells = newer.marked or has_measure(newer.record.text, clues.wants)
    topic = (older.told | clues.terms) - clues.names
    return tells and clues.names <= newer.has and touches(newer.has - clues.names, topic, clues.analyzer)


def _surely_replaces(newer: Successor, older: Predecessor, clues: Clues) -> bool:
    """Whether a statement tells of a change, or shares so much with the older one that it is about it."""
    if _tells_change(newer, older, clues):
        return True
    if older.settled and not newer.marked:
        return False
    if _names_old_value(newer, older, clues):
        return True
    if not older.names <= newer.has:
        return False
    if older.whole and older.asked <= newer.has:
        return newer.event or _has_form(newer.record, clues)
    return _denies(newer, older, clues)


def _may_replace(newer: Successor, older: Predecessor, clues: Clues) -> bool:
    """Whether a statement right behind the best has half of its words, and a value that is asked for."""
    held = older.asked & newer.has
    if not held or not newer.event or newer.place > CLOSEST or not older.names <= newer.has:
        return False
    if older.settled and not newer.marked:
        return False
    enough = len(older.asked) <= 2 * len(held) or (newer.marked and newer.place == 1)
    return enough and _has_form(newer.record, clues)


def _denies(newer: Successor, older: Predecessor, clues: Clues) -> bool:
    """Whether somebody who is asked about by a question for yes or no no longer does it."""
    if not clues.names or newer.place > CLOSEST or not denies_answer(newer.record.text, clues.wants):
        return False
    topic = (older.told | clues.terms) - older.names
    return touches(newer.has - older.names, topic, clues.analyzer)


def _names_old_value(newer: Successor, older: Predecessor, clues: Clues) -> bool:
    """Whether it names what held before, and is about who or what the question is about.

    Of a question with names, it has these; or all of the old value and another word.
    """
    shared = older.value & newer.has
    if not shared or len(older.value) > PART * len(shared):
        return False
    if older.names and older.names <= newer.has:
        if older.asked.isdisjoint(newer.has):
            return newer.event and bool(clues.names)  # a speaker's name is in all that they say
        return newer.event or newer.place == 1
    return (
        newer.event
        and (not older.names or shared == older.value)
        and _count_alike(newer.has, older.asked, clues.analyzer) > 0
    )


def _count_alike(has: frozenset[int], asked: frozenset[int], analyzer: Analyzer) -> int:
    """How many of the words a text has, or one of the same meaning."""
    related = list_related(analyzer)
    count = 0
    for term in asked:
        if term in has or _has_related(has, related.get(term, {})):
            count += 1
    return count


def _has_related(has: frozenset[int], related: Mapping[int, float]) -> bool:
    return any(near >= ALIKE and other in has for other, near in related.items())


def _has_form(record: Record, clues: Clues) -> bool:
    """Whether a text has a value of the kind that is asked for."""
    if clues.expects & read_analysis(record.terms).flags & TIMED:
        return True
    return has_answer_form(record.text, clues.wants)


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
