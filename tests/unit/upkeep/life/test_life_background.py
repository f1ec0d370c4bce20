"""The life of a memory: upkeep in the background."""

from __future__ import annotations

import logging
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock, rounds
from tests.timing import until
from tests.unit.upkeep.life.given import QUICK

from eidet import BadInput, Memory, Settings
from eidet.core.record import Tier
from eidet.core.settings import Upkeep
from eidet.store import verbs
from eidet.upkeep import Maintained

SIZE = rounds(600, 1500)  # so much that upkeep takes a while


def test_upkeep_runs_in_the_background_and_ends_with_its_block(memory: Memory, clock: Clock) -> None:
    memory.remember([f"note {n}" for n in range(100)])
    clock.days(2)
    with memory.upkeep.background(every=3600, settings=QUICK) as worker:
        until(lambda: worker.rounds)
        assert isinstance(worker.last, Maintained)
        assert worker.last.counts == {"move": 100}
        assert memory.admin.stats()["upkeep"]["rounds"] == 1
    assert not worker.running
    assert memory.recall("note 7")[0].record.tier is Tier.MIDDLE


def test_upkeep_goes_on_every_so_often_and_close_ends_it(memory: Memory) -> None:
    worker = memory.upkeep.background(every=0.01).start()
    until(lambda: worker.rounds >= 3)
    memory.close()
    assert not worker.running
    assert not [thread for thread in threading.enumerate() if thread.name == "eidet-upkeep"]


def test_insertions_make_moves_due(tmp_path: Path, clock: Clock) -> None:
    limits = Settings(upkeep=Upkeep(every_insertions=10, short_entries=5, short_age_days=None))
    with Memory(tmp_path / "m.db", embedder="hashing:64", settings=limits, clock=clock) as memory:
        for n in range(9):
            memory.remember(f"note {n}")
        assert "upkeep" not in memory.admin.stats()
        memory.remember("note 9")
        until(lambda: memory.admin.stats()["tiers"] == {"short": 5, "middle": 5})


def test_an_error_in_the_background_is_logged_and_told(
    memory: Memory, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.remember("grave", importance=0.9)
    clock.days(100_000)
    (tmp_path / "file").write_text("in the way")
    with (
        caplog.at_level(logging.WARNING, "eidet"),
        memory.upkeep.background(
            0.01, settings=Upkeep(forget_below=0.5), archive=tmp_path / "file" / "x"
        ) as worker,
    ):
        until(lambda: worker.errors >= 2)
        assert "nothing is deleted" in memory.admin.stats()["upkeep"]["last_error"]
    assert "upkeep failed" in caplog.text
    assert memory.count() == 1


def test_only_one_of_two_memories_on_a_file_does_the_upkeep(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as one:
        one.remember("note")
        assert verbs.take_lease(
            one.parts.store, "upkeep", "somebody else", now=time.time(), until=time.time() + 60
        )
        with one.upkeep.background(every=0.01) as worker:
            until(lambda: worker.rounds >= 2)
            assert worker.last is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_no_worker_and_can_start_one(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as memory:
        memory.remember("note")
        with memory.upkeep.background(every=3600) as worker:
            until(lambda: worker.rounds)
            child = os.fork()
            if child == 0:
                worker.stop()
                fine = not worker.running
                worker.start()
                deadline = time.monotonic() + 60
                while worker.rounds < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
                worker.stop()
                os._exit(0 if fine and worker.rounds >= 2 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert worker.running


@pytest.mark.parametrize("every", [0, -1, True, "often"])
def test_upkeep_needs_a_span(memory: Memory, every: Any) -> None:
    with pytest.raises(BadInput, match="every must be a number of seconds"):
        memory.upkeep.background(every)


def test_recalls_go_on_while_upkeep_works(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as memory:
        memory.remember([f"note number{n}" for n in range(SIZE)])
        clock.days(100)
        with memory.upkeep.background(every=3600, settings=QUICK) as worker:
            n = 0
            while not worker.rounds:
                texts = [hit.text for hit in memory.recall(f"number{n % SIZE}")]
                assert f"note number{n % SIZE}" in texts
                n += 7
        assert worker.last is not None
        assert worker.last.counts == {"move": SIZE}
        assert memory.admin.check() == []
