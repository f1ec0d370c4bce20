"""Scores how much a text looks like orders to the agent that reads it. The score is a label, not a verdict.

Texts are read as they look (hidden characters removed, lookalike letters resolved), and so is the text
that their base64, hexadecimal or tag characters encode. The score is the probability that at least one
reason holds, if the weights were independent probabilities: 1 - ∏(1 - weight).
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as BadCode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final
from unicodedata import normalize

from .findings import load_patterns
from .quarantine import SUSPICIOUS

_CODED: Final = 0.9
_MOST_BLOBS: Final = 20
_LONGEST_BLOB: Final = 8_000

_BLOB = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}){16,}(?!\w)")
_RUN = re.compile(r"\s{9,}|[-=#*<\[]{9,}")  # of spaces, or of signs that draw a line
_SPACES = re.compile(r"\s+")
_SPACED = re.compile(r"(?<!\w)(?:\w[ .*_-]){8,}\w(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisoned:
    """A score from 0 (no sign of orders) to 1, with the reasons."""

    score: float
    reasons: tuple[str, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Whether the score reaches 0.5, from which on a text gets a label."""
        return self.score >= SUSPICIOUS


def poison(text: str) -> Poisoned:
    """Scores a text. Never raises; takes time linear in the text."""
    shown = _plain(text)
    reasons = dict((*_find_hidden_signs(text), *_orders(shown), *_find_coded_orders(text, shown)))
    score = 1 - prod(1 - weight for weight in reasons.values())
    return Poisoned(score=round(score, 3), reasons=tuple(reasons))


def _orders(text: str) -> Iterator[tuple[str, float]]:
    small = _RUN.sub(_shorten_run, text.lower())
    for rule in load_patterns()["orders"]:
        if any(stem in small for stem in rule["stems"]) and _compile(rule["shape"]).search(small):
            yield rule["reason"], rule["weight"]


@cache
def _compile(shape: str) -> re.Pattern[str]:
    return re.compile(shape)


def _shorten_run(run: re.Match[str]) -> str:
    """Shortens a long run to what a reader sees, so that patterns stay linear."""
    if not run[0].isspace():
        return run[0][:8]
    return "\n\n" if "\n" in run[0] else "  "


def _find_coded_orders(text: str, shown: str) -> Iterator[tuple[str, float]]:
    """Yields one heavy reason if orders appear only after decoding, which is worse than plain orders."""
    for inner in (*_decode_blobs(shown), _spell_tags(text), *_run_together(shown)):
        if any(_orders(_plain(inner))):
            yield "orders in a code", _CODED
            return


def _decode_blobs(text: str) -> Iterator[str]:
    if not (blobs := _BLOB.findall(text)):
        return
    for blob in blobs[:_MOST_BLOBS]:
        yield from _decode(blob[:_LONGEST_BLOB])
    for blob in _HEX.findall(text)[:_MOST_BLOBS]:
        yield bytes.fromhex(blob[:_LONGEST_BLOB]).decode("utf-8", "replace")


def _decode(blob: str) -> Iterator[str]:
    """Yields the text that the blob decodes to, or nothing if it is no base64."""
    whole = blob.rstrip("=")
    whole = whole[: len(whole) - (len(whole) % 4 == 1)]  # a single letter over encodes nothing
    other = b"-_" if set("-_") & set(whole) else None
    try:
        spelt = b64decode(whole + "=" * (-len(whole) % 4), altchars=other)
    except BadCode:
        return
    yield spelt.decode("utf-8", "replace")


def _run_together(text: str) -> Iterator[str]:
    """Joins letters spaced out as in `i g n o r e` to words; two spaces separate words."""
    for match in _SPACED.finditer(_SPACES.sub(lambda gap: "\n" if len(gap[0]) > 1 else " ", text)):
        yield re.sub(r"(?<=\w)[ .*_-](?=\w)", "", match[0])


# Characters that are invisible to people but not to models.

_OVERRIDE = re.compile("[\u202d\u202e]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
_WIDTHLESS = "\u200b\u200c\u200d\u2060-\u2064\ufeff\u00ad\u180e\u034f"
_IN_WORDS = re.compile(f"(?<=[A-Za-z])[{_WIDTHLESS}]+(?=[A-Za-z])")
_RUNS = re.compile(f"[{_WIDTHLESS}\ufe00-\ufe0f\U000e0100-\U000e01ef]{{6,}}")
_TAGS = re.compile(
    "(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
)  # after a flag they are its region
_UNSEEN = re.compile(f"[{_WIDTHLESS}\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
_JOINED = re.compile("[\u200c\u200d]")  # joiners of emoji and of Persian or Indic letters
_LATIN = re.compile("[A-Za-z]")
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһкмтнвАВЕКМНОРСТХІЅЈαοενιτρκυΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhkmtnbABEKMHOPCTXISJaoevitpkuABEZHIKMNOPTYX",
)
_LETTERS = re.compile(r"\w+")


def _find_hidden_signs(text: str) -> list[tuple[str, float]]:
    """Lists reasons to distrust invisible characters, each with its weight."""
    if text.isascii():
        return []
    tests = (
        (_TAGS, "tag characters", 0.9),
        (_OVERRIDE, "text direction override", 0.7),
        (_IN_WORDS, "invisible letters", 0.6),
        (_RUNS, "a run of invisible characters", 0.7),
    )
    return [(f"hidden: {reason}", weight) for shape, reason, weight in tests if shape.search(text)]


def _spell_tags(text: str) -> str:
    """Decodes tag characters to the ASCII text that they hide."""
    if text.isascii():
        return ""
    spelt = "".join(match[0] for match in _TAGS.finditer(text))
    return "".join(chr(ord(one) - 0xE0000) for one in spelt if 0xE0020 <= ord(one) < 0xE007F)


def visible(text: str) -> str:
    """Removes invisible characters, except joiners in scripts and emoji that need them."""
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda match: _keep_joiner(text, match), text)


def _keep_joiner(text: str, match: re.Match[str]) -> str:
    around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
    joins = len(around) == 2 and not around.isascii() and not _LATIN.search(around)
    return match[0] if joins and _JOINED.fullmatch(match[0]) else ""


def _plain(text: str) -> str:
    """Resolves compatibility forms, removes hidden characters, and maps lookalikes to Latin letters."""
    if text.isascii():
        return text
    shown = _BIDI.sub("", _UNSEEN.sub("", normalize("NFKC", text)))
    return _LETTERS.sub(_latin, shown)


def _latin(match: re.Match[str]) -> str:
    word = match[0]
    return word.translate(_LOOKALIKES) if not word.isascii() and _LATIN.search(word) else word
