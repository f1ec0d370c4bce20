"""What two wire protocols have in common: how a question becomes a body, and a body an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from ...core.validate import Json, dump_json
from . import Answer, Request

Without = frozenset[str]  # of TEMPERATURE, LIMIT and SCHEMA: what an endpoint was found not to take
TEMPERATURE, LIMIT, SCHEMA = "temperature", "max_tokens", "schema"


class Dialect(Protocol):
    """One wire protocol. Pure: the sending is done by `HttpLLM`."""

    @property
    def provider(self) -> str: ...
    @property
    def home(self) -> str:
        """The address of the provider itself."""

    def path(self, url: str, /) -> str:
        """What follows the address."""

    def headers(self, key: str | None) -> dict[str, str]: ...

    def body(self, request: Request, model: str, without: Without) -> dict[str, Any]:
        """What is sent. Without SCHEMA the schema is written into the system prompt instead."""

    def culprits(self, words: str) -> list[str]:
        """What the server's complaint, in small letters, seems to be about."""

    def answer(self, body: Any) -> Answer:
        """Raises KeyError, TypeError, IndexError or AttributeError where the body is of another shape."""


def add_instruction(request: Request) -> str:
    """The system prompt with the schema spelt out, for models that are not told of it otherwise."""
    if request.schema is None:
        return request.system
    return f"{request.system}\n\n{instruction(request.schema)}".strip()


def instruction(schema: Mapping[str, Json]) -> str:
    return (
        "Answer with one JSON object and nothing else: no explanation, no code fence. "
        f"It has to fit this JSON schema: {dump_json(dict(schema))}"
    )


def count(usage: Any, *names: str) -> int | None:
    """The sum of the counts that are there; None if none is."""
    if isinstance(usage, Mapping):
        found = [usage.get(name) for name in names]
    else:
        found = []
    numbers = []
    for number in found:
        if isinstance(number, int) and not isinstance(number, bool):
            numbers.append(number)
    if numbers:
        return sum(numbers)
    return None
