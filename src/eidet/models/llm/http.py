"""Models that speak chat completions over HTTP: OpenAI, Ollama, vLLM, LM Studio and many others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ...core.errors import BadInput, Misconfigured, Unavailable
from ...net.http import HttpClient, join_endpoint
from . import Answer, Request, Stop, add_instruction
from .answer_json import is_closed

TRIES: Final = 4
REST_SECONDS: Final = 30.0  # for which a model that is down is left alone
HOMES: Final = {"openai": "https://api.openai.com/v1", "ollama": "http://localhost:11434/v1"}
ADDRESS: Final = re.compile(r"@(?=[a-z]+://)", re.IGNORECASE)  # a model may have an @ in its name
STOPS: Final[dict[Any, Stop]] = {"length": "length", "content_filter": "refusal"}
# What some endpoints refuse, by the word of their complaint.
TEMPERATURE, LIMIT, SCHEMA = "temperature", "max_completion_tokens", "schema"


class HttpLLM:
    """One model at one address. `timeout` bounds an `ask` with all its tries.

    An endpoint that refuses a setting it does not know (a temperature, a response format) is asked
    again without, and from then on.
    """

    def __init__(
        self,
        model: str,
        *,
        url: str | None = None,
        key: str | None = None,
        provider: str = "openai",
        timeout: float = 60.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.name: str = f"{provider}:{model}" + (f"@{url}" if url else "")
        self._model = model
        self._without: frozenset[str] = frozenset()  # of TEMPERATURE, LIMIT and SCHEMA
        self._http = HttpClient(
            endpoint=join_endpoint(url or HOMES[provider], "/chat/completions", f"the {provider} LLM"),
            headers=({"Authorization": f"Bearer {key}"} if key else {}) | dict(headers or {}),
            secret=key,
            timeout=timeout,
            tries=TRIES,
            rest_seconds=REST_SECONDS,
        )

    @classmethod
    def from_spec(
        cls,
        spec: str,
        *,
        key: str | None,
        timeout: float,
        headers: Mapping[str, str] | None,
        environment: Mapping[str, str],
    ) -> HttpLLM:
        """The model of `provider:model` or `provider:model@url`; see `llm_of` for where a key may go."""
        provider, model, url = _parts(spec)
        if url is None and provider == "openai":
            url = environment.get("OPENAI_BASE_URL", "").strip() or None
            key = key or environment.get("OPENAI_API_KEY", "").strip() or None
            if not (key or url or headers):
                raise Misconfigured(
                    "the openai LLM needs a key: give key=… or set OPENAI_API_KEY; "
                    "a server of your own needs an address: openai:model@http://127.0.0.1:8000/v1"
                )
        return cls(model, url=url, key=key, provider=provider, timeout=timeout, headers=headers)

    def __repr__(self) -> str:
        return f"<LLM {self.name}>"

    def health(self) -> dict[str, Any]:
        """How the line to the service does."""
        return self._http.retrier.health().as_dict()

    def ask(self, request: Request) -> Answer:
        """Leaves out what the endpoint does not take, and remembers that once it worked."""
        without, deadline = self._without, self._http.deadline()
        while True:
            try:
                reply = self._http.post(_body(request, self._model, without), deadline)
            except BadInput as refused:
                without |= {_find_culprit(request, refused, without)}
            else:
                self._without = without
                return self._read(reply)

    def _read(self, reply: Any) -> Answer:
        try:
            return _answer(reply, self._model)
        except (KeyError, TypeError, IndexError, AttributeError) as bad:
            if isinstance(reply, dict) and reply.get("error"):  # some gateways answer 200 and an error
                words = self._http.redact(str(reply["error"]))[:300]
                raise Unavailable(f"{self._http.endpoint} answered an error: {words}") from None
            raise Misconfigured(
                f"{self._http.endpoint} answered JSON that holds no message ({bad!r}); "
                "does it speak the chat completions of OpenAI?"
            ) from bad


def _parts(spec: str) -> tuple[str, str, str | None]:
    provider, _, rest = spec.partition(":")
    if provider not in HOMES:
        raise Misconfigured(
            f"no LLM provider is called {provider[:40]!r}; say openai:model, ollama:model, "
            "openai:model@http://… for a compatible server, or give a callable, such as one around "
            "the provider's own package"
        )
    at = ADDRESS.search(rest)
    model, url = (rest[: at.start()], rest[at.end() :]) if at else (rest, None)
    if not model.strip() or "://" in model:
        raise Misconfigured(f"{provider!r} needs a model: {provider}:model or {provider}:model@http://…")
    return provider, model.strip(), url


def _body(request: Request, model: str, without: frozenset[str]) -> dict[str, Any]:
    native = request.schema is not None and SCHEMA not in without
    system = request.system if native else add_instruction(request)
    turns = [{"role": turn.role, "content": turn.text} for turn in request.turns]
    # Newer models of OpenAI take only the new name, many other servers only the old one.
    limit = "max_completion_tokens" if LIMIT in without else "max_tokens"
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": system}, *turns] if system else turns,
        limit: request.max_tokens,
    }
    if request.temperature is not None and TEMPERATURE not in without:
        body["temperature"] = request.temperature
    if native:
        schema = dict(request.schema or {})
        named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


def _find_culprit(request: Request, refused: BadInput, without: frozenset[str]) -> str:
    """What to leave out next; the schema is suspected last, named or not. Nothing left: the refusal."""
    words = str(refused).lower()
    sent = {TEMPERATURE: request.temperature is not None, LIMIT: True}
    suspects = [part for part, was_sent in sent.items() if was_sent and part in words]
    suspects += [SCHEMA] if request.schema is not None else []
    for suspect in suspects:
        if suspect not in without:
            return suspect
    raise refused


def _answer(reply: Any, model: str) -> Answer:
    choice = reply["choices"][0]
    message, usage = choice["message"], reply.get("usage") or {}
    refusal, content = message.get("refusal"), message["content"] or ""
    if not isinstance(content, str):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    return Answer(
        text=refusal or content,
        stop="refusal" if refusal else STOPS.get(choice.get("finish_reason"), "end"),
        model=reply.get("model") or model,
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("completion_tokens"),
    )
