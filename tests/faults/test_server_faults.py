"""A server that is killed, stopped, starved or cut off: what it acknowledged is there, and others go on."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.making import rounds
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy
from tests.servers.served import Running, ServerProcess, serve_in_thread
from tests.timing import until, within

from eidet import Client, Memory, Unavailable

SECONDS = rounds(0.4, 4.0)
WRITERS = 6


class Writers:
    """Clients that write as fast as they can, each request with an idempotency key of its own."""

    def __init__(self, url: Callable[[], str]) -> None:
        self._url = url
        self._over = threading.Event()
        self.acknowledged: dict[str, str] = {}  # key: id
        self.unsure: list[str] = []

    def run(self, seconds: float, meanwhile: Callable[[], None]) -> None:
        with ThreadPoolExecutor(WRITERS) as pool:
            writing = [pool.submit(self._write) for _ in range(WRITERS)]
            await_true(lambda: len(self.acknowledged) > WRITERS)
            time.sleep(seconds)
            meanwhile()
            self._over.set()
        for one in writing:
            one.result()

    def _write(self) -> None:
        with httpx.Client(timeout=5) as http:
            while not self._over.is_set():
                key = uuid.uuid4().hex
                try:
                    self.acknowledged[key] = send(http, self._url(), key)
                except httpx.HTTPError:
                    self.unsure.append(key)
                    time.sleep(0.02)

    def retry(self) -> None:
        """Sends again what was not acknowledged, and some of what was."""
        with httpx.Client(timeout=60) as http:
            for key in [*self.unsure, *list(self.acknowledged)[-rounds(20, 50) :]]:
                id = send(http, self._url(), key)
                assert self.acknowledged.setdefault(key, id) == id


def send(http: httpx.Client, url: str, key: str) -> str:
    """One message, which would be stored again if it came twice."""
    body = {"memories": [{"role": "user", "content": f"said {key}"}]}
    answer = http.post(f"{url}/v1/memories", json=body, headers={"Idempotency-Key": key})
    answer.raise_for_status()
    id: str = answer.json()["memories"][0]["id"]
    return id


def check_kept(memory: Any, writers: Writers) -> None:
    """All that was acknowledged is there, once."""
    records = memory.find(limit=100_000)
    assert len(records) == len({record.text for record in records})
    assert set(writers.acknowledged.values()) <= {record.id for record in records}
    assert len(records) == len(writers.acknowledged)
    assert {record.version for record in records} == {1}


def test_killed_under_load_it_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    place = str(tmp_path / "agent.db")
    server = ServerProcess(place, tmp_path)
    server.start()
    writers = Writers(lambda: server.url)
    writers.run(SECONDS, server.kill)
    assert len(writers.acknowledged) > 10
    server = ServerProcess(place, tmp_path)
    server.start()
    try:
        writers.retry()
    finally:
        server.stop()
    with Memory(place, embedder="hashing:64") as memory:
        check_kept(memory, writers)


def test_sigterm_answers_what_is_in_flight(tmp_path: Path) -> None:
    place = str(tmp_path / "agent.db")
    server = ServerProcess(place, tmp_path)
    server.start()
    body = b'{"memories": [{"text": "said while it stopped"}]}'
    with socket.create_connection(("127.0.0.1", server.port)) as line:
        line.sendall(head(len(body)) + body[:10])
        time.sleep(0.3)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        await_true(lambda: not accepts(server.port))
        line.sendall(body[10:])
        assert line.recv(100).startswith(b"HTTP/1.1 201")
    stopping.join()
    assert "Traceback" not in server.log.read_text()
    with Memory(place, embedder="hashing:64") as memory:
        assert [record.text for record in memory.find()] == ["said while it stopped"]
    assert not list(tmp_path.glob("*.db-wal"))  # it was closed in order


def head(length: int, path: str = "/v1/memories") -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def await_true(holds: Callable[[], bool], pause: float = 0.02) -> None:
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(pause)


@pytest.fixture
def strict() -> Iterator[Running]:
    """A server that does not wait long for a body."""
    with serve_in_thread(body_seconds=0.5) as running:
        yield running


def read_all(line: socket.socket) -> bytes:
    line.settimeout(10)
    told = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := line.recv(65_536):
            told += piece
    return told


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (head(1000) + b"{", b"408"),  # a body that stops
        (head(5_000_000), b"413"),  # too large, as it says itself
    ],
)
def test_a_client_that_stops_is_let_go(strict: Running, sent: bytes, status: bytes) -> None:
    with socket.create_connection(("127.0.0.1", strict.port)) as line:
        line.sendall(sent)
        told = read_all(line)
    assert told[9:12] == status
    assert strict.memory.core.count() == 0


def test_a_body_without_end_ends(strict: Running) -> None:
    sent = 0
    with socket.create_connection(("127.0.0.1", strict.port)) as line:
        line.sendall(head(0).replace(b"Content-Length: 0", b"Transfer-Encoding: chunked"))
        with contextlib.suppress(ConnectionError):
            while sent < 50_000_000:
                line.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
                sent += 65_536
    assert 4_000_000 < sent < 20_000_000


def test_a_trickle_does_not_hold_a_request_open(strict: Running) -> None:
    sent, most = 0, 1_000
    with socket.create_connection(("127.0.0.1", strict.port)) as line:
        line.sendall(head(most))
        with contextlib.suppress(ConnectionError):
            while sent < most:
                line.sendall(b" ")
                sent += 1
                time.sleep(0.1)
                line.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    assert line.recv(100)[9:12] in (b"408", b"")
                    break
                line.setblocking(True)
    assert sent < most  # each byte takes a tenth of a second


def test_idle_connections_hurt_nobody(running_with_idle: Running) -> None:
    running_with_idle.memory.core.remember("Ann lives in Lisbon")

    def ask() -> httpx.Response:
        return running_with_idle.shared.post("/v1/recall", json={"query": "Ann"})

    for _ in range(10):
        assert within(2, ask).status_code == 200


@pytest.fixture
def running_with_idle() -> Iterator[Running]:
    with serve_in_thread() as running, contextlib.ExitStack() as stack:
        for number in range(rounds(150, 400)):
            line = stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            line.sendall((b"", b"GET /v1", head(100))[number % 3])
        yield running


def test_without_its_database_it_says_so_and_recovers(proxy: Proxy, postgres_emptied: str) -> None:
    name = postgres_emptied.rpartition("/")[2]
    place = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?eidet_deadline_seconds=1"
    with serve_in_thread(place) as running:
        http = running.shared
        assert http.post("/v1/memories", json={"memories": [{"text": "before"}]}).status_code == 201
        proxy.refuse()
        proxy.cut()
        for method, path, body in (
            ("POST", "/v1/memories", {"memories": [{"text": "meanwhile"}]}),
            ("POST", "/v1/recall", {"query": "before"}),
            ("POST", "/v1/count", {}),
            ("GET", "/v1/health/ready", None),
        ):
            away = http.request(method, path, json=body)
            assert (away.status_code, away.json()["type"]) == (503, "unavailable"), path
            assert int(away.headers["retry-after"]) >= 1
            assert str(proxy.port) not in away.text
        assert http.get("/v1/health/live").status_code == 200
        with Client(running.url, timeout=0.3) as client, pytest.raises(Unavailable):
            client.count()
        proxy.heal()
        with Client(running.url, timeout=20) as client:  # waits until it is there again
            client.remember("after")
            assert {record.text for record in client.find()} == {"before", "after"}
        assert http.get("/v1/health/ready").status_code == 200


def test_a_probe_of_a_database_that_hangs_is_answered_within_two_seconds(
    proxy: Proxy, postgres_emptied: str
) -> None:
    name = postgres_emptied.rpartition("/")[2]
    place = f"postgresql://postgres@127.0.0.1:{proxy.port}/{name}?eidet_deadline_seconds=5"
    with serve_in_thread(place) as running:
        http = running.shared
        assert http.get("/v1/health/ready").status_code == 200
        proxy.refuse()
        proxy.cut()
        for _ in range(2):  # the second waits for the same answer of the store
            away = within(2, lambda: http.get("/v1/health/ready"))
            assert (away.status_code, away.json()["type"]) == (503, "unavailable")
        assert http.get("/v1/health/live").status_code == 200
        proxy.heal()
        until(lambda: http.get("/v1/health/ready").status_code == 200)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to find the workers")
def test_three_workers_one_of_them_killed(postgres: Postgres, postgres_database: str, tmp_path: Path) -> None:
    """Nothing is lost or doubled, and what one worker has written, the others find."""
    server = ServerProcess(postgres.url(postgres_database), tmp_path, "--workers", "3")
    server.start()
    try:
        await_true(lambda: len(server.list_workers()) == 3, pause=0.2)
        before = server.list_workers()
        writers = Writers(lambda: server.url)
        writers.run(SECONDS, lambda: kill_one(before[1], SECONDS))
        writers.retry()
        await_true(lambda: len(set(server.list_workers()) - {before[1]}) >= 3, pause=0.2)
        for number in range(rounds(6, 12)):
            with (
                httpx.Client(base_url=server.url, timeout=60) as one,
                httpx.Client(base_url=server.url, timeout=60) as other,
            ):
                id = send(one, server.url, f"read your writes {number}")
                writers.acknowledged[f"read your writes {number}"] = id
                found = other.post(
                    "/v1/recall", json={"query": f"said read your writes {number}", "limit": 50}
                )
                assert id in {hit["record"]["id"] for hit in found.json()["hits"]}
    finally:
        server.stop()
    with Memory(postgres.url(postgres_database), embedder="hashing:64") as memory:
        check_kept(memory, writers)


def kill_one(worker: int, seconds: float) -> None:
    os.kill(worker, 9)
    time.sleep(seconds)
