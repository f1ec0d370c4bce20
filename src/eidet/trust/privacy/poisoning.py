"""How much a text looks like orders to the agent that will read it. A label, not a verdict.

Texts are read as they look (hidden characters taken out, lookalike letters resolved), and what their
base64, hexadecimal or tag characters spell is read too. The score is the chance that at least one reason
holds, if the weights were chances: 1 - ∏(1 - weight).
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as BadCode
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Final

SUSPICIOUS: Final = 0.5
_CODED: Final = 0.9
_MOST_BLOBS: Final = 20
_LONGEST_BLOB: Final = 8_000

_BLOB = re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}){16,}(?!\w)")
_RUN = re.compile(r"\s{9,}|[-=#*<\[]{9,}")  # of spaces, or of signs that make a line
_SPACES = re.compile(r"\s+")
_SPACED = re.compile(r"(?<!\w)(?:\w[ .*_-]){8,}\w(?!\w)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Poisoned:
    """0 (nothing speaks for it) to 1, and why."""

    score: float
    reasons: tuple[str, ...] = ()

    @property
    def suspicious(self) -> bool:
        """Worth a label: the score is at least 0.5."""
        return self.score >= SUSPICIOUS


def poison(text: str) -> Poisoned:
    """No text makes it raise; time is linear in it."""
    from .hidden_text import find_hidden_signs, plain

    shown = plain(text)
    reasons = dict((*find_hidden_signs(text), *_orders(shown), *_find_coded_orders(text, shown)))
    score = 1 - prod(1 - weight for weight in reasons.values())
    return Poisoned(score=round(score, 3), reasons=tuple(reasons))


def _orders(text: str) -> Iterator[tuple[str, float]]:
    from .injection_claims import EVERY

    small = _RUN.sub(_shorten_run, text.lower())
    for rule in EVERY:
        if any(stem in small for stem in rule.stems) and rule.shape.search(small):
            yield rule.reason, rule.weight


def _shorten_run(run: re.Match[str]) -> str:
    """As a reader sees it. Shapes that may begin anywhere in a long run would read the rest each time."""
    if not run[0].isspace():
        return run[0][:8]
    return "\n\n" if "\n" in run[0] else "  "


def _find_coded_orders(text: str, shown: str) -> Iterator[tuple[str, float]]:
    """Orders that had to be decoded are worse than orders in the open."""
    from .hidden_text import plain, read_tags

    for inner in (*_decode_blobs(shown), read_tags(text), *_run_together(shown)):
        if any(_orders(plain(inner))):
            yield "orders in a code", _CODED
            return


def _decode_blobs(text: str) -> Iterator[str]:
    if not (blobs := _BLOB.findall(text)):
        return
    for blob in blobs[:_MOST_BLOBS]:
        yield from _read(blob[:_LONGEST_BLOB])
    for blob in _HEX.findall(text)[:_MOST_BLOBS]:
        yield bytes.fromhex(blob[:_LONGEST_BLOB]).decode("utf-8", "replace")


def _read(blob: str) -> Iterator[str]:
    """What the blob spells, if that is text."""
    whole = blob.rstrip("=")
    try:
        spelt = b64decode(
            whole[: len(whole) // 4 * 4] + _pad(whole), altchars=b"-_" if set("-_") & set(whole) else None
        )
    except BadCode:
        return
    yield spelt.decode("utf-8", "replace")


def _pad(whole: str) -> str:
    rest = whole[len(whole) // 4 * 4 :]
    if len(rest) > 1:
        return rest + "=" * (4 - len(rest))
    return ""


def _run_together(text: str) -> Iterator[str]:
    """`i g n o r e` as a word; two spaces keep words apart."""
    for match in _SPACED.finditer(_SPACES.sub(lambda gap: "\n" if len(gap[0]) > 1 else " ", text)):
        yield re.sub(r"(?<=\w)[ .*_-](?=\w)", "", match[0])
