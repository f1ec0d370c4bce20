"""Two processes share tiers: what one changes while the other moves it stays as it was changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tiers import Pair, Switch

from eidet.core.errors import Unavailable
from eidet.core.record import Tier
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.store.sql.sqlite import SqliteStore

ALL = Where()


class Interrupted(Switch):
    """A store before whose next write something else happens."""

    pair: InterruptedPair

    def write(self, job: Any) -> Any:
        happens, self.pair.meanwhile = self.pair.meanwhile, None
        if happens is not None:
            happens()
        return self.__getattr__("write")(job)


class InterruptedPair(Pair):
    meanwhile: Callable[[], object] | None = None

    def opened(self, file: Path) -> Switch:
        opened = Interrupted(SqliteStore(file))
        opened.pair = self
        return opened


@pytest.fixture
def mover(tmp_path: Path) -> Iterator[InterruptedPair]:
    pair = InterruptedPair(tmp_path)
    yield pair
    pair.store.close()


@pytest.fixture
def other(tmp_path: Path, mover: InterruptedPair) -> Iterator[Pair]:
    pair = Pair(tmp_path)
    yield pair
    pair.store.close()


def misplace(pair: Pair, how: str) -> Tier:
    """Writes a record to where it does not belong: in the name of a store that was down, or by itself."""
    if how == "waits":
        pair.short.off = True
        verbs.put(pair.store, [fact("x", text="as it was")], now=NOW)
        pair.short.off = False
        pair.wait()
        return Tier.SHORT
    misplaced = fact("x", text="as it was", tier=Tier.LONG)
    verbs.put(pair.short._store, [misplaced], now=NOW)
    return Tier.LONG


HOW = ("waits", "lies in the wrong store")


@pytest.mark.parametrize("how", HOW)
def test_what_is_deleted_meanwhile_stays_deleted(mover: InterruptedPair, other: Pair, how: str) -> None:
    misplace(mover, how)
    assert [r.id for r in other.store.find(ALL)] == ["x"]
    mover.meanwhile = lambda: verbs.delete_where(other.store, Where(ids=("x",)), now=NOW)
    mover.store.mend()
    mover.store.mend()
    assert mover.store.find(ALL) == other.store.find(ALL) == []


@pytest.mark.parametrize("how", HOW)
def test_what_is_revised_meanwhile_stays_revised(mover: InterruptedPair, other: Pair, how: str) -> None:
    tier = misplace(mover, how)
    revised = fact("x", text="as it is", tier=tier)
    mover.meanwhile = lambda: verbs.put(other.store, [revised], now=NOW)
    mover.store.mend()
    mover.store.mend()
    assert [r.text for r in mover.store.find(ALL)] == [r.text for r in other.store.find(ALL)] == ["as it is"]


class Outages:
    """Two processes that write while one store or the other is down for one of them or for both."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.now = NOW
        self.pairs = [Pair(folder, clock=lambda: self.now) for _ in range(2)]
        self.said: dict[str, str] = {}

    def turn(self, down: str | None) -> None:
        for pair in self.pairs:
            pair.short.off = pair.long.off = False
        for pair in self.chance.choice([self.pairs, self.pairs[:1], self.pairs[1:]]) if down else ():
            getattr(pair, str(down)).off = True
        for pair in self.pairs:
            pair.wait()

    def step(self) -> None:
        self.now += 1
        pair, id = self.chance.choice(self.pairs), self.chance.choice("abc")
        tier, act = self.chance.choice([Tier.SHORT, Tier.LONG]), self.chance.random()
        if act < 0.15:
            self.turn(self.chance.choice([None, "short", "long"]))
        elif act < 0.7:
            record = fact(id, text=f"{id} at {self.now}", tier=tier, created=self.now, occurred=self.now)
            verbs.put(pair.store, [record], now=self.now, unique=False)
            self.said[id] = record.text
        elif act < 0.8:
            verbs.delete_where(pair.store, Where(ids=(id,)), now=self.now)
            self.said.pop(id, None)
        elif found := pair.store.find(Where(ids=(id,))):
            verbs.rewrite_form(pair.store, [(found[0], found[0].but(tier=tier))], now=self.now)

    def found(self, pair: Pair) -> dict[str, str]:
        assert verbs.count(pair.store, ALL) == len(pair.store.match(ALL)) == len(self.said)
        return {record.id: record.text for record in pair.store.find(ALL)}


@pytest.mark.parametrize("seed", range(12))
def test_the_last_word_counts_whatever_was_down_when_it_was_said(tmp_path: Path, seed: int) -> None:
    outages = Outages(tmp_path, seed)
    for _ in range(60):
        with suppress(Unavailable):
            outages.step()
    outages.turn(None)
    one, other = outages.pairs
    assert outages.found(one) == outages.found(other) == outages.said
    one.store.mend()
    other.store.mend()
    assert outages.found(one) == outages.found(other) == outages.said
    assert verbs.count(one.short, ALL) + verbs.count(one.long, ALL) == len(outages.said)
    for pair in outages.pairs:
        pair.store.close()
