"""A client of Anthropic's Messages API without a network, which takes only what the real server takes.

    def model(asked: Asked) -> Reply:
        return "Lisbon" if "Lisbon" in asked.prompt else "I do not know."

    client = ScriptedClient(model)
    client.messages.create(…)  # client.asked has what was asked

A script sees the request and answers a text, blocks (`text(…)`, `tool_use(…)`), an answer that `Stopped`
for a reason of its own, or an error, which is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

FIELDS = {
    "model", "messages", "max_tokens", "system", "temperature", "tools", "tool_choice", "stream",
    "stop_sequences", "top_p", "top_k", "metadata", "thinking",
}  # fmt: skip

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stopped:
    """An answer that stopped for a reason of its own."""

    content: str | list[Block]
    reason: str


Reply = str | Sequence[Block] | Stopped | Exception


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def tool_use(name: str, input: dict[str, Any], id: str = "toolu_01") -> Block:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came: its body, and what scripts mostly want of it."""

    body: dict[str, Any]

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


Script = Callable[[Asked], Reply]


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(_words(b.get("text") or b.get("content") or "") for b in content if isinstance(b, dict))


class ScriptedClient:
    """Answers as the script says; a list of blocks, a text or an error is the answer to everything."""

    def __init__(self, script: Script | Reply) -> None:
        self._script = script if callable(script) else lambda asked: script
        self.asked: list[Asked] = []

    @property
    def messages(self) -> Self:
        return self

    def create(self, **body: Any) -> SimpleNamespace:
        asked = Asked(deepcopy(body))
        self.asked.append(asked)
        if wrong := _wrong_body(body):
            raise ValueError(wrong)
        reply = self._script(asked)
        if isinstance(reply, Exception):
            raise reply
        content = reply.content if isinstance(reply, Stopped) else reply
        blocks = [text(content)] if isinstance(content, str) else list(content)
        calls = any(block["type"] == "tool_use" for block in blocks)
        stop = reply.reason if isinstance(reply, Stopped) else "tool_use" if calls else "end_turn"
        return SimpleNamespace(content=[AnswerBlock(**block) for block in blocks], stop_reason=stop)


class AnswerBlock(SimpleNamespace):
    def model_dump(self) -> Block:
        return dict(vars(self))


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
