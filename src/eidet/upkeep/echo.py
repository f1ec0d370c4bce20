"""A guard against remembering what was only just recalled: an agent that says a memory again tells nothing.

Texts are compared by runs of three words. What a run of a recalled text covers is repeated; the rest
is new. A text is an echo if nothing of it is new but words that people put around a memory ("as I
remember"): no content word, no number, no negation. So a text that repeats and adds is no echo.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..core.errors import BadInput
from ..text.stopwords import STOP_WORDS
from ..text.words import code_of, tokens

RUN: Final = 3  # words
FEWEST: Final = 4  # words: what is shorter echoes only the very same text
LONGEST: Final = 5_000  # words of a text that are looked at


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# said for courtesy or rhythm
FILLERS: Final = _words("""
    please thanks thank thx hi hello hey ok okay well really just oh btw fyi yes yeah yep sure anyway
    basically literally simply kindly very quite indeed hereby also too currently presently today's
    remember note reminder remind dear everyone guys lol haha um uh hmm
    """)
NEGATIONS: Final = _words("""
    not no never none nobody nothing neither nor cannot without hardly n't
    nicht kein keine keinen keiner nie niemals pas jamais aucun aucune non nunca jamás não nem mai
    niet geen nooit inte aldrig ikke aldri ei не нет никогда 不 没 没有 不是 无 لا ليس לא
    """)
# end what was true before: "left Acme", "the meeting is cancelled"
ENDINGS: Final = _words("""
    stop quit left leav cancel cancell sold sell lost former ex end ceas drop abandon resign retir fire
    divorc expir delet remov discontinu over die dead gave
    """)
CUES: Final = _words("""
    actually instead correction corrected correcting rather anymore update updated changed changes change
    switched switching moved rescheduled postponed delayed renamed longer turns mistake wrong became becomes
    """)
PLANS: Final = _words("""
    will 'll shall might may could should would wo gonna plan plans planning want wants wanted hope hopes
    hoping intend intends considering thinking maybe perhaps probably if
    """)
PERSONS: Final = _words("""
    i me my mine myself i'm i've i'd i'll we us our ours ourselves we're we've you your yours yourself
    yourselves you're he him his himself she her hers herself they them their theirs themselves they're
    """)
# function words that have an opposite
KEPT: Final = _words("""
    to from before after on off up down in out above below over under with without more less fewer all some
    few most none
    """)
# signs that change what is said, as words: "-5" is not "5", and "C++" is not "C"
_SIGN_WORDS: Final = dict(
    pair.split(" ", 1)
    for pair in (
        *("$ dollar", "€ euro", "£ pound", "¥ yen", "₹ rupee", "% percent", "‰ permille", "° degree"),
        *("< below", "> above", "≤ at most", "≥ at least", "<= at most", ">= at least", "= equals"),
        *("== equals", "!= not equals", "≠ not equals", "++ plusplus", "# sharp", "- minus", "− minus"),
        *("+ plus", "-> to", "→ to"),
    )
)
_SIGN: Final = re.compile(
    r"->|→|[<>!=]=|[$€£¥₹%‰≤≥≠=°]|(?<=\w)\+\+|(?<=\w)#|(?<!\w)[-−+](?=[$€£]?\d)|(?<=\s)[<>](?=\s|\d)"
)
# what people say around a memory that they tell again
LEAD_INS: Final = _words("""
    remember recall recalled remembered memory memories mentioned mention said say says told tell noted note
    know known according earlier previously before already last time user you assistant i we as from your my
    what here there is are was were have has had found following based see looks like context conversation
    summary answer sure yes okay right think believe per that also
    """)


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoLimits:
    """How long and how many recalled texts are kept in mind."""

    seconds: float = 3_600.0
    texts: int = 512

    def __post_init__(self) -> None:
        if not (self.seconds > 0 and self.texts > 0):
            raise BadInput(f"an echo guard's seconds and texts must be above 0, not {self}")


@dataclass(frozen=True, slots=True)
class _Noted:
    at: float
    whole: int
    runs: frozenset[int]
    denials: frozenset[str]


class Echoes:
    """What was recalled lately. Not for several threads at once: whoever shares it guards it."""

    def __init__(self, limits: EchoLimits | None = None, language: str = "en") -> None:
        self._limits = limits or EchoLimits()
        self._idle = STOP_WORDS.get(code_of(language), frozenset()) | FILLERS | LEAD_INS
        self._noted: OrderedDict[str, _Noted] = OrderedDict()

    def __len__(self) -> int:
        return len(self._noted)

    def note(self, id: str, text: str, now: float) -> None:
        """Keeps a recalled text in mind; noted again, it counts from now on. Without words it is not kept."""
        words = tokens(spell_symbols(text))[:LONGEST]
        self._noted.pop(id, None)
        if words:
            self._noted[id] = _Noted(now, _hash(words), frozenset(_runs(words)), _DENIALS.intersection(words))
        self._forget(now)

    def is_echo(self, text: str, now: float) -> str | None:
        """The id that the text repeats, the one that most of it comes from; None if it says something new."""
        self._forget(now)
        words = tokens(spell_symbols(text))
        if not words or not self._noted or len(words) > LONGEST:
            return None
        whole = _hash(words)
        same = next((id for id, noted in reversed(self._noted.items()) if noted.whole == whole), None)
        return same if same or len(words) < FEWEST else self._near(words)

    def _near(self, words: Sequence[str]) -> str | None:
        runs = _runs(words)
        repeated = {
            id: _places_covered(runs, noted.runs)
            for id, noted in reversed(self._noted.items())
            if noted.denials.issubset(words)  # "I live in Lisbon" is no echo of "I do not live in Lisbon"
        }
        covered = set[int]().union(*repeated.values())
        if not covered or self._adds(words, covered):
            return None
        return max(repeated, key=lambda noted: len(repeated[noted]))

    def _adds(self, words: Sequence[str], covered: set[int]) -> bool:
        """Whether a word is new. Between repeated words more counts: one there took the place of another."""
        first, last = min(covered), max(covered)
        added = ((at, word) for at, word in enumerate(words) if at not in covered)
        return any(
            word not in self._idle or _changes(word) or (first < at < last and word in _CHANGE_INSIDE)
            for at, word in added
        )

    def _forget(self, now: float) -> None:
        """Drops what is too old, then the oldest of what is too many. A clock set back drops nothing."""
        while len(self._noted) > self._limits.texts:
            self._noted.popitem(last=False)
        old = [id for id, noted in self._noted.items() if now - noted.at > self._limits.seconds]
        for id in old:
            del self._noted[id]


def spell_symbols(text: str) -> str:
    """The text with its telling signs as words; brackets, dashes and marks of layout stay as they are."""
    return _SIGN.sub(lambda sign: f" {_SIGN_WORDS[sign[0]]} ", text)


def _runs(words: Sequence[str]) -> list[int]:
    return [_hash(words[at : at + RUN]) for at in range(max(len(words) - RUN, 0) + 1)]


def _hash(words: Sequence[str]) -> int:
    return hash(tuple(words))


def _places_covered(runs: Sequence[int], noted: frozenset[int]) -> set[int]:
    """The places of the words that lie in a run of the noted text."""
    return {at + ahead for at, run in enumerate(runs) if run in noted for ahead in range(RUN)}


def _changes(word: str) -> bool:
    """A number, a negation or another person changes what is said, however short it is."""
    return word in _CHANGE or word.endswith("n't") or any(map(str.isdecimal, word))


_DENIALS: Final = (
    NEGATIONS | CUES | ENDINGS | _words("minus don't doesn't didn't isn't aren't wasn't won't can't")
)
_CHANGE: Final = NEGATIONS | CUES | ENDINGS | _words("he him his she her hers they them their but")
_CHANGE_INSIDE: Final = KEPT | PLANS | PERSONS
