"""Two processes share tiers: what one changes while the other moves it stays as it was changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.faults.tiers import Pair, Switch

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
