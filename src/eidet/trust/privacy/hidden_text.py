"""Characters that people do not see and models read."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

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
_WORD = re.compile(r"\w+")


def find_hidden_signs(text: str) -> list[tuple[str, float]]:
    """Reasons to distrust what is not seen, each with its weight."""
    if text.isascii():
        return []
    tests = (
        (_TAGS, "tag characters", 0.9),
        (_OVERRIDE, "text direction override", 0.7),
        (_IN_WORDS, "invisible letters", 0.6),
        (_RUNS, "a run of invisible characters", 0.7),
    )
    result = []
    for shape, reason, weight in tests:
        if shape.search(text):
            result.append((f"hidden: {reason}", weight))
    return result


def read_tags(text: str) -> str:
    """What the tag characters spell."""
    if text.isascii():
        return ""
    spelt = "".join(match[0] for match in _TAGS.finditer(text))
    return "".join(chr(ord(one) - 0xE0000) for one in spelt if 0xE0020 <= ord(one) < 0xE007F)


def visible(text: str) -> str:
    """The text without characters that are not seen; joiners of scripts and emoji that need them stay."""
    if text.isascii():
        return text
    return _UNSEEN.sub(lambda match: _keep_joiner(text, match), text)


def _keep_joiner(text: str, match: re.Match[str]) -> str:
    around = text[max(0, match.start() - 1) : match.start()] + text[match.end() : match.end() + 1]
    joins = (
        _JOINED.fullmatch(match[0])
        and len(around) == 2
        and not around.isascii()
        and not _LATIN.search(around)
    )
    if joins:
        return match[0]
    return ""


def plain(text: str) -> str:
    """As it reads: compatibility forms resolved, nothing hidden, lookalikes in mixed words as Latin."""
    if text.isascii():
        return text
    shown = _BIDI.sub("", _UNSEEN.sub("", normalize("NFKC", text)))
    return _WORD.sub(_latin, shown)


def _latin(match: re.Match[str]) -> str:
    word = match[0]
    if not word.isascii() and _LATIN.search(word):
        return word.translate(_LOOKALIKES)
    return word
