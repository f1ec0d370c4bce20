"""A server on the loopback that speaks both wire protocols, strictly, and can be told to misbehave."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from typing import Any

from tests.servers import scripted
from tests.servers.scripted import Behaviour, ScriptedServer

from eidet.models.llm.answer_schema import is_closed

KEY = "sk-secret-123456"
OPENAI_FIELDS = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "response_format"}
ANTHROPIC_FIELDS = {"model", "messages", "max_tokens", "system", "temperature", "tools", "tool_choice"}


class Handler(scripted.Handler):
    server: Server

    def do_GET(self) -> None:  # noqa: N802 (the name that http.server calls)
        self.note_request()
        self.give(200, b"{}")

    @property
    def is_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def complain(self, status: int, message: str, **headers: str) -> None:
        error: dict[str, Any] = {"type": "an_error", "message": message}
        whole = {"type": "error", "error": error} if self.is_anthropic else {"error": error}
        self.give_json(status, whole, **headers)


class Server(ScriptedServer):
    """A model that says `default` when the script does not tell otherwise."""

    def __init__(self) -> None:
        super().__init__(self.say_default, Handler)
        self.default = "hello"

    def say_default(self, handler: Handler, body: Any) -> None:
        says(self.default)(handler, body)


def running() -> AbstractContextManager[Server]:
    return Server().running()


def says(text: str, *, stop: str = "", refusal: str | None = None, usage: bool = True) -> Behaviour:
    """The model says this, in the protocol it was asked in, if the question keeps to that protocol."""

    def give(handler: Handler, body: Any) -> None:
        speak = _speak_anthropic if handler.is_anthropic else _speak_openai
        wrong = _wrong_anthropic(handler, body) if handler.is_anthropic else _wrong_openai(handler, body)
        if wrong:
            handler.complain(400, wrong)
        else:
            handler.give_json(200, speak(body, text, stop, refusal) | (_usage(handler) if usage else {}))

    return give


def _usage(handler: Handler) -> dict[str, Any]:
    if handler.is_anthropic:
        return {"usage": {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 20}}
    return {"usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}}


def _speak_anthropic(body: Any, text: str, stop: str, refusal: str | None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": refusal or text}
    if "tool_choice" in body and not refusal and _is_object(text):
        name = body["tool_choice"]["name"]
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": json.loads(text)}
    reason = "refusal" if refusal is not None else stop or ("end_turn" if "text" in block else "tool_use")
    content = [block] if block.get("text") != "" else []
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
    return head | {"content": content, "stop_reason": reason, "stop_sequence": None}


def _speak_openai(body: Any, text: str, stop: str, refusal: str | None) -> dict[str, Any]:
    message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": stop or "stop", "logprobs": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"], "choices": [choice]}


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _wrong_openai(handler: Handler, body: Any) -> str:
    if unknown := body.keys() - OPENAI_FIELDS:
        return f"unrecognized request arguments: {sorted(unknown)}"
    if any(
        turn["role"] not in ("system", "user", "assistant") or not turn["content"]
        for turn in body["messages"]
    ):
        return "messages are of a wrong shape"
    wanted = body.get("response_format")
    if wanted and (wanted["type"] != "json_schema" or not wanted["json_schema"]["name"]):
        return "response_format is of a wrong shape"
    if wanted and wanted["json_schema"]["strict"] and not is_closed(wanted["json_schema"]["schema"]):
        return "strict schemas need additionalProperties: false and all properties required"
    return ""


def _wrong_anthropic(handler: Handler, body: Any) -> str:
    if unknown := body.keys() - ANTHROPIC_FIELDS:
        return f"{sorted(unknown)}: extra inputs are not permitted"
    if handler.headers["anthropic-version"] != "2023-06-01" or not isinstance(body["max_tokens"], int):
        return "anthropic-version and max_tokens are required"
    roles = [turn["role"] for turn in body["messages"]]
    if roles != ["user", "assistant"] * (len(roles) // 2) + ["user"]:
        return "roles must alternate and start and end with user"
    if any(not turn["content"].strip() for turn in body["messages"]):
        return "text content blocks must be non-empty"
    if "tool_choice" in body and body["tool_choice"]["name"] not in [tool["name"] for tool in body["tools"]]:
        return "tool_choice names no tool"
    return ""


def takes_no(*fields: str, message: str = "") -> Behaviour:
    """Refuses a question that has one of these fields, as endpoints do that do not know them."""

    def give(handler: Handler, body: Any) -> None:
        if found := [name for name in fields if name in body]:
            handler.complain(400, message or f"unsupported: {found[0]}")
        else:
            says(handler.server.default)(handler, body)

    return give
