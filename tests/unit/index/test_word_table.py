"""The table of the embedder's words says what analysing them says, or is not used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eidet.index.embedded import word_table
from eidet.index.embedded.lexicon import AnalysedWords, TabledWords, own_words
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.wordllama import WordLlama
from eidet.text import analyzer_of, term_id
from eidet.text.word_forms import list_related
from eidet.text.words import WordAnalyzer

ENGLISH = analyzer_of("en")
SHIPPED = word_table.read_table(WordLlama(), ENGLISH)
needs_table = pytest.mark.skipif(
    SHIPPED is None, reason="the table is for another release of the stemmer: pip install 'PyStemmer==3.1.*'"
)


@pytest.fixture(autouse=True)
def _forget() -> None:
    word_table._read.cache_clear()


@needs_table
def test_the_table_of_the_package_is_what_it_would_be_made_of_now() -> None:
    assert word_table.FILE.read_bytes() == word_table.make_table(WordLlama(), ENGLISH), (
        "write it anew: python -m eidet.index.embedded.word_table"
    )


@needs_table
def test_words_have_the_same_vectors_with_and_without_the_table() -> None:
    embedder = WordLlama()
    tabled, analysed = own_words(embedder, ENGLISH), AnalysedWords(embedder, ENGLISH)
    assert isinstance(tabled, TabledWords)
    ids = [term_id(term) for term in ("live", "violin", "lisbon", "4821", "zzzz", "run", "be")]
    every = [*ids, *list(analysed._vectors)[::50]]
    assert tabled.find(every) == analysed.find(every)
    assert dict(tabled.related) == list_related(ENGLISH)
    assert len(tabled.related) == len(list_related(ENGLISH))
    assert tabled.find([]) == {}


def test_another_analyzer_or_embedder_does_not_use_it() -> None:
    class Numbered(WordLlama):
        def __init__(self) -> None:
            super().__init__()
            self.name = "wordllama:another"

    assert word_table.read_table(WordLlama(), WordAnalyzer("de")) is None
    assert word_table.read_table(Numbered(), ENGLISH) is None
    assert isinstance(own_words(WordLlama(), WordAnalyzer("de")), AnalysedWords)


@needs_table
@pytest.mark.parametrize("part", ["head", "words", "cut", "gone"])
def test_a_damaged_table_is_left_alone(part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, path = bytearray(word_table.FILE.read_bytes()), tmp_path / "table.bin"
    if part == "head":
        whole[5] ^= 1
    elif part == "words":
        whole[-5] ^= 1
    elif part == "cut":
        del whole[-16:]
    if part != "gone":
        path.write_bytes(whole)
    monkeypatch.setattr(word_table, "FILE", path)
    assert word_table.read_table(WordLlama(), ENGLISH) is None
    assert isinstance(own_words(WordLlama(), ENGLISH), AnalysedWords)


def test_an_embedder_without_numbered_words_is_analysed() -> None:
    class Words(Hashing):
        def vocabulary(self) -> list[tuple[str, np.ndarray]]:
            return [("lives", np.ones(self.width, np.float32))]

    found = own_words(Words(8), ENGLISH)  # type: ignore[arg-type]
    assert list(found.find([term_id("live"), term_id("other")])) == [term_id("live")]
