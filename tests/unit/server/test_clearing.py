"""Idempotency keys that are older than a day go while the server runs."""

from __future__ import annotations

import time
from functools import partial

from tests.servers import free_port
from tests.servers.served import Running

from eidet import AsyncMemory
from eidet.server.rest.once import PREFIX, clear_old_keys
from eidet.server.server_settings import ServerSettings
from eidet.store.verbs import get_settings

DAY = 86_400.0


def test_old_keys_go_while_the_server_runs() -> None:
    now = [1_790_000_000.0]
    memory = AsyncMemory(embedder="hashing:16", clock=lambda: now[0])
    running = Running(memory, ServerSettings(port=free_port()))
    running.app.state.serving.lifespans.append(
        partial(clear_old_keys, running.app.state.serving, pause=0.001)
    )
    running.start()

    def list_keys() -> list[str]:
        return list(get_settings(memory.parts.store, f"lease:{PREFIX}"))

    def send(key: str) -> None:
        body = {"memories": [{"text": f"note {key}"}]}
        answer = running.shared.post("/v1/memories", json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201

    try:
        for number in range(20):
            send(f"old {number}")
        now[0] += 0.75 * DAY
        send("young")
        assert len(list_keys()) == 21
        now[0] += 0.5 * DAY
        deadline = time.monotonic() + 60
        while len(list_keys()) > 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        (kept,) = list_keys()
        send("young")
        assert list_keys() == [kept]
    finally:
        running.stop()
        memory.core.close()
