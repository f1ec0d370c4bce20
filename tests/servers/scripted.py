"""An HTTP server on the loopback that answers JSON as a script tells it, and can be told to misbehave."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

SILENCE = 6.0  # seconds that an answer is kept back, or until the server stops
DROP_SECONDS = 0.05

Behaviour = Callable[[Any, Any], None]  # of a Handler, or of a kind of it, and the body that was sent


class Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.note_request()
        answer = self.server.script.pop(0) if self.server.script else self.server.answer
        answer(self, body)

    def note_request(self) -> None:
        self.server.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))

    def give(self, status: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def give_json(self, status: int, content: Any, **headers: str) -> None:
        self.give(status, json.dumps(content).encode(), **headers)

    def complain(self, status: int, message: str, **headers: str) -> None:
        self.give_json(status, {"error": {"message": message}}, **headers)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


class ScriptedServer(ThreadingHTTPServer):
    """`script` is what the next requests get, one each; later ones get `answer`."""

    daemon_threads = True

    def __init__(self, answer: Behaviour, handler: type[Handler] = Handler) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.answer = answer
        self.script: list[Behaviour] = []
        self.asked: list[Any] = []
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: object, client_address: object) -> None:
        """Silence: clients hang up on purpose here."""

    @contextmanager
    def running(self) -> Iterator[Self]:
        with self:
            thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield self
            finally:
                self.ended.set()
                self.shutdown()
                thread.join()


def status(code: int, message: str = "so it is", **headers: str) -> Behaviour:
    return lambda handler, body: handler.complain(code, message, **headers)


def raw(content: bytes, kind: str = "application/json") -> Behaviour:
    return lambda handler, body: handler.give(200, content, kind)


def cut(handler: Handler, body: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "10000")
    handler.end_headers()
    handler.wfile.write(b'{"id": "1", "content": [{"type": "te')


def cut_in_a_chunk(handler: Handler, body: Any) -> None:
    handler.wfile.write(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n{"id":')


def hung_up(handler: Handler, body: Any) -> None:
    handler.connection.close()


def silent(handler: Handler, body: Any) -> None:
    handler.server.ended.wait(SILENCE)


def drop_by_drop(handler: Handler, body: Any) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    for _ in range(int(SILENCE / DROP_SECONDS)):
        handler.wfile.write(b" ")
        if handler.server.ended.wait(DROP_SECONDS):
            return
