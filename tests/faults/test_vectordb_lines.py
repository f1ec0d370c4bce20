"""Lines to databases of vectors that are slow, silent, refused or cut: recalls answer, and writes go on."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.pinecone import Pinecone
from tests.servers.proxy import Proxy
from tests.servers.weaviate import Weaviate
from tests.timing import within

from eidet.core.settings import Settings
from eidet.memory import Memory
from eidet.models.embed.hashing import Hashing
from eidet.net.retry import Retrier

WIDTH = 16
DEADLINE = 0.6


@pytest.fixture(params=["pinecone", "weaviate"])
def line(request: pytest.FixtureRequest) -> Iterator[tuple[Proxy, Memory]]:
    """A memory whose vectors are behind a proxy; 20 of them are there already."""
    server = Weaviate() if request.param == "weaviate" else Pinecone(WIDTH)
    proxy = Proxy(server.port)
    url = f"{request.param}+http://127.0.0.1:{proxy.port}?key={getattr(server, 'key', None) or 'k'}&settle=0"
    index = f"{url}&small=0&ship_rows=1&background=no&deadline={DEADLINE}"
    memory = Memory(embedder=Hashing(WIDTH), settings=Settings(index=index))
    memory.remember([f"note number{n} about topic{n}" for n in range(20)])
    memory.recall("topic7")
    assert memory.admin.stats()["index"]["rows_in_database"] == 20
    yield proxy, memory
    proxy.heal()
    memory.close()
    proxy.stop()
    server.stop()


def _retrier(memory: Memory) -> Retrier:
    index: Any = memory.parts.index
    retrier: Retrier = index._database.retrier
    return retrier


def _silent(proxy: Proxy) -> None:
    proxy.silent = True


def _slow(proxy: Proxy) -> None:
    proxy.delay = 1.5


def _cut_short(proxy: Proxy) -> None:
    proxy.cut_after = 40


def _cut_late(proxy: Proxy) -> None:
    proxy.cut_after = 200


FAULTS: dict[str, Callable[[Proxy], None]] = {
    "silent": _silent,
    "refused": Proxy.refuse,
    "cut short": _cut_short,
    "cut late": _cut_late,
    "slow": _slow,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_recall_answers_by_words_in_time_and_what_waits_is_sent_later(
    line: tuple[Proxy, Memory], fault: str
) -> None:
    proxy, memory = line
    FAULTS[fault](proxy)
    hits = within(3 * DEADLINE + 3.0, lambda: memory.recall("topic7", explain=True))
    assert hits[0].text.endswith("topic7")
    assert hits.trace is not None
    assert any("by words alone" in note for note in hits.trace.notes)
    memory.remember("a late note about zebras")
    assert memory.recall("zebras")[0].text == "a late note about zebras"
    proxy.heal()
    _retrier(memory)._opens = 0.0  # its rest is over
    assert memory.recall("zebras")[0].text == "a late note about zebras"
    assert memory.admin.stats()["index"]["rows_in_database"] == 21
    assert memory.admin.check() == []


def test_many_threads_write_and_ask_while_the_line_comes_and_goes(line: tuple[Proxy, Memory]) -> None:
    proxy, memory = line
    wrong: list[str] = []

    def work(me: int) -> None:
        for n in range(10):
            text = f"thread{me} wrote word{me}x{n}"
            memory.remember(text)
            if memory.recall(f"word{me}x{n}")[0].text != text:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(me,)) for me in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        time.sleep(0.1)
        proxy.cut()
    for thread in threads:
        thread.join()
    assert wrong == []
    _retrier(memory)._opens = 0.0  # its rest is over
    assert memory.admin.check() == []


@pytest.mark.needs("qdrant")
def test_a_client_of_qdrant_without_a_server_is_unavailable_in_time() -> None:
    silent = Proxy(9)  # nobody listens there
    url = f"qdrant+http://127.0.0.1:{silent.port}?small=0&ship_rows=1&background=no&deadline={DEADLINE}"
    memory = Memory(embedder=Hashing(WIDTH), settings=Settings(index=url))
    memory.remember("Ann lives in Oslo")
    assert within(5.0, lambda: memory.recall("Oslo"))[0].text == "Ann lives in Oslo"
    assert memory.admin.stats()["index"]["rows_in_ram"] == 1
    memory.close()
    silent.stop()


CHILD = """
import sys
from eidet.core.settings import Settings
from eidet.models.embed.hashing import Hashing
from eidet.net.retry import Retrier
from eidet.memory import Memory
memory = Memory(sys.argv[1], embedder=Hashing(16), settings=Settings(index=sys.argv[2]))
for n in range(150):
    memory.remember(f"note number{n} about topic{n}")
memory.recall("topic7")
"""


def test_a_process_that_was_killed_while_it_filled_leaves_what_another_can_finish(tmp_path: Path) -> None:
    server = Pinecone(WIDTH)
    how = "&small=0&ship_rows=1&background=no&settle=0&batch=3&lease_seconds=1"
    url, file = f"pinecone+{server.url}?key={server.key}{how}", str(tmp_path / "agent.db")
    child = subprocess.Popen([sys.executable, "-c", CHILD, file, url])
    try:
        while child.poll() is None and sum(map(len, server.spaces.values())) < 20:
            time.sleep(0.005)
    finally:
        child.kill()
        child.wait()
    there = sum(map(len, server.spaces.values()))
    assert 20 <= there < 150
    with Memory(file, embedder=Hashing(WIDTH), settings=Settings(index=url)) as memory:
        assert memory.recall("topic149")[0].text.endswith("topic149")  # whoever may send now
        time.sleep(1.1)
        assert memory.admin.check() == []
        memory.recall("topic149")  # releases what the check sent
        assert memory.admin.stats()["index"]["rows_in_database"] == 150
    server.stop()
