"""The short way of the busiest routes answers as the long way does, and plain requests take it."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from typing import Any

import httpx
import pytest
from tests.servers.served import Running, serve_in_thread

from eidet.server.doorway import Receive, Send
from eidet.server.rest.fast_lane import FAST, Lanes
from eidet.server.rest.large_json import LARGE

LONG = {
    "long": "way"
}  # a parameter that no route knows: FastAPI leaves it alone, and the lane does not take it
VARYING = frozenset(
    ("etag", "version", "seq", "uses", "last_used", "created", "occurred", "id", "score", "share")
)
JSON = {"Content-Type": "application/json"}
RECALL, STORE = "/v1/recall", "/v1/memories"

PLAIN: list[tuple[str, str, Any, dict[str, str]]] = [
    ("POST", RECALL, {"query": "where does Ann live?"}, {}),
    ("POST", RECALL, {"query": "Ann", "kinds": ["fact"], "limit": 1, "reasons": False}, {}),
    ("POST", RECALL, {"query": "Ann", "scope": "x"}, {"Eidet-Scope": "acme/ann"}),
    ("POST", RECALL, {"query": "Ann"}, {"Eidet-Scope": "acme/ann"}),
    ("POST", RECALL, {"query": "Ann"}, {"Eidet-Scope": "a//b"}),
    ("POST", RECALL, {"query": "Ann", "limit": 2000}, {}),
    ("POST", RECALL, {"query": "Ann", "limit": "2"}, {}),
    ("POST", RECALL, {"query": "Ann", "since": "no time"}, {}),
    ("POST", RECALL, ["Ann"], {}),
    ("POST", "/v1/context", {"query": "Ann", "budget": 100}, {}),
    ("POST", "/v1/context", {"query": "Ann", "budget": 10_000_000}, {}),
    ("POST", "/v1/find", {"limit": 1, "order": "created"}, {}),
    ("POST", "/v1/find", {"cursor": "none of ours"}, {}),
    ("POST", "/v1/count", {"kinds": ["fact"]}, {}),
    ("POST", "/v1/get", {"ids": ["home", "nowhere"]}, {}),
    ("POST", "/v1/feedback", {"useful": True, "id": "home"}, {}),
    ("POST", "/v1/feedback", {"useful": True, "id": "home"}, {"Idempotency-Key": ""}),
    ("GET", "/v1/memories/home", None, {}),
    ("GET", "/v1/memories/ho%6De", None, {}),
    ("GET", "/v1/memories/nowhere", None, {}),
    ("GET", "/v1/memories/home", None, {"If-None-Match": "*"}),
    ("PATCH", "/v1/memories/home", {"who": "Ann"}, {}),
    ("PATCH", "/v1/memories/home", {"who": "Ann"}, {"If-Match": '"0-0"'}),
    ("PATCH", "/v1/memories/home", {"id": "other"}, {}),
    ("POST", STORE, {"memories": [{"text": "Ann has a cat", "id": "cat"}]}, {}),
    ("POST", STORE, {"memories": [{"text": "Bob has a dog"}]}, {"Idempotency-Key": "dog"}),
    ("POST", STORE, {"memories": [{"text": "Bob has a dog"}]}, {"Idempotency-Key": "d" * 201}),
    ("POST", STORE, {"memories": [{"role": "user", "content": "hello there"}]}, {}),
    ("POST", STORE, {"memories": []}, {}),
    ("POST", STORE, {"memories": [{"text": "a" * LARGE, "id": "large"}]}, {}),
]
DAMAGED: list[tuple[bytes, dict[str, str]]] = [
    (b"", JSON),
    (b"{", JSON),
    (b'{"query": "\xff"}', JSON),
    (b'{"query":' + b"[" * 20_000 + b"]" * 20_000 + b"}", JSON),
    (b'{"query": "Ann"}', {"Content-Type": "text/plain"}),
    (b'{"query": "Ann"}', {"Content-Type": "application/json; charset=utf-8"}),
    (b'{"query": "Ann"}', {}),
    ('{"query": "Ann"}'.encode("utf-16"), JSON),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serve_in_thread() as running:
        memory = running.memory.core
        memory.remember("Ann lives in Lisbon", id="home", kind="fact")
        memory.remember("Ann likes tea", scope="acme/ann", id="tea")
        yield running


def scrub(said: Any) -> Any:
    """What two answers to the same request have in common."""
    if isinstance(said, dict):
        return {name: scrub(value) for name, value in said.items() if name not in VARYING}
    if isinstance(said, list):
        return [scrub(one) for one in said]
    return said


def tell(answer: httpx.Response) -> tuple[int, list[str], Any]:
    """The status, the names of the headers, and the body."""
    body = answer.content
    if body:
        body = scrub(json.loads(body))
    headers = sorted(set(answer.headers) - {"date", "idempotent-replayed"})
    return answer.status_code, headers, body


@pytest.mark.parametrize(("method", "path", "body", "headers"), PLAIN)
def test_both_ways_give_the_same_answer(
    server: Running, method: str, path: str, body: Any, headers: dict[str, str]
) -> None:
    answers = []
    for query in ({}, LONG, {"scope": "default"}):
        if query.get("scope") and "Eidet-Scope" in headers:
            continue
        told = server.shared.request(method, path, json=body, headers=headers, params=query)
        answers.append(tell(told))
    assert answers[0][0] < 500
    assert all(one == answers[0] for one in answers)


@pytest.mark.parametrize(("body", "headers"), DAMAGED)
def test_both_ways_refuse_the_same_bodies(server: Running, body: bytes, headers: dict[str, str]) -> None:
    short = server.shared.post(RECALL, content=body, headers=headers)
    long = server.shared.post(RECALL, content=body, headers=headers, params=LONG)
    assert short.status_code < 500
    assert tell(short) == tell(long)


def test_plain_requests_need_nothing_of_the_long_way(server: Running) -> None:
    async def refuse(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        raise AssertionError("the long way was taken")

    router = server.app.router
    long_way, router.middleware_stack = router.middleware_stack, refuse
    try:
        assert server.shared.post(RECALL, json={"query": "Ann"}, params=LONG).status_code == 500
        for method, path, body, headers in PLAIN[:2] + PLAIN[9:10] + PLAIN[24:26]:
            answer = server.shared.request(method, path, json=body, headers=headers, params={"scope": "b"})
            assert answer.status_code < 500, path
    finally:
        router.middleware_stack = long_way


def test_each_fast_route_has_its_lane(server: Running) -> None:
    routes = []
    for route in server.app.routes:
        if getattr(route, "operation_id", None) in FAST:
            routes.append(route)
    lanes = Lanes(routes)  # type: ignore[arg-type]  # only routes of the API have an operation
    assert len(routes) == len(FAST)
    for route in routes:
        assert route.operation_id == lanes.find(*sample_of(route)).route.operation_id  # type: ignore[attr-defined, union-attr]
    for method, path in (("GET", RECALL), ("POST", "/v1/memories/"), ("GET", "/v1/memories/a/history")):
        assert lanes.find(method, path) is None


def sample_of(route: Any) -> tuple[str, str]:
    """A method and a path that a route answers to."""
    (method,) = route.methods
    return method, route.path.replace("{id}", "home")
