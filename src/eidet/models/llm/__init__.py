"""The `LLM` port for questions to a language model, and `llm_of`, which makes one from a setting.

Eidet needs no model. If one is set, `consult_or_fall_back` asks it, and lets the rules decide if it fails.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeGuard, runtime_checkable

from ...core.errors import BadInput, EidetError, Misconfigured, Refused
from ...core.validate import Json, clean_json, clean_text, dump_json

Stop = Literal["end", "length", "refusal"]


class Declined(Refused):
    """The model, or a filter around it, declined to answer."""


class BadAnswer(EidetError):
    """The answer cannot be used; `cause` is empty, truncated, malformed or unusable."""

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn; role is "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question. `purpose` names the operation in the log, `schema` the JSON object wanted.

    `temperature=None` leaves it to the model.
    """

    prompt: str
    system: str = ""
    before: tuple[Turn, ...] = ()
    max_tokens: int = 1024
    temperature: float | None = 0.0
    schema: Mapping[str, Json] | None = None
    purpose: str = "ask"

    def __post_init__(self) -> None:
        for what, text in (("prompt", self.prompt), ("system", self.system), ("purpose", self.purpose)):
            clean_text(text, what)
        for turn in self.before:
            if turn.role not in ("user", "assistant"):
                raise BadInput(f"a turn is of the role user or assistant, not {turn.role!r}")
            clean_text(turn.text, "turn")
        if not self.prompt.strip():
            raise BadInput("a request needs a prompt")
        if self.max_tokens < 1:
            raise BadInput(f"max_tokens is at least 1, not {self.max_tokens}")
        if self.schema is not None and clean_json(self.schema, "schema").get("type") != "object":
            raise BadInput('a schema asks for an object: {"type": "object", "properties": …}')

    @property
    def turns(self) -> tuple[Turn, ...]:
        return (*self.before, Turn("user", self.prompt))

    def messages(self, system: str) -> list[dict[str, str]]:
        """Returns the turns as chat messages, after a system prompt if there is one."""
        turns = (*([Turn("system", system)] if system else []), *self.turns)
        return [{"role": turn.role, "content": turn.text} for turn in turns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's answer. Token counts are None if the model reports none.

    `value` is the object that a schema asked for; `ask` leaves it None, `consult` fills it.
    """

    text: str
    stop: Stop = "end"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    value: Json = None


@runtime_checkable
class LLM(Protocol):
    """Answers one question at a time. Safe to call from many threads at once."""

    @property
    def name(self) -> str:
        """Identifies the model; if possible, by a name that `llm_of` accepts."""

    def ask(self, request: Request) -> Answer:
        """Asks the model and returns its raw answer; `consult` checks it.

        A schema is requested by the best means of the endpoint. Returns in bounded time.
        Raises `Unavailable` for temporary failures, `BadInput` for a refused request,
        `Misconfigured` for a wrong key, address or model; no error and no repr shows a key.
        """


def llm_of(
    thing: object,
    *,
    key: str | None = None,
    timeout: float = 60.0,
    headers: Mapping[str, str] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> LLM:
    """Returns the language model that a setting describes.

    A string names a model that speaks chat completions: `"openai:gpt-…"`, `"ollama:qwen3"`, or with the
    address of any such server after an @: `"openai:qwen3@http://127.0.0.1:8000/v1"`. An LLM is itself; any
    other callable, sync or async, is adapted: a function around the package of a provider, for instance.

    Without `key` the key is that of OPENAI_API_KEY. It goes to OpenAI's own address or that of
    OPENAI_BASE_URL, never to an address of the string. A model that fails repeatedly is not called for
    half a minute at a time.
    """
    if isinstance(thing, str):
        from ..http import HttpLLM

        return HttpLLM.from_spec(thing, key=key, timeout=timeout, headers=headers, environment=environment)
    if isinstance(thing, type):
        raise Misconfigured(f"LLM {thing.__name__} is a class; give an instance: {thing.__name__}()")
    if _is_llm(thing):
        return thing
    from ..adapt import adapt_llm

    return adapt_llm(thing, timeout=timeout)


def _is_llm(thing: Any) -> TypeGuard[LLM]:
    return isinstance(thing, LLM) and callable(thing.ask) and isinstance(thing.name, str)


def add_instruction(request: Request) -> str:
    """Adds the schema to the system prompt, for models that take no schema."""
    if request.schema is None:
        return request.system
    return f"{request.system}\n\n{instruction(request.schema)}".strip()


def instruction(schema: Mapping[str, Json]) -> str:
    return (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It has to fit this JSON schema: {dump_json(dict(schema))}"
    )
