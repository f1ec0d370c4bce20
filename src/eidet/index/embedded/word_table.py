"""What is known of an embedder's own words without analysing them: a table that comes with the package.

The first recall of a process asks which of the embedder's 12,600 words has which stem, and which words answer
for which. Both depend on the embedder and the analyzer alone, so they are worked out once and shipped.
The table names both; with any other embedder, analyzer or release of the stemmer it is left alone and
the words are analysed here. A test makes it anew and compares: `python -m eidet.index.embedded.word_table`
writes it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...models.embed import NumberedEmbedder
from ...text import Analyzer, analyzer_of, unpack
from ...text.word_forms import Related, list_related

FILE: Final = Path(__file__).parent / "word_table.bin"
FORMAT: Final = 1
_WORDS: Final = np.dtype([("term", "<u4"), ("number", "<u4")])
_PAIRS: Final = np.dtype([("term", "<u4"), ("other", "<u4"), ("near", "<f8")])
_NONE: Final[Related] = {}


class WordTable:
    """The numbers of words by the ids of their stems, and the related words of each id."""

    def __init__(self, words: NDArray[np.void], pairs: NDArray[np.void]) -> None:
        self._words = words
        self.related: Mapping[int, Related] = RelatedWords(pairs)

    def find_numbers(self, ids: Sequence[int]) -> dict[int, int]:
        """The number of the embedder's word for each of the ids that it has one for."""
        terms = self._words["term"]
        wanted = np.array(ids, np.uint32)
        at = np.minimum(np.searchsorted(terms, wanted), len(terms) - 1)
        there = terms[at] == wanted
        numbers = self._words["number"][at[there]]
        return dict(zip(wanted[there].tolist(), numbers.tolist(), strict=True))


class RelatedWords(Mapping[int, Related]):
    """As `list_related`, read from the table term by term."""

    def __init__(self, pairs: NDArray[np.void]) -> None:
        self._pairs = pairs
        self._terms = np.ascontiguousarray(pairs["term"])  # else each search would copy it

    def __getitem__(self, term: int) -> Related:
        key = np.uint32(term)
        start, end = self._terms.searchsorted(key), self._terms.searchsorted(key, side="right")
        if start == end:
            raise KeyError(term)
        found = self._pairs[start:end]
        return dict(zip(found["other"].tolist(), found["near"].tolist(), strict=True))

    def __iter__(self) -> Iterator[int]:
        return iter(np.unique(self._terms).tolist())

    def __len__(self) -> int:
        return len(np.unique(self._terms))


def read_table(embedder: NumberedEmbedder, analyzer: Analyzer) -> WordTable | None:
    """The table for just this embedder and this analyzer; None if the package has none, or a damaged one."""
    return _read(FILE, embedder.name, analyzer.name)


@cache
def _read(path: Path, embedder: str, analyzer: str) -> WordTable | None:
    try:
        content = path.read_bytes()
        head, _, rest = content.partition(b"\n")
        described = json.loads(head)
    except (OSError, ValueError):
        return None
    if described != _describe(embedder, analyzer, described.get("words"), rest):
        return None
    end = described["words"] * _WORDS.itemsize
    return WordTable(np.frombuffer(rest[:end], _WORDS), np.frombuffer(rest[end:], _PAIRS))


def _describe(embedder: str, analyzer: str, words: object, rest: bytes) -> dict[str, object]:
    return {
        "format": FORMAT,
        "embedder": embedder,
        "analyzer": analyzer,
        "words": words,
        "bytes": len(rest),
        "crc32": crc32(rest),
    }


def make_table(embedder: NumberedEmbedder, analyzer: Analyzer) -> bytes:
    """The content of the file, from the embedder's vocabulary and the forms of words."""
    numbers: dict[int, int] = {}
    for word, number in embedder.number_words():
        for id in unpack(analyzer.pack_text(word)):
            numbers.setdefault(id, number)
    words = np.array(sorted(numbers.items()), _WORDS)
    pairs = []
    for term, others in sorted(list_related(analyzer).items()):
        for other, near in others.items():
            pairs.append((term, other, near))
    rest = words.tobytes() + np.array(pairs, _PAIRS).tobytes()
    head = json.dumps(_describe(embedder.name, analyzer.name, len(words), rest))
    return head.encode() + b"\n" + rest


if __name__ == "__main__":
    from ...models.embed.wordllama import WordLlama

    FILE.write_bytes(make_table(WordLlama(), analyzer_of("en")))
