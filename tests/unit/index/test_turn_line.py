"""Turns beside each other, against a plain reference in Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.making import examples

from eidet.index.turn_line import WINDOW, TurnLine
from eidet.text.analysis import QUESTION

often = settings(derandomize=True, deadline=None, max_examples=examples(100))
turns = st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 40)), min_size=1, max_size=30, unique=True)


def line_of(places: list[tuple[int, int]], lengths: NDArray[np.float32] | None = None) -> TurnLine:
    session, turn = np.array(places, np.int32).T
    count = len(places)
    length = np.ones(count, np.float32) if lengths is None else lengths
    return TurnLine(session, turn, np.zeros(count, np.int32), np.full(count, QUESTION, np.uint8), length)


@often
@given(turns, st.integers(0, 2**32 - 1))
def test_the_best_around_is_within_the_window_of_the_same_session(
    places: list[tuple[int, int]], seed: int
) -> None:
    line = line_of(places)
    values = np.random.default_rng(seed).random(len(places))
    if not line.some:
        return
    wanted = []
    for (session, turn), own in zip(places, values.tolist(), strict=True):
        around = [
            value
            for (other, at), value in zip(places, values.tolist(), strict=True)
            if other == session >= 0 and abs(at - turn) <= WINDOW
        ]
        wanted.append(max([own, *around]))
    assert line.best(values, values).tolist() == wanted
