"""Facts over REST: each route does what its verb does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.served import Running, serve_in_thread

from eidet import AsyncMemory
from eidet.server.serve import create_app


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve_in_thread() as server:
        memory = server.memory.core
        memory.remember("Ann lives in Lisbon.", occurred="2026-01-10", id="home")
        memory.remember("Ann moved to Porto.", occurred="2026-06-03", id="move")
        memory.remember("Always answer in metric units.")
        yield server


def test_recall_as_of_and_known_at(running: Running) -> None:
    with running.http() as http:
        asked = {"query": "where does Ann live?", "as_of": "2026-03-01"}
        hits = http.post("/v1/recall", json=asked).json()["hits"]
        assert hits[0]["record"]["id"] == "home"
        now = http.post("/v1/recall", json={"query": "where does Ann live?"}).json()["hits"]
        assert now[0]["record"]["id"] == "move"
        assert {hit["record"]["id"]: hit["superseded_by"] for hit in now}["home"] == "move"
        past = http.post("/v1/find", json={"known_at": "2020-01-01"}).json()
        assert past["memories"] == []


def test_the_schema_names_the_scope_and_the_body_of_a_route() -> None:
    routes = create_app(AsyncMemory("ram://")).openapi()["paths"]

    def names(path: str, method: str) -> set[str]:
        return {one["name"] for one in routes[path][method]["parameters"]}

    for path, method in (("/v1/recall", "post"), ("/v1/memories/{id}", "get"), ("/v1/load", "post")):
        assert "scope" in names(path, method)
    assert "scope" not in names("/v1/scopes", "get")
    assert routes["/v1/load"]["post"]["requestBody"]["required"]
