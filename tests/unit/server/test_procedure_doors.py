"""A procedure through every door: stored with the same text, checked in the same words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from tests.servers.served import Running
from tests.unit.cli.shell import Shell
from tests.unit.server.mcp.agents import ask, connect

from eidet import AsyncMemory, BadInput, Memory

DATA = {"when": "we release", "steps": ["Run the tests", "Tag it"]}
TEXT = "When: we release.\n1. Run the tests.\n2. Tag it."
Say = Callable[[Running, Path, dict[str, Any]], object]


def by_memory(running: Running, _: Path, data: dict[str, Any]) -> object:
    return running.memory.core.remember(data, kind="procedure")


def by_client(running: Running, _: Path, data: dict[str, Any]) -> object:
    with Memory(running.url) as memory:
        return memory.remember(kind="procedure", data=data)


def by_async_client(running: Running, _: Path, data: dict[str, Any]) -> object:
    async def go() -> object:
        async with AsyncMemory(running.url) as memory:
            return await memory.remember(data, kind="procedure")

    return asyncio.run(go())


def by_command_line(running: Running, folder: Path, data: dict[str, Any]) -> object:
    said = Shell(folder)("remember", "--kind", "procedure", "--data", json.dumps(data), "--at", running.url)
    if said.code:
        raise BadInput(said.err)
    return said


@pytest.mark.parametrize("say", [by_memory, by_client, by_async_client, by_command_line])
def test_a_procedure_is_the_same_by_every_door(say: Say, running: Running, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="a procedure needs when and steps; steps is missing"):
        say(running, tmp_path, {"when": "we release"})
    say(running, tmp_path, DATA)
    [record] = running.memory.core.find(kinds="procedure")
    assert (record.text, record.data) == (TEXT, DATA)


def test_an_agent_tells_a_procedure_in_words(running: Running) -> None:
    async def go() -> Any:
        async with connect(running.url) as agent:
            await ask(agent, "remember", text="To release, run the tests and tag it.", kind="procedure")
            return await ask(agent, "recall", query="how do we release?", kinds=["procedure"])

    [found] = asyncio.run(go())["memories"]
    assert found["text"] == "To release, run the tests and tag it."
