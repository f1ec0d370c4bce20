"""`eidet serve`: opens a memory, listens, and stops in order. With several workers, each opens the memory."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware
from uvicorn.supervisors import Multiprocess

from .. import __version__
from ..aio import AsyncMemory
from ..core.errors import Misconfigured, Unavailable
from ..core.settings import Settings
from ..open import RAM
from .access import KeyRing
from .dashboard import add_dashboard
from .errors import add_handlers
from .mcp.mounting import add_mcp
from .middleware import AccessMiddleware
from .rest import add_rest
from .rest.admin_routes import clean_folder
from .server_settings import ServerSettings
from .serving import Serving
from .telemetry.log_lines import configure_lines
from .telemetry.memory_metrics import share_metrics
from .telemetry.memory_spans import export_spans
from .telemetry.request_telemetry import RequestTelemetry, add_telemetry
from .webhooks import add_webhooks

ABOUT: Final = """A memory for AI agents. Every route works in one scope, `default` if none is named.

Errors have one shape: `type`, `message`, `hint` and `field`."""

# FastAPI's own spans would hold paths and queries, which can name a person. Older versions make none.
_NO_TELEMETRY: Final[Any] = {"tracing": False, "metrics": False, "logs": False}


def create_app(
    memory: AsyncMemory, settings: ServerSettings | None = None, *, closes: bool = False
) -> FastAPI:
    """Builds the server as an ASGI application. With `closes`, it closes the memory when it stops."""
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
    app.add_middleware(AccessMiddleware, serving=serving, telemetry=RequestTelemetry(app.state.metrics))
    if chosen.cors_origins:
        _allow_origins(app, chosen.cors_origins)
    return app


def _allow_origins(app: FastAPI, origins: tuple[str, ...]) -> None:
    """Lets browsers call from these origins; outside of `AccessMiddleware`, so that errors are readable."""
    app.add_middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=[
            *("Authorization", "Content-Type", "Idempotency-Key", "If-Match"),
            *("Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"),
        ],
        expose_headers=["ETag", "Retry-After", "X-Request-Id", "Idempotent-Replayed", "Mcp-Session-Id"],
    )


def _add_parts(app: FastAPI, serving: Serving) -> None:
    """Adds all parts; telemetry comes before MCP, which counts calls in its metrics."""
    parts: list[Any] = [add_rest, add_telemetry, add_webhooks, add_mcp, add_dashboard]
    for add in parts:
        add(app, serving)


_BACKLOG: Final = 2048
_STARTING_SECONDS: Final = 60  # until a worker that does not answer is restarted; a busy machine is slow


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The memory to serve and how to open it. Each worker gets a copy, and calls it to make its app."""

    place: str
    embedder: str | None
    settings: Settings = field(repr=False)
    server: ServerSettings

    def open_memory(self) -> AsyncMemory:
        return AsyncMemory(self.place, embedder=self.embedder, settings=self.settings)

    def __call__(self) -> FastAPI:
        export_spans(os.environ)
        return create_app(self.open_memory(), self.server, closes=True)


def serve(opening: Opening, ready: Callable[[int], None]) -> None:
    """Serves until SIGINT or SIGTERM; then finishes requests in flight and closes the memory.

    Calls `ready` with the port once the server listens.
    """
    server = opening.server
    server.check()
    if server.workers > 1 and opening.place in RAM:
        raise Misconfigured("a memory in RAM lives in one process: use --workers 1, or a file or a server")
    with _listen(server) as listener:
        if opening.place not in RAM:
            opening.open_memory().core.close()  # so that faults show before a client connects
        config = _configure(opening, server)
        ready(listener.getsockname()[1])
        if server.workers > 1:
            with share_metrics():
                Multiprocess(config, sockets=[listener]).run()
        else:
            uvicorn.Server(config).run(sockets=[listener])


def _configure(opening: Opening, server: ServerSettings) -> uvicorn.Config:
    return uvicorn.Config(
        opening,
        factory=True,
        workers=server.workers,
        ws="none",
        log_config=configure_lines(as_json=server.log_json, content=server.log_content),
        access_log=False,
        server_header=False,
        proxy_headers=bool(server.proxies),
        forwarded_allow_ips=list(server.proxies) or "",
        timeout_graceful_shutdown=max(1, int(server.drain_seconds)),
        timeout_keep_alive=30,
        timeout_worker_healthcheck=_STARTING_SECONDS,
        backlog=_BACKLOG,
        ssl_certfile=server.tls_cert,
        ssl_keyfile=server.tls_key,
    )


def _listen(server: ServerSettings) -> socket.socket:
    """Returns a socket that listens on the host and port of the settings."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        listener = socket.create_server(
            (server.host.strip("[]"), server.port), family=family, backlog=_BACKLOG
        )
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (while ")[0]  # Python adds the address
        raise Unavailable(
            f"cannot listen on {server.host}, port {server.port}: {why}; name another port with "
            "--port, or --port 0 for any that is free"
        ) from error
    listener.setblocking(False)
    return listener
