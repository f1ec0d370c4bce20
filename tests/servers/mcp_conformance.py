"""Serves a memory over HTTP for the MCP conformance suite: `python -m tests.servers.mcp_conformance PORT`.

With `--fixtures`, what the suite calls by name is registered beside our own tools.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from eidet import AsyncMemory
from eidet.server.app import create_app
from eidet.server.server_settings import ServerSettings


def main() -> None:
    port = int(sys.argv[1])
    app = create_app(AsyncMemory(), ServerSettings(port=port), closes=True)
    if "--fixtures" in sys.argv:
        from .mcp_fixtures import RememberedEvents, add_fixtures

        add_fixtures(app.state.mcp)
        app.state.mcp.session_manager.event_store = RememberedEvents()
        app.state.mcp.session_manager.retry_interval = 100
    app.state.serving.lifespans.append(tell_ready)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")


@asynccontextmanager
async def tell_ready() -> AsyncIterator[None]:
    print("ready", flush=True)
    yield


if __name__ == "__main__":
    main()
