"""Facts over REST: each route does what its verb does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.servers.served import Running, serve_in_thread


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve_in_thread() as server:
        memory = server.memory.core
        memory.remember("Ann lives in Lisbon.", occurred="2026-01-10", id="home")
        memory.remember("Ann moved to Porto.", occurred="2026-06-03", id="move")
        memory.remember("Always answer in metric units.")
        yield server


def ask(running: Running, path: str, body: Any) -> Any:
    with running.http() as http:
        answer = http.post(f"/v1/facts/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


def test_what_holds_of_somebody_now_and_then(running: Running) -> None:
    (now,) = ask(running, "about", {"entity": "Ann"})["facts"]
    assert (now["object"], now["sources"], now["valid_to"]) == ("Porto", ["move"], None)
    (then,) = ask(running, "about", {"entity": "Ann", "as_of": "2026-03-01"})["facts"]
    assert (then["object"], then["superseded_by"]) == ("Lisbon", now["id"])
    line = ask(running, "timeline", {"entity": "Ann"})["facts"]
    assert [fact["object"] for fact in line] == ["Lisbon", "Porto"]


def test_patterns_paths_and_profiles(running: Running) -> None:
    (match,) = ask(running, "match", {"patterns": [["?who", "lives_in", "?where"]]})["matches"]
    assert match["bindings"] == {"?who": "Ann", "?where": "Porto"}
    ((step,),) = ask(running, "paths", {"start": "Ann", "goal": "Porto"})["paths"]
    assert step["relation"] == "lives_in"
    assert "Porto" in ask(running, "profile", {"entity": "Ann"})["text"]
    names = [entity["name"] for entity in ask(running, "entities", None)["entities"]]
    assert {"Ann", "Porto"} <= set(names)
    assert "metric" in ask(running, "instructions", {})["facts"][0]["object"]


def test_facts_are_stated_and_taken_back(running: Running) -> None:
    stated = ask(running, "add", {"subject": "Leo", "relation": "plays", "object": "cello"})
    assert ask(running, "about", {"entity": "Leo"})["facts"][0]["id"] == stated["id"]
    decision = ask(running, "retract", {"id": stated["id"]})
    assert ask(running, "about", {"entity": "Leo"})["facts"] == []
    with running.http() as http:
        http.delete(f"/v1/memories/{decision['id']}")
    assert ask(running, "about", {"entity": "Leo"})["facts"][0]["object"] == "cello"


def test_contradictions_are_listed_and_resolved(running: Running) -> None:
    for city in ("Oslo", "Bergen"):
        stated = {"subject": "Kim", "relation": "lives_in", "object": city, "since": "2026-01-01"}
        ask(running, "add", stated | {"who": f"who knows {city}"})
    (dispute,) = ask(running, "contradictions", None)["contradictions"]
    speakers = [[one["who"] for one in side] for side in dispute["quotations"]]
    assert speakers == [[f"who knows {fact['object']}"] for fact in dispute["facts"]]
    keep = next(fact for fact in dispute["facts"] if fact["object"] == "Oslo")
    ask(running, "resolve", {"id": keep["id"]})
    assert ask(running, "contradictions", None)["contradictions"] == []


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
