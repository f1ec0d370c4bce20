"""HTTP by httpx: the errors and limits that all callers share, and `HttpClient` for services that speak JSON.

Embedders, language models, rerankers and vector databases without a driver of their own speak through
`HttpClient`. The client of a server (`eidet.client`) shares its errors.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.errors import BadInput, EidetError, Misconfigured, MissingExtra, Unavailable
from .retry import Busy, Retrier, RetryPolicy

if TYPE_CHECKING:
    import httpx

_BAD_INPUT = {400, 413, 422}
_NOT_FOUND = 404
_PASSING = {408, 409, 425, 429}  # and all of 5xx
_TOO_MANY = 429
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
LARGEST = 1 << 28
_SHORTEST_SECRET = 4  # hiding shorter ones would leave no readable message


class TooSlow(Unavailable):
    """Raised if the answer did not come in time."""


class Unsent(Unavailable):
    """Raised if the server could not be reached, so that it has not seen the request."""


class NoSuchResource(Misconfigured):
    """Raised if the server answered 404: it does not know the path, or what the path names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpClient:
    """A JSON client for one address. `timeout` bounds a whole `post` with all its attempts.

    `post` retries through a `Retrier`, which does not call a server that is down for `rest_seconds`;
    `request` makes one attempt, for callers with a retrier of their own. Raises `Unavailable` for failures
    that may pass, `BadInput` for requests that the server rejects, and `Misconfigured` for all else. No
    redirect is followed, and no error contains `secret` or the value of a header.
    """

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    tries: int | None = None
    rest_seconds: float = 2.0
    retrier: Retrier = field(init=False, repr=False, compare=False)
    _clients: dict[int, httpx.Client] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if find_spec("httpx") is None:
            raise MissingExtra(f"the connection to {self.endpoint}", extra="http")
        policy = RetryPolicy(
            deadline_seconds=self.timeout,
            first_pause_seconds=FIRST_PAUSE,
            longest_pause_seconds=LONGEST_PAUSE,
            rest_seconds=self.rest_seconds,
        )
        object.__setattr__(self, "retrier", Retrier(self.endpoint, policy))
        for name, value in self.headers.items():
            check_header(value, f"the header {name} for {self.endpoint}")

    def deadline(self) -> float:
        self._client()  # loading httpx does not count as waiting for the server
        return time.monotonic() + self.timeout

    def post(self, body: Any, deadline: float) -> Any:
        """Posts JSON and returns the JSON of the answer; retries until the deadline."""
        return self.retrier.call(
            lambda seconds: self._parse(*self._send("POST", "", seconds, body=body)),
            deadline_seconds=max(deadline - time.monotonic(), 0.001),
            max_attempts=self.tries,
        )

    def request(self, method: str, path: str, seconds: float, **given: Any) -> Any:
        """Makes one attempt within `seconds`, with a `body` and a `query` if they are given.

        Returns the JSON of the answer, None for an empty one. Raises `Unavailable` for a page instead of
        JSON, which a proxy sends for a server that is away.
        """
        content, kind = self._send(method, path, seconds, **given)
        return self._parse(content, kind, Unavailable) if content.strip() else None

    def _send(
        self,
        method: str,
        path: str,
        seconds: float,
        *,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> tuple[bytes, str]:
        """Returns the body of the answer and its content type."""
        client, ends = self._client(), time.monotonic() + seconds
        asked: dict[str, Any] = {"params": query, "timeout": seconds}
        if body is not None:
            asked["content"] = json.dumps(body).encode()
        with translate_errors(self.endpoint), client.stream(method, self.endpoint + path, **asked) as reply:
            content = _read_body(reply, ends)
        if not reply.is_success:
            raise self._refusal(reply, content, f"{method} {path} with " if path else "")
        return content, reply.headers.get("Content-Type", "")

    def _client(self) -> httpx.Client:
        """Returns the HTTP client of this process; a forked child does not share its parent's connections."""
        process = os.getpid()
        if process not in self._clients:
            import httpx

            ours = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "eidet"}
            self._clients[process] = httpx.Client(headers=ours | dict(self.headers))
        return self._clients[process]

    def _parse(self, content: bytes, kind: str, for_page: type[EidetError] = Misconfigured) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as malformed:
            if kind and "json" not in kind.lower():
                raise for_page(
                    f"{self.endpoint} answered {kind[:60]}, not JSON; is the address right?"
                ) from None
            raise Unavailable(f"the answer is cut or malformed JSON ({malformed})") from None

    def _refusal(self, reply: httpx.Response, content: bytes, what: str) -> EidetError:
        code = reply.status_code
        words = _find_error_text(content.decode(errors="replace")) or reply.reason_phrase
        message = f"{self.endpoint} answered {what}{code}: {self.redact(words)[:300]}"
        if code in _PASSING or code >= 500:
            kind = Busy if code == _TOO_MANY else Unavailable
            return kind(message, retry_after=parse_retry_after(reply.headers.get("Retry-After")))
        if code in _BAD_INPUT:
            return BadInput(message)
        return NoSuchResource(message) if code == _NOT_FOUND else Misconfigured(message)

    def redact(self, text: str) -> str:
        """Hides the secrets in a text, in case a server repeats them."""
        hidden = {self.secret or "", *self.headers.values()}
        for secret in sorted(hidden, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


@contextmanager
def translate_errors(server: str) -> Iterator[None]:
    """Translates the errors of httpx; raises `Unsent` if the server has not seen the request."""
    import httpx

    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
        if isinstance(untrusted := _find_cause(error), ssl.SSLCertVerificationError):
            raise Misconfigured(
                f"{server} has a certificate that cannot be trusted: {untrusted}; "
                "SSL_CERT_FILE names another list of authorities"
            ) from error
        raise Unsent(f"{server} cannot be reached: {error or type(error).__name__}") from error
    except httpx.TimeoutException as error:
        raise TooSlow(f"{server} did not answer in time ({type(error).__name__})") from error
    except httpx.HTTPError as error:
        raise Unavailable(f"the connection to {server} broke off: {error or type(error).__name__}") from error


def _find_cause(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error


def check_header(value: str, what: str) -> None:
    if not (value.isascii() and value.isprintable()):
        raise Misconfigured(
            f"{what} holds a character that no header can carry; does a key end with a line break?"
        )


def join_endpoint(url: str, path: str, whose: str) -> str:
    """Returns the address of `path` under `url`; raises `Misconfigured` if that is no plain http(s) one."""
    try:
        parts = urlsplit(url)
        is_plain = bool(parts.scheme in ("http", "https") and parts.hostname and parts.port != 0)
        is_plain = is_plain and "@" not in parts.netloc
    except ValueError:
        is_plain = False
    if not is_plain or not url.isprintable() or set("?# ") & set(url):
        raise Misconfigured(
            f"the url of {whose} is http:// or https://, a host and a path, without a user or password, "
            "spaces, ? or #; a key and headers are given apart"
        )
    base = url.rstrip("/")
    return base if base.endswith(path) else base + path


def _read_body(reply: httpx.Response, ends: float) -> bytes:
    """Reads the whole body; raises if the server sends it too slowly or without end."""
    content = bytearray()
    for piece in reply.iter_bytes():
        content += piece
        if time.monotonic() > ends:
            raise TooSlow("the answer came too slowly")
        if len(content) > LARGEST:
            raise Unavailable(f"the answer is larger than {LARGEST:,} bytes")
    return bytes(content)


def parse_retry_after(value: str | None) -> float | None:
    """Parses a Retry-After header in either of its forms into seconds; None if it is neither."""
    try:
        seconds = float(value or "nan")
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    except ValueError:
        pass
    try:
        return max(parsedate_to_datetime(value or "").timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def _find_error_text(text: str) -> str:
    """Returns `error.message`, `error` or `message` of a JSON answer, else the text itself."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()
    for name in ("error", "message"):
        if isinstance(found, dict):
            found = found.get(name) or found
    return str(found)
