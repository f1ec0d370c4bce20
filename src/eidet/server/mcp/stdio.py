"""MCP over stdin and stdout, for agents that start their servers themselves."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import redirect_stdout

from ...aio import AsyncMemory
from ..access import Caller
from . import create_mcp


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
