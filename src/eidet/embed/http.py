"""Embeddings from any OpenAI-compatible endpoint: OpenAI, Ollama, vLLM, LM Studio and others."""

from __future__ import annotations

import json
import os
import random
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np

from ..errors import BadInput, EidetError, Misconfigured, Unavailable
from . import Vectors

OPENAI = "https://api.openai.com/v1"
BAD_INPUT = {400, 413, 422}
PASSING = {408, 409, 425, 429}  # and all of 5xx
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
PIECE = 65_536


@dataclass(frozen=True, slots=True)
class _Setback:
    """A failure that may pass: why, and how long the server asks us to wait."""

    why: str
    wait: float | None = None


class _NoRedirect(HTTPRedirectHandler):
    """A redirect is an error: following it would turn POST into GET and carry the key elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


class HttpEmbedder:
    """POSTs texts to `{url}/embeddings`, `batch` at a time, and tries again until `timeout` seconds are over.

    `width` asks the server for that many dimensions; without it the server's own width is learned
    from the first answer. `timeout` bounds a whole `embed` call. The key appears in no error.
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
        self.name = f"openai:{model}" if width is None else f"openai:{model}@{width}"
        self._model = model
        self._endpoint = _endpoint(url or OPENAI)
        self._key = key
        self._asked_width = self._width = width
        self._batch = batch
        self._timeout = timeout
        self._headers = dict(headers or {})
        self._opener = build_opener(_NoRedirect)

    @classmethod
    def from_env(cls, model: str = "text-embedding-3-small") -> HttpEmbedder:
        """With the key and address of OPENAI_API_KEY and OPENAI_BASE_URL; `model@256` asks for a width."""
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
        deadline = time.monotonic() + self._timeout
        starts = range(0, len(texts), self._batch)
        rows = np.concatenate([self._ask(texts[start : start + self._batch], deadline) for start in starts])
        self._width = self._width or rows.shape[1]
        return rows

    def _ask(self, texts: Sequence[str], deadline: float) -> Vectors:
        """The rows of one request, sent again after each setback that may pass."""
        body = self._body(texts)
        for pause in _pauses():
            answer = self._try(body, deadline)
            if not isinstance(answer, _Setback):
                return self._rows(answer, len(texts))
            wait = pause if answer.wait is None else answer.wait
            if time.monotonic() + wait >= deadline:
                break
            time.sleep(wait)
        raise Unavailable(
            f"{self._endpoint} did not answer within {self._timeout:g} s: {answer.why}", retry_after=wait
        )

    def _body(self, texts: Sequence[str]) -> bytes:
        # OpenAI refuses empty texts; a space means as little.
        asked: dict[str, Any] = {"model": self._model, "input": [text or " " for text in texts]}
        if self._asked_width is not None:
            asked["dimensions"] = self._asked_width
        return json.dumps(asked).encode()

    def _try(self, body: bytes, deadline: float) -> Any:
        """The answer's JSON, or the setback; errors that will not pass are raised."""
        left = max(deadline - time.monotonic(), 0.001)
        try:
            with self._opener.open(self._request(body), timeout=left) as response:
                return json.loads(_read(response, deadline))
        except HTTPError as refused:
            with refused:
                return self._refusal(refused)
        except ssl.SSLCertVerificationError as bad:
            raise Misconfigured(f"{self._endpoint} has a certificate that cannot be trusted: {bad}") from bad
        except (OSError, HTTPException) as broken:
            return self._broken(broken)
        except ValueError as malformed:
            return _Setback(f"the answer is cut or malformed JSON ({malformed})")

    def _request(self, body: bytes) -> Request:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        return Request(self._endpoint, data=body, headers=headers | self._headers)  # noqa: S310 - see _endpoint

    def _broken(self, error: Exception) -> _Setback:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            raise Misconfigured(
                f"{self._endpoint} has a certificate that cannot be trusted: {reason}"
            ) from error
        return _Setback(
            f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else str(reason)
        )

    def _refusal(self, refused: HTTPError) -> _Setback:
        message = f"{self._endpoint} answered {refused.code}: {self._message(refused)}"
        if refused.code in PASSING or refused.code >= 500:
            return _Setback(message, _retry_after(refused.headers.get("Retry-After")))
        kind: type[EidetError] = BadInput if refused.code in BAD_INPUT else Misconfigured
        raise kind(message) from None

    def _message(self, refused: HTTPError) -> str:
        """The server's own words, without the key should it repeat it."""
        try:
            text = refused.read(PIECE).decode(errors="replace")
        except (OSError, HTTPException):
            text = ""
        words = _error_text(text) or str(refused.reason)
        return words.replace(self._key, "***") if self._key else words

    def _rows(self, answer: Any, count: int) -> Vectors:
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            rows: Vectors = np.array([item["embedding"] for item in items], dtype=np.float32)
        except (TypeError, KeyError, ValueError) as bad:
            raise Misconfigured(
                f"{self._endpoint} answered JSON that holds no embeddings ({bad!r}); is it OpenAI-compatible?"
            ) from bad
        if rows.ndim != 2 or [item["index"] for item in items] != list(range(count)):
            raise Misconfigured(
                f"{self._endpoint} gave {len(rows)} rows for {count} texts, or did not say which row is whose"
            )
        return rows


def _endpoint(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise Misconfigured(f"the url of an embedder starts with http:// or https://, not {url!r}")
    return url.rstrip("/") + "/embeddings"


def _pauses() -> Iterator[float]:
    """Twice as long each time, each somewhere between half and all of it, so that clients spread out."""
    pause = FIRST_PAUSE
    while True:
        yield pause * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
        pause = min(pause * 2, LONGEST_PAUSE)


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """The whole body; a server that sends it drop by drop is left at the deadline."""
    pieces = []
    while piece := response.read1(PIECE):
        pieces.append(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer came too slowly")
    return b"".join(pieces)


def _retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    if not value:
        return None
    if value.strip().isdigit():
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time.time(), 0.0)
    except ValueError:
        return None


def _error_text(text: str) -> str:
    """`error.message`, `error` or `message` of a JSON answer, else the beginning of the text."""
    try:
        found = json.loads(text)
    except ValueError:
        return text[:300].strip()
    if isinstance(found, dict):
        found = found.get("error") or found.get("message") or found
    if isinstance(found, dict):
        found = found.get("message") or found
    return str(found)[:300]
