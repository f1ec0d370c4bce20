"""Somebody who takes webhooks on loopback, and fails, hangs or dies as a test wants."""

from __future__ import annotations

import base64
import hmac
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Receiver:
    """Answers with `answer(number of the message)`: a status, or None to say nothing until it stops."""

    def __init__(self, answer: Callable[[int], int | None] = lambda _: 204, port: int = 0) -> None:
        self.answer = answer
        self.messages: list[dict[str, Any]] = []  # of those that were signed as they should be
        self.ids: list[str] = []
        self.stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self.url = f"http://127.0.0.1:{self.port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def take(self, headers: Any, body: bytes) -> int | None:
        id, at = headers["webhook-id"], headers["webhook-timestamp"]
        signature = base64.b64encode(hmac.digest(KEY, f"{id}.{at}.".encode() + body, "sha256")).decode()
        assert headers["webhook-signature"] == f"v1,{signature}"
        self.messages.append(json.loads(body))
        self.ids.append(id)
        return self.answer(len(self.messages) - 1)

    @property
    def texts(self) -> list[str]:
        """What was put, in the order in which it came."""
        changes = [change for message in self.messages for change in message["data"]["changes"]]
        return [change["record"]["text"] for change in changes if change["what"] == "put"]

    def stop(self) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


def _handler(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = receiver.take(self.headers, body)
            if status is None:
                receiver.stopped.wait(60)
                return
            self.send_response(status)
            if status in (301, 302, 307):
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    return Handler
