"""Serves a memory over HTTP for the MCP conformance suite: `python -m tests.servers.mcp_conformance PORT`.

With `--keys FILE`, the server needs a key. The suite cannot send one, so a step before the server adds it, as
a proxy would.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from eidet import AsyncMemory
from eidet.server.access import add_key
from eidet.server.serve import create_app
from eidet.server.server_settings import ServerSettings


def main() -> None:
    port = int(sys.argv[1])
    keys = None
    if "--keys" in sys.argv:
        keys = Path(sys.argv[sys.argv.index("--keys") + 1])
    app = create_app(AsyncMemory(), ServerSettings(port=port, keys=keys), closes=True)
    app.state.serving.lifespans.append(tell_ready)
    served: Any = app
    if keys is not None:
        served = KeyAdding(app, add_key(keys, "suite", ["**"], ["read", "write", "forget"]))
    uvicorn.run(served, host="127.0.0.1", port=port, log_level="warning")


class KeyAdding:
    """Adds a key to each request that has none."""

    def __init__(self, app: FastAPI, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and all(name != b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


@asynccontextmanager
async def tell_ready() -> AsyncIterator[None]:
    print("ready", flush=True)
    yield


if __name__ == "__main__":
    main()
