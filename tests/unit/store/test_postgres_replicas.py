"""Servers that follow: which of them are read from, and how soon one is left."""

from __future__ import annotations

from typing import Any

import pytest

from eidet.core.errors import Unavailable
from eidet.net.retry import RetryPolicy
from eidet.store.sql.postgres.pool import Server
from eidet.store.sql.postgres.replicas import Replica, Replicas

pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")


class Away:
    """The way to a server that is down."""

    def __init__(self) -> None:
        self.tried = 0

    def __call__(self, left: float) -> Any:
        self.tried += 1
        raise Unavailable("refused")


def replica(way: Away) -> Replica:
    policy = RetryPolicy(deadline_seconds=5.0, break_after=1)
    return Replica(Server("far", way, lambda _: None, 2, policy), lambda: 0, 1.0)


def test_a_replica_that_is_down_is_tried_once_and_left() -> None:
    way = Away()
    one = replica(way)
    with pytest.raises(Unavailable, match="refused"):
        one.ask(lambda _: None, 5.0)
    assert way.tried == 1
    with pytest.raises(Unavailable, match="is down"):  # and it is not tried again before its rest is over
        one.ask(lambda _: None, 5.0)
    assert way.tried == 1
    one.close()


def test_without_a_replica_that_is_near_nobody_is_picked() -> None:
    one = replica(Away())
    replicas = Replicas([one])
    assert replicas.pick() is None
    assert [told["fresh"] for told in replicas.describe()] == [False]
    assert Replicas([]).pick() is None
    replicas.close()
