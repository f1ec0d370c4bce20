"""From text to terms: what the word index counts, and how a record carries it.

An `Analyzer` turns a text into terms (stems without stop words). A record keeps them packed, five
bytes a distinct term, with more that search needs of its text (`eidet.text.analysis`), so that a scope
is indexed again without reading its texts.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Protocol, runtime_checkable
from zlib import crc32

from ..core.errors import Corrupt

__all__ = ["Analyzer", "analyzer_of", "pack", "pack_ids", "term_id", "unpack"]

MOST = 255  # a count is one byte; BM25 does not tell 255 from more


@runtime_checkable
class Analyzer(Protocol):
    """Turns text into terms. Pure, safe in many threads, and total: no text makes it raise."""

    @property
    def name(self) -> str:
        """Recorded in the store. Two analyzers of one name give the same terms for every text."""

    @property
    def language(self) -> str:
        """The code of the language whose dates and numbers are parsed."""

    def terms(self, text: str) -> list[str]:
        """The terms in text order, repeats kept, stop words left out.

        A text of stop words alone keeps them: only a text without any word gives an empty list.
        """

    def pack_text(self, text: str) -> bytes:
        """`pack(terms(text))` in one go; the write path."""


def analyzer_of(language: str = "en") -> Analyzer:
    """The analyzer of a language: an ISO 639-1 code, an English name, or "none" for the plain words.

    One instance per language and process. An unknown language is `BadInput`.
    """
    from .words import code_of

    return _analyzer(code_of(language))


@cache
def _analyzer(code: str) -> Analyzer:
    from .words import WordAnalyzer

    return WordAnalyzer(code)


def term_id(term: str) -> int:
    """The id of a term: the same in every process and release, in 0 to 2**32 - 1."""
    return crc32(term.encode())


def pack(terms: Sequence[str]) -> bytes:
    """k rising little-endian uint32 term ids, then their k uint8 counts (at most 255): 5k bytes."""
    return pack_ids([term_id(term) for term in terms])


def pack_ids(ids: Sequence[int]) -> bytes:
    """Packs terms whose ids are already known."""
    rising = sorted(set(ids))
    return struct.pack(f"<{len(rising)}I", *rising) + _tally(ids, rising)


def _tally(ids: Sequence[int], rising: Sequence[int]) -> bytes:
    if len(rising) == len(ids):  # most short texts repeat nothing: counting them costs more than the rest
        return b"\x01" * len(ids)
    counts = dict.fromkeys(rising, 0)
    for id in ids:
        counts[id] += 1
    if len(ids) > MOST:
        return bytes([min(count, MOST) for count in counts.values()])
    return bytes(counts.values())


def unpack(packed: bytes) -> dict[int, int]:
    """Counts by term id, ids rising; bytes of an impossible length are `Corrupt`."""
    size, rest = divmod(len(packed), 5)
    if rest:
        raise Corrupt(f"packed terms have five bytes each, but there are {len(packed):,} bytes")
    return dict(zip(struct.unpack_from(f"<{size}I", packed), packed[4 * size :], strict=True))
