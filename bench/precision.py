"""precisionMemBench (github: tenurehq/precisionMemBench): Eidet behind the three routes that its runner asks.

    python bench/precision.py --port 8090 [--least 0.2]

In a checkout of the benchmark, with Node 22 and after `npm ci`, `providers.config.json` gets the line
"eidet": {"envVar": "EIDET_URL", "defaultUrl": "http://localhost:8090", "seedDelayMs": 0}, and then

    MEMORY_PROVIDER=eidet RESEED=true npx ava src/retrieval.external.eval.test.ts

A belief is one record in the scope of its user and domain; nothing else is told to Eidet. Without `--least`
hits are shown as `recall` shows them by default.

The figures, beside those that others publish there, are in bench/notes/scoreboard.md.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from eidet import Memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--least", type=float, help="the lowest score that is shown")
    given = parser.parse_args()
    with Memory() as memory:
        handler = partial(Handler, memory, given.least)
        HTTPServer(("127.0.0.1", given.port), handler).serve_forever()


class Handler(BaseHTTPRequestHandler):
    """`DELETE /reset`, `POST /add`, `POST /search`, `PUT /update`, all with JSON."""

    def __init__(self, memory: Memory, least: float | None, *args: Any) -> None:
        self.memory, self.least = memory, least
        super().__init__(*args)

    def do_DELETE(self) -> None:
        for scope in self.memory.scopes():
            self.memory.forget(scope=scope, everything=True, for_good=False)
        self._answer({"ok": True})

    def do_POST(self) -> None:
        body = self._read()
        if self.path == "/add":
            self._store(body, body["metadata"]["beliefId"], body["metadata"]["scope"])
            self._answer({"ok": True})
        else:
            scope = name_scope(body["user_id"], body["scope"])
            hits = self.memory.recall(body["query"], scope=scope, limit=body["limit"], least=self.least)
            self._answer({"results": [{"id": hit.id, "memory": hit.text} for hit in hits]})

    def do_PUT(self) -> None:
        body = self._read()
        self._store(body, body["beliefId"], body["metadata"]["scope"])
        self._answer({"ok": True})

    def _store(self, body: dict[str, Any], id: str, scope: str) -> None:
        self.memory.remember(body["text"], id=id, scope=name_scope(body["user_id"], scope))

    def _read(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return read

    def _answer(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing: the runner tells."""


def name_scope(user: str, domain: str) -> str:
    return f"{user}/{domain.replace(':', '-')}"


if __name__ == "__main__":
    main()
