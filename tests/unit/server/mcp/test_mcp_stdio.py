"""MCP over stdin and stdout: only JSON-RPC on stdout, and nothing that was acknowledged is ever lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[mcp]'")

from tests.unit.server.mcp.agents import HASHING

from eidet import Memory
from eidet.cli import app

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Agent:
    """An agent that starts a server as its configuration says, and reads what it writes line by line."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.lines: list[str] = []
        self._number = 0

    @property
    def process(self) -> subprocess.Popen[bytes]:
        return self._process

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        self.write(json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}))
        return self._number

    def write(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def read(self) -> dict[str, Any] | None:
        """The next message; None at the end. Whatever is no message fails the test."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            return None
        self.lines.append(line.decode())
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        assert isinstance(message, dict)
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        number = self.send(method, **params)
        answer = self.read()
        assert answer is not None
        assert answer["id"] == number
        return answer

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        assert not result.get("isError"), result
        values = result["structuredContent"]
        assert isinstance(values, dict)
        return values

    def begin(self) -> None:
        assert self.ask("initialize", **HELLO)["result"]["serverInfo"]["name"] == "eidet"
        self.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def stop(self) -> None:
        self._process.kill()
        self._process.wait(30)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()

    def end(self) -> int:
        """Closes stdin, as agents do; gives the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(30)


@contextmanager
def start(at: Path, *more: str) -> Iterator[Agent]:
    agent = Agent([sys.executable, "-m", "eidet.cli", "mcp", "--at", str(at), "--embedder", HASHING, *more])
    try:
        yield agent
    finally:
        agent.stop()


def test_a_configuration_as_it_is_printed_starts_a_server(tmp_path: Path) -> None:
    at = tmp_path / "agent.db"
    printed = CliRunner().invoke(
        app, ["mcp", "--at", str(at), "--scope", "ann", "--rights", "read,write", "--print-config"]
    )
    assert printed.exit_code == 0
    server = json.loads(printed.stdout)["mcpServers"]["eidet"]
    agent = Agent([server["command"], *server["args"]])
    try:
        agent.begin()
        tools = agent.ask("tools/list")["result"]["tools"]
        names = ["remember", "recall", "recall_all", "context", "revise", "promote", "history", "facts"]
        assert [tool["name"] for tool in tools] == names
        assert agent.call("remember", text="Ann lives in Porto")["stored"][0]["scope"] == "ann"
        agent.write("this is no JSON")
        assert agent.call("recall", query="Porto", scope="ann")["memories"][0]["text"] == "Ann lives in Porto"
        outside = agent.ask("tools/call", name="recall", arguments={"query": "x", "scope": "ben"})
        assert outside["result"]["isError"]
        assert agent.end() == 0
        assert agent.read() is None
    finally:
        agent.stop()


@pytest.mark.parametrize(
    "url", ["postgresql://ann:hunter2@db.example/memory", "redis://:hunter2@cache:6379/0"]
)
def test_a_configuration_shows_no_password(url: str) -> None:
    printed = CliRunner().invoke(app, ["mcp", "--at", url, "--print-config"])
    assert printed.exit_code == 0
    assert "hunter2" not in printed.output
    assert "EIDET_MEMORY" in json.loads(printed.stdout)["mcpServers"]["eidet"]["env"]


def test_a_memory_that_cannot_be_opened_ends_the_server_with_a_reason(tmp_path: Path) -> None:
    damaged = tmp_path / "agent.db"
    damaged.write_bytes(b"this is no database" * 100)
    with start(damaged) as agent:
        out, err = agent.process.communicate(timeout=60)
        assert agent.process.returncode == 6
        assert out == b""
        assert err.startswith(b"error: ")


def test_whatever_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    """kill -9 comes while calls are in flight; SIGTERM later, which lets them finish."""
    at = tmp_path / "agent.db"
    kept: list[str] = []
    with start(at) as agent:
        agent.begin()
        for number in range(40):
            agent.send("tools/call", name="remember", arguments={"text": f"fact number {number}"})
        for _ in range(15):
            answer = agent.read()
            assert answer is not None
            kept.append(answer["result"]["structuredContent"]["stored"][0]["id"])
        os.kill(agent.process.pid, signal.SIGKILL)
        while (answer := agent.read()) is not None:
            kept.append(answer["result"]["structuredContent"]["stored"][0]["id"])
    with start(at) as agent:
        agent.begin()
        assert len(agent.call("recall", query="", limit=100)["memories"]) >= len(kept)
        kept.append(agent.call("remember", text="after the crash")["stored"][0]["id"])
        begun = time.monotonic()
        os.kill(agent.process.pid, signal.SIGTERM)
        assert agent.process.wait(30) == 0
        assert time.monotonic() - begun < 20
    with Memory(at, embedder=HASHING) as memory:
        assert None not in memory.get(kept)
        assert memory.admin.check() == []
    assert len(kept) >= 16
