"""A lost line to a database that searches: every verb succeeds or says in time that it could not.

Afterwards all that was acknowledged is found, and answers are those of an index in RAM.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.faults import pgvector_memories as memories
from tests.faults.nursery import Nursery
from tests.faults.pgvector_memories import FROM, SCOPE, await_served, check_complete, fill, opened, text
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.timing import ATTEMPTS, until

from eidet import Memory
from eidet.net.retry import RetryPolicy

QUICK = RetryPolicy(deadline_seconds=0.6, break_after=1000, rest_seconds=0.1)


@pytest.fixture
def filled(postgres_url: str) -> str:
    """A database with a scope that the server searches."""
    with opened(postgres_url) as memory:
        fill(memory, range(FROM))
        memory.admin.rebuild()
    return postgres_url


@pytest.fixture
def behind(proxy: Proxy, filled: str) -> str:
    """The same one's address through the proxy."""
    return f"postgresql://postgres@127.0.0.1:{proxy.port}/{filled.rpartition('/')[2]}"


def opening(address: str, proxy: Proxy, retry_policy: RetryPolicy) -> Iterator[Memory]:
    with opened(address, retry_policy) as memory:
        memory.recall("parcel", scope=SCOPE)
        yield memory
        proxy.heal()


@pytest.fixture
def patient(behind: str, proxy: Proxy) -> Iterator[Memory]:
    yield from opening(behind, proxy, memories.PATIENT)


@pytest.mark.parametrize("after", [0, 400, 2_500])
def test_a_line_cut_in_the_middle_of_a_reply_changes_no_answer(
    after: int, patient: Memory, proxy: Proxy, filled: str
) -> None:
    proxy.cut()
    proxy.cut_after = after
    healing = threading.Timer(0.25, proxy.heal)
    healing.start()
    assert patient.recall(text(7), scope=SCOPE, limit=1)[0].text == text(7)
    patient.remember(text("cut"), scope=SCOPE)
    assert patient.recall(text("cut"), scope=SCOPE, limit=1)[0].text == text("cut")
    healing.join()
    check_complete(patient, filled, [3, 50, "cut"])


def test_closing_does_not_wait_for_a_copy_that_a_black_hole_swallowed(
    filled: str, behind: str, proxy: Proxy
) -> None:
    took: list[float] = []
    filled_to = FROM
    while len(took) < ATTEMPTS and (not took or took[-1] >= 9):
        took.append(seconds_to_close_without_a_word(filled, behind, proxy, filled_to))
        filled_to += 60
    assert took[-1] < 9
    with opened(filled) as other:
        check_complete(other, filled, range(0, filled_to, 40))


def seconds_to_close_without_a_word(filled: str, behind: str, proxy: Proxy, first: int) -> float:
    memory = opened(behind, QUICK)
    memory.recall("parcel", scope=SCOPE)
    with opened(filled) as other:
        fill(other, range(first, first + 60))  # more than may wait
    memory.recall("parcel", scope=SCOPE)
    proxy.silent = True
    started = time.monotonic()
    memory.close()
    took = time.monotonic() - started
    proxy.cut()
    proxy.heal()
    return took


def recall_until(ended: threading.Event, memory: Memory, first: int) -> None:
    while not ended.is_set():
        for number in range(first, FROM, 17):
            assert memory.recall(text(number), scope=SCOPE, limit=1)[0].text == text(number)


def remember_until(ended: threading.Event, memory: Memory, told: list[int]) -> None:
    while not ended.is_set():
        memory.remember(text(FROM + len(told)), scope=SCOPE)
        told.append(FROM + len(told))


def test_recalls_and_writes_go_on_over_a_server_that_is_killed(postgres: Postgres, filled: str) -> None:
    told: list[int] = []
    ended = threading.Event()
    with opened(filled) as memory, ThreadPoolExecutor(4) as pool:
        try:
            work = [pool.submit(recall_until, ended, memory, n) for n in range(3)]
            work.append(pool.submit(remember_until, ended, memory, told))
            until(lambda: len(told) > 30)
            postgres.kill()
            postgres.start()
            before = len(told)
            until(lambda: len(told) > before + 30 or any(done.done() for done in work))
        finally:
            ended.set()
        for done in work:
            done.result(60)
        await_served(memory)
        check_complete(memory, filled, [*range(0, FROM, 25), *told[::15], told[-1]])


@pytest.mark.parametrize("pages", ["1", "4"])
def test_a_copier_that_is_killed_leaves_no_half_copy(pages: str, postgres_url: str, start: Nursery) -> None:
    with opened(postgres_url) as memory:
        fill(memory, range(FROM))
    child = start(memories.copy_slowly, postgres_url, pages)
    assert child.hear() == "copying"
    child.kill()
    with opened(postgres_url) as memory:
        await_served(memory)
        assert memory.admin.check() == []
        check_complete(memory, postgres_url, range(0, FROM, 25))


def test_a_copier_killed_while_it_brings_a_copy_up_to_date_is_gone_on_for(
    filled: str, start: Nursery
) -> None:
    with Memory(filled, embedder=memories.EMBEDDER) as memory:  # which copies nothing
        fill(memory, range(FROM, FROM + 90))
        memory.forget(memory.recall(text(5), scope=SCOPE, limit=1)[0].id, scope=SCOPE)
    child = start(memories.copy_slowly, filled, "1")
    assert child.hear() == "copying"
    child.kill()
    with opened(filled) as memory:
        assert memory.admin.check() == []  # which waits for whoever copies
        check_complete(memory, filled, [3, 50, FROM, FROM + 89])
        left = [hit.text for hit in memory.recall(text(5), scope=SCOPE)]
        assert left
        assert text(5) not in left


def test_many_processes_write_while_others_recall(postgres_url: str, start: Nursery) -> None:
    with opened(postgres_url) as memory:
        fill(memory, range(FROM))
    writers = [start(memories.write, postgres_url, name, "15") for name in ("a", "b")]
    readers = [start(memories.read, postgres_url, "20")]
    with ThreadPoolExecutor(3) as pool:
        said, seen = (list(pool.map(lambda child: child.result(), some)) for some in (writers, readers))
    assert len(seen) == len(readers)
    assert all(FROM <= count <= FROM + 30 for count in seen)
    with opened(postgres_url) as memory:
        await_served(memory)
        check_complete(memory, postgres_url, [one for some in said for one in some[::4]])
        assert memory.admin.check() == []
