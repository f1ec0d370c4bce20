"""The application: what is mounted where, and what runs beside it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware

from .. import __version__
from ..aio import AsyncMemory
from .access import KeyRing
from .dashboard import add_dashboard
from .errors import add_handlers
from .mcp.mounting import add_mcp
from .mem0 import add_mem0
from .middleware import AccessMiddleware
from .rest import add_rest
from .rest.admin_routes import clean_folder
from .server_settings import ServerSettings
from .serving import Serving
from .telemetry.request_telemetry import add_telemetry, surround
from .webhooks import add_webhooks

ABOUT: Final = """A memory for AI agents. Every route works in one scope, `default` if none is named.

Errors have one shape: `type`, `message`, `hint` and `field`."""

# FastAPI's own spans would tell paths and queries, which can name anybody. Older versions have none.
_NO_TELEMETRY: Final[Any] = {"tracing": False, "metrics": False, "logs": False}


def create_app(
    memory: AsyncMemory, settings: ServerSettings | None = None, *, closes: bool = False
) -> FastAPI:
    """The server as an ASGI application. With `closes`, the memory is closed when the server stops."""
    chosen = settings or ServerSettings()
    serving = Serving(memory, KeyRing(chosen.keys), chosen)
    memory.threads.hop_always()

    @asynccontextmanager
    async def live(_app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await memory.threads.run(clean_folder)
            await memory.threads.open()
            if closes:
                stack.push_async_callback(memory.close)
            for enter in serving.lifespans:
                await stack.enter_async_context(enter())
            yield

    app = FastAPI(
        title="Eidet",
        version=__version__,
        description=ABOUT,
        lifespan=live,
        docs_url=None,
        telemetry=_NO_TELEMETRY,
        redoc_url=None,
    )
    app.state.serving = serving
    add_handlers(app)
    _add_parts(app, serving)
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=4)
    app.add_middleware(AccessMiddleware, serving=serving)
    if chosen.cors_origins:
        _allow_origins(app, chosen.cors_origins)
    surround(app)
    return app


def _allow_origins(app: FastAPI, origins: tuple[str, ...]) -> None:
    """Tells browsers which foreign pages may call; outermost, so that such pages can read errors, too."""
    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=[
            *("Authorization", "Content-Type", "Eidet-Scope", "Idempotency-Key", "If-Match"),
            *("Mem0-User-ID", "X-Application", "X-Mem0-Client", "X-Mem0-Source"),
            *("Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"),
        ],
        expose_headers=["ETag", "Retry-After", "X-Request-Id", "Idempotent-Replayed", "Mcp-Session-Id"],
    )


def _add_parts(app: FastAPI, serving: Serving) -> None:
    """Mounts everything. The dashboard comes last: it takes what nobody else has."""
    parts: list[Any] = [add_rest, add_telemetry, add_webhooks, add_mcp, add_mem0, add_dashboard]
    for add in parts:
        add(app, serving)
