"""MCP: the verbs of a memory as tools for agents, over stdio and over HTTP.

memory_tools.py     remember, recall, context, revise, forget, history
graph_tools.py      on request: the nine tools of the reference knowledge-graph server
scope_resources.py  resources of a scope, and the prompt
tool_arguments.py   what tools take, with what a model reads about it
tool_answers.py     what tools answer, as text and as values
agent_access.py     who asks, and what they may do: keys, scopes and rights as in REST
memory_server.py    the SDK's server, with rights, checked arguments and errors that a model can act on
mounting.py         `/mcp` inside of `eidet serve`
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import redirect_stdout
from typing import Final

from mcp.server import MCPServer
from mcp.server.auth.settings import AuthSettings
from mcp.types import ToolAnnotations
from pydantic import AnyHttpUrl

from ...aio import AsyncMemory
from ..access import LOCAL, Caller, KeyRing, Right
from .agent_access import AgentAccess, KeyVerifier
from .fact_tools import FactTools
from .graph_tools import GRAPH_URI, GraphTools
from .memory_server import CountCall, MemoryServer
from .memory_tools import MemoryTools
from .scope_resources import ScopeResources, add_resources

__all__ = ["create_mcp", "serve_stdio"]

READS: Final = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
CREATES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
DELETES: Final = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def create_mcp(
    memory: AsyncMemory,
    *,
    local: Caller = LOCAL,
    home: str = "default",
    keys: KeyRing | None = None,
    url: str | None = None,
    graph_tools: bool = False,
    count: CountCall | None = None,
) -> MCPServer:
    """An MCP server over a memory; `run("stdio")` and `streamable_http_app()` are the SDK's.

    Without `keys` that are required, everybody is `local`. With them the server is an OAuth resource
    server at `url`, whose tokens are the keys. `home` is the scope of calls that name none.
    `graph_tools` adds the tools of the reference knowledge-graph server. `count` is told of every call.
    """
    if keys is None or not keys.required:
        access = AgentAccess(local, home)
        server = MemoryServer(access, count=count)
    else:
        access = AgentAccess(None, home)
        server = MemoryServer(access, auth=_make_auth(url), token_verifier=KeyVerifier(keys), count=count)
    _add_memory_tools(server, MemoryTools(memory, access))
    server.add_verb(FactTools(memory, access).facts, Right.READ, "Facts and their times", READS)
    add_resources(server, ScopeResources(memory, access))
    if graph_tools:
        _add_graph_tools(server, GraphTools(memory, access))
    return server


def _add_memory_tools(server: MemoryServer, tools: MemoryTools) -> None:
    server.add_verb(tools.remember, Right.WRITE, "Remember", WRITES)
    server.add_verb(tools.recall, Right.READ, "Recall", READS)
    server.add_verb(tools.context, Right.READ, "Context for a question", READS)
    server.add_verb(tools.revise, Right.WRITE, "Revise a memory", WRITES)
    server.add_verb(tools.forget, Right.FORGET, "Forget for good", DELETES)
    server.add_verb(tools.history, Right.READ, "History of a memory", READS)


def _add_graph_tools(server: MemoryServer, tools: GraphTools) -> None:
    """The annotations are those of the reference server."""
    server.add_verb(tools.create_entities, Right.WRITE, "Create Entities", CREATES)
    server.add_verb(tools.create_relations, Right.WRITE, "Create Relations", CREATES)
    server.add_verb(tools.add_observations, Right.WRITE, "Add Observations", CREATES)
    server.add_verb(tools.delete_entities, Right.FORGET, "Delete Entities", DELETES)
    server.add_verb(tools.delete_observations, Right.FORGET, "Delete Observations", DELETES)
    server.add_verb(tools.delete_relations, Right.FORGET, "Delete Relations", DELETES)
    server.add_verb(tools.read_graph, Right.READ, "Read Graph", READS)
    server.add_verb(tools.search_nodes, Right.READ, "Search Nodes", READS)
    server.add_verb(tools.open_nodes, Right.READ, "Open Nodes", READS)
    server.resource(GRAPH_URI, name="knowledge-graph", title="Knowledge Graph", mime_type="application/json")(
        tools.read_resource
    )


def _make_auth(url: str | None) -> AuthSettings:
    """A resource server whose tokens are keys of its own; nobody else issues any."""
    place = AnyHttpUrl(url or "http://127.0.0.1:8765/mcp")
    return AuthSettings(issuer_url=place, resource_server_url=place, validate_token_resource=False)


async def serve_stdio(memory: AsyncMemory, local: Caller, home: str, *, graph_tools: bool = False) -> None:
    """Serves one client until it closes stdin. Nothing but JSON-RPC is written to stdout."""
    with redirect_stdout(sys.stderr):
        await memory.threads.open()  # a memory that cannot be opened ends the process at once
    memory.threads.hop_always()
    server = create_mcp(memory, local=local, home=home, graph_tools=graph_tools)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, _start_ending, memory)
    try:
        await server.run_stdio_async()
    finally:
        await memory.close()


def _start_ending(memory: AsyncMemory) -> None:
    """Lets calls in flight finish, writes down what is pending, and leaves."""
    ending = asyncio.ensure_future(memory.close())
    ending.add_done_callback(_leave)


def _leave(_ended: asyncio.Future[None]) -> None:
    """Leaves at once: a thread still waits for a line of stdin, which nothing but a line can wake."""
    os._exit(0)
