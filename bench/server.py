"""32 clients with mixed reads and writes on one server, against the verbs alone in as many threads.

    python bench/server.py [--seconds 60] [--clients 32] [--port 18765]

Prints throughput, its ratio to the verbs alone (by the clock, and per second of CPU), p50 and p95 of each
kind of request, the longest time for which the server's event loop was held up, and errors. The clients speak
HTTP over bare sockets in a process of their own, so that they take as little as possible of the two cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any

from eidet import AsyncMemory, Memory

RECORDS = 2000
MIX = ("recall",) * 14 + ("get",) * 2 + ("remember",) * 4
NAMES = ("Ann", "Bob", "Cleo", "Dan", "Eve", "Finn")
PLACES = ("Lisbon", "Porto", "Rome", "Oslo", "Paris", "Kyoto")
TICK = 0.005


def text_of(number: int) -> str:
    name, place = NAMES[number % 6], PLACES[number // 6 % 6]
    return f"{name} met a friend in {place} and talked about project {number}"


def question_of(number: int) -> str:
    return f"whom did {NAMES[number % 6]} meet in {PLACES[number // 6 % 6]}?"


def fill(path: Path) -> None:
    """The memory that is asked; all that is loaded on first use is loaded by it."""
    with Memory(path) as memory:
        memory.remember([text_of(number) for number in range(RECORDS)])
        for number in range(RECORDS // 10):
            memory.remember(f"a note {number}", id=f"note-{number}")
        memory.recall(question_of(1))


def run_verbs(path: Path, threads: int, seconds: float) -> tuple[float, dict[str, list[float]]]:
    """What the verbs alone reach in as many threads."""
    took: dict[str, list[float]] = {kind: [] for kind in set(MIX)}
    over = threading.Event()

    def work(memory: Memory, seed: int) -> None:
        chance = random.Random(seed)
        while not over.is_set():
            kind, number = chance.choice(MIX), chance.randrange(10**9)
            started = time.perf_counter()
            call_verb(memory, kind, number)
            took[kind].append(time.perf_counter() - started)

    with Memory(path) as memory:
        started = time.perf_counter()
        running = [threading.Thread(target=work, args=(memory, seed)) for seed in range(threads)]
        for one in running:
            one.start()
        time.sleep(seconds)
        over.set()
        for one in running:
            one.join()
        return sum(map(len, took.values())) / (time.perf_counter() - started), took


def call_verb(memory: Memory, kind: str, number: int) -> None:
    if kind == "recall":
        memory.recall(question_of(number))
    elif kind == "get":
        memory.get(f"note-{number % (RECORDS // 10)}")
    else:
        memory.remember(text_of(number))


def serve(path: str, port: int, told: Any) -> None:
    """The server, with a watch on its loop; tells the longest delays when it ends."""
    import uvicorn

    from eidet.server.serve import create_app
    from eidet.server.server_settings import ServerSettings

    app = create_app(AsyncMemory(path), ServerSettings(port=port), closes=True)
    late: list[float] = []

    @asynccontextmanager
    async def watch() -> AsyncIterator[None]:
        before = time.process_time()
        watching = asyncio.create_task(measure_lag(late))
        yield
        watching.cancel()
        told.send((sorted(late)[-200:], time.process_time() - before))

    app.state.serving.lifespans.append(watch)
    config = uvicorn.Config(app, port=port, ws="none", access_log=False, log_level="error")
    uvicorn.Server(config).run()


async def measure_lag(late: list[float]) -> None:
    while True:
        before = time.perf_counter()
        await asyncio.sleep(TICK)
        late.append(time.perf_counter() - before - TICK)


class Line:
    """One client: a connection that is kept, and requests one after the other."""

    def __init__(self, port: int, seed: int) -> None:
        self._port = port
        self._chance = random.Random(1000 + seed)
        self.took: list[tuple[str, float]] = []
        self.errors: list[int] = []

    async def run(self, until: float) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        while time.perf_counter() < until:
            kind, number = self._chance.choice(MIX), self._chance.randrange(10**9)
            request = request_of(kind, number)
            started = time.perf_counter()
            writer.write(request)
            status = await read_answer(reader)
            self.took.append((kind, time.perf_counter() - started))
            if status not in (200, 201):
                self.errors.append(status)
        writer.close()


def request_of(kind: str, number: int) -> bytes:
    if kind == "get":
        path = f"/v1/memories/note-{number % (RECORDS // 10)}"
        return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    body = json.dumps(
        {"query": question_of(number)} if kind == "recall" else {"memories": [{"text": text_of(number)}]}
    )
    path = "/v1/recall" if kind == "recall" else "/v1/memories"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode()


async def read_answer(reader: asyncio.StreamReader) -> int:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    return int(head[9:12])


async def run_clients(port: int, clients: int, seconds: float) -> list[Line]:
    lines = [Line(port, seed) for seed in range(clients)]
    until = time.perf_counter() + seconds
    await asyncio.gather(*(line.run(until) for line in lines))
    return lines


def shares(times: list[float]) -> tuple[float, float]:
    cut = quantiles(times, n=20)
    return cut[9] * 1000, cut[18] * 1000


def await_server(port: int) -> None:
    import urllib.request

    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/health/ready", timeout=2)
        except OSError:
            time.sleep(0.1)
        else:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--port", type=int, default=18_765)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen.clients, chosen.seconds, chosen.port)


def measure(folder: Path, clients: int, seconds: float, port: int) -> None:
    for name in ("verbs.db", "server.db"):
        fill(folder / name)
    cpu = time.process_time()
    alone, verbs = run_verbs(folder / "verbs.db", clients, seconds)
    each = (time.process_time() - cpu) / sum(map(len, verbs.values()))
    print(f"verbs alone in {clients} threads: {alone:,.0f} per second, {each * 1000:.2f} ms of CPU each")
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    server = spawn.Process(target=serve, args=(str(folder / "server.db"), port, theirs))
    server.start()
    await_server(port)
    asyncio.run(run_clients(port, 2, 2))  # warms up
    started = time.perf_counter()
    lines = asyncio.run(run_clients(port, clients, seconds))
    passed = time.perf_counter() - started
    server.terminate()
    late, spent = ours.recv()
    server.join()
    took = [one for line in lines for one in line.took]
    errors = [one for line in lines for one in line.errors]
    rate = len(took) / passed
    own = spent / len(took)
    print(f"server with {clients} clients: {rate:,.0f} per second, {rate / alone:.0%} of that")
    print(f"  {own * 1000:.2f} ms of CPU each: {each / own:.0%} of the verbs per second of CPU")
    print(f"  {len(errors)} errors")
    for kind in sorted(set(MIX)):
        p50, p95 = shares([seconds for name, seconds in took if name == kind])
        v50, v95 = shares(verbs[kind])
        told = f"p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  ({p95 / p50:.1f}x)"
        print(f"  {kind:9} {told}; alone {v50:.1f} and {v95:.1f}")
    p50, p95 = shares([seconds for _, seconds in took])
    print(f"  all       p50 {p50:6.1f} ms  p95 {p95:6.1f} ms  ({p95 / p50:.1f}x)")
    longest = ", ".join(f"{one * 1000:.1f}" for one in late[-10:])
    print(f"loop held up: at most {late[-1] * 1000:.1f} ms; the ten longest: {longest}")


if __name__ == "__main__":
    main()
