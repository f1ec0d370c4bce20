"""Whose address the audit log names; what a proxy says of it counts only if that proxy is named."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.servers.served import ServerProcess

CLIENT = "203.0.113.9"


@pytest.mark.parametrize(
    ("options", "source"),
    [(("--proxy", "198.51.100.1"), "127.0.0.1"), (("--proxy", "127.0.0.1"), CLIENT)],
)
def test_forwarded_headers_count_only_from_named_proxies(
    options: tuple[str, ...], source: str, tmp_path: Path
) -> None:
    log = tmp_path / "audit.log"
    server = ServerProcess(str(tmp_path / "agent.db"), tmp_path, *options, env=[f"EIDET_AUDIT={log}"])
    server.start()
    try:
        stored = httpx.post(
            f"{server.url}/v1/memories",
            json={"memories": [{"text": "Ann lives in Lisbon"}]},
            headers={"X-Forwarded-For": CLIENT},
        )
        assert stored.status_code == 201
    finally:
        server.stop()
    told = log.read_text()
    assert source in told
    assert (CLIENT in told) is (source == CLIENT)
