"""Services behind HTTP share the line of all servers: tried again in time, and left alone while down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.servers.http import JsonServer

from eidet.core.errors import Unavailable
from eidet.memory import Memory
from eidet.models.embed.hashing import Hashing
from eidet.models.embed.http import HttpEmbedder
from eidet.models.embed.vector_cache import Cached
from eidet.models.llm import Request
from eidet.models.llm.http import http_llm_of
from eidet.models.rerank.http import HttpReranker
from eidet.net import http as wire

WIDTH = 8


class Models(JsonServer):
    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        del method, query
        if path.endswith("/embeddings"):
            rows = Hashing(WIDTH).embed(body["input"]).tolist()
            return {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}
        if path.endswith("/rerank"):
            return {"results": [{"index": n, "relevance_score": 0.5} for n in range(len(body["documents"]))]}
        return {"model": "m", "choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Models]:
    monkeypatch.setattr(wire, "FIRST_PAUSE", 0.005)
    monkeypatch.setattr(wire, "LONGEST_PAUSE", 0.01)
    made = Models()
    yield made
    made.stop()


def _embedder(url: str) -> tuple[Any, Callable[[], object]]:
    made = HttpEmbedder("e", url=url, timeout=0.5)
    return made, lambda: made.embed(["a text"])


def _reranker(url: str) -> tuple[Any, Callable[[], object]]:
    made = HttpReranker("r", url=url, timeout=0.5)
    return made, lambda: made.scores("what", ["a text"])


def _llm(url: str) -> tuple[Any, Callable[[], object]]:
    made = http_llm_of(f"openai:m@{url}", key=None, timeout=0.5, headers=None, environment={})
    return made, lambda: made.ask(Request(prompt="hello"))


SERVICES = {"embedder": _embedder, "reranker": _reranker, "llm": _llm}
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
