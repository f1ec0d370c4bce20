"""Parses sessions and talks in questions: "our first session", "what did we discuss last time?".

`talk_words.json` has the words of each language: `session` has patterns, those of numbers and ordinals in
order, each without a space; `talk` has the words of a question for a talk. All languages have the same forms.
Sessions are counted in the order of their first records, up to the time of asking. Counted from the end, the
newest session is one session ago; the one under way is not counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from ..text import words_in
from ..text.analysis import NUMBERED
from ..text.dates import Dated
from ..text.dates.scanner import fold_text
from ..text.words import STOP_WORDS
from .participants import without

if TYPE_CHECKING:
    from .understand import Understood


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkWords:
    """The words with which a language asks "what did we talk about last time?".

    A question asks that if it has only `known` words and mentions a talk and the last one, or if it has one
    of the `turns` of phrase. `news` ask for what is new since a time.
    """

    talk: frozenset[str]
    last: frozenset[str]
    news: frozenset[str]
    we: frozenset[str]
    known: frozenset[str]  # all of these, function words, and words without a subject
    turns: re.Pattern[str]


@cache
def _load() -> dict[str, dict[str, Any]]:
    text = files(__package__).joinpath("talk_words.json").read_text(encoding="utf-8")
    loaded: dict[str, dict[str, Any]] = json.loads(text)
    return loaded


@cache
def _list_languages(language: str) -> tuple[str, ...]:
    """Lists a language, if its words are known, and English, in which many ask whatever they store."""
    return tuple(dict.fromkeys((language, "en"))) if language in _load() else ("en",)


@cache
def talk_words(language: str) -> tuple[TalkWords, ...]:
    """Returns the words of a language, and the English ones."""
    return tuple(_make(code, **_load()[code]["talk"]) for code in _list_languages(language))


def _make(language: str, *, other: str, turns: str, **words: str) -> TalkWords:
    sets = {name: words_in(text) for name, text in words.items()}
    known = (STOP_WORDS[language] | words_in(other)).union(*sets.values())
    return TalkWords(**sets, known=known, turns=re.compile(rf"(?<!\w)(?:{turns})(?!\w)"))


MOST: Final = 1_000_000  # higher numbers are ignored


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSessions:
    """The sessions a question names, counted from the first (1) or the last (-1), and their place in it.

    `label` is the word after that for a session: it may be a name as well as a number.
    """

    start: int
    end: int
    ranges: tuple[tuple[int, int], ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantSession:
    """A session of a scope, with its number among all."""

    scope: str
    session: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MeantSessions:
    """The sessions that a question means, of `total`; empty if it counts beyond them."""

    asked: AskedSessions
    meant: tuple[MeantSession, ...]
    total: int

    def describe(self) -> str:
        """Describes the sessions for the explanation."""
        if not self.meant:
            return f"asks for a session that is not there: there are {self.total:,}"
        numbers = ", ".join(str(one.number) for one in self.meant)
        return f"in session {numbers} of {self.total:,}"


_Ranges = tuple[tuple[int, int], ...]
_Reading = Callable[[int, int, bool], _Ranges]


def _span(first: int, last: int, both: bool) -> _Ranges:
    return ((first, first), (last, last)) if both else ((min(first, last), max(first, last)),)


# The forms in which sessions are counted, and their ranges; {…} are patterns of the language. The first
# number is a, the second b, which defaults to a; `both` means two sessions, not a range.
_FORMS: Final[tuple[tuple[str, _Reading], ...]] = (
    ("{ago_before} {number_a} {noun}", lambda a, _, __: ((-a, -a),)),
    ("{number_a} {noun} {ago_after}", lambda a, _, __: ((-a, -a),)),
    ("{ordinal_a} {to_last} {noun}", lambda a, _, __: ((-a, -a),)),
    ("{before_last} {noun}", lambda _, __, ___: ((-2, -2),)),
    ("{noun} {before_last_after}", lambda _, __, ___: ((-2, -2),)),
    ("{last} {number_a} {noun}", lambda a, _, __: ((-a, -1),)),
    ("{first} {number_a} {noun}", lambda a, _, __: ((1, a),)),
    ("{ordinal_a}(?: {noun})? {link} {ordinal_b} {noun}", _span),
    ("{noun} (?:{number} )?{number_a}(?: ?{link} ?{number_b})?", _span),
    ("{ordinal_a} {noun}", lambda a, _, __: ((a, a),)),
    ("{last} {noun}", lambda _, __, ___: ((-1, -1),)),
    ("{noun} {last_after}", lambda _, __, ___: ((-1, -1),)),
)
_NOT_A_VERB = r"(?<!\bwe )(?<!\bi )(?<!\byou )(?<!\bthey )(?<!\bto )"  # "when did we first talk?"
_LABEL = re.compile(r"\b(?:session|conversation|chat|thread)\s+[#\"']?([\w.:-]*\d[\w.:-]*)")
_SLOT = re.compile(r"\{(\w+)\}")


@lru_cache(maxsize=4)  # a recall asks twice
def parse_asked_sessions(text: str, language: str) -> AskedSessions | None:
    """Parses the sessions that a question counts or names; None for most questions."""
    low = fold_text(text)
    for code in _list_languages(language):
        if (found := _grammar(code).read(low)) is not None:
            return found
    if named := _LABEL.search(low):
        label = text[named.start(1) : named.end(1)].rstrip(".:-")
        return AskedSessions(start=named.start(), end=named.end(), label=label)
    return None


class _Grammar:
    """The forms of counting sessions in the words of one language."""

    def __init__(self, words: dict[str, str]) -> None:
        self._noun = re.compile(rf"(?<!\w)(?:{words['noun']})(?!\w)")
        self._numbers = [re.compile(one) for one in words["numbers"].split()]
        self._ordinals = [re.compile(one) for one in words["ordinals"].split()]
        self._tens = words["tens"].split()
        self._both = re.compile(words["both"])
        slots = self._slots(words)
        self._forms = [
            (re.compile(_fill(form, slots)), reading)
            for form, reading in _FORMS
            if all(slots[name] for name in _SLOT.findall(form))
        ]

    def _slots(self, words: dict[str, str]) -> dict[str, str]:
        tens = "|".join(self._tens)
        before = rf"(?:(?:{tens})[ -])?" if tens else ""
        digits = rf"[0-9]{{1,6}}(?:{words['marks']})"
        ordinal = rf"{digits}|{before}(?:{_join(words['ordinals'])})"
        number = rf"[0-9]{{1,6}}(?!(?:{words['marks']})\b)|{before}(?:{_join(words['numbers'])})"
        number += f"|{tens}" if tens else ""
        plain = {name: said.replace(" ", r"[\s-]+") for name, said in words.items()}
        return plain | {
            "link": rf"(?P<link>{words['link']}|{words['both']}|[-\u2013\u2014])(?: the)?",
            "ordinal_a": f"(?P<a>{ordinal})",
            "ordinal_b": f"(?P<b>{ordinal})",
            "number_a": f"(?P<a>{number})",
            "number_b": f"(?P<b>{number})",
        }

    def read(self, low: str) -> AskedSessions | None:
        if not self._noun.search(low):
            return None
        for form, reading in self._forms:
            if found := form.search(low):
                return self._make(found, reading)
        return None

    def _make(self, found: re.Match[str], reading: _Reading) -> AskedSessions:
        parts = found.groupdict()
        first = self._count(parts.get("a"))
        last = self._count(parts.get("b")) or first
        both = self._both.fullmatch(parts.get("link") or "") is not None
        label = parts["a"] if parts.get("a") and not parts.get("b") and _is_named(found) else None
        ranges = reading(first, last, both) if max(first, last) < MOST else ()
        return AskedSessions(start=found.start(), end=found.end(), ranges=ranges, label=label)

    def _count(self, said: str | None) -> int:
        """Parses a number in digits or words; 0 for none."""
        if not said:
            return 0
        if digits := re.match(r"[0-9]+", said):
            return int(digits[0])
        *tens, last = re.split(r"[ -]", said)
        if last in self._tens and not tens:
            return (self._tens.index(last) + 2) * 10
        more = (self._tens.index(tens[0]) + 2) * 10 if tens else 0
        return more + next(self._places(last), 0)

    def _places(self, word: str) -> Iterator[int]:
        for known in (self._ordinals, self._numbers):
            yield from (at for at, one in enumerate(known, 1) if one.fullmatch(word))


def _is_named(found: re.Match[str]) -> bool:
    """Returns whether it is "session 7", which may be a session's name, and not "the 7th session"."""
    return found.start("a") > found.start() and found.end("a") == found.end() and found["a"].isdecimal()


def _join(words: str) -> str:
    return "|".join(f"(?:{one})" for one in words.split())


def _fill(form: str, slots: dict[str, str]) -> str:
    spaced = form.replace(" ?", r"[\s-]*").replace(" ", r"[\s-]+")
    filled = _SLOT.sub(lambda slot: f"(?:{slots[slot[1]]})", spaced)
    verb = _NOT_A_VERB if form.startswith(("{ordinal_a}", "{last}")) else ""
    return rf"(?<!\w){verb}{filled}(?!\w|[-.:/]\w)"


@cache
def _grammar(language: str) -> _Grammar:
    return _Grammar(_load()[language]["session"])


# --- the talk that a question asks for


def hide_session(text: str, session: MeantSessions | None) -> str:
    """Replaces the words about a session by blanks; all positions stay the same."""
    if session is None:
        return text
    start, end = session.asked.start, min(session.asked.end, len(text))
    return text[:start] + " " * (end - start) + text[end:]


def cut_times(text: str, dates: Sequence[Dated]) -> str:
    """Replaces times by a blank."""
    for start, end in sorted({(one.start, one.end) for one in dates}, reverse=True):
        text = f"{text[:start]} {text[end:]}"
    return text


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


def parse_asked_talk(asked: Understood, language: str) -> AskedTalk | None:
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
