"""A feed of changes: none missed, gone on with after a break, ended when it should end."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.making import Clock, make_store
from tests.servers.served import serve_in_thread

from eidet import AsyncMemory, BadInput, Memory
from eidet.memory.feed import Change


@pytest.fixture(params=STORES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    store = make_store(request.param, tmp_path, request)
    with closing(Memory(store, embedder="hashing:16", clock=Clock(tick=1.0))) as memory:
        yield memory


def hold(held: dict[int, str], change: Change) -> None:
    """What a reader does who keeps a copy."""
    if change.what == "reset":
        held.clear()
    elif change.record is None:
        held.pop(change.seq, None)
    else:
        held[change.seq] = change.record.text


def texts_of(memory: Memory) -> list[str]:
    return sorted(record.text for record in memory.find(limit=None))


def test_a_reader_who_follows_has_what_the_memory_has(memory: Memory) -> None:
    held: dict[int, str] = {}
    cursor = 0

    def catch_up() -> None:
        nonlocal cursor
        for change in memory.watch(since=cursor, wait=0):
            hold(held, change)
            cursor = change.cursor
        assert sorted(held.values()) == texts_of(memory)

    first = memory.remember("Ann lives in Lisbon")
    memory.remember("of another scope", scope="other")
    catch_up()
    memory.revise(first.id, text="Ann lives in Porto")
    memory.remember([f"note {n}" for n in range(1, 30)])
    catch_up()
    memory.forget(first.id)
    catch_up()
    aside = memory.remember("a page")
    catch_up()
    memory.trust.quarantine(aside.id)
    catch_up()
    memory.trust.approve(aside.id)
    catch_up()
    assert list(memory.watch(since=cursor, wait=0)) == []


def test_a_break_anywhere_misses_nothing(memory: Memory) -> None:
    records = memory.remember([f"note {n}" for n in range(6)])
    start = memory.admin.changes().cursor
    before = {record.seq: record.text for record in records}
    memory.forget(records[0].id, for_good=False)
    memory.revise(records[1].id, text="note one")
    memory.remember(["more", "and more"])
    for stop in range(1, len(list(memory.watch(since=start, wait=0))) + 1):
        held, cursor = dict(before), start
        for _, change in zip(range(stop), memory.watch(since=start, wait=0), strict=False):
            hold(held, change)
            cursor = change.cursor
        for change in memory.watch(since=cursor, wait=0):
            hold(held, change)
        assert sorted(held.values()) == texts_of(memory), stop


def test_nothing_that_is_written_after_the_call_is_missed(memory: Memory) -> None:
    feed = memory.watch(wait=5)
    memory.remember("the first")
    change = next(feed)
    assert (change.what, change.record and change.record.text) == ("put", "the first")
    later = threading.Timer(0.3, lambda: memory.remember("the second"))
    later.start()
    following = next(feed)
    later.join()
    assert following.record is not None
    assert following.record.text == "the second"


def test_a_cursor_of_another_time_begins_anew(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon")
    ahead = memory.admin.changes().cursor + 10**6
    told = list(memory.watch(since=ahead, wait=0))
    assert [change.what for change in told] == ["reset", "put"]


@pytest.mark.parametrize(
    "wrong",
    [{"since": -1}, {"since": "3"}, {"since": True}, {"wait": -1}, {"wait": "1"}, {"scope": "acme/**"}],
)
def test_what_makes_no_sense_is_refused_at_once(wrong: dict[str, Any]) -> None:
    with closing(Memory(embedder="hashing:16")) as memory, pytest.raises(BadInput):
        memory.watch(**wrong)


def test_the_same_for_asyncio() -> None:
    async def go() -> list[str]:
        async with AsyncMemory(embedder="hashing:16") as memory:
            await memory.remember("Ann lives in Lisbon")
            return [change.what async for change in memory.watch(since=0, wait=0)]

    assert asyncio.run(go()) == ["put"]


def read_events(lines: Iterator[str], count: int) -> list[tuple[str, dict[str, Any]]]:
    """The id and the data of so many events."""
    events: list[tuple[str, dict[str, Any]]] = []
    id = ""
    for line in lines:
        if line.startswith("id: "):
            id = line[4:]
        if line.startswith("data: "):
            events.append((id, json.loads(line[6:])))
            if len(events) == count:
                return events
    return events


def test_a_server_sends_events_and_goes_on_after_the_last_one() -> None:
    with serve_in_thread() as server, server.http() as http, closing(Memory(server.url)) as client:
        with http.stream("GET", "/v1/watch") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert next(lines).startswith("id: ")
            client.remember("Ann lives in Lisbon")
            ((last, said),) = read_events(lines, 1)
        assert (said["what"], said["record"]["text"]) == ("put", "Ann lives in Lisbon")
        client.remember("Ann lives in Porto")
        again = {"Last-Event-ID": last}
        with http.stream("GET", "/v1/watch", headers=again, params={"since": 0, "wait": 0}) as answer:
            told = read_events(answer.iter_lines(), 9)
        assert [event["record"]["text"] for _, event in told] == ["Ann lives in Porto"]
        assert [one.what for one in client.watch(since=0, wait=0)] == ["put", "put"]
