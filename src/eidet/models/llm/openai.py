"""Chat completions, as OpenAI, Ollama, vLLM, LM Studio and many others speak them."""

from __future__ import annotations

from typing import Any

from . import Answer, Request, Stop
from .answer_schema import is_closed
from .dialect import LIMIT, SCHEMA, TEMPERATURE, Without, add_instruction, count

STOPS: dict[Any, Stop] = {"length": "length", "content_filter": "refusal"}


class OpenAI:
    """JSON is had by `response_format`; endpoints that do not know it are asked in words."""

    home: str = "https://api.openai.com/v1"

    def __init__(self, provider: str = "openai", home: str = home) -> None:
        self.provider = provider
        self.home = home

    def path(self, _url: str, /) -> str:
        return "/chat/completions"

    def headers(self, key: str | None) -> dict[str, str]:
        if key:
            return {"Authorization": f"Bearer {key}"}
        return {}

    def body(self, request: Request, model: str, without: Without) -> dict[str, Any]:
        native = request.schema is not None and SCHEMA not in without
        system = request.system if native else add_instruction(request)
        turns = [{"role": turn.role, "content": turn.text} for turn in request.turns]
        # Newer models of OpenAI take only the new name, many other servers only the old one.
        if LIMIT in without:
            limit = "max_completion_tokens"
        else:
            limit = "max_tokens"
        body: dict[str, Any] = {
            "model": model,
            "messages": [{"role": "system", "content": system}, *turns] if system else turns,
            limit: request.max_tokens,
        }
        if request.temperature is not None and TEMPERATURE not in without:
            body["temperature"] = request.temperature
        return body | (_format(request) if native else {})

    def culprits(self, words: str) -> list[str]:
        named = {TEMPERATURE: "temperature", LIMIT: "max_completion_tokens"}
        return [part for part, word in named.items() if word in words]

    def answer(self, body: Any) -> Answer:
        choice = body["choices"][0]
        message, usage = choice["message"], body.get("usage")
        refusal = message.get("refusal")
        return Answer(
            text=refusal or _text(message["content"]),
            stop="refusal" if refusal else STOPS.get(choice.get("finish_reason"), "end"),
            model=body.get("model") or "",
            tokens_in=count(usage, "prompt_tokens"),
            tokens_out=count(usage, "completion_tokens"),
        )


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part["text"] for part in content if part.get("type") == "text")


def _format(request: Request) -> dict[str, Any]:
    schema = dict(request.schema or {})
    named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}
