"""MCP inside of `eidet serve`: at /mcp, behind the same doorway, with the same keys as REST."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Route

from ..server_settings import ServerSettings
from ..serving import Serving
from . import create_mcp

PATH: Final = "/mcp"
DOORWAY_CHECKS: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
DOORWAY_LIMITS: Final = 1 << 30  # bytes of a body; what a caller may send is the doorway's to decide


def add_mcp(app: FastAPI, serving: Serving) -> None:
    """Serves MCP at /mcp, and tells OAuth clients about it under /.well-known.

    The doorway has checked host, origin, pace and size. A server of several workers keeps no sessions,
    since the next request of a client may reach another worker.
    """
    settings = serving.settings
    server = create_mcp(
        serving.memory,
        keys=serving.keys,
        url=address_of(settings),
        graph_tools=settings.graph_tools,
        count=app.state.metrics.count_tool,
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=settings.workers > 1,
        transport_security=DOORWAY_CHECKS,
        max_request_body_size=DOORWAY_LIMITS,
    )
    add_routes(app, inner)
    serving.lifespans.append(server.session_manager.run)
    app.state.mcp = server


def add_routes(app: FastAPI, inner: Starlette) -> None:
    """The paths of the inner app, as they are: a mount would answer at /mcp/ only."""
    for route in inner.routes:
        if isinstance(route, Route):
            app.router.routes.append(Route(route.path, endpoint=inner, include_in_schema=False))


def address_of(settings: ServerSettings) -> str:
    """The address of MCP as clients know it."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/") + PATH
    scheme, host = "http", settings.host
    if settings.tls_cert is not None:
        scheme = "https"
    if ":" in host:
        host = f"[{host.strip('[]')}]"
    return f"{scheme}://{host}:{settings.port}{PATH}"
