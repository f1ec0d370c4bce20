"""Scores from a `/rerank` endpoint: Cohere, Jina, Voyage, vLLM, llama.cpp, and TEI in its own format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urlsplit

from ...core.errors import BadInput, Misconfigured
from ...net.http import HttpClient, join_endpoint
from . import check_scores, numbers, out_of_range, sigmoid

Dialect = Literal["cohere", "tei"]
BATCH: dict[Dialect, int] = {"cohere": 100, "tei": 32}  # Cohere bills by hundreds, TEI takes no more
KEYS = {
    "api.cohere.com": "COHERE_API_KEY",
    "api.jina.ai": "JINA_API_KEY",
    "api.voyageai.com": "VOYAGE_API_KEY",
}


class HttpReranker:
    """POSTs query and texts to `{url}/rerank` and tries again until `timeout` seconds are over.

    `dialect` is "cohere" (documents in, relevance_score out: all but TEI) or "tei" (texts in, score
    out); None tries the first and, if that is not understood, the second, and stays with what worked.
    `logits` says whether the server's numbers still need a sigmoid (llama.cpp: True); with None the
    first number outside 0 to 1 shows it, and it holds from then on. The key appears in no error.
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
        self.name: str = f"http:{model}@{url}" if model else f"http:{url}"
        self._model = model
        self._dialect = dialect
        self._logits = logits
        self._batch = batch
        self._http = HttpClient(
            endpoint=join_endpoint(url, "/rerank", "a reranker"),
            headers=({"Authorization": f"Bearer {key}"} if key else {}) | dict(headers or {}),
            secret=key,
            timeout=timeout,
        )

    @classmethod
    def from_spec(
        cls,
        spec: str,
        *,
        key: str | None = None,
        timeout: float = 30.0,
        environment: Mapping[str, str] = os.environ,
    ) -> HttpReranker:
        """From `http:MODEL@URL`, `http:URL` or a plain URL; a known provider's key is looked up for it."""
        model, url = _model_and_url(spec)
        return cls(model, url=url, key=key or _key_for(url, environment), timeout=timeout)

    def __repr__(self) -> str:
        return f"<Reranker {self.name}>"

    def health(self) -> dict[str, Any]:
        """How the line to the service does."""
        return self._http.retrier.health().as_dict()

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        scores = numbers(self.name, texts, self._ask(query, texts))
        if self._logits is None and any(map(out_of_range, scores)):
            self._logits = True
        if self._logits:
            return [sigmoid(score) for score in scores]
        return check_scores(self.name, texts, scores)

    def _ask(self, query: str, texts: Sequence[str]) -> list[float]:
        if self._dialect is not None:
            return self._ask_in(self._dialect, query, texts)
        try:
            scores = self._ask_in("cohere", query, texts)
        except BadInput as first:
            return self._ask_otherwise(first, query, texts)
        self._dialect = "cohere"
        return scores

    def _ask_otherwise(self, first: BadInput, query: str, texts: Sequence[str]) -> list[float]:
        try:
            scores = self._ask_in("tei", query, texts)
        except BadInput:
            raise first from None
        self._dialect = "tei"
        return scores

    def _ask_in(self, dialect: Dialect, query: str, texts: Sequence[str]) -> list[float]:
        deadline = self._http.deadline()
        size = self._batch or BATCH[dialect]
        scores: list[float] = []
        for start in range(0, len(texts), size):
            part = texts[start : start + size]
            answer = self._http.post(_body(dialect, self._model, query, part), deadline)
            scores += self._in_order(answer, len(part))
        return scores

    def _in_order(self, answer: Any, count: int) -> list[float]:
        """The scores by their index; both dialects answer best first."""
        try:
            if isinstance(answer, list):
                items = answer
            else:
                items = answer.get("results", answer.get("data"))
            by_index = {item["index"]: _score(item) for item in items}
        except (AttributeError, TypeError, KeyError) as bad:
            raise Misconfigured(
                f"{self._http.endpoint} answered JSON that holds no scores ({bad!r}); "
                "is it a rerank endpoint?"
            ) from bad
        if len(items) != count or by_index.keys() != set(range(count)):
            raise Misconfigured(
                f"{self._http.endpoint} gave {len(items)} scores for {count} texts, "
                "or did not say which score is whose"
            )
        return [by_index[index] for index in range(count)]


def _score(item: Mapping[str, Any]) -> float:
    if "relevance_score" in item:
        score = item["relevance_score"]
    else:
        score = item["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise TypeError(f"{score!r} is no number")
    return float(score)


def _body(dialect: Dialect, model: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    # Some services refuse empty texts; a space means as little.
    query, given = query or " ", [text or " " for text in texts]
    if dialect == "tei":
        return {"query": query, "texts": given, "truncate": True}
    return ({"model": model} if model else {}) | {"query": query, "documents": given}


def _model_and_url(spec: str) -> tuple[str, str]:
    if spec.startswith(("http://", "https://")):
        return "", spec
    setting = spec.removeprefix("http:")
    model, at, url = setting.rpartition("@")
    if not url:
        raise Misconfigured("the http reranker needs an address, such as http:http://127.0.0.1:8080/v1")
    if at:
        return (model, url)
    return ("", setting)


def _key_for(url: str, environment: Mapping[str, str]) -> str | None:
    address = urlsplit(url)
    name = KEYS.get(address.hostname or "")
    if name and address.scheme == "https":
        return environment.get(name)
    return None
