"""MCP inside of `eidet serve`: at /mcp, behind the same middleware, with the same keys as REST."""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any, Final

from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..server_settings import ServerSettings
from ..serving import Serving
from . import create_mcp

PATH: Final = "/mcp"
SESSION: Final = "mcp-session-id"  # the header
_CHECKED_ALREADY: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_NO_LIMIT: Final = 1 << 30  # bytes of a body; the middleware limits what a caller may send


def add_mcp(app: FastAPI, serving: Serving) -> None:
    """Serves MCP at /mcp, and tells OAuth clients about it under /.well-known.

    The middleware has checked host, origin, rate and size. A server of several workers keeps no sessions,
    since the next request of a client may reach another worker.
    """
    settings = serving.settings
    server = create_mcp(
        serving.memory,
        keys=serving.keys,
        url=_address_of(settings),
        graph_tools=settings.graph_tools,
        count=app.state.metrics.count_tool,
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=settings.workers > 1,
        session_idle_timeout=settings.mcp_idle_seconds,
        max_sessions=2 * settings.mcp_sessions,  # `_RecentSessions` keeps half as many; none, if all are busy
        transport_security=_CHECKED_ALREADY,
        max_request_body_size=_NO_LIMIT,
    )
    _add_routes(app, inner, _RecentSessions(inner, server.session_manager, settings.mcp_sessions))
    serving.lifespans.append(server.session_manager.run)
    app.state.mcp = server


def _add_routes(app: FastAPI, inner: Starlette, endpoint: ASGIApp) -> None:
    """The paths of the inner app, as they are: a mount would answer at /mcp/ only."""
    for route in inner.routes:
        if isinstance(route, Route):
            app.router.routes.append(Route(route.path, endpoint=endpoint, include_in_schema=False))


class _RecentSessions:
    """Passes requests on, and ends the session that was idle longest as soon as there are too many.

    Clients vanish without a word. Those that are left must not be refused for it.
    """

    def __init__(self, app: ASGIApp, manager: StreamableHTTPSessionManager, most: int) -> None:
        self._app = app
        self._manager = manager
        self._most = most
        self._users: OrderedDict[str, Any] = OrderedDict()  # of each session, the one used last at the end
        self._busy: Counter[str] = Counter()  # requests that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = Headers(scope=scope).get(SESSION)
        if session is not None:
            await self._serve(session, scope, receive, send)
            return
        begun: str | None = None

        async def watch(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = Headers(raw=message["headers"]).get(SESSION)
            await send(message)

        await self._app(scope, receive, watch)
        if begun is not None:
            self._users[begun] = scope.get("user")
            await self._make_room()

    async def _serve(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._busy[session] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._busy[session] -= 1
            if not self._busy[session]:
                del self._busy[session]
            if scope["method"] == "DELETE":
                self._users.pop(session, None)
            elif session in self._users:
                self._users.move_to_end(session)

    async def _make_room(self) -> None:
        """Ends sessions as their clients would; some have ended by themselves."""
        surplus = len(self._users) - self._most
        idle = [session for session in self._users if session not in self._busy]
        for session in idle[: max(0, surplus)]:
            ending = {
                "type": "http",
                "method": "DELETE",
                "path": PATH,
                "query_string": b"",
                "headers": [(SESSION.encode(), session.encode())],
                "user": self._users.pop(session),
            }
            await self._manager.handle_request(ending, _receive_nothing, _send_nowhere)


async def _receive_nothing() -> Message:
    return {"type": "http.request", "body": b""}


async def _send_nowhere(_message: Message) -> None:
    """Nobody waits for the answer."""


def _address_of(settings: ServerSettings) -> str:
    """The address of MCP as clients know it."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/") + PATH
    scheme, host = "http", settings.host
    if settings.tls_cert is not None:
        scheme = "https"
    if ":" in host:
        host = f"[{host.strip('[]')}]"
    return f"{scheme}://{host}:{settings.port}{PATH}"
