"""Costly questions about facts stop nobody: they end by themselves, or when the client leaves."""

from __future__ import annotations

import math
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.servers import free_port
from tests.servers.served import Running, ServerProcess

from eidet import AsyncMemory, Memory, Settings
from eidet.server.server_settings import ServerSettings

SIDE = 11
ODD_RING = [[f"?v{n}", "knows", f"?v{(n + 1) % 7}"] for n in range(7)]  # in a graph that has none
COSTLY = {"patterns": [*ODD_RING, ["?v0", "knows", "?w"]]}


def fill(memory: Memory, scope: str = "default") -> None:
    """Two groups of people: everybody knows all of the other group, and nobody of their own."""
    for one in range(SIDE):
        for other in range(SIDE):
            memory.facts.add(f"Ann{one}", "knows", f"Bob{other}", scope=scope)
            memory.facts.add(f"Bob{other}", "knows", f"Ann{one}", scope=scope)


def test_many_costly_questions_stop_neither_others_nor_the_end(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    with Memory(place, embedder="hashing:64") as memory:
        fill(memory, "one")
        memory.remember("Ann lives in Lisbon.", scope="other")
    server = ServerProcess(str(place), tmp_path, env=["EIDET_FACT_STEPS=30000"])
    server.start()
    try:
        with ThreadPoolExecutor(40) as pool, httpx.Client(base_url=server.url, timeout=60) as http:
            asked = [pool.submit(http.post, "/v1/facts/match?scope=one", json=COSTLY) for _ in range(40)]
            told = http.post("/v1/recall?scope=other", json={"query": "Where does Ann live?"})
            waiting = sum(not one.done() for one in asked)
            answers = [one.result() for one in asked]
        assert told.json()["hits"][0]["record"]["text"] == "Ann lives in Lisbon."
        assert waiting, "the others had not to wait for all of them"
        assert {answer.status_code for answer in answers} == {422}
        assert "(fact_steps); name entities" in answers[0].json()["message"]
    finally:
        server.child.stop(signal.SIGTERM)


def test_the_work_ends_when_the_client_leaves() -> None:
    """A server that goes on for nobody could not be stopped: the question would take minutes."""
    settings = Settings(fact_steps=10**12, fact_seconds=math.inf)
    memory = AsyncMemory(embedder="hashing:64", settings=settings)
    running = Running(memory, ServerSettings(port=free_port()))
    running.start()
    try:
        fill(memory.core)
        costly = {"patterns": [["?a", "knows", "?b"], *ODD_RING]}
        for _ in range(3):  # more than may ask at once
            with pytest.raises(httpx.ReadTimeout), running.http() as http:
                http.post("/v1/facts/match", json=costly, timeout=0.5)
        with running.http() as http:
            answer = http.post("/v1/facts/about", json={"entity": "Ann0"})
        assert len(answer.json()["facts"]) == 2 * SIDE
    finally:
        running.stop()
        memory.core.close()
