"""The Redis store behaves like `RamStore`, whatever is asked of it and in whatever order."""

from __future__ import annotations

import uuid
from hashlib import sha1

import pytest
from hypothesis import settings
from hypothesis.stateful import initialize, run_state_machine_as_test
from tests.making import examples
from tests.property import test_store_machine as machine
from tests.servers.valkey import Valkey

from eidet.store import Store
from eidet.store.ram import RamStore
from eidet.store.redis import RedisStore, codec, transaction

CLOCK = "(tonumber(clock[1]) - 1577836800) * 1000000 + tonumber(clock[2])"


class Counted(codec.Script):
    """The script with seqs that are counted from 1, as RAM does, and not taken from the clock."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("commit")
        assert CLOCK in self.text
        self.text = self.text.replace(CLOCK, "0")
        self.sha = sha1(self.text.encode(), usedforsecurity=False).hexdigest()


class Twins(machine.Twins):
    url: str

    @initialize()
    def open(self) -> None:
        self.stores: tuple[Store, Store] = (
            RamStore(),
            RedisStore(f"{self.url}?prefix={uuid.uuid4().hex[:12]}"),
        )

    def teardown(self) -> None:
        self.stores[1].close()


def test_every_answer_is_that_of_the_reference(
    valkey: Valkey, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted()
    monkeypatch.setattr(transaction, "COMMIT", counted)
    monkeypatch.setitem(codec.SCRIPTS, counted.sha, counted.text)
    monkeypatch.setattr(Twins, "url", redis_url, raising=False)
    run_state_machine_as_test(
        Twins,
        settings=settings(derandomize=True, deadline=None, max_examples=examples(25), stateful_step_count=20),
    )
