"""Answers "what did we talk about last time?" with the turns of that talk, newest first.

Such a question has no word to search by: it means a session, some days, or all that a person said. The last
talk is the session that was active last, except the one under way. Records without a session are split into
talks by silence. Reads columns of the index, and no more records than it shows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ..core.hit import Hit, Hits, Reasons, Trace
from ..core.record import Kind, Record
from ..core.scope import Scope
from ..core.validate import EARLIEST, LATEST, local
from ..core.where import Where
from ..store.traits import missing_of
from ..text.analysis import NUMBERED
from ..text.dates import Dated
from .participants import without
from .query import zone_of
from .sessions import UNDER_WAY, MeantSessions, TalkWords, talk_words
from .signals import DAY, UNIX
from .understand import Understood, cut_times, hide_session

if TYPE_CHECKING:
    from . import Query, Recall


LONGEST: Final = 200  # characters of such a question; a longer text has a subject
_WORD = re.compile(r"[^\W_]+")
_BEFORE_LAST = re.compile(r"\bbefore last\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTalk:
    """The conversation asked for: that of some sessions, of some days, or else the last."""

    session: MeantSessions | None = None
    dates: tuple[Dated, ...] = ()
    of_every_kind: bool = False  # all that is new, not only messages
    speaker: str | None = None  # whose turns are asked for
    ever: bool = False  # in any talk


def _parse_asked_talk(asked: Understood, language: str) -> AskedTalk | None:
    """Parses which talk a question asks for; None if it asks for anything else."""
    if len(asked.text) > LONGEST or len(asked.names) > 1 or asked.only_time or asked.expects & NUMBERED:
        return None
    text = cut_times(hide_session(asked.text, asked.session), asked.dates)
    words = _WORD.findall(without(text, asked.names).casefold())
    for known in talk_words(language):
        if known.known.issuperset(words) and (not asked.names or _speaks(text, asked.names[0], known)):
            return _read(asked, words, known)
    return None


def _speaks(text: str, name: str, known: TalkWords) -> bool:
    """Returns whether the person named speaks and is not the subject: a word for it follows the name."""
    after = text.casefold().partition(name.split(maxsplit=1)[0].casefold())[2]
    return not known.talk.isdisjoint(_WORD.findall(after))


def _read(asked: Understood, words: Sequence[str], known: TalkWords) -> AskedTalk | None:
    """Parses a question that consists only of words for talks."""
    talked, together = not known.talk.isdisjoint(words), not known.we.isdisjoint(words)
    speaker = asked.speaker if asked.names or not together else None
    if asked.session and not asked.dates:
        return AskedTalk(session=asked.session, speaker=speaker) if talked or together else None
    if asked.dates:
        news = not known.news.isdisjoint(words)
        meant = AskedTalk(dates=asked.dates, of_every_kind=news, speaker=speaker)
        return meant if talked or news else None
    if not known.news.isdisjoint(words):
        return None
    line = " ".join(words)
    last = (talked or together) and not known.last.isdisjoint(words) and not _BEFORE_LAST.search(line)
    if last or known.turns.search(line):
        return AskedTalk(speaker=speaker)
    return AskedTalk(speaker=speaker, ever=True) if asked.names else None


SILENCE: Final = 6 * 3600.0  # seconds between two talks without a session
LAST: Final = "from your last session, {day}"
RUNNING: Final = "from this session, {day}; there is no earlier one"
COUNTED: Final = "from session {number}, {day}"
SAID_BY: Final = "said by {who}, {day}"
IN_TIME: Final = "from {day}, within the time asked for"
_SAID: Final = Where(kinds=(Kind.MESSAGE,))
_MADE_OF_OTHERS: Final = Where(kinds=(Kind.EPISODE, Kind.SUMMARY, Kind.TRIPLE, Kind.WORKING))


@dataclass(frozen=True, slots=True)
class _FoundTalk:
    """Records of one talk or of some days, newest first, and the reason; `{day}` in it is each one's day."""

    records: Sequence[Record]
    because: str
    numbers: Mapping[tuple[str, str | None], str] = field(default_factory=dict)  # of sessions, by name


def find_asked_talk(recall: Recall, query: Query, asked: Understood) -> AskedTalk | None:
    """Returns the conversation that a question asks for, if only its words narrow the search; else None."""
    if not query.understand or query.vector is not None or query.state is not None or query.unit != "record":
        return None
    return _parse_asked_talk(asked, recall.analyzer.language)


def answer_talk(recall: Recall, query: Query, asked: Understood) -> Hits | None:
    """Answers a question that asks for a talk but for nothing in it; None for every other question."""
    wanted = find_asked_talk(recall, query, asked)
    if wanted is None:
        return None
    talk = _TalkFinder(recall, query, wanted).find(asked)
    hits = [Hit(record=one, score=1.0, reasons=partial(_explain, talk, one)) for one in talk.records]
    trace = None
    if query.explain:
        notes = (*asked.notes(), _describe(wanted), *missing_of(recall.store))
        trace = Trace(query=query.text, notes=notes, scope=query.scope.path)
    return Hits(hits, trace, query.scope.path)


def _describe(wanted: AskedTalk) -> str:
    if wanted.session:
        return "asks for what was said in it, newest first"
    if wanted.of_every_kind:
        return "asks for what is new since then, newest first"
    if wanted.dates:
        return "asks for what was said then, newest first"
    if wanted.ever:
        return "asks for what somebody said, newest first"
    return "asks for the last session, newest first"


def _explain(talk: _FoundTalk, record: Record) -> Reasons:
    happened = local(record.occurred)
    number = talk.numbers.get((record.scope, record.session), "")
    day = f"{happened.day} {happened:%B %Y}"
    return Reasons(words=(talk.because.format(day=day, number=number, who=record.who),))


class _TalkFinder:
    """Finds the talk that one question means."""

    def __init__(self, recall: Recall, query: Query, wanted: AskedTalk) -> None:
        self._recall, self._query, self._wanted = recall, query, wanted

    def find(self, asked: Understood) -> _FoundTalk:
        if self._wanted.ever:
            own = ~_MADE_OF_OTHERS & Where(who=self._wanted.speaker, until=self._query.asked)
            return _FoundTalk(self._list(own), SAID_BY)
        meant = self._narrow_to_speaker(self._choose_kinds())
        if self._wanted.session:
            return self._find_counted(meant, self._wanted.session)
        if self._wanted.dates:
            return _FoundTalk(self._list(meant & self._within_days(asked)), IN_TIME)
        return self._find_last(meant & Where(until=self._query.asked))

    def _find_counted(self, meant: Where, session: MeantSessions) -> _FoundTalk:
        """Finds sessions by number; no records if there are not that many."""
        named = [Where(session=one.session, scope=Scope(one.scope)) for one in session.meant]
        records = self._list(meant & Where(some=named)) if named else []
        total = f"{session.total:,}"
        numbers: dict[tuple[str, str | None], str] = {
            (one.scope, one.session): f"{one.number:,} of {total}" for one in session.meant
        }
        return _FoundTalk(records, COUNTED, numbers)

    def _narrow_to_speaker(self, meant: Where) -> Where:
        """Narrows to the turns of the speaker named, if there are any."""
        if self._wanted.speaker is None:
            return meant
        own = meant & Where(who=self._wanted.speaker)
        return own if self._list(own, most=1) else meant

    def _choose_kinds(self) -> Where:
        """Selects messages or, if there are none, all records except those that upkeep derived."""
        if "kind" in self._query.given or self._wanted.of_every_kind:
            return Where()
        return _SAID if self._list(_SAID, most=1) else ~_MADE_OF_OTHERS

    def _within_days(self, asked: Understood) -> Where:
        zone = zone_of(self._query, asked)
        days = (((one.first - UNIX) * DAY - zone, (one.last + 1 - UNIX) * DAY - zone) for one in asked.dates)
        return Where(
            some=[Where(since=max(first, EARLIEST), until=min(end - 1e-3, LATEST)) for first, end in days]
        )

    def _find_last(self, meant: Where) -> _FoundTalk:
        newest = self._list(meant, most=1)
        if not newest:
            return _FoundTalk((), LAST)
        last = newest[0]
        if self._query.asked - last.occurred >= UNDER_WAY:
            return _FoundTalk(self._list_talk_of(last, meant), LAST)
        before = meant & self._before(last, meant)
        earlier = self._list(before, most=1)
        if not earlier:
            return _FoundTalk(self._list_talk_of(last, meant), RUNNING)
        return _FoundTalk(self._list_talk_of(earlier[0], before), LAST)

    def _before(self, running: Record, meant: Where) -> Where:
        """Excludes the conversation under way, to which this record belongs."""
        if running.session is not None:
            return ~Where(session=running.session, scope=Scope(running.scope))
        first = self._list_talk_of(running, meant)[-1]
        return Where(until=first.occurred - SILENCE)

    def _list_talk_of(self, last: Record, meant: Where) -> list[Record]:
        """Lists the newest records of the conversation that ends with this one."""
        if last.session is not None:
            return self._list(meant & Where(session=last.session, scope=Scope(last.scope)))
        return _until_silence(self._list(meant & Where(until=last.occurred, scope=Scope(last.scope))))

    def _list(self, where: Where, *, most: int | None = None) -> list[Record]:
        query = self._query
        if query.where is not None:
            where = where & query.where
        return self._recall.list_records(
            where, query.scope, now=query.now, order="-occurred", limit=query.limit if most is None else most
        )


def _until_silence(records: Sequence[Record]) -> list[Record]:
    """Returns the records, newest first, up to a long silence or to a record that has a session."""
    talk = list(records[:1])
    for later, earlier in pairwise(records):
        if earlier.session is not None or later.occurred - earlier.occurred > SILENCE:
            break
        talk.append(earlier)
    return talk
