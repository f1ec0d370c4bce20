"""Questions to a language model: the `LLM` port, and `llm_of`, which finds one from what a user gives.

Nothing in Eidet needs a model. Where one is set, `answered` asks it and falls back to the rules.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeGuard, runtime_checkable

from ...core.errors import BadInput, EidetError, Misconfigured, Refused
from ...core.validate import Json, clean_text
from .answer_schema import check_schema

Stop = Literal["end", "length", "refusal"]


class Declined(Refused):
    """The model, or a filter around it, would not answer this."""


class BadAnswer(EidetError):
    """An answer came and cannot be used; `cause` is empty, truncated, malformed, misfit or unusable."""

    def __init__(self, message: str, *, cause: str) -> None:
        super().__init__(message)
        self.cause = cause


@dataclass(frozen=True, slots=True)
class Turn:
    """What was said before the prompt: role is "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One question. `purpose` names the operation in the ledger, `schema` the JSON object that is wanted.

    A schema may use type, properties, required, additionalProperties, items, enum, minimum, maximum,
    minItems, maxItems, title and description. `temperature=None` leaves it to the model.
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
        if self.schema is not None:
            check_schema(self.schema)

    @property
    def turns(self) -> tuple[Turn, ...]:
        return (*self.before, Turn("user", self.prompt))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back. Tokens are None where nobody counted them; `attempts` are requests sent.

    `value` is what the schema asked for; `ask` leaves it None, `consult` fills it.
    """

    text: str
    stop: Stop = "end"
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    millis: float = 0.0
    attempts: int = 1
    value: Json = None


@runtime_checkable
class LLM(Protocol):
    """Answers one question at a time. Safe to call from many threads at once."""

    @property
    def name(self) -> str:
        """Says which model this is; where it can, in the words `llm_of` understands."""

    def ask(self, request: Request) -> Answer:
        """What the model says, as it says it: judging it is the work of `consult`.

        With a schema it asks for JSON by the best means it has. It comes back in bounded time.
        Raises `Unavailable` for what may pass, `BadInput` for a request that is not taken,
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
    """The model a user means.

    A string names a provider and a model: `"anthropic:claude-…"`, `"openai:gpt-…"`, `"ollama:qwen3"`,
    with the address of another server after an @: `"openai:qwen3@http://127.0.0.1:8000/v1"`. An LLM
    is itself; any other callable, sync or async, is adapted.

    Without `key` the key is that of ANTHROPIC_API_KEY or OPENAI_API_KEY. It goes to the provider's own
    address or that of ANTHROPIC_BASE_URL or OPENAI_BASE_URL, never to an address of the string.
    Models that do not answer several times running are left alone for a while (see `Resting`).
    """
    from .adapt import adapt
    from .cooldown import Resting

    if isinstance(thing, str):
        from .http import http_llm_of

        return Resting(http_llm_of(thing, key=key, timeout=timeout, headers=headers, environment=environment))
    if isinstance(thing, type):
        raise Misconfigured(f"LLM {thing.__name__} is a class; give an instance: {thing.__name__}()")
    if _is_llm(thing):
        return thing
    return Resting(adapt(thing, timeout=timeout))


def _is_llm(thing: Any) -> TypeGuard[LLM]:
    return isinstance(thing, LLM) and callable(thing.ask) and isinstance(thing.name, str)
