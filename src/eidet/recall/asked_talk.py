"""Whether a question asks for a talk and for nothing in it: "what did we discuss last time?". Pure.

Such a question has no word to search by. What it means is a session, some days, or whatever somebody said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..text.analysis import NUMBERED
from ..text.dates import Dated
from .asked_session import MeantSessions
from .participants import without
from .talk_words import TalkWords, talk_words
from .understand import Understood, hide_session

LONGEST: Final = 200  # characters: a longer text has something to say
_WORD = re.compile(r"[^\W_]+")
_BEFORE_LAST = re.compile(r"\bbefore last\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedTalk:
    """The conversation asked for: that of some sessions, of some days, or else the last."""

    session: MeantSessions | None = None
    dates: tuple[Dated, ...] = ()
    of_every_kind: bool = False  # what is new, not only what was said
    speaker: str | None = None  # whose turns are asked for
    ever: bool = False  # in whatever talk


def parse_asked_talk(asked: Understood, language: str) -> AskedTalk | None:
    """The talk that a question asks for; None if it asks for anything else."""
    if len(asked.text) > LONGEST or len(asked.names) > 1 or asked.only_time or asked.expects & NUMBERED:
        return None
    text = _without(hide_session(asked.text, asked.session), asked.dates)
    words = _WORD.findall(without(text, asked.names).casefold())
    for known in talk_words(language):
        if known.known.issuperset(words) and (not asked.names or _speaks(text, asked.names[0], known)):
            return _read(asked, words, known)
    return None


def _speaks(text: str, name: str, known: TalkWords) -> bool:
    """Whether somebody speaks, and is not spoken of or to: a word for it comes after the name."""
    after = text.casefold().partition(name.split(maxsplit=1)[0].casefold())[2]
    return not known.talk.isdisjoint(_WORD.findall(after))


def _without(text: str, dates: Sequence[Dated]) -> str:
    for start, end in sorted({(one.start, one.end) for one in dates}, reverse=True):
        text = text[:start] + " " + text[end:]
    return text


def _read(asked: Understood, words: Sequence[str], known: TalkWords) -> AskedTalk | None:
    """Parses a question that consists only of such words."""
    talked, together = not known.talk.isdisjoint(words), not known.we.isdisjoint(words)
    speaker = asked.speaker if asked.names or not together else None
    if asked.session and not asked.dates:
        return AskedTalk(session=asked.session, speaker=speaker) if talked or together else None
    if asked.dates:
        news = not known.news.isdisjoint(words)
        if talked or news:
            return AskedTalk(dates=asked.dates, of_every_kind=news, speaker=speaker)
        return None
    if not known.news.isdisjoint(words):
        return None
    line = " ".join(words)
    last = (talked or together) and not known.last.isdisjoint(words) and not _BEFORE_LAST.search(line)
    if last or known.turns.search(line):
        return AskedTalk(speaker=speaker)
    return AskedTalk(speaker=speaker, ever=True) if asked.names else None
