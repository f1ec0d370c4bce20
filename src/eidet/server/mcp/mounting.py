"""MCP inside of `eidet serve`: at /mcp, behind the same middleware, with the same keys as REST."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI
from mcp.server.transport_security import TransportSecuritySettings
from starlette.routing import Route

from ..server_settings import ServerSettings
from ..serving import Serving
from . import create_mcp

PATH: Final = "/mcp"
_CHECKED_ALREADY: Final = TransportSecuritySettings(enable_dns_rebinding_protection=False)
_NO_LIMIT: Final = 1 << 30  # bytes of a body; the middleware limits what a caller may send


def add_mcp(app: FastAPI, serving: Serving) -> None:
    """Serves MCP at /mcp, and describes it to OAuth clients under /.well-known.

    The middleware has checked host, origin, rate and size. There are no sessions: every request is complete
    in itself, so the next one may reach another worker, and clients that vanish leave nothing behind.
    """
    settings = serving.settings
    server = create_mcp(
        serving.memory,
        keys=serving.keys,
        url=_address_of(settings),
        count=app.state.metrics.count_tool,
    )
    inner = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        transport_security=_CHECKED_ALREADY,
        max_request_body_size=_NO_LIMIT,
    )
    for route in inner.routes:  # added as they are: a mount would answer at /mcp/ only
        if isinstance(route, Route):
            app.router.routes.append(Route(route.path, endpoint=inner, include_in_schema=False))
    serving.lifespans.append(server.session_manager.run)


def _address_of(settings: ServerSettings) -> str:
    """Returns the address of MCP as clients know it."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/") + PATH
    scheme, host = "http", settings.host
    if settings.tls_cert is not None:
        scheme = "https"
    if ":" in host:
        host = f"[{host.strip('[]')}]"
    return f"{scheme}://{host}:{settings.port}{PATH}"
