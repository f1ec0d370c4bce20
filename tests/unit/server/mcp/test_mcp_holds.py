"""A legal hold and the tools of MCP: none of them changes or deletes what is held."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[mcp]'")

from mcp import Client
from tests.unit.server.mcp.agents import HASHING, ask, call, text_of

from eidet import AsyncMemory, Where
from eidet.core.record import Record
from eidet.server.mcp import create_mcp

Arguments = Callable[[str], dict[str, Any]]

REFUSED: dict[str, Arguments] = {
    "revise": lambda held: {"id": held, "text": "else"},
    "promote": lambda held: {"id": held, "to": "other", "move": True},
    "forget": lambda held: {"ids": [held]},
    "approve": lambda held: {"id": held},
    "reject": lambda held: {"id": held},
}
LEAVES: dict[str, Arguments] = {
    "remember": lambda held: {"text": "Ann lives in Lisbon", "more": ["something else"]},
    "recall": lambda held: {"query": "Ann"},
    "recall_all": lambda held: {"query": "Ann"},
    "context": lambda held: {"query": "Ann"},
    "history": lambda held: {"id": held},
    "review": lambda held: {},
    "facts": lambda held: {"about": "Ann"},
}


def look_at(memory: AsyncMemory) -> dict[str, Record]:
    found = memory.core.parts.store.find(Where())
    return {one.id: one.but(uses=0, last_used=None, vector=None, terms=b"", seq=0) for one in found}


def test_no_tool_changes_what_is_held() -> None:
    async def go() -> None:
        async with (
            AsyncMemory(embedder=HASHING) as memory,
            Client(create_mcp(memory), mode="2026-07-28") as agent,
        ):
            assert {tool.name for tool in (await agent.list_tools()).tools} == {*REFUSED, *LEAVES}
            stored = await ask(agent, "remember", text="Ann lives in Lisbon")
            for record in memory.core.parts.store.find(Where()):
                await memory.upkeep.hold(record.id, scope=record.scope, by="court")
            before = look_at(memory)
            for tool, arguments in {**REFUSED, **LEAVES}.items():
                answer = await call(agent, tool, **arguments(stored["stored"][0]["id"]))
                after = look_at(memory)
                assert {id: after.get(id) for id in before} == before, tool
                if tool in REFUSED:
                    assert (answer.is_error, "legal hold" in text_of(answer)) == (True, True), tool

    asyncio.run(go())
