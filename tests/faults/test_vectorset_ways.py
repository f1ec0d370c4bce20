"""Vector sets on servers that speak TLS, and behind sentinels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.test_vectorset_lines import noted, opened, set_of, shelf_of
from tests.servers import free_port
from tests.servers.redis8 import Redis8
from tests.servers.sentinel import Watched
from tests.unit.index.vectordb.test_vectorset_scopes import held
from tests.unit.store.test_redis_address import certificate

pytestmark = pytest.mark.needs("redis8")


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[Redis8, str]]:
    """A server and its address for those who speak TLS."""
    public, private = certificate(tmp_path)
    port = free_port()
    files = ("--tls-cert-file", public, "--tls-key-file", private, "--tls-ca-cert-file", public)
    server = Redis8(tmp_path / "server", "--tls-port", str(port), *map(str, files)).start()
    shown = f"ssl_ca_certs={public}&ssl_certfile={public}&ssl_keyfile={private}"
    yield server, f"rediss://127.0.0.1:{port}/0?{shown}"
    server.stop()


def test_a_server_that_speaks_tls_keeps_vectors(secure: tuple[Redis8, str]) -> None:
    server, url = secure
    with opened(url) as memory:
        noted(memory)
        _, key = set_of(memory)
        assert held(server, key) == 20
        hit = memory.recall("topic7", limit=1)[0]
        assert hit.text.endswith("topic7")
        memory.forget(hit.id)
        assert held(server, key) == 19
        assert memory.admin.check() == []


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    servers = Watched(tmp_path, of=Redis8)
    yield servers
    servers.stop()


def test_when_sentinels_name_another_primary_its_vectors_are_searched(watched: Watched) -> None:
    with opened(f"{watched.url}?deadline=20") as memory:
        noted(memory)
        database, key = set_of(memory)
        watched.await_replica(key)
        watched.primary.kill()
        assert memory.recall("topic7", limit=1)[0].text.endswith("topic7")
        memory.remember("a note after the fall")
        assert memory.recall("the fall", limit=1)[0].text == "a note after the fall"
        assert memory.admin.check() == []
        assert database.count(shelf_of(memory)) == 21
