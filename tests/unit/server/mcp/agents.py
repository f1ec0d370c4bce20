"""What the tests of MCP share: a memory, clients of both protocol eras, and short ways to call tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from eidet import AsyncMemory
from eidet.server.access import LOCAL, Caller, Right
from eidet.server.mcp import create_mcp

T = TypeVar("T")
HASHING: Final = "hashing:64"
ERAS: Final = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
Talk = Callable[[Client], Coroutine[Any, Any, T]]


def run(talk: Talk[T], *, era: str = "2026-07-28", **how: Any) -> T:
    """Lets an agent talk to a server over a new memory in RAM."""

    async def go() -> T:
        async with (
            AsyncMemory(embedder=HASHING) as memory,
            Client(create_mcp(memory, **how), mode=ERAS[era]) as agent,
        ):
            return await talk(agent)

    return asyncio.run(go())


@asynccontextmanager
async def connect(url: str, key: str | None = None, era: str = "2026-07-28") -> AsyncIterator[Client]:
    """An agent over HTTP, with a key if one is given."""
    headers = {}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=ERAS[era]) as agent,
    ):
        yield agent


async def call(agent: Client, tool: str, **arguments: Any) -> CallToolResult:
    answer = await agent.call_tool(tool, arguments)
    assert isinstance(answer, CallToolResult)
    return answer


async def ask(agent: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers as values; it must not be an error."""
    answer = await call(agent, tool, **arguments)
    assert not answer.is_error, text_of(answer)
    values = answer.structured_content
    assert isinstance(values, dict)
    return values


async def fail(agent: Client, tool: str, **arguments: Any) -> str:
    """What a tool says when it fails; it must."""
    answer = await call(agent, tool, **arguments)
    assert answer.is_error, text_of(answer)
    return text_of(answer)


def text_of(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


def caller(*rights: Right, scopes: tuple[str, ...] = LOCAL.scopes) -> Caller:
    return Caller(name=None, scopes=scopes, rights=frozenset(rights), limits=LOCAL.limits)
