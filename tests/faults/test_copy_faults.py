"""A copy that is stopped anywhere goes on: nothing is missing, nothing is there twice."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults import copiers
from tests.faults.nursery import Nursery

from eidet import Memory, Unavailable
from eidet.copy import copy
from eidet.core.record import Record
from eidet.core.where import Where
from eidet.store import verbs
from eidet.store.ram import RamStore

FACTS = 900
REVISED = 30


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "m.db"
    with Memory(path, embedder="hashing:32") as memory:
        for scope in ("a", "b/c", "b"):
            records = memory.remember([f"{scope} fact number {n}" for n in range(FACTS // 3)], scope=scope)
            for record in records[:: FACTS // REVISED]:
                memory.revise(record.id, scope=scope, text=f"{record.text} revised")
                memory.revise(record.id, scope=scope, meta={"revised": True})
    return path


def content(place: str | Path) -> dict[tuple[str, str], Record]:
    with Memory(place) as memory:
        return {(r.scope, r.id): r.but(seq=0) for r in verbs.scan(memory.parts.store, Where())}


def stories(place: str | Path, keys: list[tuple[str, str]]) -> list[object]:
    with Memory(place) as memory:
        return [memory.history(id, scope=scope) for scope, id in keys]


@pytest.fixture(params=["file", "postgres", "redis"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "file":
        yield str(tmp_path / "target.db")
    else:
        yield str(request.getfixturevalue(f"{request.param}_url"))


def test_kill_nine_in_the_middle_and_again_and_again(start: Nursery, source: Path, target: str) -> None:
    chance, kills = random.Random(4), 0
    for _ in range(3):
        child = start(copiers.slowly, source, target)
        child.hear()
        child.hear()
        time.sleep(chance.uniform(0.0, 0.4))
        child.kill()
        kills += all(not isinstance(told[0], bool) for told in child.hear_rest())
    assert kills >= 1
    copied = copy(source, target)
    assert copied.ok
    whole = content(source)
    assert content(target) == whole
    revised = [key for key, record in whole.items() if record.version > 1]
    assert len(revised) == REVISED
    assert stories(target, revised) == stories(source, revised)
    assert copy(source, target).same == len(whole)


def test_an_interrupted_command_says_how_to_go_on(start: Nursery, source: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.db"
    child = start(copiers.command, source, target)
    first = child.hear()
    child.process.send_signal(signal.SIGINT)
    assert child.process.wait() == 130
    copied = copy(source, target)
    assert copied.same >= first > 0
    assert copied.ok
    assert content(target) == content(source)


def test_two_copies_at_once_do_no_harm(start: Nursery, source: Path, target: str) -> None:
    children = [start(copiers.together, source, target) for _ in range(2)]
    assert [child.result()[0] for child in children] == [True, True]
    assert copy(source, target).ok
    assert content(target) == content(source)


def test_a_source_under_fire_ends_up_whole(target: str) -> None:
    memory = Memory(RamStore(), embedder="hashing:32")
    memory.remember([f"fact before {n}" for n in range(300)], scope="s0")
    ended = threading.Event()

    def fire() -> None:
        for turn in range(400):
            if ended.wait(0.005):
                return
            record = memory.remember(f"fact of turn {turn}", scope=f"s{turn % 3}")
            if turn % 3 == 0:
                memory.revise(record.id, scope=record.scope, text=f"revised in turn {turn}")
            if turn % 7 == 0:
                memory.forget(record.id, scope=record.scope, for_good=False)

    writer = threading.Thread(target=fire)
    writer.start()
    try:
        with Memory(target, embedder="hashing:32") as other:
            for _ in range(3):
                copy(memory, other)
            ended.set()
            writer.join()
            last = copy(memory, other)
            assert last.ok
            whole = {(r.scope, r.id): r.but(seq=0) for r in verbs.scan(memory.parts.store, Where())}
            there = {(r.scope, r.id): r.but(seq=0) for r in verbs.scan(other.parts.store, Where())}
            assert there == whole
    finally:
        ended.set()
        writer.join()


def test_a_target_that_goes_away_is_an_error_and_the_copy_goes_on_later(source: Path, tmp_path: Path) -> None:
    from tests.servers.valkey import Valkey

    server = Valkey(tmp_path).start()
    try:
        seen: list[int] = []

        def kill(done: int, total: int) -> None:
            seen.append(done)
            if len(seen) == 2:
                server.kill()

        with pytest.raises(Unavailable):
            copy(source, f"{server.url}?deadline=1", progress=kill)
        server.start()
        assert copy(source, f"{server.url}?deadline=1").ok
        assert content(server.url) == content(source)
    finally:
        server.stop()
