"""MCP: the verbs of a memory as tools for agents, over stdio and over HTTP.

memory_tools.py     remember, recall, recall_all, context, revise, promote, forget, history, review, facts
tool_arguments.py   the arguments of tools, with descriptions for a model
tool_answers.py     the answers of tools, as text and as values
agent_access.py     the caller and its access: keys, scopes and rights as in REST
memory_server.py    the SDK's server, with rights, checked arguments and errors that a model can act on
scope_resources.py  a scope's profile and sessions as resources, and a prompt
mounting.py         `/mcp` inside of `eidet serve`
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import redirect_stdout

from mcp.server import MCPServer
from mcp.server.auth.settings import AuthSettings
from mcp.types import ToolAnnotations
from pydantic import AnyHttpUrl

from ...aio import AsyncMemory
from ..access import LOCAL, Caller, KeyRing, Right
from .agent_access import AgentAccess, KeyVerifier
from .memory_server import CountCall, MemoryServer
from .memory_tools import MemoryTools
from .scope_resources import ScopeResources, add_resources

__all__ = ["create_mcp", "serve_stdio"]


def _hints(*, reads: bool = False, deletes: bool = False) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=reads, destructive_hint=deletes, idempotent_hint=True, open_world_hint=False
    )


_READS, _WRITES, _DELETES = _hints(reads=True), _hints(), _hints(deletes=True)


def create_mcp(
    memory: AsyncMemory,
    *,
    local: Caller = LOCAL,
    home: str = "default",
    keys: KeyRing | None = None,
    url: str | None = None,
    count: CountCall | None = None,
) -> MCPServer:
    """Makes an MCP server over a memory, for the SDK's `run("stdio")` or `streamable_http_app()`.

    The caller is the one of the HTTP request, or else `local`. With `keys` that are required there is no such
    else, and the server is an OAuth resource server at `url`, whose tokens are the keys. `home` is the scope
    of calls that name none. `count` is called after every tool call.
    """
    if keys is None or not keys.required:
        access = AgentAccess(local, home)
        server = MemoryServer(access, count=count)
    else:
        access = AgentAccess(None, home)
        server = MemoryServer(access, auth=_make_auth(url), token_verifier=KeyVerifier(keys), count=count)
    _add_memory_tools(server, MemoryTools(memory, access))
    add_resources(server, ScopeResources(memory, access))
    return server


def _add_memory_tools(server: MemoryServer, tools: MemoryTools) -> None:
    server.add_verb(tools.remember, Right.WRITE, "Remember", _WRITES)
    server.add_verb(tools.recall, Right.READ, "Recall", _READS)
    server.add_verb(tools.recall_all, Right.READ, "Recall all on a topic", _READS)
    server.add_verb(tools.context, Right.READ, "Context for a question", _READS)
    server.add_verb(tools.revise, Right.WRITE, "Revise a memory", _WRITES)
    server.add_verb(tools.promote, Right.WRITE, "Copy or move to another scope", _WRITES)
    server.add_verb(tools.forget, Right.FORGET, "Forget for good", _DELETES)
    server.add_verb(tools.history, Right.READ, "History of a memory", _READS)
    # The caller is an agent: a page that it read could make it approve what the page wrote.
    server.add_verb(tools.review, Right.ADMIN, "Review what waits", _READS)
    server.add_verb(tools.approve, Right.ADMIN, "Approve a memory", _WRITES)
    server.add_verb(tools.reject, Right.ADMIN, "Reject a memory", _DELETES)
    server.add_verb(tools.facts, Right.READ, "Facts and their times", _READS)


def _make_auth(url: str | None) -> AuthSettings:
    """Makes the settings of a resource server whose tokens are its own keys; it has no other issuer."""
    place = AnyHttpUrl(url or "http://127.0.0.1:8765/mcp")
    return AuthSettings(issuer_url=place, resource_server_url=place, validate_token_resource=False)


async def serve_stdio(memory: AsyncMemory, local: Caller, home: str) -> None:
    """Serves one client until it closes stdin. Nothing but JSON-RPC is written to stdout."""
    with redirect_stdout(sys.stderr):
        await memory.threads.open()  # a memory that cannot be opened ends the process at once
    memory.threads.hop_always()
    server = create_mcp(memory, local=local, home=home)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _start_ending, memory)
    try:
        await server.run_stdio_async()
    finally:
        await memory.close()


def _start_ending(memory: AsyncMemory) -> None:
    """Closes the memory, which finishes calls in flight and flushes writes, and then exits."""
    ending = asyncio.ensure_future(memory.close())
    ending.add_done_callback(_leave)


def _leave(_ended: asyncio.Future[None]) -> None:
    """Exits without joining threads, because one is still blocked reading stdin."""
    os._exit(0)
