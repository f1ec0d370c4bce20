"""A soak of the server: clients read and write for minutes at a fixed working set. Does its memory stay flat?

    python bench/server_soak.py [--minutes 20] [--clients 8] [--port 18766]

Every write has one of a fixed number of ids, so that the working set does not grow. Flat means: the last
third of the run is within a tenth of the middle one, in resident memory of the server and median latency.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from pathlib import Path
from statistics import median

from server import await_server, fill, question_of, read_answer, serve, text_of

IDS = 500
TICKS = 60


async def use(port: int, seed: int, until: float, took: list[float]) -> None:
    """One client: half of its requests are writes."""
    chance = random.Random(seed)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.perf_counter() < until:
        number = chance.randrange(10**9)
        started = time.perf_counter()
        writer.write(post("/v1/recall", {"query": question_of(number)}))
        assert await read_answer(reader) == 200
        took.append(time.perf_counter() - started)
        memory = {"text": text_of(number), "id": f"soak-{number % IDS}"}
        writer.write(post("/v1/memories", {"memories": [memory]}))
        assert await read_answer(reader) == 201
    writer.close()


def post(path: str, body: object) -> bytes:
    content = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(content)}\r\n\r\n{content}".encode()


def resident_mb(process: int) -> float:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("the server has no resident memory")


async def tick(port: int, clients: int, seconds: float) -> list[float]:
    took: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(use(port, seed, until, took) for seed in range(clients)))
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--port", type=int, default=18_766)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder) / "soak.db")
        spawn = multiprocessing.get_context("spawn")
        ours, theirs = spawn.Pipe()
        server = spawn.Process(target=serve, args=(f"{folder}/soak.db", chosen.port, theirs))
        server.start()
        await_server(chosen.port)
        report(server.pid or 0, chosen.port, chosen.clients, chosen.minutes * 60 / TICKS)
        server.terminate()
        ours.recv()
        server.join()


def report(process: int, port: int, clients: int, seconds: float) -> None:
    sizes, medians, count = [], [], 0
    for _ in range(TICKS):
        took = asyncio.run(tick(port, clients, seconds))
        count += 2 * len(took)
        sizes.append(resident_mb(process))
        medians.append(median(took))
    third = TICKS // 3
    for name, values, unit in (("resident", sizes, "MB"), ("recall", [1000 * one for one in medians], "ms")):
        first, middle, last = (median(values[at : at + third]) for at in (0, third, 2 * third))
        by_thirds = f"{first:.1f}, {middle:.1f}, {last:.1f} {unit} by thirds"
        print(f"{name}: {by_thirds}; {last / middle - 1:+.1%} at the end")
    print(f"{count:,} requests, no errors")


if __name__ == "__main__":
    main()
