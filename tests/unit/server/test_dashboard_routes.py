"""What the dashboard shows comes from routes that answer with plain numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.servers import free_port
from tests.servers.served import Running, serve_in_thread

from eidet import AsyncMemory
from eidet.server.server_settings import ServerSettings


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with serve_in_thread() as server:
        memory = server.memory.core
        for day in (1, 1, 2, 9):
            memory.remember(
                {"role": "user", "content": f"note of day {day}"}, session="s", occurred=f"2026-03-0{day}"
            )
        memory.remember("Ann lives in Lisbon.", occurred="2026-03-05", id="home")
        yield server


@pytest.mark.point(39)
def test_the_timeline_counts_days_and_sessions(running: Running) -> None:
    with running.http() as http:
        line = http.post("/v1/timeline", json={}).json()
        assert line["total"] == 5
        assert sum(count for _, count in dict(line["days"]).items()) == 5
        assert len(line["sessions"]) == 1
        march = line["start"] + (line["end"] - line["start"]) / 2
        half = http.post("/v1/timeline", json={"first": march, "last": line["end"]}).json()
        assert 0 < half["count"] < 5


@pytest.mark.point(40)
def test_a_question_is_explained_signal_by_signal(running: Running) -> None:
    with running.http() as http:
        told = http.post("/v1/debug/why", json={"query": "where does Ann live?"}).json()
        assert "home" in str(told)
        assert "dense" in str(told)
        assert "Lisbon" in str(told)


@pytest.mark.point(40)
def test_a_question_is_explained_as_of_another_time(running: Running) -> None:
    memory = running.memory.core
    memory.remember("Ben lives in Oslo.", occurred="2026-01-10", scope="ben")
    memory.remember("Ben moved to Rome.", occurred="2026-06-03", scope="ben")
    with running.http(params={"scope": "ben"}) as http:
        first = {}
        for time in ("", "2026-03-01"):
            asked = {"query": "where does Ben live?", "as_of": time or None}
            first[time] = http.post("/v1/debug/why", json=asked).json()["hits"][0]["record"]["text"]
        assert first == {"": "Ben moved to Rome.", "2026-03-01": "Ben lives in Oslo."}
        asked = {"query": "where does Ben live?", "known_at": "2000-01-01"}
        assert http.post("/v1/debug/why", json=asked).json()["hits"] == []


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
