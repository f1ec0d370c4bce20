"""MCP over HTTP: agents share a memory, keys confine them, and strangers stay outside."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

import httpx2
from mcp.shared.exceptions import MCPError
from tests.servers.served import serve_in_thread
from tests.unit.server.mcp.agents import ERAS, HASHING, ask, call, connect, fail

each_era = pytest.mark.parametrize("era", ERAS)
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}
ALL_RIGHTS = ("read", "write", "forget")


def entry(name: str, scope: str, rights: tuple[str, ...] = ALL_RIGHTS) -> str:
    lines = ["[[key]]", f'name = "{name}"', f'scopes = ["{scope}"]', f"rights = {json.dumps(rights)}"]
    return "\n".join([*lines, f'key = "secret-{name}"', ""])


def write_keys(path: Path, *entries: str) -> Path:
    path.write_text("\n".join(entries))
    path.chmod(0o600)
    return path


@contextmanager
def serve(**settings: Any) -> Iterator[str]:
    with serve_in_thread(embedder=HASHING, **settings) as running:
        yield running.url


@each_era
def test_two_agents_share_a_memory(era: str) -> None:
    async def go(url: str) -> None:
        async with connect(url, era=era) as one, connect(url, era=era) as other:
            stored = await ask(one, "remember", text="the deploy is on Friday", scope="team")
            found = await ask(other, "recall", query="when is the deploy?", scope="team")
            assert found["memories"][0]["id"] == stored["stored"][0]["id"]
            await ask(
                other, "revise", id=found["memories"][0]["id"], text="the deploy is on Monday", scope="team"
            )
            found = await ask(one, "recall", query="when is the deploy?", scope="team")
            assert [memory["text"] for memory in found["memories"]] == ["the deploy is on Monday"]

    with serve() as url:
        asyncio.run(go(url))


@each_era
def test_keys_share_a_scope_or_are_kept_apart(era: str, tmp_path: Path) -> None:
    keys = write_keys(
        tmp_path / "keys.toml",
        entry("ann", "acme/ann"),
        entry("team", "acme"),
        entry("ben", "other/ben"),
        entry("reader", "acme", ("read",)),
    )

    async def go(url: str) -> None:
        async with connect(url, "secret-ann", era) as ann:
            stored = (await ask(ann, "remember", text="Ann lives in Porto"))["stored"][0]
            assert stored["scope"] == "acme/ann"
        async with connect(url, "secret-team", era) as team:
            found = await ask(team, "recall", query="Ann", scope="acme/ann")
            assert found["memories"][0]["id"] == stored["id"]
            past = await ask(team, "history", id=stored["id"], scope="acme/ann")
            assert past["entries"][0]["by"] == "ann"
        async with connect(url, "secret-ben", era) as ben:
            assert (await ask(ben, "recall", query="Ann"))["memories"] == []
            said = await fail(ben, "recall", query="Ann", scope="acme/ann")
            assert said == (await fail(ben, "recall", query="Ann", scope="acme/zoe")).replace("zoe", "ann")
            with pytest.raises(Exception, match="there is no scope"):
                await ben.read_resource("memory://profile/acme/ann")
        async with connect(url, "secret-reader", era) as reader:
            names = [tool.name for tool in (await reader.list_tools()).tools]
            assert names == ["recall", "recall_all", "context", "history", "facts"]
            assert "the right 'forget'" in await fail(reader, "forget", ids=[stored["id"]], scope="acme/ann")

    with serve(keys=keys) as url:
        asyncio.run(go(url))


@each_era
def test_a_key_that_is_changed_or_revoked_is_changed_at_once(era: str, tmp_path: Path) -> None:
    keys = write_keys(tmp_path / "keys.toml", entry("ann", "acme"))

    async def go(url: str) -> None:
        async with connect(url, "secret-ann", era) as ann:
            await ask(ann, "remember", text="Ann lives in Porto")
            write_keys(keys, entry("ann", "acme", ("read",)))
            assert "the right 'write'" in await fail(ann, "remember", text="Ann lives in Faro")
            write_keys(keys, entry("ben", "acme"))
            with pytest.raises(MCPError, match="error response"):
                await call(ann, "recall", query="Ann")
        with httpx2.Client(base_url=url, headers=ACCEPT) as http:
            told = {"Authorization": "Bearer secret-ann"}
            assert http.post("/mcp", json=INITIALIZE, headers=told).status_code == 401

    with serve(keys=keys) as url:
        asyncio.run(go(url))


def test_without_a_key_a_client_is_told_where_to_look(tmp_path: Path) -> None:
    keys = write_keys(tmp_path / "keys.toml", entry("ann", "acme"))
    with serve(keys=keys) as url, httpx2.Client(base_url=url, headers=ACCEPT) as http:
        answer = http.post("/mcp", json=INITIALIZE)
        assert answer.status_code == 401
        told = answer.headers["www-authenticate"]
        place = f"{url}/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{place}"' in told
        metadata = http.get(place).json()
        assert metadata["resource"] == f"{url}/mcp"
        assert (
            http.post("/mcp", json=INITIALIZE, headers={"Authorization": "Bearer wrong"}).status_code == 401
        )
        right = http.post("/mcp", json=INITIALIZE, headers={"Authorization": "Bearer secret-ann"})
        assert right.status_code == 200
        assert "secret" not in right.text


STRANGERS = {
    "a name that was rebound to this address": ({"Host": "evil.example"}, 421),
    "a page of another origin": ({"Origin": "https://evil.example"}, 403),
    "a page without an origin": ({"Origin": "null"}, 403),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_web_pages_of_strangers_are_refused(stranger: str) -> None:
    headers, status = STRANGERS[stranger]
    with serve() as url, httpx2.Client(base_url=url, headers=ACCEPT) as http:
        for era, version in (("2025-11-25", None), ("2026-07-28", "2026-07-28")):
            more = headers | ({} if version is None else {"Mcp-Protocol-Version": version})
            assert http.post("/mcp", json=INITIALIZE, headers=more).status_code == status, era


@pytest.mark.parametrize("workers", [1, 2])
def test_there_are_no_sessions(workers: int) -> None:
    """Each request may reach another worker: what the first one was told is not needed by the second."""
    with serve(workers=workers) as url, httpx2.Client(base_url=url, headers=ACCEPT) as http:
        begun = http.post("/mcp", json=INITIALIZE)
        assert begun.status_code == 200
        assert "mcp-session-id" not in begun.headers
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answer = http.post("/mcp", json=listing, headers={"Mcp-Protocol-Version": "2025-11-25"})
        assert '"recall"' in answer.text


def test_the_limits_of_a_key_hold(tmp_path: Path) -> None:
    limits = "body_bytes = 10000\ncontext_tokens = 20\nrequests_per_second = 5\n"
    keys = write_keys(tmp_path / "keys.toml", entry("ann", "acme") + limits)

    async def go(url: str) -> None:
        async with connect(url, "secret-ann") as ann:
            await ask(ann, "remember", text="Ann lives in Porto, near the river, with two cats and a dog")
            made = await ask(ann, "context", query="where does Ann live?", budget=1000)
            assert made["budget"] == 20

    with serve(keys=keys) as url:
        asyncio.run(go(url))
        headers = {**ACCEPT, "Authorization": "Bearer secret-ann"}
        with httpx2.Client(base_url=url, headers=headers) as http:
            assert http.post("/mcp", json={**INITIALIZE, "more": "x" * 20_000}).status_code == 413
            assert 429 in {http.post("/mcp", json=INITIALIZE).status_code for _ in range(20)}
