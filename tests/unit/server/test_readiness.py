"""Probes of a store that hangs ask it once, and leave the threads to others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.servers.served import Running
from tests.timing import within


def test_probes_of_a_store_that_hangs_share_one_question(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, core = running.shared, running.memory.core
    http.post("/v1/memories", json={"memories": [{"text": "Ann lives in Lisbon", "id": "home"}]})
    healed, asked, count = threading.Event(), [], core.count

    def hang(*args: Any, **how: Any) -> int:
        asked.append(how)
        healed.wait(60)
        return count(*args, **how)

    monkeypatch.setattr(core, "count", hang)
    try:
        with ThreadPoolExecutor(10) as pool:
            probes = [pool.submit(http.get, "/v1/health/ready") for _ in range(10)]
            while not any(probe.done() for probe in probes):
                told = within(1.0, lambda: http.get("/v1/memories/home"))
                assert told.json()["text"] == "Ann lives in Lisbon"
            away = [probe.result() for probe in probes]
        assert {(one.status_code, one.json()["type"]) for one in away} == {(503, "unavailable")}
        assert len(asked) == 1
        assert within(2, lambda: http.get("/v1/health/ready")).status_code == 503
        assert len(asked) == 1
    finally:
        healed.set()
    assert http.get("/v1/health/ready").status_code == 200
