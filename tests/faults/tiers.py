"""Tiered memories that break off, and a store that can be switched off."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.children import tell
from tests.faults.disk import limit_files

from eidet.core.errors import EidetError, Unavailable
from eidet.core.record import Tier
from eidet.core.settings import Settings
from eidet.core.where import Where
from eidet.memory import Memory
from eidet.store import Store, verbs
from eidet.store.contract import NOW, fact
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.tiered import TieredStore


class Switch:
    """A store that answers nothing while it is off, and kills the process after so many writes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.off = False
        self.writes_left = -1

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if not callable(found) or name in ("close", "describe"):
            return found

        def asked(*given: Any, **named: Any) -> Any:
            if self.off:
                raise Unavailable("switched off")
            answer = found(*given, **named)
            if name == "write":
                self.writes_left -= 1
                if not self.writes_left:
                    os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return asked


class Pair:
    """A tiered store of two files, each behind a switch, whose clock is turned by hand."""

    def __init__(
        self, folder: Path, key: bytes | None = None, clock: Callable[[], float] = lambda: NOW
    ) -> None:
        self.ticks = 0.0
        self.key = key
        self.short = self.opened(folder / "short.db")
        self.long = self.opened(folder / "long.db")
        self.store = TieredStore(
            self.short,
            self.long,
            clock=clock,
            ticks=lambda: self.ticks,
        )

    def opened(self, file: Path) -> Switch:
        return Switch(SqliteStore(file))

    def memory(self) -> Memory:
        settings = Settings(sidecar_from=5)
        return Memory(self.store, embedder="hashing:64", settings=settings, clock=lambda: NOW, key=self.key)

    def wait(self) -> None:
        """Until stores are asked again."""
        self.ticks += 10
        self.store.probe()


def move_and_die(folder: str, source: str, dying: str, writes: str) -> None:
    """Moves nineteen of twenty records to the other store; is killed after so many writes of `dying`."""
    pair = Pair(Path(folder))
    there, other = (Tier.SHORT, Tier.LONG) if source == "short" else (Tier.LONG, Tier.SHORT)
    stored = verbs.put(pair.store, [fact(f"{n}", tier=there) for n in range(20)], now=NOW)
    if dying:
        getattr(pair, dying).writes_left = int(writes)
    forms = [(old, old.but(tier=other)) for old in stored[:-1]]
    tell("ready")
    sys.stdin.readline()
    verbs.rewrite_form(pair.store, [*forms, (stored[-1], stored[-1].but(level=1))], now=NOW)


def queue_and_die(folder: str, when: str) -> None:
    """Queues writes for a store that is down; is killed at once, or while it delivers them."""
    pair = Pair(Path(folder))
    pair.short.off = True
    for n in range(10):
        verbs.put(pair.store, [fact(f"{n}", text=f"says {n}")], now=NOW)
    verbs.put(pair.store, [fact("3", text="says 3 anew")], now=NOW)
    tell(verbs.count(pair.store, Where()))
    if when == "at once":
        os.kill(os.getpid(), signal.SIGKILL)
    pair.short.off = False
    pair.short.writes_left = 1
    pair.wait()
    pair.store.mend()


def fill_the_disk(folder: str) -> None:
    """Queues writes until the disk is full; then there is room again, and the store comes back."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    pair = Pair(Path(folder))
    verbs.put(pair.store, [fact("first")], now=NOW)
    pair.short.off = True
    verbs.put(pair.store, [fact("queued")], now=NOW)
    limit_files(400_000)
    kept, error = [], ""
    for n in range(200):
        try:
            kept += [
                r.id for r in verbs.put(pair.store, [fact(f"{n}", text=f"{n} " + "x" * 20_000)], now=NOW)
            ]
        except EidetError as failed:
            error = f"{type(failed).__name__}: {failed}"
            break
    limit_files(-1)
    pair.short.off = False
    pair.wait()
    pair.store.mend()
    there = [r.id for r in pair.store.find(Where())]
    tell(
        [
            error,
            len(kept),
            sorted(there) == sorted(["first", "queued", *kept]),
            pair.store.health()["waiting"]["records"],
        ]
    )
    pair.store.close()


def come_and_go(folder: str, name: str) -> None:
    """Writes while the short store goes and comes back, and tells what was acknowledged, in two parts."""
    pair = Pair(Path(folder))
    tell("ready")
    sys.stdin.readline()
    for part in range(2):
        kept: list[str] = []
        for n in range(20):
            pair.short.off = n % 5 != 4
            pair.wait()
            kept += [r.id for r in verbs.put(pair.store, [fact(f"{name} {part} {n}")], now=NOW)]
        pair.short.off = True
        tell(kept)
    pair.store.close()
