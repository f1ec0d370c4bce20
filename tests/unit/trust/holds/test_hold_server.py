"""A legal hold over the network: no route of the server changes what is held.

The tables of routes are those of the tests of rights, where a new route has to be entered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import httpx
import pytest
from tests.servers.served import Running, serve_in_thread
from tests.unit.server.access_rows import FACTS
from tests.unit.server.access_rows import REST as ROWS

from eidet import Memory
from eidet.core.record import Event, Record

SCOPE = "acme/ann"
TEXT = "Ann lives in Lisbon"
Kept = tuple[Record | None, list[Event]]


class Request(NamedTuple):
    """What is sent, to a server on which `home` is held."""

    method: str
    path: str
    body: Any = None


REST = [Request(row.method, row.path_of("home"), row.body_of("home")) for row in (*ROWS, *FACTS)]
REST += [
    Request("POST", "/v1/memories", {"memories": [{"id": "home", "text": "else"}]}),
    Request("POST", "/v1/memories", {"memories": [{"text": "new"}, {"id": "home", "text": "else"}]}),
    Request("PATCH", "/v1/memories/home", {"text": "else"}),
    Request("PATCH", "/v1/memories/home", {"meta": {"seen": True}}),
    Request("POST", "/v1/forget", {"ids": ["home"]}),
    Request("POST", "/v1/forget", {"ids": ["home"], "for_good": False}),
    Request("POST", "/v1/forget", {"where": {"kinds": ["fact"]}}),
    Request("POST", "/v1/forget", {"everything": True}),
    Request("POST", "/v1/feedback", {"ids": ["home"], "useful": False}),
    Request("POST", "/v1/load", "before"),
    Request("POST", "/v1/facts/merge", {"entity": "Ann", "others": ["Lisbon"]}),
]
RELEASE = Request("DELETE", "/v1/memories/home/hold")


def say(request: Request) -> str:
    return f"{request.method} {request.path} {request.body}"[:80]


class Served(NamedTuple):
    server: Running
    http: httpx.Client
    before: bytes  # an export in which the record says something else

    @property
    def core(self) -> Memory:
        return self.server.memory.core

    def look_at(self) -> Kept:
        record = self.core.get("home", scope=SCOPE)
        if record is not None:
            record = record.but(uses=0, last_used=None, vector=None, terms=b"", seq=0)
        return record, self.core.history("home", scope=SCOPE)

    def send(self, request: Request, **params: str) -> httpx.Response:
        if request.body == "before":
            content, body = self.before, None
        elif isinstance(request.body, bytes):
            content, body = request.body, None
        else:
            content, body = None, request.body
        asked = self.http.stream(request.method, request.path, content=content, json=body, params=params)
        with asked as answer:
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):  # which never ends
                answer.read()
        return answer


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    file = tmp_path_factory.mktemp("held") / "before.jsonl"
    with serve_in_thread() as server, server.http() as http:
        core = server.memory.core
        core.remember("Ann lives in Porto", id="home", scope=SCOPE)
        core.export(file, scope=SCOPE)
        core.remember(TEXT, id="home", scope=SCOPE, importance=0.9)
        core.upkeep.hold("home", scope=SCOPE, by="court")
        yield Served(server, http, file.read_bytes())


@pytest.mark.parametrize("request_", [one for one in REST if one[:2] != RELEASE[:2]], ids=say)
def test_no_route_changes_what_is_held(served: Served, request_: Request) -> None:
    before = served.look_at()
    answer = served.send(request_, scope=SCOPE)
    assert answer.status_code < 500, answer.text
    assert served.look_at() == before
    if request_.method in ("PATCH", "DELETE") and "/pin" not in request_.path:
        assert (answer.status_code, "legal hold" in answer.text) == (403, True)


def test_only_a_release_ends_it(served: Served) -> None:
    try:
        assert served.send(RELEASE, scope=SCOPE).status_code == 200
        record = served.core.get("home", scope=SCOPE)
        assert record is not None
        assert record.state.hold is None
    finally:
        served.core.upkeep.hold("home", scope=SCOPE, by="court")
