"""Clients of Anthropic's Messages API: that of Anthropic's own package, or whatever has `messages.create`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...core.errors import Misconfigured, MissingExtra

MODEL: Final = "claude-sonnet-4-20250514"


def open_client(api_key: str | None = None, base_url: str | None = None) -> Any:
    """Anthropic's own client. Without arguments it finds its key and address in the environment.

    A key of the environment goes to the address of the environment only: another one needs a key of its own.
    """
    if base_url is not None and not api_key:
        raise Misconfigured("base_url needs a key of its own: pass api_key=… with it")
    try:
        import anthropic
    except ImportError as error:
        raise MissingExtra("an agent without a client of its own", extra="anthropic") from error
    return anthropic.Anthropic(api_key=api_key, base_url=base_url)


def as_function(client: Any, model: str = MODEL) -> Any:
    """A client of the Messages API as a function of a prompt; anything else is itself."""
    create: Callable[..., Any] | None = getattr(getattr(client, "messages", None), "create", None)
    if create is None:
        return client

    def ask(prompt: str) -> str:
        answer = create(model=model, max_tokens=1024, messages=[{"role": "user", "content": prompt}])
        return "".join(block.text for block in answer.content if block.type == "text")

    return ask
