"""The one HTTP client: JSON with any method, and streams. It retries until a deadline and hides secrets.

Embedders, language models, rerankers and vector databases without a driver of their own speak through it.
"""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from typing import Any, Generic, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from ..core.errors import BadInput, EidetError, Misconfigured, Unavailable
from .retry import Busy, Retrier, RetryPolicy

T = TypeVar("T")

BAD_INPUT = {400, 413, 422}
NOT_FOUND = 404
NO_CONTENT = 204
PASSING = {408, 409, 425, 429}  # and all of 5xx
TOO_MANY = 429
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
PIECE = 65_536
LARGEST = 1 << 28
SHORTEST_SECRET = 4  # to hide shorter ones would leave no message to read


class TooSlow(Unavailable):
    """The answer did not come in time."""


class NoSuchResource(Misconfigured):
    """The server answered 404: it does not know the path, or what the path names."""


class NotJson(Misconfigured):
    """The server answered something that is no JSON and does not claim to be."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON of an answer, and how many requests it took."""

    json: Any
    attempts: int


class _NoRedirect(HTTPRedirectHandler):
    """Makes a redirect an error: following it would turn POST into GET and carry the key elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


class _Counted(Generic[T]):
    """A request that counts how often it was sent."""

    def __init__(self, send: Callable[[], T]) -> None:
        self._send = send
        self.attempts = 0

    def __call__(self, _seconds: float) -> T:
        self.attempts += 1
        return self._send()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpClient:
    """Speaks to one address. `timeout` bounds a whole `post` with all its attempts.

    `post` and `open_stream` retry through a `Retrier`, which stops asking a server that is down; `request`
    makes one attempt, for callers that have a retrier of their own. Errors: `Unavailable` for what may
    pass, `BadInput` for what the server will not read, `Misconfigured` for all else. No error holds
    `secret` or the value of a header.
    """

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    tries: int | None = None
    retrier: Retrier = field(init=False, repr=False, compare=False)
    _opener: OpenerDirector = field(
        default_factory=lambda: build_opener(_NoRedirect), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        policy = RetryPolicy(
            deadline_seconds=self.timeout,
            first_pause_seconds=FIRST_PAUSE,
            longest_pause_seconds=LONGEST_PAUSE,
        )
        object.__setattr__(self, "retrier", Retrier(self.endpoint, policy))
        for name, value in self.headers.items():
            if not (value.isascii() and value.isprintable()):
                raise Misconfigured(
                    f"the header {name} for {self.endpoint} holds a character that no header can carry; "
                    "does a key end with a line break?"
                )

    def deadline(self) -> float:
        return time.monotonic() + self.timeout

    def post(self, body: Any, deadline: float) -> Reply:
        """Posts JSON and reads the JSON of the answer; retries until the deadline."""
        data = json.dumps(body).encode()
        return Reply(*self._retry(lambda: self._post_once(data, deadline), deadline))

    def open_stream(self, body: Any) -> HTTPResponse:
        """Posts JSON and returns the answer unread. `timeout` bounds each silence, not the whole answer.

        Retries until an answer begins; an answer that has begun is not asked for again.
        """
        data = json.dumps(body).encode()
        return self._retry(lambda: self._begin_stream(data), self.deadline())[0]

    def request(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Makes one attempt within `seconds`. Returns the JSON of the answer, None for an empty one."""
        url = f"{self.endpoint}{path}"
        if query:
            url += f"?{urlencode(query, doseq=True)}"
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data=data, headers=self._all_headers(), method=method)  # noqa: S310 - see join_endpoint
        with self._errors_translated(f" {method} {path} with"):
            content, kind = self._send(request, time.monotonic() + seconds)
        if content.strip():
            return self._parse(content, kind)
        return None

    def _post_once(self, data: bytes, deadline: float) -> Any:
        request = Request(self.endpoint, data=data, headers=self._all_headers())  # noqa: S310 - see join_endpoint
        with self._errors_translated():
            content, kind = self._send(request, deadline)
        return self._parse(content, kind)

    def _begin_stream(self, data: bytes) -> HTTPResponse:
        headers = self._all_headers() | {"Accept": "text/event-stream"}
        request = Request(self.endpoint, data=data, headers=headers)  # noqa: S310 - see join_endpoint
        with self._errors_translated():
            response: HTTPResponse = self._opener.open(request, timeout=self.timeout)
        return response

    def _retry(self, send: Callable[[], T], deadline: float) -> tuple[T, int]:
        """Returns what `send` returns, and how many requests it took."""
        counted = _Counted(send)
        left = max(deadline - time.monotonic(), 0.001)
        try:
            answer = self.retrier.call(counted, deadline_seconds=left, max_attempts=self.tries)
        except Unavailable as error:
            if isinstance(last := error.__cause__, Unavailable):
                raise self._final_error(last, counted.attempts, error.retry_after) from last
            raise
        return answer, counted.attempts

    def _final_error(self, last: Unavailable, attempts: int, wait: float | None) -> Unavailable:
        if attempts == self.tries:
            within = f"in {attempts} tries"
        else:
            within = f"within {self.timeout:g} s"
        return type(last)(f"{self.endpoint} did not answer {within}: {last}", retry_after=wait)

    def _send(self, request: Request, deadline: float) -> tuple[bytes, str]:
        """Returns the body of the answer and its content type."""
        left = max(deadline - time.monotonic(), 0.001)
        with self._opener.open(request, timeout=left) as response:
            return _read_body(response, deadline), response.headers.get("Content-Type", "")

    @contextmanager
    def _errors_translated(self, what: str = "") -> Iterator[None]:
        try:
            yield
        except HTTPError as refused:
            with refused:
                raise self._refusal(refused, what) from None
        except (OSError, HTTPException) as broken:
            raise self._connection_error(broken) from broken

    def _all_headers(self) -> dict[str, str]:
        # Some gateways turn away the user agent that urllib gives itself.
        ours = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "eidet"}
        return ours | dict(self.headers)

    def _parse(self, content: bytes, kind: str) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as malformed:
            if kind and "json" not in kind.lower():
                raise NotJson(
                    f"{self.endpoint} answered {kind[:60]}, not JSON; is the address right?"
                ) from None
            raise Unavailable(f"the answer is cut or malformed JSON ({malformed})") from None

    def _connection_error(self, error: Exception) -> EidetError:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Misconfigured(f"{self.endpoint} has a certificate that cannot be trusted: {reason}")
        if isinstance(reason, Exception):
            why = f"{type(reason).__name__}: {reason}"
        else:
            why = str(reason)
        if isinstance(reason, TimeoutError):
            return TooSlow(why)
        return Unavailable(why)

    def _refusal(self, refused: HTTPError, what: str) -> EidetError:
        code = refused.code
        message = f"{self.endpoint} answered{what} {code}: {self._error_words(refused)}"
        if code in PASSING or code >= 500:
            kind = Busy if code == TOO_MANY else Unavailable
            return kind(message, retry_after=read_retry_after(refused.headers.get("Retry-After")))
        if code in BAD_INPUT:
            return BadInput(message)
        if code == NOT_FOUND:
            return NoSuchResource(message)
        return Misconfigured(message)

    def _error_words(self, refused: HTTPError) -> str:
        try:
            text = refused.read(PIECE).decode(errors="replace")
        except (OSError, HTTPException):
            text = ""
        return self.redact(read_error_text(text) or str(refused.reason))[:300]

    def redact(self, text: str) -> str:
        """The text without the secrets, should a server repeat them."""
        hidden = {self.secret or "", *self.headers.values()}
        for secret in sorted(hidden, key=len, reverse=True):
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


def join_endpoint(url: str, path: str, whose: str) -> str:
    """The address of `path` under `url`; `Misconfigured` if `url` is no plain http(s) address."""
    wrong = _find_fault(url)
    if wrong:
        raise Misconfigured(f"the url of {whose} {wrong}")
    base = url.rstrip("/")
    if base.endswith(path):
        return base
    return base + path


def _find_fault(url: str) -> str:
    if not url.lower().startswith(("http://", "https://")):
        return f"starts with http:// or https://, not {url[: url.find('://') + 3]!r}"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as bad:
        return f"is not an address ({bad})"
    if "@" in parts.netloc:
        return "holds a user or password; give a key or headers instead"
    if not parts.hostname or not url.isprintable() or " " in url:
        return "has no host, or has spaces in it"
    if parts.query or parts.fragment:
        return "holds a ? or #; give the address without"
    return ""


def _read_body(response: HTTPResponse, deadline: float) -> bytes:
    """Reads the whole body; gives up on a server that sends it drop by drop, without end, or cut short."""
    pieces, size = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer came too slowly")
        if size > LARGEST:
            raise OSError(f"the answer is larger than {LARGEST:,} bytes")
    if response.length or not (pieces or _is_empty(response)):
        raise OSError("the answer was cut short")
    return b"".join(pieces)


def _is_empty(response: HTTPResponse) -> bool:
    """Whether no body was to come. An answer that was cut in its head does not state a length."""
    return response.status == NO_CONTENT or response.headers.get("Content-Length") == "0"


def read_retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    try:
        seconds = float(value or "nan")
    except ValueError:
        return _seconds_until(value or "")
    if math.isfinite(seconds) and seconds >= 0:
        return seconds
    return None


def _seconds_until(date: str) -> float | None:
    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def read_error_text(text: str) -> str:
    """`error.message`, `error` or `message` of a JSON answer, else the text itself."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    if isinstance(found, dict):
        found = found.get("error") or found.get("message") or found
    if isinstance(found, dict):
        found = found.get("message") or found
    return str(found)
