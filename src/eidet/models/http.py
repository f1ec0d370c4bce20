"""Models over HTTP: embeddings, rerankers and chat completions of any provider or server that speaks JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import numpy as np

from ..core.errors import BadInput, Misconfigured, Unavailable
from ..net.http import HttpClient, join_endpoint
from .embed import Vectors
from .llm import Answer, Request, Stop, add_instruction
from .llm.consult import is_closed
from .rerank import check_scores, out_of_range, parse_numbers

OPENAI: Final = "https://api.openai.com/v1"

Dialect = Literal["cohere", "tei"]
_BATCH: Final[dict[Dialect, int]] = {"cohere": 100, "tei": 32}  # Cohere bills by hundreds, TEI takes no more
_KEYS: Final = {
    "api.cohere.com": "COHERE_API_KEY",
    "api.jina.ai": "JINA_API_KEY",
    "api.voyageai.com": "VOYAGE_API_KEY",
}

_TRIES: Final = 4
_REST_SECONDS: Final = 30.0  # for which an LLM that is down is left alone
_HOMES: Final = {"openai": OPENAI, "ollama": "http://localhost:11434/v1"}
_ADDRESS: Final = re.compile(r"@(?=[a-z]+://)", re.IGNORECASE)  # a model may have an @ in its name
_STOPS: Final[dict[Any, Stop]] = {"length": "length", "content_filter": "refusal"}
# What some endpoints refuse, by the word of their complaint.
_TEMPERATURE, _LIMIT, _SCHEMA = "temperature", "max_completion_tokens", "schema"


class _HttpModel:
    """A model at one endpoint. It retries until `timeout` seconds are over; the key appears in no error."""

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
        """Reports on the connection to the service."""
        return self._http.retrier.health().as_dict()

    def _post_in_batches(
        self, texts: Sequence[str], size: int, make_body: Callable[[Sequence[str]], dict[str, Any]]
    ) -> list[tuple[int, Any]]:
        """Posts `size` texts at a time before one deadline; returns each answer with its count."""
        deadline = self._http.deadline()
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        return [(len(part), self._http.post(make_body(part), deadline)) for part in parts]

    def _sort(self, items: Any, count: int, what: str) -> list[Any]:
        """Sorts the items of an answer by their index: one per text, in any order."""
        found = sorted(items, key=lambda item: item["index"])
        if [item["index"] for item in found] != list(range(count)):
            raise Misconfigured(
                f"{self._http.endpoint} gave {len(found)} {what} for {count} texts, "
                "or did not say which is whose"
            )
        return found

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
        """Takes key and address from OPENAI_API_KEY and OPENAI_BASE_URL; `model@256` asks for a width."""
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
        answers = self._post_in_batches(texts, self._batch, self._body)
        rows = np.concatenate([self._parse(answer, count) for count, answer in answers])
        self._width = self._width or rows.shape[1]
        return rows

    def _body(self, texts: Sequence[str]) -> dict[str, Any]:
        # OpenAI refuses empty texts; a space means as little.
        asked = {"model": self._model, "input": [text or " " for text in texts]}
        return asked if self._asked_width is None else asked | {"dimensions": self._asked_width}

    def _parse(self, answer: Any, count: int) -> Vectors:
        try:
            items = self._sort(answer["data"], count, "rows")
            return np.array([item["embedding"] for item in items], dtype=np.float32).reshape(count, -1)
        except (TypeError, KeyError, ValueError) as bad:
            raise self._misread("embeddings", bad, "is it OpenAI-compatible?") from bad


class HttpReranker(_HttpModel):
    """Scores of a `/rerank` endpoint: Cohere, Jina, Voyage, vLLM, llama.cpp, and TEI in its own format.

    `dialect` is "cohere" (documents in, relevance_score out: all but TEI) or "tei" (texts in, score
    out); None tries the first and, if that is not understood, the second, and stays with what worked.
    `logits` says whether the server's numbers still need a sigmoid (llama.cpp: True); with None the
    first number outside 0 to 1 shows it, and it holds from then on.
    """

    def __init__(
        self,
        model: str = "",
        *,
        url: str,
        key: str | None = None,
        dialect: Dialect | None = None,
        logits: bool | None = None,
        batch: int | None = None,
        timeout: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if batch is not None and batch < 1:
            raise BadInput(f"a batch has at least 1 text, not {batch}")
        name = f"http:{model}@{url}" if model else f"http:{url}"
        super().__init__(name, join_endpoint(url, "/rerank", "a reranker"), key, headers, timeout=timeout)
        self._model, self._dialect, self._logits, self._batch = model, dialect, logits, batch

    @classmethod
    def from_spec(
        cls,
        spec: str,
        *,
        key: str | None = None,
        timeout: float = 30.0,
        environment: Mapping[str, str] = os.environ,
    ) -> HttpReranker:
        """Parses `http:MODEL@URL`, `http:URL` or a plain URL; finds the key of a known provider."""
        model, url = "", spec
        if not spec.startswith(("http://", "https://")):
            model, _, url = spec.removeprefix("http:").rpartition("@")
        if not url:
            raise Misconfigured("the http reranker needs an address, such as http:http://127.0.0.1:8080/v1")
        return cls(model, url=url, key=key or _find_key(url, environment), timeout=timeout)

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        scores = parse_numbers(self.name, texts, self._ask(query, texts))
        if self._logits is None and any(map(out_of_range, scores)):
            self._logits = True
        return check_scores(self.name, texts, scores, logits=bool(self._logits))

    def _ask(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._dialect is not None:
            return self._ask_in(self._dialect, query, texts)
        dialect: Dialect = "cohere"
        try:
            scores = self._ask_in(dialect, query, texts)
        except BadInput as first:
            dialect = "tei"
            try:
                scores = self._ask_in(dialect, query, texts)
            except BadInput:
                raise first from None
        self._dialect = dialect
        return scores

    def _ask_in(self, dialect: Dialect, query: str, texts: Sequence[str]) -> list[float]:
        def make_body(part: Sequence[str]) -> dict[str, Any]:
            # Some services refuse empty texts; a space means as little.
            given = [text or " " for text in part]
            if dialect == "tei":
                return {"query": query or " ", "texts": given, "truncate": True}
            return ({"model": self._model} if self._model else {}) | {
                "query": query or " ",
                "documents": given,
            }

        answers = self._post_in_batches(texts, self._batch or _BATCH[dialect], make_body)
        return [score for count, answer in answers for score in self._parse(answer, count)]

    def _parse(self, answer: Any, count: int) -> list[float]:
        """The scores by their index; both dialects answer best first."""
        try:
            items = answer if isinstance(answer, list) else answer.get("results", answer.get("data"))
            return [_parse_score(item) for item in self._sort(items, count, "scores")]
        except (AttributeError, TypeError, KeyError) as bad:
            raise self._misread("scores", bad, "is it a rerank endpoint?") from bad


def _parse_score(item: Mapping[str, Any]) -> float:
    score = item["relevance_score"] if "relevance_score" in item else item["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(f"{score!r} is no number")
    return float(score)


def _find_key(url: str, environment: Mapping[str, str]) -> str | None:
    address = urlsplit(url)
    return environment.get(_KEYS.get(address.hostname or "", "")) if address.scheme == "https" else None


class HttpLLM(_HttpModel):
    """A model behind chat completions: OpenAI, Ollama, vLLM, LM Studio and many others.

    `timeout` bounds an `ask` with all its tries. An endpoint that refuses a setting it does not know
    (a temperature, a response format) is asked again without, and from then on.
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
        """The model of `provider:model` or `provider:model@url`; see `llm_of` for where a key may go."""
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
        """Leaves out what the endpoint does not take, and remembers that once it worked."""
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
            if isinstance(reply, dict) and reply.get("error"):  # some gateways answer 200 and an error
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
    # Newer models of OpenAI take only the new name, many other servers only the old one.
    limit = "max_completion_tokens" if _LIMIT in without else "max_tokens"
    body: dict[str, Any] = {
        "model": model,
        "messages": request.messages(system),
        limit: request.max_tokens,
    }
    if request.temperature is not None and _TEMPERATURE not in without:
        body["temperature"] = request.temperature
    if native:
        schema = dict(request.schema or {})
        named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


def _find_culprit(request: Request, refused: BadInput, without: frozenset[str]) -> str:
    """Returns the field to leave out next, the schema last; raises the refusal if nothing is left."""
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
