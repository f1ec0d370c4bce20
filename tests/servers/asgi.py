"""An ASGI app on loopback, in a thread of the test's own process."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn


@contextmanager
def serve_app(app: Any, port: int) -> Iterator[str]:
    """Gives the URL of the app once it answers; stops it and waits at the end."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=port, log_config=None, log_level="error", lifespan="on"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="test-asgi")
    thread.start()
    try:
        wait_until_started(server, thread)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


def wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
    end = time.monotonic() + 30
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise RuntimeError("the app did not start")
        time.sleep(0.01)
