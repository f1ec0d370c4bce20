"""The order of turns, against a plain reading of what it means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples

from eidet.index.embedded.sessions import Sessions

often = settings(derandomize=True, deadline=None, max_examples=examples(150))


class Row(NamedTuple):
    session: int
    occurred: float
    alive: bool
    units: int


rows = st.lists(
    st.builds(Row, st.integers(-1, 3), st.integers(0, 5).map(float), st.booleans(), st.integers(1, 3)),
    max_size=20,
)
simple = st.lists(
    st.builds(Row, st.integers(-1, 3), st.integers(0, 9).map(float), st.just(True), st.just(1)), max_size=20
)


def columns(given: list[Row]) -> tuple[list[Row], Sessions]:
    """A row for each unit, and what Sessions makes of them."""
    flat = [(row, unit) for row in given for unit in range(row.units)]
    made = Sessions(
        np.array([row.session for row, _ in flat], np.int32),
        np.array([row.occurred for row, _ in flat], np.float64),
        np.array([row.alive for row, _ in flat], np.bool_),
        np.array([unit == 0 for _, unit in flat], np.bool_),
    )
    return [row for row, _ in flat], made


def plain(given: list[Row]) -> tuple[list[int], list[int], list[int]]:
    """Turn, row before and row after of every unit, by sorting each session."""
    starts, at = [], 0
    for row in given:
        starts.append(at)
        at += row.units
    turn, before, after = ([-1] * len(given) for _ in range(3))
    for session in range(4):
        line = [n for n, row in enumerate(given) if row.alive and row.session == session]
        line.sort(key=lambda n: (given[n].occurred, n))
        for place, n in enumerate(line):
            turn[n] = place
            before[n] = starts[line[place - 1]] if place else -1
            after[n] = starts[line[place + 1]] if place + 1 < len(line) else -1
    spread = [n for n, row in enumerate(given) for _ in range(row.units)]
    return [turn[n] for n in spread], [before[n] for n in spread], [after[n] for n in spread]


@often
@given(rows)
def test_turns_and_neighbours_are_those_of_sorted_sessions(given_rows: list[Row]) -> None:
    flat, made = columns(given_rows)
    turn, before, after = plain(given_rows)
    assert made.turn.tolist() == turn
    assert made.before.tolist() == before
    assert made.after.tolist() == after
    asked = np.arange(len(flat))
    assert sorted(made.around(asked).tolist()) == sorted(n for n in (*before, *after) if n >= 0)


@often
@given(simple, simple)
def test_records_that_are_added_get_the_turns_they_would_have_had(first: list[Row], more: list[Row]) -> None:
    _, made = columns(first)
    every = first + more
    occurred = np.array([row.occurred for row in every], np.float64)
    for at, row in enumerate(more, start=len(first)):
        earlier = [other.occurred for other in every[:at] if other.session == row.session >= 0]
        fits = made.append(at, row.session, occurred)
        assert fits == (max(earlier, default=row.occurred) <= row.occurred)
        if not fits:
            return
    turn, before, after = plain(every)
    count = len(every)
    assert made.turn[:count].tolist() == turn
    assert made.before[:count].tolist() == before
    assert made.after[:count].tolist() == after


def test_no_records_have_no_neighbours() -> None:
    _, made = columns([])
    assert made.around(np.empty(0, np.intp)).tolist() == []
    assert made.append(0, 2, np.array([1.0]))
    assert made.turn[:1].tolist() == [0]
