"""The routes that only pages ask: each needs its right, and a key of some scopes learns nothing of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from tests.servers import free_port
from tests.servers.served import Running, serve_in_thread

from eidet import AsyncMemory
from eidet.server.access import Right
from eidet.server.dashboard import dashboard_routes, transfer_routes
from eidet.server.keys_file import add_key
from eidet.server.server_settings import ServerSettings

ASKS = {"query": "where does Ann live?"}


class PageDoor(NamedTuple):
    method: str
    path: str
    right: Right
    body: Any = None
    params: dict[str, str] = {}  # noqa: RUF012  # never changed


READS = (
    PageDoor("GET", "/v1/dashboard/head", Right.READ),
    PageDoor("POST", "/v1/debug/why", Right.READ, ASKS),
    PageDoor("POST", "/v1/debug/why-not", Right.READ, {**ASKS, "id": "home"}),
    PageDoor("POST", "/v1/dashboard/records", Right.READ, {}),
    PageDoor("GET", "/v1/dashboard/record", Right.READ, params={"id": "home"}),
    PageDoor("GET", "/v1/dashboard/record-at", Right.READ, params={"seq": "1"}),
    PageDoor("POST", "/v1/timeline", Right.READ, {}),
    PageDoor("GET", "/v1/dashboard/facts", Right.READ),
    PageDoor("GET", "/v1/dashboard/facts/why", Right.READ, params={"id": "home#0"}),
    PageDoor("GET", "/v1/map", Right.READ),
    PageDoor("GET", "/v1/quality", Right.READ),
)
CHANGES = (
    PageDoor("POST", "/v1/debug/evaluation", Right.ADMIN, {"query": "x", "gold": ["home"]}),
    PageDoor("POST", "/v1/dashboard/act", Right.WRITE, {"id": "home", "act": "pin"}),
    PageDoor("POST", "/v1/dashboard/revise", Right.WRITE, {"id": "home", "version": 0, "text": "x"}),
    PageDoor("POST", "/v1/dashboard/forget/preview", Right.FORGET, {"ids": ["home"]}),
    PageDoor("POST", "/v1/dashboard/forget", Right.FORGET, {"ids": ["nothing"]}),
    PageDoor("POST", "/v1/dashboard/upkeep", Right.ADMIN, {"dry_run": True}),
    PageDoor("POST", "/v1/dashboard/export", Right.ADMIN),
    PageDoor("POST", "/v1/dashboard/load", Right.ADMIN),
    PageDoor("POST", "/v1/dashboard/audit/verify", Right.ADMIN, {}),
    PageDoor("GET", "/v1/dashboard/keys", Right.ADMIN),
)
VERBS = (  # of the REST interface, which pages ask as well
    PageDoor("POST", "/v1/facts/resolve", Right.WRITE, {"id": "none"}),
    PageDoor("POST", "/v1/facts/retract", Right.WRITE, {"id": "none"}),
    PageDoor("POST", "/v1/facts/undo", Right.WRITE, {"id": "none"}),
)
DOORS = READS + CHANGES + VERBS
each_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: f"{door.method} {door.path}")


class PageKeys(NamedTuple):
    server: Running
    keys: dict[str, str]
    http: httpx.Client

    def ask(self, door: PageDoor, who: str | None, scope: str = "acme/ann") -> httpx.Response:
        headers = {} if who is None else {"Authorization": f"Bearer {self.keys[who]}"}
        return self.http.request(
            door.method, door.path, params={"scope": scope, **door.params}, json=door.body, headers=headers
        )


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageKeys]:
    folder = tmp_path_factory.mktemp("pages")
    file = folder / "keys.toml"
    keys = {right.value: add_key(file, right.value, ["acme"], [right.value]) for right in Right}
    keys["all"] = add_key(file, "all", ["acme"], list(Right))
    keys["editor"] = add_key(file, "editor", ["acme"], ["read", "write", "forget"])
    keys["root"] = add_key(file, "root", ["**"], list(Right))
    file.write_text(file.read_text().replace("[[key]]\n", "[[key]]\nrequests_per_second = 10000\n"))
    with serve_in_thread(folder / "agent.db", keys=file) as server:
        for scope in ("acme/ann", "other"):
            server.memory.core.remember("Ann lives in Lisbon", id="home", scope=scope)
        with server.http() as http:
            yield PageKeys(server, keys, http)


def test_every_route_of_the_pages_is_in_the_table() -> None:
    there = set()
    for router in (dashboard_routes.router, transfer_routes.router):
        for route in router.routes:
            for method in getattr(route, "methods", ()):
                there.add((method, getattr(route, "path", "")))
    named = {(door.method, door.path) for door in READS + CHANGES}
    assert there == named | {("GET", "/v1/dashboard/start")}


@each_door
@pytest.mark.parametrize("right", Right)
def test_a_route_of_the_pages_asks_for_its_right(pages: PageKeys, door: PageDoor, right: Right) -> None:
    answer = pages.ask(door, right.value)
    if right is door.right:
        assert answer.status_code in (200, 404, 409, 422), answer.text
    else:
        assert (answer.status_code, answer.json()["type"]) == (403, "no_right")


@each_door
def test_a_foreign_scope_and_a_missing_key_open_nothing(pages: PageKeys, door: PageDoor) -> None:
    for scope in ("other", "nowhere", "acmes"):
        answer = pages.ask(door, "all", scope)
        assert (answer.status_code, answer.json()["message"]) == (404, "there is no such thing here")
    assert pages.ask(door, None).status_code == 401


def test_a_legal_hold_is_for_administrators(pages: PageKeys) -> None:
    for act in ("hold", "release"):
        door = PageDoor("POST", "/v1/dashboard/act", Right.WRITE, {"id": "home", "act": act})
        assert pages.ask(door, "editor").status_code == 403
        assert pages.ask(door, "all").status_code == 200


def test_a_key_of_some_scopes_learns_nothing_of_the_server(pages: PageKeys) -> None:
    health, keys, audit = READS[-1], CHANGES[-1], CHANGES[-2]
    own = pages.ask(health, "all").json()
    assert own["place"] is None
    assert set(own["health"]) == {"state"}
    assert "store_bytes" not in own["stats"]
    assert "agent.db" not in json.dumps(own)
    assert [one["name"] for one in pages.ask(keys, "all").json()["callers"]] == ["all"]
    assert pages.ask(audit, "all").status_code == 404
    whole = pages.ask(health, "root").json()
    assert whole["stats"]["store_bytes"] > 0
    assert len(pages.ask(keys, "root").json()["callers"]) == 7
    started = pages.http.get("/v1/dashboard/start", headers={"Authorization": f"Bearer {pages.keys['all']}"})
    assert set(started.json()["scopes"]) == {"acme/ann"}


def read_lines(answer: httpx.Response) -> list[Any]:
    return [json.loads(line) for line in answer.content.splitlines()]


def test_long_work_tells_how_far_it_is_and_what_came_of_it(pages: PageKeys) -> None:
    upkeep, exporting = CHANGES[-5], CHANGES[-4]
    *steps, last = read_lines(pages.ask(upkeep, "all"))
    assert last["result"]["dry_run"] is True
    shares = [step["done"] / step["of"] for step in steps]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] == 1
    head, _, rest = pages.ask(exporting, "all").content.partition(b'{"result"')
    assert json.loads(head.splitlines()[-1]) == {"done": 1, "of": 1}
    told, _, export = rest.partition(b"\n")
    size = json.loads(b'{"result"' + told)["result"]
    assert (len(export), size["count"]) == (size["bytes"], 1)
    headers = {"Authorization": f"Bearer {pages.keys['all']}"}
    where = {"scope": "acme/ann"}
    loaded = pages.http.post("/v1/dashboard/load", params=where, content=export, headers=headers)
    assert "count" in read_lines(loaded)[-1]["result"]
    broken = pages.http.post("/v1/dashboard/load", params=where, content=export[:-20], headers=headers)
    error = read_lines(broken)[-1]["error"]
    assert error["type"] == "damaged_export"
    assert "/tmp" not in error["message"]


def save_question(folder: Path, key: str | None) -> httpx.Response:
    """Saves a question of a memory with an audit log into its evaluation set."""
    memory = AsyncMemory(folder / "agent.db", embedder="hashing:64", key=key, audit=folder / "audit")
    running = Running(memory, ServerSettings(port=free_port()))
    running.start()
    try:
        memory.core.remember("Ann lives in Lisbon.", id="home")
        asked = {"query": "where does Ann live?", "gold": ["home"]}
        return running.shared.post("/v1/debug/evaluation", json=asked)
    finally:
        running.stop()
        memory.core.close()


def test_a_sealed_memory_leaves_no_evaluation_set(tmp_path: Path) -> None:
    answer = save_question(tmp_path, bytes(range(32)).hex())
    assert (answer.status_code, answer.json()["type"]) == (403, "refused")
    assert not list(tmp_path.glob("*.eval.jsonl"))


def test_an_evaluation_set_is_audited_as_an_export(tmp_path: Path) -> None:
    assert save_question(tmp_path, None).json()["questions"] == 1
    assert "agent.db.eval.jsonl" in (tmp_path / "audit").read_text()
