"""The words of rows, against a plain reference in Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.index.embedded.lexicon import BLOCK, RowWords

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
WORDS = 3 * BLOCK
words = st.lists(st.integers(1, WORDS), max_size=2 * BLOCK + 1, unique=True)
rows = st.lists(words, max_size=6)


def make(texts: Sequence[Sequence[int]]) -> RowWords:
    pairs = [(number, row) for row, text in enumerate(texts) for number in text]
    numbers, docs = np.array(pairs, np.intp).reshape(-1, 2).T
    return RowWords(numbers, docs.astype(np.int32), len(texts))


@often
@given(rows, rows, st.integers(0, 2**32 - 1), st.sampled_from([0.02, 0.5]), st.data())
def test_each_row_has_the_value_of_its_best_word(
    first: list[list[int]], more: list[list[int]], seed: int, share: float, data: st.DataObject
) -> None:
    texts = first + more
    random = np.random.default_rng(seed)
    values = random.random((2, WORDS + 1)).astype(np.float32)
    worth = random.random(WORDS + 1) < share
    worth[0] = False
    values[:, ~worth] = 0.0
    grown = make(first)
    for text in more:
        grown.append(text)
    some = sorted(data.draw(st.sets(st.integers(0, len(texts) - 1)))) if texts else []
    for at in (some, list(range(len(texts)))):
        if not at:
            continue
        wanted = [[max(line[[0, *texts[row]]]) for row in at] for line in values]
        for made in (grown, make(texts)):
            assert made.find_best(values, worth, np.array(at, np.intp)).tolist() == wanted
