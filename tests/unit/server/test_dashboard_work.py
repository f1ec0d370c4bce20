"""The evaluation set that the pages save."""

from __future__ import annotations

from pathlib import Path

import httpx
from tests.servers import free_port
from tests.servers.served import Running

from eidet import AsyncMemory
from eidet.server.server_settings import ServerSettings


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
