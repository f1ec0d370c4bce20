"""Parses a question: its people and times, what it asks for, and the text left to search by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ..text import words_in
from ..text.analysis import ACTOR, NAMED, NUMBERED, TIMED
from ..text.dates import Dated, dates_in, list_other_readings
from ..text.dates.days import FAR
from ..text.flags import Identifier, identifiers_in
from ..text.words import STOP_WORDS
from .participants import AGENT_ROLES, PEOPLE_ROLES, find_names, without
from .sessions import MeantSession, MeantSessions, cut_times, hide_session, parse_asked_sessions

SURE: Final = 0.3  # the least confidence of a time that counts
LONGEST: Final = 2_000  # characters of a query that are parsed
FIRST, LAST, NOW = "first", "last", "now"  # which of several statements is asked for
QUESTION, MESSAGE = 20, 40  # words up to which a query is a question, and from which on a message

_WHEN: Final = re.compile(
    r"\b(?:when|how long|how recently|since when|until when|(?:what|which) (?:date|day|month|year|time|week"
    r"|season)|how many (?:days|weeks|months|years|hours))\b",
)
_HOW_MANY: Final = re.compile(r"\bhow (?:many|much|old|often|far|tall|big)\b|\bwhat (?:number|age|percent)")
_WHICH: Final = re.compile(
    r"\b(?:who|whose|whom|which|where|names?|called|title|titled)\b",
)
_WHAT_NAMED: Final = re.compile(  # at the beginning
    r"what (?:\w+ ){0,3}?(?:book|movie|film|song|band|game|city|country|place|state|town|show|series"
    r"|company|brand|restaurant|school|university|artist|author|team|language)s?\b"
)
_WHO: Final = re.compile(r"\b(?:who|whom|whose)\b")
# begins like a question, or has one inside: "On 3 May, what did …"; the mark may be missing
_ASKS: Final = re.compile(
    r"(?:how|what|when|where|who|whom|whose|which|why|is|are|was|were|does|did|has)\b"
    r"|(?:do|can|could|will|would|should|have|had|am|may|must) "
    r"(?:i|you|we|they|he|she|it|there|my|our|your)\b"
    r"|.*\b(?:how|what|when|where|who|which|why)(?: [\w'\u2019]+){0,3} "
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|will|would|should)\b"
    r"|.*(?:什么|哪|谁|多少|几[个位天点次]|怎|为何|[吗呢]\W*\Z)"
)
# several answers are wanted: "what instruments does …", "which cities", "what are", "how many times"
_SEVERAL: Final = re.compile(  # at the beginning
    r"(?:in )?(?:what|which|who|where)(?: \w+){0,2}? (?:are|were|have|all)\b"
    r"|(?:what|which)(?! (?:do|does|did|is|was|has|had|can|will|would)\b)"
    r"(?: (?:kinds?|types?|sorts?) of)?(?: \w+){0,3}? \w+[^s\W]s\b "
    r"(?:do|does|did|has|have|had|are|were|is|was|can|would|will)\b"
    r"|how many\b|(?:list|name) "
)
_SOME_OR_ALL: Final = re.compile(r"\bsome of\b|\ball (?:the|of)\b")
_ME: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|we|our|us)\b")
# the speaker, whoever the subject is: "what did you suggest for my back?"
_SAID: Final = re.compile(
    r"\b(?:did|have|had|do) (i|you) (?:just |ever |already )?"
    r"(?:suggest|recommend|say|said|tell|told|advise|propose|mention|write|explain|ask|promise|answer)",
)
_SPOKEN_OF: Final = re.compile(
    r"\b(?:say|says|said|tell|tells|told|talk|talks|talked|mention|mentions|mentioned|hear|heard)"
    r" (?:\w+ ){0,2}?about\b",
)
_YOU: Final = re.compile(r"\b(?:you|your|yours|you're|you've|you'd|we discussed|remind me)\b")
_QUOTED = re.compile(
    r"[\"\u201c\u201d\u00ab\u00bb\u201e]([^\"\u201c\u201d\u00ab\u00bb\u201e]{2,200})[\"\u201c\u201d\u00ab\u00bb]"
)
_ANY_EVENT: Final = STOP_WORDS["en"] | words_in(
    "happen happened happening happens going go went doing done day anything something event events plan "
    "plans planned tell show notes coming upcoming ahead scheduled due agenda calendar"
)
# "may" and "march" are months after words that precede a time
_MONTHS: Final = re.compile(
    r"\b(?:january|february|april|june|july|august|september|october|november|december)\b"
    r"|(?:(?<=\bin )|(?<=\bof )|(?<=\bon )|(?<=\bby )|(?<=\bfrom )|(?<=\bsince )|(?<=\bbefore )|(?<=\bafter )"
    r"|(?<=\buntil )|(?<=\blast )|(?<=\d )|(?<=\d(?:st|nd|rd|th) ))(?:may|march)\b"
)
_AROUND: Final = ".,;:!?\"'()[]\u2026\u201c\u201d\u2018\u2019\u3002\uff0c\uff1f\uff01"
_LETTER: Final = re.compile(r"[^\W\d_]")
_FOREIGN: Final = re.compile(r"[^\W\d_\u0041-\u024f\u0370-\u03ff]")  # letters of non-European scripts
_INK = re.compile(r"\w")
_CONTENT = re.compile(r"\w{2,}")
CERTAIN: Final = 0.72
# words that choose among statements, which no statement need have
_AT_PRESENT: Final = re.compile(
    r"\b(?:right now|now|at the moment|at present|these days|nowadays)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """The parsed question. The caller may give any part instead."""

    text: str  # as it was asked
    dense: str  # without names of participants and signs around words, for the vector
    names: tuple[str, ...] = ()  # participants it names
    speaker: str | None = None  # whose turns are asked for, if that is clear
    dates: tuple[Dated, ...] = ()
    expects: int = 0  # flags of the analysis that an answer has: a time, a number, a name
    several: bool = False  # it asks for more than one answer
    phrases: tuple[str, ...] = ()  # quoted word for word
    session: MeantSessions | None = None  # the sessions that it counts or names
    identifiers: tuple[Identifier, ...] = ()  # codes and numbers that name one thing
    only_time: bool = False  # it only asks what happened at a time
    upcoming: bool = False  # it asks for coming events
    asks: bool = False  # it is a question and nothing else
    message: float = 0.0  # from 0 for a question to 1 for a message that tells more than it asks
    foreign: float = 0.0  # the share of its letters whose script has no static vectors
    moment: str = ""  # FIRST, LAST or NOW: which of several statements it asks for

    def names_session(self, scope: str, name: str | None) -> MeantSession | None:
        """Returns the session of that name if the question means it, else None."""
        for one in self.session.meant if self.session else ():
            if (one.scope, one.session) == (scope, name):
                return one
        return None

    def notes(self) -> tuple[str, ...]:
        """Describes the parsed question for the explanation."""
        notes = [f"about {name}" for name in self.names]
        if self.speaker is not None and self.speaker not in self.names:
            notes.append(f"said by {self.speaker}")
        notes += [f"{one.text!r} is {_days(one)}" for one in self.dates]
        notes += [f"asks for {what}" for flag, what in _ASKED.items() if self.expects & flag]
        if self.several:
            notes.append("asks for several")
        notes += [f"says {phrase!r}" for phrase in self.phrases]
        if self.session:
            notes.append(self.session.describe())
        return tuple(notes)


_ASKED: Final = {TIMED: "a time", NUMBERED: "a number", NAMED: "a name"}


def understand_query(
    text: str, now: datetime, voices: Sequence[str], language: str, session: MeantSessions | None = None
) -> Understood:
    """Parses a question asked at `now` in a scope with these speakers; `session` holds those it means."""
    question = hide_session(text[:LONGEST], session)
    names = find_names(_cut_spoken_of(question), voices)
    question = _MONTHS.sub(lambda found: found[0].capitalize(), question)  # all positions stay the same
    low = _lower(question)
    dates = _find_dates(question, low, now, language)
    message = min(max(len(text.split()) - QUESTION, 0) / (MESSAGE - QUESTION), 1.0)
    return Understood(
        text=text,
        dense=_without_signs(_without_names(_without_dates(text, dates), names)),
        names=names,
        speaker=_speaker(low, names, voices),
        dates=dates,
        expects=_expect_flags(low),
        several=bool(_SEVERAL.match(low) or _SOME_OR_ALL.search(low)),
        phrases=tuple(phrase.strip() for phrase in _QUOTED.findall(question) if phrase.strip()),
        session=session,
        identifiers=_identifiers(question, dates, language),
        only_time=bool(dates) and not names and _asks_time_only(question, dates),
        upcoming=_asks_upcoming(low, dates, now.toordinal()),
        asks=message < 1 and _ASKS.match(low) is not None,
        message=message,
        foreign=_measure_foreignness(question),
        moment=_detect_moment(low, dates),
    )


def _lower(text: str) -> str:
    """Returns a text in lower case, for patterns of lower-case words; all positions stay the same."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)  # "İ" has two


def _cut_spoken_of(text: str) -> str:
    """Cuts the text after "said about": the people named behind it are not the speakers."""
    found = _SPOKEN_OF.search(_lower(text))
    return text if found is None else text[: found.end()]


def _find_dates(text: str, low: str, now: datetime, language: str) -> tuple[Dated, ...]:
    """Finds the times of a question that are certain enough, with the second meaning of ambiguous ones.

    A day without a year is the last such day; in a question about the future, it may be the next.
    """
    read = dates_in(text, now, language=language, past=not _looks_ahead(low))
    found, today = tuple(one for one in read if one.confidence >= SURE), now.toordinal()
    if not found and _asks_upcoming(low, (), today) and _asks_time_only(text, ()):
        # "what is coming up?" means from today on
        return (Dated(text="", start=0, end=0, first=today, last=today + FAR, confidence=1.0, grain="span"),)
    return found + list_other_readings(found)


def _without_names(text: str, names: Sequence[str]) -> str:
    """Removes names from the search text, unless nothing else is left."""
    if not names:
        return text
    left = without(text, names)
    return left if _INK.search(left) else text


def _without_dates(text: str, dates: Sequence[Dated]) -> str:
    """Removes times from the search text, unless nothing else is left."""
    # some are surely a time, even if they may be one of two days
    certain = [one for one in dates if one.confidence >= CERTAIN or one.text[:1].isdecimal()]
    left = _AT_PRESENT.sub(" ", cut_times(text, certain))
    for word in _CONTENT.finditer(left):
        if word[0].casefold() not in STOP_WORDS["en"]:
            return left
    return text


def _without_signs(text: str) -> str:
    """Removes the punctuation around words, which people set or leave out."""
    return " ".join(filter(None, (word.strip(_AROUND) for word in text.split()))) or text


def _asks_time_only(text: str, dates: Sequence[Dated]) -> bool:
    """Returns whether a question has no content word but a time: "what happened on 10 May?"."""
    return all(word.casefold() in _ANY_EVENT for word in _CONTENT.findall(cut_times(text, dates)))


def _speaker(text: str, names: Sequence[str], voices: Sequence[str]) -> str | None:
    """Returns the participant named first, or who "I" or "you" is between user and agent; else None."""
    if names:
        return names[0]
    me, you = _ME.search(text) is not None, _YOU.search(text) is not None
    if found := _SAID.search(text):
        me, you = found[1] == "i", found[1] == "you"
    if me == you:
        return None
    roles = PEOPLE_ROLES if me else AGENT_ROLES
    return next((who for who in voices if who.casefold() in roles), None)


def _expect_flags(text: str) -> int:
    expects = 0
    if _WHEN.search(text):
        expects = TIMED
    elif _HOW_MANY.search(text):
        expects = NUMBERED
    elif _WHICH.search(text) or _WHAT_NAMED.match(text):
        expects = NAMED
        if _WHO.search(text):
            expects |= ACTOR
    return expects


def _identifiers(text: str, dates: Sequence[Dated], language: str) -> tuple[Identifier, ...]:
    """Finds codes and numbers that name one thing, except the numbers of times and sessions."""
    taken = [(one.start, one.end) for one in dates]
    if session := parse_asked_sessions(text, language):
        taken.append((session.start, session.end))
    return identifiers_in(text, taken)


def _measure_foreignness(text: str) -> float:
    if text.isascii():
        return 0.0
    letters = len(_LETTER.findall(text))
    return len(_FOREIGN.findall(text)) / letters if letters else 0.0


def _days(one: Dated) -> str:
    first, last = (f"{datetime.fromordinal(day):%Y-%m-%d}" for day in (one.first, one.last))
    return first if first == last else f"{first} to {last}"


# --- which of several statements is asked for: the first, the last or the present one

_LAST: Final = re.compile(r"\b(?:last|latest|most recent(?:ly)?|newest)\b(?! name\b| year\b)")
_FIRST: Final = re.compile(
    r"\b(?:first|earliest|original(?:ly)?|initial(?:ly)?|oldest|previous(?:ly)?|former(?:ly)?|used to)\b"
    r"|\bbefore\W*$|\b(?:in|at) the (?:beginning|start|outset)\b|\bto begin with\b"
    r"|\bwhen (?:\w+ ){1,2}(?:started|began)\W*$",
)
_AHEAD: Final = re.compile(
    r"\b(?:will|is|are|do|does|must|should|next|upcoming|coming|due)\b|^(?:can|may|shall) (?:i|we)\b"
    r"|\bwhat['\u2019]s\b",
)
_DOES: Final = re.compile(r"(?:what|who|which \w+) \w+[^s\W]s\b")  # begins "what costs", "who runs"
_CHOICE: Final = re.compile(r"\bor\b|\bdo(?:es)? the (?:first|last)\b|\border of\b|\bfrom .* to\b")
_PAST: Final = re.compile(
    r"\b(?:was|were|did|has(?! (?:the|an?|my|our|his|her|their|its|no|any)\b)|had|been|before|earlier|ago"
    r"|once|ever)\b",
)
_COMING: Final = re.compile(  # "about the upcoming opening" speaks of one that may be over
    r"\bcoming up\b|\bahead of (?:me|us)\b"
    r"|\b(?:which|what|any|all|list|have|show|are) (?:\w+ ){0,2}upcoming\b",
)
_PLANNED: Final = re.compile(
    r"\b(?:due|scheduled|planned|plans|agenda|calendar|diary|appointments?|deadlines?)\b",
)


def _asks_upcoming(text: str, dates: Sequence[Dated], today: int) -> bool:
    """Returns whether a question asks only for coming events."""
    if not _looks_ahead(text):
        return False
    if _COMING.search(text):
        return not dates or any(one.last >= today for one in dates)
    ahead = any(one.first >= today and not one.yearless for one in dates)
    return ahead and _PLANNED.search(text) is not None


def _looks_ahead(text: str) -> bool:
    """Returns whether a question is about the future."""
    if _AHEAD.search(text) is None and _DOES.match(text) is None:
        return False
    return _PAST.search(text) is None


def _detect_moment(text: str, dates: Sequence[Dated]) -> str:
    """Detects which of several statements is asked for: the first, the last or the present one."""
    text = cut_times(text, dates)
    chooses = _CHOICE.search(text)
    if not chooses and _LAST.search(text):
        return LAST
    if not chooses and _FIRST.search(text):
        return FIRST
    return "" if dates or _PAST.search(text) else NOW
