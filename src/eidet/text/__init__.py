"""Turns text into terms, which the word index counts, and packs them for records.

An `Analyzer` turns a text into terms (stems without stop words). A record keeps them packed, five
bytes per distinct term, with the other data that search needs (`eidet.text.analysis`), so that a scope
can be indexed again without reading its texts.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Protocol, runtime_checkable
from zlib import crc32

from ..core.errors import Corrupt

__all__ = ["Analyzer", "analyzer_of", "pack", "pack_ids", "term_id", "unpack", "words_in"]

MOST = 255  # a count is one byte; for BM25, more makes no difference


def words_in(words: str | Sequence[str]) -> frozenset[str]:
    """Returns the set of words in a string, or in a list of lines."""
    return frozenset((words if isinstance(words, str) else " ".join(words)).split())


@runtime_checkable
class Analyzer(Protocol):
    """Turns text into terms. Pure and thread-safe; never raises for any text."""

    @property
    def name(self) -> str:
        """The name recorded in the store. Two analyzers of one name give the same terms for every text."""

    @property
    def language(self) -> str:
        """The code of the language whose dates and numbers are parsed."""

    def terms(self, text: str) -> list[str]:
        """Returns the terms in text order, with repeats, without stop words.

        A text of stop words alone keeps them: only a text without any word gives an empty list.
        """

    def pack_text(self, text: str) -> bytes:
        """Returns `pack(terms(text))` in one step, for the write path."""


def analyzer_of(language: str = "en") -> Analyzer:
    """Returns the analyzer of a language: an ISO 639-1 code, an English name, or "none" for plain words.

    There is one instance per language and process. Raises `BadInput` for an unknown language.
    """
    from .words import code_of

    return _analyzer(code_of(language))


@cache
def _analyzer(code: str) -> Analyzer:
    from .words import WordAnalyzer

    return WordAnalyzer(code)


def term_id(term: str) -> int:
    """Returns the id of a term, from 0 to 2**32 - 1: the same in every process and release."""
    return crc32(term.encode())


def pack(terms: Sequence[str]) -> bytes:
    """Packs k distinct terms in 5k bytes: ascending little-endian uint32 ids, then uint8 counts (to 255)."""
    return pack_ids([term_id(term) for term in terms])


def pack_ids(ids: Sequence[int]) -> bytes:
    """Packs terms whose ids are already known."""
    rising = sorted(set(ids))
    return struct.pack(f"<{len(rising)}I", *rising) + _tally(ids, rising)


def _tally(ids: Sequence[int], rising: Sequence[int]) -> bytes:
    if len(rising) == len(ids):  # most short texts have no repeats, and counting costs more than the rest
        return b"\x01" * len(ids)
    counts = dict.fromkeys(rising, 0)
    for id in ids:
        counts[id] += 1
    if len(ids) > MOST:
        return bytes([min(count, MOST) for count in counts.values()])
    return bytes(counts.values())


def unpack(packed: bytes) -> dict[int, int]:
    """Returns counts by term id, ids ascending; raises `Corrupt` for bytes of an impossible length."""
    size, rest = divmod(len(packed), 5)
    if rest:
        raise Corrupt(f"packed terms have five bytes each, but there are {len(packed):,} bytes")
    return dict(zip(struct.unpack_from(f"<{size}I", packed), packed[4 * size :], strict=True))
