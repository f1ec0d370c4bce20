"""MCP inside of `eidet serve`: at /mcp, behind the same middleware, with the same keys as REST."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..access import LOCAL
from ..serving import Serving, caller_of
from . import create_mcp

PATH: Final = "/mcp"
_CHECKED_ALREADY: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_NO_LIMIT: Final = 1 << 30  # bytes of a body; the middleware limits what a caller may send


def add_mcp(app: FastAPI, serving: Serving) -> None:
    """Serves MCP at /mcp.

    The middleware has checked host, origin, rate and size. There are no sessions: every request is complete
    in itself, so the next one may reach another worker, and clients that vanish leave nothing behind.
    """
    server = create_mcp(
        serving.memory,
        local=None if serving.keys.required else LOCAL,
        count=app.state.metrics.count_tool,
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=_CHECKED_ALREADY,
        max_request_body_size=_NO_LIMIT,
    )
    app.router.routes.append(Route(PATH, endpoint=_KnownCallers(inner), include_in_schema=False))
    serving.lifespans.append(server.session_manager.run)


class _KnownCallers:
    """ASGI middleware that refuses requests without a key where one is needed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller_of(Request(scope))
        await self._app(scope, receive, send)
