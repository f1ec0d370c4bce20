"""Idempotency keys that are older than a day go while the server runs."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from tests.servers.served import serve_in_thread

from eidet.server.rest.once import DAY, PREFIX
from eidet.store import verbs


def test_a_new_key_clears_old_ones(tmp_path: Path) -> None:
    with serve_in_thread(tmp_path / "agent.db") as running:
        parts = running.memory.parts
        marks = ((f"key {n}", parts.key_ids.mark(f"\0key {n}".encode())) for n in count())
        key, own = next(found for found in marks if found[1].startswith("000"))
        now = parts.clock()
        for name, until in (("00old", now - 1), ("00young", now + DAY), ("11old", now - 1)):
            assert verbs.take_lease(parts.store, PREFIX + name, "x", now=now - DAY, until=until)
        body = {"memories": [{"text": "Ann drinks tea"}]}
        answer = running.shared.post("/v1/memories", json=body, headers={"Idempotency-Key": key})
        assert answer.status_code == 201
        left = verbs.get_settings(parts.store, f"lease:{PREFIX}")
        assert {name.rpartition(":")[2] for name in left} == {own, "00young", "11old"}
