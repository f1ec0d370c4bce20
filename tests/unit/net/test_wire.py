"""Services behind HTTP share the line of all servers: tried again in time, and left alone while down."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.servers.http import JsonServer
from tests.servers.scripted import Handler, ScriptedServer

from eidet.core.errors import MissingExtra, Unavailable
from eidet.memory import Memory
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.vector_cache import Cached
from eidet.models.http import HttpEmbedder, HttpLLM
from eidet.models.llm import Request
from eidet.net import http as wire

WIDTH = 8
KEY = "sk-secret-123456"
AFTER_A_FORK = """
import os, sys
from eidet.models.http import HttpEmbedder

embedder = HttpEmbedder(url=sys.argv[1])
embedder.embed(["before"])
child = os.fork()
if child == 0:
    os._exit(0 if len(embedder.embed(["child"])) == 1 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
embedder.embed(["after"])
"""


class Keeping(Handler):
    """Keeps connections open, and notes the port of the client."""

    protocol_version = "HTTP/1.1"

    def note_request(self) -> None:
        super().note_request()
        self.server.seen[-1][1]["port"] = str(self.client_address[1])


def give_embeddings(handler: Handler, body: Any) -> None:
    handler.give_json(200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]})


class Models(JsonServer):
    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        del method, query
        if path.endswith("/embeddings"):
            rows = Hashing(WIDTH).embed(body["input"]).tolist()
            return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}
        return {"model": "m", "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.005)
    monkeypatch.setattr(wire, "LONGEST_PAUSE", 0.01)
    made = Models()
    yield made
    made.stop()


def _embedder(url: str) -> tuple[Any, Callable[[], object]]:
    made = HttpEmbedder("e", url=url, key=KEY, timeout=0.5)
    return made, lambda: made.embed(["a text"])


def _llm(url: str) -> tuple[Any, Callable[[], object]]:
    made = HttpLLM("m", url=url, key=KEY, timeout=0.5)
    return made, lambda: made.ask(Request(prompt="hello"))


SERVICES = {"embedder": _embedder, "llm": _llm}
every_service = pytest.mark.parametrize("kind", SERVICES)


@every_service
def test_a_service_that_is_down_is_left_alone_and_found_again(server: Models, kind: str) -> None:
    service, ask = SERVICES[kind](f"{server.url}/v1")
    ask()
    assert service.health()["state"] == "up"
    server.down = 503
    while service.health()["state"] != "down":
        with pytest.raises(Unavailable, match="did not answer"):
            ask()
    before, tries = len(server.requests), service.health()["retries"]
    with pytest.raises(Unavailable, match="is down") as told:
        ask()
    assert (len(server.requests), service.health()["retries"]) == (before, tries), "it was not asked"
    assert told.value.retry_after
    assert service.health()["last_error"]
    server.down = None
    service._http.retrier._opens = time.monotonic()  # its rest is over
    ask()
    assert service.health()["state"] == "up"


@every_service
def test_a_service_that_has_too_much_to_do_is_not_down(server: Models, kind: str) -> None:
    service, ask = SERVICES[kind](f"{server.url}/v1")
    server.down = 429
    for _ in range(2):
        with pytest.raises(Unavailable):
            ask()
    assert service.health()["failures"] > 5
    assert service.health()["state"] != "down"
    server.down = None
    ask()


@every_service
def test_without_httpx_a_service_says_what_to_install(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"eidet\[http\]"):
        SERVICES[kind]("http://127.0.0.1:1/v1")


@every_service
def test_no_log_shows_a_key(server: Models, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    SERVICES[kind](f"{server.url}/v1")[1]()
    assert caplog.records
    assert KEY not in caplog.text + "".join(str(vars(line)) for line in caplog.records)
    assert server.headers[-1]["authorization"] == f"Bearer {KEY}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_connections_are_kept_and_a_forked_process_opens_its_own() -> None:
    with ScriptedServer(give_embeddings, Keeping).running() as server:
        program = [sys.executable, "-W", "ignore", "-c", AFTER_A_FORK, server.url]
        subprocess.run(program, check=True, timeout=60)
    by_text = {
        body["input"][0]: headers["port"]
        for body, (_, headers) in zip(server.asked, server.seen, strict=True)
    }
    assert by_text["before"] == by_text["after"]
    assert by_text["before"] != by_text["child"]


def test_a_memory_tells_how_its_embedder_does(server: Models) -> None:
    embedder = HttpEmbedder("e", url=f"{server.url}/v1", timeout=0.3)
    memory = Memory(embedder=Cached(embedder))
    assert "store" not in memory.admin.health(), "RAM is no server"
    memory.remember("Ann lives in Lisbon")
    assert (memory.admin.health()["state"], memory.admin.health()["embedder"]["state"]) == ("up", "up")
    server.down = 500
    with pytest.raises(Unavailable):
        memory.remember("Ann lives in Porto")
    told = memory.admin.health()
    assert told["state"] == "degraded"
    assert told["embedder"]["last_error"]
    assert Memory(embedder="hashing:8").admin.health() == {"state": "up"}
