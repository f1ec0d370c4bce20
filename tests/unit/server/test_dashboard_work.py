"""Long work of the pages, and the evaluation set that they save."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from tests.servers import free_port
from tests.servers.served import Running, serve_in_thread

from eidet import AsyncMemory
from eidet.server.access import Right, add_key
from eidet.server.server_settings import ServerSettings


def read_lines(answer: httpx.Response) -> list[Any]:
    return [json.loads(line) for line in answer.content.splitlines()]


def test_long_work_tells_how_far_it_is_and_what_came_of_it(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "all", ["acme"], list(Right))
    where = {"scope": "acme/ann"}
    with serve_in_thread(tmp_path / "agent.db", keys=tmp_path / "keys.toml") as server:
        for scope in ("acme/ann", "other"):
            server.memory.core.remember("Ann lives in Lisbon", id="home", scope=scope)
        with server.http(key, params=where) as http:
            *steps, last = read_lines(http.post("/v1/dashboard/upkeep", json={"dry_run": True}))
            exported = http.post("/v1/dashboard/export").content
            head, _, rest = exported.partition(b'{"result"')
            told, _, export = rest.partition(b"\n")
            loaded = read_lines(http.post("/v1/dashboard/load", content=export))
            broken = read_lines(http.post("/v1/dashboard/load", content=export[:-20]))
    assert last["result"]["dry_run"] is True
    shares = [step["done"] / step["of"] for step in steps]
    assert len(shares) > 1
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert json.loads(head.splitlines()[-1]) == {"done": 1, "of": 1}
    size = json.loads(b'{"result"' + told)["result"]
    assert (len(export), size["count"]) == (size["bytes"], 1)
    assert "count" in loaded[-1]["result"]
    assert broken[-1]["error"]["type"] == "damaged_export"
    assert "/tmp" not in broken[-1]["error"]["message"]


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
