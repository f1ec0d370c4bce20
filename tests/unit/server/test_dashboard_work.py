"""Long work of the pages, and the evaluation set that they save."""

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
from eidet.server.access import Right, add_key
from eidet.server.server_settings import ServerSettings


class PageDoor(NamedTuple):
    method: str
    path: str
    body: Any = None


UPKEEP = PageDoor("POST", "/v1/dashboard/upkeep", {"dry_run": True})
EXPORT = PageDoor("POST", "/v1/dashboard/export")


class PageKeys(NamedTuple):
    server: Running
    keys: dict[str, str]
    http: httpx.Client

    def ask(self, door: PageDoor, who: str | None, scope: str = "acme/ann") -> httpx.Response:
        headers = {} if who is None else {"Authorization": f"Bearer {self.keys[who]}"}
        return self.http.request(
            door.method, door.path, params={"scope": scope}, json=door.body, headers=headers
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


def read_lines(answer: httpx.Response) -> list[Any]:
    return [json.loads(line) for line in answer.content.splitlines()]


def test_long_work_tells_how_far_it_is_and_what_came_of_it(pages: PageKeys) -> None:
    upkeep, exporting = UPKEEP, EXPORT
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
