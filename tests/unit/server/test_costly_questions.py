"""Costly questions about facts stop nobody: few run at once, and they end by themselves."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from tests.servers.served import ServerProcess

from eidet import Memory

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
