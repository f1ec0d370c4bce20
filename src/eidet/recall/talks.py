"""Finds sessions by number, and answers "what did we talk about last time?" with the turns of that talk.

The last question has no word to search by: it means a session, some days, or all that a person said. The last
talk is the session that was active last, except the one under way. Records without a session are split into
talks by silence. Reads columns of the index, and no more records than it shows.
"""

from __future__ import annotations

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
from . import group_places
from .query import zone_of
from .sessions import AskedSessions, AskedTalk, MeantSession, MeantSessions
from .signals import DAY, UNIX
from .understand import Understood

if TYPE_CHECKING:
    from . import Query, Recall


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


def answer_talk(recall: Recall, query: Query, asked: Understood, wanted: AskedTalk) -> Hits:
    """Answers a question that asks for a talk but for nothing in it."""
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


# --- sessions by number or name

UNDER_WAY: Final = 300.0  # seconds after its last turn during which a session is under way
ALL: Final = 1 << 31

_Place = tuple[str, int]  # scope and seq


def find_sessions(recall: Recall, query: Query, asked: AskedSessions) -> MeantSessions | None:
    """Finds the sessions that a question counts or names; None if there are none, or none of that name."""
    openings = [one for one in recall.read_places(_list_openings(recall, query)) if one is not None]
    numbers = [at for at, one in enumerate(openings, 1) if _is_called(one.session or "", asked.label)]
    if not numbers:
        if not openings or not asked.ranges:
            return None
        numbers = _count(asked, len(openings), _find_running(recall, query, openings))
    meant = [
        MeantSession(scope=one.scope, session=one.session or "", number=number)
        for number, one in ((number, openings[number - 1]) for number in numbers)
    ]
    return MeantSessions(asked=asked, meant=tuple(meant), total=len(openings))


def _list_openings(recall: Recall, query: Query) -> list[_Place]:
    """Lists the place of each session's first record, in order of time."""
    until = Where(until=query.asked)
    places = recall.index.select(query.scope, until, now=query.now, order="occurred", limit=ALL)
    first: set[_Place] = set()
    for path, seqs in group_places(places).items():
        around = recall.index.around(path, seqs, 0, None, now=query.now)
        first.update((path, seq) for seq, near in around.items() if near.turn == 0)
    return [place for place in places if place in first]


def _count(asked: AskedSessions, total: int, running: int | None) -> list[int]:
    """Converts ordinals to numbers from 1 up; drops those beyond the total."""
    ended = [number for number in range(1, total + 1) if number != running]
    found: dict[int, None] = {}
    for first, last in asked.ranges:
        if first > 0:
            found.update(dict.fromkeys(range(first, min(last, total) + 1)))
        else:
            start, stop = len(ended) + first, len(ended) + last + 1
            found.update(dict.fromkeys(ended[max(start, 0) : max(stop, 0)]))
    return list(found)


def _find_running(recall: Recall, query: Query, openings: Sequence[Record]) -> int | None:
    """Returns the number of the session under way; None if there is none."""
    until = Where(until=query.asked)
    newest = recall.list_records(until, query.scope, now=query.now, order="-occurred", limit=1)
    if not newest or query.asked - newest[0].occurred >= UNDER_WAY:
        return None
    running = newest[0].scope, newest[0].session
    return next((at for at, one in enumerate(openings, 1) if (one.scope, one.session) == running), None)


def _is_called(session: str, name: str | None) -> bool:
    """Returns whether a session has a name; "7" means "session-7", too."""
    low, wanted = session.casefold(), (name or "").casefold()
    return bool(wanted) and low.endswith(wanted) and not low[: len(low) - len(wanted)][-1:].isalnum()
