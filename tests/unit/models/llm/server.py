"""A server on the loopback that speaks chat completions, strictly, and can be told to misbehave."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tests.servers.scripted import Behaviour, Handler, ScriptedServer

KEY = "sk-secret-123456"
FIELDS = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "response_format"}


class Server(ScriptedServer):
    """A model that says `default` when the script does not tell otherwise."""

    def __init__(self) -> None:
        super().__init__(self.say_default)
        self.default = "hello"

    def say_default(self, handler: Handler, body: Any) -> None:
        says(self.default)(handler, body)


def running() -> AbstractContextManager[Server]:
    return Server().running()


def says(text: str, *, stop: str = "stop", refusal: str | None = None) -> Behaviour:
    """The model says this, if the question keeps to the protocol."""

    def give(handler: Handler, body: Any) -> None:
        if wrong := _wrong(body):
            handler.complain(400, wrong)
            return
        message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
        choice = {"index": 0, "message": message, "finish_reason": stop, "logprobs": None}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "model": body["model"]}
        handler.give_json(200, head | {"choices": [choice], "usage": usage})

    return give


def _wrong(body: Any) -> str:
    if unknown := body.keys() - FIELDS:
        return f"unrecognized request arguments: {sorted(unknown)}"
    if any(
        turn["role"] not in ("system", "user", "assistant") or not turn["content"]
        for turn in body["messages"]
    ):
        return "messages are of a wrong shape"
    wanted = body.get("response_format")
    if wanted and (wanted["type"] != "json_schema" or not wanted["json_schema"]["name"]):
        return "response_format is of a wrong shape"
    return ""


def takes_no(*fields: str, message: str = "") -> Behaviour:
    """Refuses a question that has one of these fields, as endpoints do that do not know them."""

    def give(handler: Handler, body: Any) -> None:
        if found := [name for name in fields if name in body]:
            handler.complain(400, message or f"unsupported: {found[0]}")
        else:
            handler.server.answer(handler, body)

    return give
