"""A JSON server on loopback: what a path answers is a method of its subclass."""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Refusal(Exception):
    """An answer that is an error, with a status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class JsonServer:
    """Starts when it is made. `requests` tells what was asked; `down` is a status for everything."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.down: int | None = None
        self.after: int | None = None  # so many more requests are answered
        self._lock = threading.RLock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        raise NotImplementedError

    def error(self, status: int, message: str) -> Any:
        return {"code": status, "message": message}

    def handle(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> tuple[int, Any]:
        parts = urlsplit(target)
        with self._lock:
            self.requests.append((method, parts.path))
            self.headers.append(headers)
            try:
                self._check(raw, headers)
                return 200, self.answer(method, parts.path, parse_qs(parts.query), _read(raw))
            except Refusal as refused:
                return refused.status, self.error(refused.status, str(refused))

    def _check(self, raw: bytes, headers: dict[str, str]) -> None:
        if self.down is not None or self.after == 0:
            raise Refusal(self.down or 503, "not now")
        self.after = None if self.after is None else self.after - 1
        if raw and headers.get("content-type") != "application/json":
            raise Refusal(415, "content type must be application/json")


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that hang up: they do so on purpose here."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def _read(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError as bad:
        raise Refusal(400, f"not JSON: {bad}") from None


def _handler(server: JsonServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _do(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status, told = server.handle(self.command, self.path, headers, raw)
            body = b"" if told is None else json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Not a word."""

    return Handler
