"""The Messages API of Anthropic, and of servers that speak it."""

from __future__ import annotations

import json
from typing import Any

from . import Answer, Request, Stop
from .dialect import SCHEMA, TEMPERATURE, Without, add_instruction, count

VERSION = "2023-06-01"
TOOL = "answer"
STOPS: dict[Any, Stop] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class Anthropic:
    """JSON is had by a tool that the model is made to call: its input is the answer."""

    provider = "anthropic"
    home = "https://api.anthropic.com"

    def path(self, url: str, /) -> str:
        if url.rstrip("/").endswith("/v1"):
            return "/messages"
        return "/v1/messages"

    def headers(self, key: str | None) -> dict[str, str]:
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def body(self, request: Request, model: str, without: Without) -> dict[str, Any]:
        native = request.schema is not None and SCHEMA not in without
        system = request.system if native else add_instruction(request)
        body: dict[str, Any] = {
            "model": model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": turn.role, "content": turn.text} for turn in request.turns],
        }
        if system:
            body["system"] = system
        if request.temperature is not None and TEMPERATURE not in without:
            body["temperature"] = request.temperature
        return body | (_tool(request) if native else {})

    def culprits(self, words: str) -> list[str]:
        if "temperature" in words:
            return [TEMPERATURE]
        return []

    def answer(self, body: Any) -> Answer:
        blocks = body["content"]
        calls = []
        for block in blocks:
            if block.get("type") == "tool_use":
                calls.append(block["input"])
        texts = [block["text"] for block in blocks if block.get("type") == "text"]
        usage = body.get("usage")
        return Answer(
            text=json.dumps(calls[0]) if calls else "".join(texts),
            stop=STOPS.get(body.get("stop_reason"), "end"),
            model=body.get("model") or "",
            tokens_in=count(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
            tokens_out=count(usage, "output_tokens"),
        )


def _tool(request: Request) -> dict[str, Any]:
    tool = {"name": TOOL, "description": "Gives the answer.", "input_schema": dict(request.schema or {})}
    return {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
