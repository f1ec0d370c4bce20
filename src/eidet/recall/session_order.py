"""Which sessions of a scope a question means: they are counted by when their first record happened.

Only what had happened when the question was asked counts. Counted from the end, the newest session is one
session ago; the one that is under way is not counted. Reads columns of the index, and the first records of
the sessions that are meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ..core.record import Record
from ..core.where import Where
from .asked_session import AskedSessions, MeantSession, MeantSessions

if TYPE_CHECKING:
    from . import Query, Recall

UNDER_WAY: Final = 300.0  # seconds: a session with a turn newer than this goes on
ALL: Final = 1 << 31

_Place = tuple[str, int]  # scope and seq


def find_sessions(recall: Recall, query: Query, asked: AskedSessions) -> MeantSessions | None:
    """The sessions that a question counts or names; None where the scope has none, or none of that name."""
    openings = _list_openings(recall, query)
    if not openings:
        return None
    numbers = _match_label(recall, openings, asked.label) if asked.label else []
    if not numbers:
        if not asked.ranges:
            return None
        numbers = _count(asked, len(openings), _find_running(recall, query, openings))
    meant = [
        MeantSession(scope=record.scope, session=record.session or "", number=number)
        for number, record in zip(numbers, _read(recall, [openings[at - 1] for at in numbers]), strict=True)
        if record is not None
    ]
    return MeantSessions(asked=asked, meant=tuple(meant), total=len(openings))


def _list_openings(recall: Recall, query: Query) -> list[_Place]:
    """The first record of each session, in the order they happened."""
    until = Where(until=query.asked)
    places = recall.index.select(query.scope, until, now=query.now, order="occurred", limit=ALL)
    first: set[_Place] = set()
    for path, seqs in _group(places).items():
        around = recall.index.around(path, seqs, 0, None, now=query.now)
        first.update((path, seq) for seq, near in around.items() if near.turn == 0)
    return [place for place in places if place in first]


def _group(places: Sequence[_Place]) -> dict[str, list[int]]:
    """Seqs by scope."""
    grouped: dict[str, list[int]] = {}
    for path, seq in places:
        grouped.setdefault(path, []).append(seq)
    return grouped


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


def _find_running(recall: Recall, query: Query, openings: Sequence[_Place]) -> int | None:
    """The number of the session that is under way, if one is."""
    until = Where(until=query.asked)
    newest = recall.list_records(until, query.scope, now=query.now, order="-occurred", limit=1)
    if not newest or query.asked - newest[0].occurred >= UNDER_WAY:
        return None
    named = (newest[0].scope, newest[0].session)
    for at in range(len(openings), 0, -1):
        record = _read(recall, [openings[at - 1]])[0]
        if record is not None and (record.scope, record.session) == named:
            return at
    return None


def _match_label(recall: Recall, openings: Sequence[_Place], name: str) -> list[int]:
    """The numbers of the sessions of that name: "7" is also "session-7"."""
    low, records = name.casefold(), _read(recall, openings)
    return [
        at
        for at, record in enumerate(records, 1)
        if record is not None and _ends_with((record.session or "").casefold(), low)
    ]


def _ends_with(label: str, name: str) -> bool:
    return label.endswith(name) and not label[: len(label) - len(name)][-1:].isalnum()


def _read(recall: Recall, places: Sequence[_Place]) -> list[Record | None]:
    """Reads one record per place, in one round trip per scope."""
    found: dict[_Place, Record | None] = {}
    for path, seqs in _group(places).items():
        found.update(zip([(path, seq) for seq in seqs], recall.read(path, seqs), strict=True))
    return [found[place] for place in places]
