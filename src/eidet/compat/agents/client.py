"""The Messages API of Anthropic over HTTP, as its own client is called: `client.messages.create(…)`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...core.errors import Misconfigured
from ...models.llm.claude import Anthropic
from ...net.http import HttpClient, join_endpoint

MODEL: Final = "claude-sonnet-4-20250514"
_dialect = Anthropic()


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of an answer: a text, or the call of a tool; `raw` is all of it."""

    raw: Mapping[str, Any]

    @property
    def type(self) -> str:
        return str(self.raw.get("type"))

    @property
    def text(self) -> str:
        return str(self.raw.get("text") or "")

    @property
    def id(self) -> str:
        return str(self.raw.get("id"))

    @property
    def name(self) -> str:
        return str(self.raw.get("name"))

    @property
    def input(self) -> Mapping[str, Any]:
        return self.raw.get("input") or {}

    def model_dump(self) -> dict[str, Any]:
        return dict(self.raw)


@dataclass(frozen=True, slots=True)
class Response:
    """What the model answered, and why it stopped."""

    content: list[Block]
    stop_reason: str | None
    raw: Mapping[str, Any]


class AnthropicClient:
    """Without arguments, the key and address are those of ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.

    A key of the environment is sent to the address of the environment only. Tries again what may
    pass, until `timeout` seconds are over; no error shows the key.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = 120.0,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        if base_url is None:
            base_url = environment.get("ANTHROPIC_BASE_URL", "").strip() or None
            api_key = api_key or environment.get("ANTHROPIC_API_KEY", "").strip() or None
        if not api_key and base_url is None:
            raise Misconfigured(
                "the Messages API needs a key: pass api_key=… or set ANTHROPIC_API_KEY; your own server "
                "needs an address: base_url=… or ANTHROPIC_BASE_URL"
            )
        address = base_url or _dialect.home
        self._http = HttpClient(
            endpoint=join_endpoint(address, _dialect.path(address), "the Messages API"),
            headers=_dialect.headers(api_key),
            secret=api_key,
            timeout=timeout,
        )

    @property
    def messages(self) -> AnthropicClient:
        return self

    def create(self, **body: Any) -> Response:
        """Posts the body (model, max_tokens, messages, system, tools …) and reads the answer."""
        asked = {}
        for name, value in body.items():
            if value is not None:
                asked[name] = value
        answer = self._http.post(asked, self._http.deadline()).json
        content = None
        if isinstance(answer, Mapping):
            content = answer.get("content")
        if not isinstance(content, list) or not all(isinstance(block, Mapping) for block in content):
            raise Misconfigured(
                f"{self._http.endpoint} returned JSON without content; does it speak the Messages API?"
            )
        return Response([Block(block) for block in content], answer.get("stop_reason"), answer)


def as_function(client: Any, model: str = MODEL) -> Any:
    """A client of the Messages API as a function of a prompt; anything else is itself."""
    create: Callable[..., Any] | None = getattr(getattr(client, "messages", None), "create", None)
    if create is None:
        return client

    def ask(prompt: str) -> str:
        answer = create(model=model, max_tokens=1024, messages=[{"role": "user", "content": prompt}])
        return "".join(block.text for block in answer.content if block.type == "text")

    return ask
