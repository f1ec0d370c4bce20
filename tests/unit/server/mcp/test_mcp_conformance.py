"""The official conformance suite and the inspector, against a server of ours over HTTP and over stdio.

They need Node 22: `export EIDET_TEST_MCP_NODE=$(.ci/mcp FOLDER)` gets it all into a folder.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")
pytest.importorskip("fastapi", reason="needs fastapi: pip install 'eidet[server]'")

from tests.servers import Child, free_port

from eidet.server.access import add_key

ROOT = Path(__file__).parents[4]
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
RESULT = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.MULTILINE)

# Scenarios that ask nothing of a server but what every server has, with the checks that pass. The others call
# tools of the suite's own by name, and so test the SDK.
GENERIC = {
    "2025-11-25": {
        "server-initialize": 2,
        "ping": 2,
        "tools-list": 3,
        "tools-call-error": 2,
        "resources-list": 2,
        "prompts-list": 2,
        "dns-rebinding-protection": 2,
    },
    "2026-07-28": {
        "tools-list": 4,
        "resources-list": 2,
        "prompts-list": 2,
        "server-sse-multiple-streams": 1,
        "dns-rebinding-protection": 2,
        "sep-2164-resource-not-found": 4,
        "caching": 8,
        "http-header-validation": 14,
        "input-required-result-unsupported-methods": 2,
    },
}


@pytest.fixture(scope="module")
def node() -> Path:
    folder = os.environ.get("EIDET_TEST_MCP_NODE")
    if folder is None:
        pytest.skip("needs Node 22 and the suite: export EIDET_TEST_MCP_NODE=$(.ci/mcp FOLDER)")
    return Path(folder)


def start_server(log: Path, *more: str) -> Iterator[str]:
    port = free_port()
    child = Child([sys.executable, "-m", "tests.servers.mcp_conformance", str(port), *more], log)
    child.start()
    try:
        wait_for(child, log)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        child.stop()


def wait_for(child: Child, log: Path) -> None:
    end = time.monotonic() + 60
    while b"ready" not in log.read_bytes():
        assert child.running, log.read_text()
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.fixture(scope="module")
def plain_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    yield from start_server(tmp_path_factory.mktemp("plain") / "log.txt")


@pytest.fixture(scope="module")
def keyed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same behind keys, with a step before it that adds one."""
    folder = tmp_path_factory.mktemp("keyed")
    keys = folder / "keys.toml"
    add_key(keys, "other", ["nowhere"], ["read"])
    text = keys.read_text().replace("[[key]]\n", "[[key]]\nrequests_per_second = 100000\n")
    keys.write_text(text)
    yield from start_server(folder / "log.txt", "--keys", str(keys))


def run_node(node: Path, *command: str, fails: bool = False) -> str:
    environment = {**os.environ, "PATH": f"{node / 'node_modules/.bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["node", *command],
        cwd=node,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert fails or done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def run_suite(node: Path, url: str, revision: str) -> dict[str, tuple[int, int]]:
    """How many checks passed and failed, by scenario."""
    said = run_node(
        node, SUITE, "server", "--url", url, "--suite", "all", "--spec-version", revision, fails=True
    )
    return {name: (int(passed), int(failed)) for name, passed, failed in RESULT.findall(said)}


@pytest.mark.parametrize("server", ["plain_server", "keyed_server"])
@pytest.mark.parametrize("revision", GENERIC)
def test_every_scenario_for_any_server_passes(
    node: Path, server: str, revision: str, request: pytest.FixtureRequest
) -> None:
    results = run_suite(node, request.getfixturevalue(server), revision)
    found = {name: results[name] for name in GENERIC[revision]}
    assert found == {name: (checks, 0) for name, checks in GENERIC[revision].items()}


def inspect(node: Path, *command: str) -> dict[str, Any]:
    answer = json.loads(run_node(node, "node_modules/.bin/mcp-inspector", "--cli", *command))
    assert isinstance(answer, dict)
    return answer


def test_the_inspector_lists_and_calls(node: Path, plain_server: str, tmp_path: Path) -> None:
    stdio = (sys.executable, "-m", "eidet.cli", "mcp", "--at", str(tmp_path / "agent.db"))
    for server in ((plain_server, "--transport", "http"), stdio):
        tools = inspect(node, *server, "--method", "tools/list")["tools"]
        assert {"remember", "recall"} <= {tool["name"] for tool in tools}
        stored = inspect(
            node,
            *server,
            "--method",
            "tools/call",
            "--tool-name",
            "remember",
            "--tool-arg",
            "text=Ann is in Porto",
        )
        assert stored["structuredContent"]["stored"][0]["text"] == "Ann is in Porto"
        assert inspect(node, *server, "--method", "resources/list")["resources"]
        assert inspect(node, *server, "--method", "prompts/list")["prompts"][0]["description"]
