"""Connections that are used again, and closed when nobody needs them any more."""

from __future__ import annotations

from typing import Any

import pytest

from eidet.core.errors import Unavailable
from eidet.store.sql.postgres.pool import Pool


class Line:
    closed = False

    def close(self) -> None:
        self.closed = True


def pool(made: list[Line], most: int = 2) -> Pool:
    def connect(left: float) -> Any:
        made.append(Line())
        return made[-1]

    return Pool(connect, most)


def test_an_idle_connection_is_used_again() -> None:
    made: list[Line] = []
    ours = pool(made)
    for _ in range(3):
        with ours.connection(1.0):
            pass
    assert len(made) == 1


def test_one_that_is_in_use_when_the_pool_is_closed_is_closed_when_it_comes_back() -> None:
    made: list[Line] = []
    ours = pool(made)
    with ours.connection(1.0), ours.connection(1.0):
        ours.close()
        assert [line.closed for line in made] == [False, False]
    assert [line.closed for line in made] == [True, True]


def test_after_one_has_failed_the_idle_ones_are_not_used_any_more() -> None:
    made: list[Line] = []
    ours = pool(made)
    with ours.connection(1.0), ours.connection(1.0):
        pass
    with ours.connection(1.0) as failing:
        failing.close()
    assert [line.closed for line in made] == [True, True]
    with ours.connection(1.0):
        assert [line.closed for line in made] == [True, True, False]


def test_who_finds_all_in_use_is_told_in_time() -> None:
    ours = pool([], most=1)
    with ours.connection(1.0), pytest.raises(Unavailable, match="in use"), ours.connection(0.01):
        pass
