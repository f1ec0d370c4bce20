"""`eidet-multi`: static word vectors for seven languages, shipped with Eidet. Offline; needs only numpy."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import islice
from math import sqrt
from pathlib import Path
from typing import Final, NamedTuple
from unicodedata import combining, normalize

import numpy as np
from numpy.typing import NDArray

from ...core.errors import Corrupt, Misconfigured
from ...core.validate import clean_text
from . import Vectors

_Sums = NDArray[np.float64]

WIDTH: Final = 256
VERSION: Final = "1"
_TABLE: Final = Path(__file__).with_name("multi.npz")
_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz"
_MENDED: Final = 5  # letters of the shortest word whose typing slips are corrected
_LONGEST: Final = 40  # letters of the longest word that is corrected or split
_PART: Final = 4  # letters of the shortest part of a compound
_STRANGER: Final = 1.0  # length of the vector of a word that is not in the table; those in it have up to 1.5
_AT_ONCE: Final = 4_096  # words of a text that are summed at once: 8 MB
_LISTED: Final = 12_000  # commonest words, which `vocabulary` yields
_REMEMBERED: Final = 8_192  # words outside the table whose vectors are cached
_WORD: Final = re.compile(r"[a-z]+|[0-9]+")
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th"}
)


class EidetMulti:
    """The normalised sum of a text's word vectors; a text without Latin letters or digits gives a zero row.

    Case and accents make no difference. A word outside the table counts half as the commonest word one slip
    away, or as the parts of the compound, and half as itself, so that a name or number is near itself.
    The table is loaded by the first `embed`, once per process (about 30 ms, 20 MB).
    """

    width = WIDTH
    repeats = True  # the same text gives the same bytes each time

    def __init__(self, version: str = VERSION) -> None:
        if version != VERSION:
            raise Misconfigured(
                f"Eidet carries version {VERSION!r} of the embedder eidet-multi, not {version!r}"
            )
        self.name = f"eidet-multi:{version}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        table = _load_table()
        rows = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in zip(rows, texts, strict=True):
            total = table.sum_words(find_words(clean_text(text, "a text to embed")))
            if length := sqrt(total.dot(total)):
                np.divide(total, length, out=row, casting="same_kind")
        return rows

    def vocabulary(self) -> Iterator[tuple[str, Vectors]]:
        table = _load_table()
        rows = _unpack(table.rows[:_LISTED]) * table.scales[:_LISTED, None].astype(np.float32)
        yield from zip(islice(table.places, _LISTED), rows, strict=True)


def find_words(text: str) -> list[str]:
    """Returns the words and numbers of a text in lower case, without accents; skips other scripts."""
    return _WORD.findall(_fold(text))


def _fold(text: str) -> str:
    text = text.lower()
    if text.isascii():
        return text
    return "".join(letter for letter in normalize("NFKD", text.translate(_LETTERS)) if not combining(letter))


class _Table(NamedTuple):
    """The word table. Sums are float64, so that the order of additions does not show in the final float32."""

    places: dict[str, int]  # common words first
    rows: NDArray[np.uint8]  # two numbers of four bits in a byte: the first half of a row is in the low ones
    scales: _Sums

    def sum_words(self, words: list[str]) -> _Sums:
        """Returns the sum of the words' vectors; a word that occurs four times counts twice."""
        counts = Counter(words)
        known = [(self.places[word], count) for word, count in counts.items() if word in self.places]
        total = np.zeros(WIDTH)
        for start in range(0, len(known), _AT_ONCE):
            places, times = zip(*known[start : start + _AT_ONCE], strict=True)
            total += self.sum_rows(places, np.sqrt(times))
        if len(known) < len(counts):
            for word, count in counts.items():
                if word not in self.places:
                    total += _make_vector(word) * sqrt(count)
        return total

    def sum_rows(self, places: Sequence[int], weights: _Sums | float = 1.0) -> _Sums:
        packed, scales = self.rows.take(places, axis=0), self.scales.take(places) * weights
        total: _Sums = scales @ _unpack(packed).astype(np.float64)
        return total


def _unpack(packed: NDArray[np.uint8]) -> NDArray[np.int8]:
    return np.concatenate((packed & 15, packed >> 4), axis=1).view(np.int8) - np.int8(8)


@cache
def _load_table() -> _Table:
    try:
        with np.load(_TABLE) as stored:
            words, rows, scales = stored["words"].tobytes().decode(), stored["rows"], stored["scales"]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as bad:
        raise Corrupt(f"the table of eidet-multi cannot be read ({bad}); reinstall eidet") from bad
    listed = words.split("\n")
    return _Table(dict(zip(listed, range(len(listed)), strict=True)), rows, scales.astype(np.float64))


@lru_cache(_REMEMBERED)
def _make_vector(word: str) -> _Sums:
    """Returns the vector of a word outside the table: signs from a hash, plus those of its likely parts."""
    table = _load_table()
    bits = np.unpackbits(np.frombuffer(blake2b(word.encode(), digest_size=WIDTH // 8).digest(), np.uint8))
    own: _Sums = (bits.astype(np.float64) * 2 - 1) * (_STRANGER / sqrt(WIDTH))
    parts = _find_parts(word, table.places)
    if not parts:
        return own
    return (own + table.sum_rows([table.places[part] for part in parts]) / sqrt(len(parts))) / 2


def _find_parts(word: str, places: dict[str, int]) -> list[str]:
    """Returns the likely parts of a word; empty for a number, a short word or a very long one."""
    if not _MENDED <= len(word) <= _LONGEST or word.isdigit():
        return []
    known = [near for near in _find_near(word) if near in places]
    return [min(known, key=places.__getitem__)] if known else _split(word, places)


def _find_near(word: str) -> Iterator[str]:
    """Yields the words that differ by one letter added, left out or replaced, or by two letters swapped."""
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in _ALPHABET:
            yield before + letter + after
            yield before + letter + after[1:]


def _split(word: str, places: dict[str, int]) -> list[str]:
    """Splits a compound, longest part first; one letter may join two parts. Empty if it is no compound."""
    if word in places:
        return [word]
    for size in range(len(word) - _PART, _PART - 1, -1):
        if word[:size] in places:
            for joint in (0, 1):
                if rest := _split(word[size + joint :], places):
                    return [word[:size], *rest]
    return []
