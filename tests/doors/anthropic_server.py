"""A server on the loopback that speaks the Messages API of Anthropic, streamed or not, strictly.

    def model(asked: Asked) -> Reply:
        return "Lisbon" if "Lisbon" in asked.prompt else "I do not know."

    with serving(model) as server:
        …  # the base URL is server.url, the key KEY; server.asked has what was asked

A script sees the request and answers a text, blocks (`text(…)`, `tool_use(…)`), or one of the things
that go wrong (`Refusal`, `Cut`, `Overloaded`, `Stalled`). A list of scripts is used up one by one;
then the last one stays. What breaks the rules of the protocol gets a 400 with the reason.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-ant-test-0123456789"
VERSION = "2023-06-01"
FIELDS = {
    "model", "messages", "max_tokens", "system", "temperature", "tools", "tool_choice", "stream",
    "stop_sequences", "top_p", "top_k", "metadata", "thinking",
}  # fmt: skip
PIECE = 7  # characters of one delta: words are cut anywhere, as models do

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with an HTTP error."""

    status: int
    message: str = "so it is"
    kind: str = "invalid_request_error"
    retry_after: str | None = None


@dataclass(frozen=True, slots=True)
class Overloaded:
    """The stream begins and then says that something went wrong."""

    said: str = ""
    message: str = "Overloaded"


@dataclass(frozen=True, slots=True)
class Cut:
    """The stream begins and the connection ends before its end."""

    said: str = ""


@dataclass(frozen=True, slots=True)
class Stalled:
    """The stream begins and then nothing comes until the event is set."""

    said: str
    until: threading.Event


Reply = str | Sequence[Block] | Refusal | Overloaded | Cut | Stalled


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def tool_use(name: str, input: dict[str, Any], id: str = "toolu_01") -> Block:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came: its body, and what scripts mostly want of it."""

    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)
    path: str = "/v1/messages"

    @property
    def system(self) -> str:
        return _words(self.body.get("system", ""))

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def last(self) -> str:
        """The words of the last message."""
        return _words(self.messages[-1]["content"])

    @property
    def prompt(self) -> str:
        """All the words that the model was sent."""
        return "\n".join([self.system, *(_words(message["content"]) for message in self.messages)])

    @property
    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.body.get("tools", [])]

    @property
    def results(self) -> list[Block]:
        """The tool results of the last message."""
        content = self.messages[-1]["content"]
        return [] if isinstance(content, str) else [b for b in content if b["type"] == "tool_result"]

    @property
    def streamed(self) -> bool:
        return bool(self.body.get("stream"))


Script = Callable[[Asked], Reply]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_words(b.get("text") or b.get("content") or "") for b in content if isinstance(b, dict))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scripts: Sequence[Script], key: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[Asked] = []
        self.key = key
        self._scripts = list(scripts)
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def script(self) -> Script:
        with self._lock:
            return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]

    def handle_error(self, request: object, client_address: object) -> None:
        """Silence: clients may hang up."""


@contextmanager
def serving(script: Script | Reply | Sequence[Script], *, key: str | None = KEY) -> Iterator[Server]:
    """A server for the time of the block."""
    with Server(_scripts(script), key) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _scripts(script: Any) -> list[Script]:
    if callable(script):
        return [script]
    if isinstance(script, list | tuple) and script and all(callable(one) for one in script):
        return list(script)
    return [lambda asked: script]


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(json.loads(content), headers, self.path)
        self.server.asked.append(asked)
        refusal = wrong(asked, self.server.key)
        self._give(asked, refusal or self.server.script()(asked))

    def _give(self, asked: Asked, reply: Reply) -> None:
        if isinstance(reply, Refusal):
            self._refuse(reply)
        elif asked.streamed:
            self._stream(asked, reply)
        elif isinstance(reply, Cut | Overloaded | Stalled):
            self._refuse(Refusal(529, "Overloaded", "overloaded_error"))
        else:
            self._json(200, message(asked, blocks(reply)))

    def _refuse(self, refusal: Refusal) -> None:
        extra = {"Retry-After": refusal.retry_after} if refusal.retry_after else {}
        error = {"type": "error", "error": {"type": refusal.kind, "message": refusal.message}}
        self._json(refusal.status, error, extra)

    def _json(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _stream(self, asked: Asked, reply: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        for event in events(asked, reply):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""


def blocks(reply: Any) -> list[Block]:
    return [text(reply)] if isinstance(reply, str) else list(reply)


def message(asked: Asked, content: list[Block], stop: str | None = None) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": content,
        "stop_reason": stop or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": len(asked.prompt) // 4 + 1, "output_tokens": 12},
    }


def events(asked: Asked, reply: Any) -> Iterator[dict[str, Any]]:
    """The events of a streamed answer, in their order."""
    broken = isinstance(reply, Cut | Overloaded | Stalled)
    content = blocks(reply.said) if broken else blocks(reply)
    whole = message(asked, content)
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    for at, block in enumerate(content):
        yield from _block_events(at, block, ends=not broken)
    if isinstance(reply, Overloaded):
        yield {"type": "error", "error": {"type": "overloaded_error", "message": reply.message}}
    if isinstance(reply, Stalled):
        reply.until.wait(30)
    if not broken:
        delta = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}}
        yield {"type": "message_stop"}


def _block_events(at: int, block: Block, *, ends: bool) -> Iterator[dict[str, Any]]:
    calls = block["type"] == "tool_use"
    empty = {**block, "input": {}} if calls else {**block, "text": ""}
    yield {"type": "content_block_start", "index": at, "content_block": empty}
    yield {"type": "ping"}
    words = json.dumps(block["input"]) if calls else block["text"]
    for start in range(0, len(words), PIECE):
        piece = words[start : start + PIECE]
        delta = (
            {"type": "input_json_delta", "partial_json": piece}
            if calls
            else {"type": "text_delta", "text": piece}
        )
        yield {"type": "content_block_delta", "index": at, "delta": delta}
    if ends:
        yield {"type": "content_block_stop", "index": at}


def wrong(asked: Asked, key: str | None) -> Refusal | None:
    """What the real server would not take."""
    if asked.path != "/v1/messages":
        return Refusal(404, f"no such path: {asked.path}", "not_found_error")
    if key is not None and asked.headers.get("x-api-key") != key:
        return Refusal(401, "invalid x-api-key", "authentication_error")
    if asked.headers.get("anthropic-version") != VERSION:
        return Refusal(400, "anthropic-version: header is required")
    found = _wrong_body(asked.body)
    return Refusal(400, found) if found else None


def _wrong_body(body: dict[str, Any]) -> str:
    if unknown := body.keys() - FIELDS:
        return f"{min(unknown)}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not isinstance(body.get("max_tokens"), int):
        return "model and max_tokens: Field required"
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        return "messages: at least one message is required"
    for tool in body.get("tools", []):
        if not isinstance(tool.get("input_schema"), dict) or not tool.get("name"):
            return "tools: name and input_schema are required"
    if "system" in body and isinstance(body["system"], str) and not body["system"].strip():
        return "system: text content blocks must be non-empty"
    return _wrong_turns(body["messages"])


def _wrong_turns(turns: list[dict[str, Any]]) -> str:
    open_calls: set[str] = set()
    if turns[0].get("role") != "user":
        return 'messages: first message must use the "user" role'
    for at, turn in enumerate(turns):
        if turn.get("role") not in ("user", "assistant") or turn.keys() - {"role", "content"}:
            return f"messages.{at}: role is user or assistant, and there is nothing beside content"
        content = turn.get("content")
        listed = [text(content)] if isinstance(content, str) else content
        if not isinstance(listed, list) or not listed:
            return f"messages.{at}: content must be non-empty"
        if any(block.get("type") == "text" and not block["text"].strip() for block in listed):
            return f"messages.{at}: text content blocks must be non-empty"
        answered = {block["tool_use_id"] for block in listed if block.get("type") == "tool_result"}
        if answered != open_calls:
            return f"messages.{at}: `tool_use` ids need `tool_result` blocks immediately after"
        open_calls = {block["id"] for block in listed if block.get("type") == "tool_use"}
    return "messages: the last `tool_use` has no `tool_result`" if open_calls else ""
