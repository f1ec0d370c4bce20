"""Models over HTTP: embeddings and chat completions of any OpenAI-compatible server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..core.errors import BadInput, Misconfigured, Unavailable
from ..net.http import HttpClient, join_endpoint
from .embed import Vectors
from .llm import Answer, Request, Stop, add_instruction

OPENAI: Final = "https://api.openai.com/v1"

_TRIES: Final = 4
_REST_SECONDS: Final = 30.0  # pause after which an LLM that was down is called again
_HOMES: Final = {"openai": OPENAI, "ollama": "http://localhost:11434/v1"}
_ADDRESS: Final = re.compile(r"@(?=[a-z]+://)", re.IGNORECASE)  # a model may have an @ in its name
_STOPS: Final[dict[Any, Stop]] = {"length": "length", "content_filter": "refusal"}
# Settings that some endpoints refuse, by the word in their error message.
_TEMPERATURE, _LIMIT, _SCHEMA = "temperature", "max_completion_tokens", "schema"


class _HttpModel:
    """A model at one endpoint. Retries until `timeout` seconds have passed; no error shows the key."""

    def __init__(
        self, name: str, endpoint: str, key: str | None, headers: Mapping[str, str] | None, **how: Any
    ) -> None:
        self.name = name
        authorization = {"Authorization": f"Bearer {key}"} if key else {}
        self._http = HttpClient(
            endpoint=endpoint, headers=authorization | dict(headers or {}), secret=key, **how
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__.removeprefix('Http')} {self.name}>"

    def health(self) -> dict[str, Any]:
        """Returns the health of the connection to the service."""
        return self._http.retrier.health()

    def _misread(self, what: str, bad: Exception, question: str) -> Misconfigured:
        return Misconfigured(
            f"{self._http.endpoint} answered JSON that holds no {what} ({bad!r}); {question}"
        )


class HttpEmbedder(_HttpModel):
    """Embeddings of any OpenAI-compatible endpoint: POSTs texts to `{url}/embeddings`, `batch` at a time.

    `width` asks the server for that many dimensions; without it the server's own width is learned
    from the first answer. `timeout` bounds a whole `embed` call.
    """

    costly = True

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        url: str | None = None,
        key: str | None = None,
        width: int | None = None,
        batch: int = 128,
        timeout: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        name = f"openai:{model}" if width is None else f"openai:{model}@{width}"
        endpoint = join_endpoint(url or OPENAI, "/embeddings", "an embedder")
        super().__init__(name, endpoint, key, headers, timeout=timeout)
        self._model, self._batch = model, batch
        self._asked_width = self._width = width

    @classmethod
    def from_env(cls, model: str = "text-embedding-3-small") -> HttpEmbedder:
        """Reads key and address from OPENAI_API_KEY and OPENAI_BASE_URL; `model@256` asks for a width."""
        url, key = os.environ.get("OPENAI_BASE_URL"), os.environ.get("OPENAI_API_KEY")
        if not url and not key:
            raise Misconfigured(
                "the openai embedder needs OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own "
                "(Ollama: http://localhost:11434/v1)"
            )
        name, _, width = model.partition("@")
        return cls(name, url=url, key=key, width=int(width) if width.isdigit() else None)

    @property
    def width(self) -> int:
        if self._width is None:
            self.embed(["width"])
        return self._width or 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.width), dtype=np.float32)
        deadline = self._http.deadline()
        parts = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        answers = [self._parse(self._http.post(self._body(part), deadline), len(part)) for part in parts]
        rows = np.concatenate(answers)
        self._width = self._width or rows.shape[1]
        return rows

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        # OpenAI refuses empty texts, so a space stands for them.
        asked = {"model": self._model, "input": [text or " " for text in texts]}
        return asked if self._asked_width is None else asked | {"dimensions": self._asked_width}

    def _parse(self, answer: Any, count: int) -> Vectors:
        try:
            rows = {item["index"]: item["embedding"] for item in answer["data"]}
            if len(answer["data"]) != count or rows.keys() != set(range(count)):
                raise Misconfigured(
                    f"{self._http.endpoint} gave {len(answer['data'])} rows for {count} texts, "
                    "or did not say which is whose"
                )
            return np.array([rows[at] for at in range(count)], dtype=np.float32).reshape(count, -1)
        except (TypeError, KeyError, ValueError) as bad:
            raise self._misread("embeddings", bad, "is it OpenAI-compatible?") from bad


class HttpLLM(_HttpModel):
    """A model behind chat completions: OpenAI, Ollama, vLLM, LM Studio and many others.

    `timeout` bounds an `ask` with all its retries. If an endpoint refuses a setting (a temperature, a
    response format), the request is repeated without it, and later requests leave it out.
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
        name = f"{provider}:{model}" + (f"@{url}" if url else "")
        endpoint = join_endpoint(url or _HOMES[provider], "/chat/completions", f"the {provider} LLM")
        limits = {"timeout": timeout, "tries": _TRIES, "rest_seconds": _REST_SECONDS}
        super().__init__(name, endpoint, key, headers, **limits)
        self._model = model
        self._without: frozenset[str] = frozenset()  # of _TEMPERATURE, _LIMIT and _SCHEMA

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
        """Makes the model of `provider:model` or `provider:model@url`; for keys, see `llm_of`."""
        provider, model, url = _split_spec(spec)
        if url is None and provider == "openai":
            url = environment.get("OPENAI_BASE_URL", "").strip() or None
            key = key or environment.get("OPENAI_API_KEY", "").strip() or None
            if not (key or url or headers):
                raise Misconfigured(
                    "the openai LLM needs a key: give key=… or set OPENAI_API_KEY; "
                    "a server of your own needs an address: openai:model@http://127.0.0.1:8000/v1"
                )
        return cls(model, url=url, key=key, provider=provider, timeout=timeout, headers=headers)

    def ask(self, request: Request) -> Answer:
        """Asks the model without settings that the endpoint refuses; remembers them once a request passed."""
        without, deadline = self._without, self._http.deadline()
        while True:
            try:
                reply = self._http.post(_make_chat_body(request, self._model, without), deadline)
            except BadInput as refused:
                without |= {_find_culprit(request, refused, without)}
            else:
                self._without = without
                return self._parse(reply)

    def _parse(self, reply: Any) -> Answer:
        try:
            return _parse_answer(reply, self._model)
        except (KeyError, TypeError, IndexError, AttributeError) as bad:
            if isinstance(reply, dict) and reply.get("error"):  # some gateways send errors with 200
                words = self._http.redact(str(reply["error"]))[:300]
                raise Unavailable(f"{self._http.endpoint} answered an error: {words}") from None
            raise self._misread("message", bad, "does it speak the chat completions of OpenAI?") from bad


def _split_spec(spec: str) -> tuple[str, str, str | None]:
    provider, _, rest = spec.partition(":")
    if provider not in _HOMES:
        raise Misconfigured(
            f"no LLM provider is called {provider[:40]!r}; say openai:model, ollama:model, "
            "openai:model@http://… for a compatible server, or give a callable, such as one around "
            "the provider's own package"
        )
    at = _ADDRESS.search(rest)
    model, url = (rest[: at.start()], rest[at.end() :]) if at else (rest, None)
    if not model.strip() or "://" in model:
        raise Misconfigured(f"{provider!r} needs a model: {provider}:model or {provider}:model@http://…")
    return provider, model.strip(), url


def _make_chat_body(request: Request, model: str, without: frozenset[str]) -> dict[str, Any]:
    native = request.schema is not None and _SCHEMA not in without
    system = request.system if native else add_instruction(request)
    # Newer OpenAI models accept only the new name, many other servers only the old one.
    limit = "max_completion_tokens" if _LIMIT in without else "max_tokens"
    body: dict[str, Any] = {
        "model": model,
        "messages": request.messages(system),
        limit: request.max_tokens,
    }
    if request.temperature is not None and _TEMPERATURE not in without:
        body["temperature"] = request.temperature
    if native:
        named = {"name": "answer", "schema": dict(request.schema or {})}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


def _find_culprit(request: Request, refused: BadInput, without: frozenset[str]) -> str:
    """Returns the setting to leave out next, the schema last; raises the refusal if none is left."""
    words = str(refused).lower()
    sent = {_TEMPERATURE: request.temperature is not None, _LIMIT: True}
    suspects = [part for part, was_sent in sent.items() if was_sent and part in words]
    suspects += [_SCHEMA] if request.schema is not None else []
    if left := [suspect for suspect in suspects if suspect not in without]:
        return left[0]
    raise refused


def _parse_answer(reply: Any, model: str) -> Answer:
    choice = reply["choices"][0]
    message, usage = choice["message"], reply.get("usage") or {}
    refusal, content = message.get("refusal"), message["content"] or ""
    if not isinstance(content, str):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    return Answer(
        text=refusal or content,
        stop="refusal" if refusal else _STOPS.get(choice.get("finish_reason"), "end"),
        model=reply.get("model") or model,
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("completion_tokens"),
    )
