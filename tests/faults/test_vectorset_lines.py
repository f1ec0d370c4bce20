"""Vector sets when something is wrong: lines cut, servers killed, full or emptied, fills broken off."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.servers.redis8 import Redis8
from tests.unit.index.vectordb.test_databases import points, vector

from eidet import Memory
from eidet.core.errors import Unavailable
from eidet.core.settings import Settings
from eidet.index.vectordb import VectorShelf
from eidet.index.vectordb.pushdown import EVERYTHING, Leaf
from eidet.index.vectordb.vectorset import VectorSets
from eidet.models.embed.hashing import Hashing

pytestmark = pytest.mark.needs("redis8")

WIDTH = 16
AT_ONCE = "small=0&whole=1&ship_rows=1&background=no"
ANY = vector(0).repeat(2)


def opened(place: str | Path | None, index: str = f"vectorset://?{AT_ONCE}") -> Memory:
    return Memory(place, embedder=Hashing(WIDTH), settings=Settings(index=index))


def noted(memory: Memory, count: int = 20) -> Memory:
    memory.remember([f"note number{n} about topic{n}" for n in range(count)])
    memory.recall("topic7")
    assert memory.admin.stats()["index"]["rows_in_database"] == count
    return memory


def set_of(memory: Memory, scope: str = "default") -> tuple[VectorSets, str]:
    index = memory.parts.index
    database: VectorSets = index._database  # type: ignore[attr-defined]
    placed = index._ships.refresh(scope)  # type: ignore[attr-defined]
    return database, database._key(placed.at)


def shelf_of(memory: Memory, scope: str = "default") -> VectorShelf:
    at: VectorShelf = memory.parts.index._ships.refresh(scope).at  # type: ignore[attr-defined]
    return at


def test_a_server_that_is_full_says_so_and_is_still_searched(redis8: Redis8, redis8_url: str) -> None:
    memory = noted(opened(None, f"vectorset+{redis8_url}?{AT_ONCE}"))
    database, _ = set_of(memory)
    try:
        redis8.ask("CONFIG", "SET", "maxmemory", "1mb")
        with pytest.raises(Unavailable, match="full"):
            database.put(shelf_of(memory), points())
        memory.remember("a late note about zebras")
        assert memory.recall("zebras")[0].text == "a late note about zebras"  # it waits in RAM
        assert memory.admin.stats()["index"]["rows_in_ram"] == 1
        memory.forget(memory.recall("topic3")[0].id)
        redis8.ask("CONFIG", "SET", "maxmemory", "0")
        memory.recall("topic5")
        assert memory.admin.stats()["index"]["rows_in_database"] == 20
        assert memory.admin.check() == []
    finally:
        redis8.ask("CONFIG", "SET", "maxmemory", "0")
        memory.close()


@pytest.mark.parametrize("loss", ["FLUSHALL", "DEL"])
def test_what_the_server_lost_is_filled_again(redis8: Redis8, redis8_url: str, loss: str) -> None:
    memory = noted(opened(None, f"vectorset+{redis8_url}?{AT_ONCE}"))
    database, key = set_of(memory)
    redis8.ask(*((loss,) if loss == "FLUSHALL" else (loss, key)))
    for topic in ("topic7", "topic8"):
        assert memory.recall(topic)[0].text.endswith(topic)
    assert database.count(shelf_of(memory)) == 20
    assert memory.admin.check() == []
    memory.close()


def test_what_went_missing_unnoticed_is_drift_that_a_rebuild_mends(redis8: Redis8, redis8_url: str) -> None:
    memory = noted(opened(redis8_url))
    database, key = set_of(memory)
    for match in database.near(shelf_of(memory), ANY, 3, only=EVERYTHING):
        redis8.ask("VREM", key, f"{match.key:016x}")
    assert any("misses 3 of 20 vectors" in fault for fault in memory.admin.check())
    memory.admin.rebuild("default")
    assert memory.admin.check() == []
    _, fresh = set_of(memory)
    assert fresh != key
    assert redis8.ask("EXISTS", key) == b":0"
    redis8.ask("VADD", fresh, "VALUES", "16", *["1"] * 16, "00000000000ff000", "NOQUANT")
    assert any("still holds more" in fault for fault in memory.admin.check())
    memory.close()


@pytest.mark.parametrize("way", ["appendonly", "snapshot"])
def test_a_server_that_was_killed_comes_back_with_its_sets(tmp_path: Path, way: str) -> None:
    keep = ("--appendonly", "yes", "--appendfsync", "always") if way == "appendonly" else ()
    server = Redis8(tmp_path / "server", *keep).start()
    memory = noted(opened(server.url))
    memory.forget(memory.recall("topic3")[0].id)
    memory.recall("topic4")
    if way == "snapshot":
        assert server.ask("SAVE") == b"+OK"
    server.kill()
    with pytest.raises(Unavailable):
        Memory(f"{server.url}?deadline=1")
    server.start()
    memory.parts.store.retrier._opens = 0.0  # type: ignore[attr-defined] # its rest is over
    set_of(memory)[0].retrier._opens = 0.0
    assert memory.recall("topic7")[0].text.endswith("topic7")
    memory.remember("a note after the fall")
    assert memory.recall("the fall")[0].text == "a note after the fall"
    assert memory.admin.check() == []
    database, _ = set_of(memory)
    filtered = database.near(shelf_of(memory), ANY, 50, only=Leaf("who", "=", ""))
    assert len(filtered) == 20  # attributes came back, too
    memory.close()
    server.stop()


CHILD = """
import sys
from eidet.core.settings import Settings
from eidet.models.embed.hashing import Hashing
from eidet.memory import Memory
memory = Memory(sys.argv[1], embedder=Hashing(16), settings=Settings(index=sys.argv[2]))
for n in range(int(sys.argv[3])):
    memory.remember(f"note number{n} about topic{n}")
memory.recall("topic7")
print("done", flush=True)
sys.stdin.readline()
memory.forget(memory.recall("topic5")[0].id)
memory.recall("topic7")
memory.close()
"""


def test_what_another_process_wrote_and_forgot_is_so_here(redis8_url: str) -> None:
    index = f"vectorset://?{AT_ONCE}"
    with opened(redis8_url) as memory:
        memory.remember("Ann lives in Oslo")
        assert memory.recall("Oslo")[0].text == "Ann lives in Oslo"
        command = [sys.executable, "-c", CHILD, redis8_url, index, "30"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == "done\n"
            assert memory.recall("topic5")[0].text.endswith("topic5")
            child.communicate("go on\n", timeout=60)
        assert "topic5" not in " ".join(hit.text for hit in memory.recall("topic5", limit=50))
        database, _ = set_of(memory)
        assert database.count(shelf_of(memory)) == 30
        assert memory.admin.check() == []


def test_a_process_that_was_killed_while_it_filled_leaves_what_another_can_finish(
    redis8: Redis8, redis8_url: str
) -> None:
    with opened(redis8_url, "embedded") as memory:
        memory.remember([f"note number{n} about topic{n}" for n in range(3000)])
    index = "vectorset://?small=0&ship_rows=1&background=no&batch=50&lease_seconds=1"
    child = subprocess.Popen([sys.executable, "-c", CHILD, redis8_url, index, "0"])
    try:
        while child.poll() is None and (there := _elements(redis8_url)) < 100:
            time.sleep(0.005)
    finally:
        child.kill()
        child.wait()
    assert 100 <= there < 3000
    with opened(redis8_url, index) as memory:
        assert memory.recall("topic2999")[0].text.endswith("topic2999")  # whoever may send now
        time.sleep(1.1)
        assert memory.admin.check() == []
        assert memory.admin.stats()["index"]["rows_in_database"] == 3000


def _elements(url: str) -> int:
    from redis import Redis

    with Redis.from_url(url) as client:
        return sum(client.execute_command("VCARD", key) for key in client.scan_iter("*:k:*"))


def test_many_threads_write_forget_and_ask_at_once(redis8_url: str) -> None:
    memory, wrong = opened(redis8_url), []

    def work(me: int) -> None:
        for n in range(8):
            text = f"thread{me} wrote word{me}x{n}"
            memory.remember(text)
            if memory.recall(f"word{me}x{n}")[0].text != text:
                wrong.append(text)
            if n % 2:
                memory.forget(memory.recall(f"word{me}x{n}")[0].id)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert memory.admin.check() == []
    assert memory.admin.stats()["index"]["rows_in_database"] == 16
    memory.close()
