"""JSON to a service over HTTP and back: tries again until a deadline, and shows its secrets to nobody."""

from __future__ import annotations

import json
import math
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.client import HTTPException, HTTPResponse
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from ..core.errors import BadInput, EidetError, Misconfigured, Unavailable
from .retry import Busy, Line, Patience

T = TypeVar("T")

BAD_INPUT = {400, 413, 422}
PASSING = {408, 409, 425, 429}  # and all of 5xx
TOO_MANY = 429
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 8.0
PIECE = 65_536
LARGEST = 1 << 28
SHORTEST_SECRET = 4  # to blot out shorter ones would leave no message to read


class TooSlow(Unavailable):
    """The answer was not there when the time was over."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The JSON that came, and how many requests it took."""

    json: Any
    attempts: int


class _NoRedirect(HTTPRedirectHandler):
    """A redirect is an error: following it would turn POST into GET and carry the key elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """One address to POST JSON to. `timeout` bounds a whole `post` with all its tries.

    What may pass is tried again through a `Line`, which leaves a server alone that is down. Errors:
    `Unavailable` for what may pass, `BadInput` for what the server will not read, `Misconfigured` for
    all else. None of them holds `secret` or the value of a header.
    """

    endpoint: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    tries: int | None = None
    line: Line = field(init=False, repr=False, compare=False)
    _opener: OpenerDirector = field(
        default_factory=lambda: build_opener(_NoRedirect), init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        patience = Patience(
            deadline_seconds=self.timeout,
            first_pause_seconds=FIRST_PAUSE,
            longest_pause_seconds=LONGEST_PAUSE,
        )
        object.__setattr__(self, "line", Line(self.endpoint, patience))
        for name, value in self.headers.items():
            if not (value.isascii() and value.isprintable()):
                raise Misconfigured(
                    f"the header {name} for {self.endpoint} holds a character that no header can carry; "
                    "does a key end with a line break?"
                )

    def deadline(self) -> float:
        return time.monotonic() + self.timeout

    def post(self, asked: Any, deadline: float) -> Reply:
        """The answer to `asked`, sent again after each setback that may pass."""
        body = json.dumps(asked).encode()
        return Reply(*self._tried(lambda: self._try(body, deadline), deadline))

    def _tried(self, ask: Callable[[], T], deadline: float) -> tuple[T, int]:
        """What the server says, and how many requests it took."""
        attempts = 0

        def job(_: float) -> T:
            nonlocal attempts
            attempts += 1
            return ask()

        left = max(deadline - time.monotonic(), 0.001)
        try:
            return self.line.call(job, deadline_seconds=left, most=self.tries), attempts
        except Unavailable as error:
            if isinstance(last := error.__cause__, Unavailable):
                raise self._gave_up(last, attempts, error.retry_after) from last
            raise

    def _gave_up(self, last: Unavailable, attempts: int, wait: float | None) -> Unavailable:
        within = f"in {attempts} tries" if attempts == self.tries else f"within {self.timeout:g} s"
        return type(last)(f"{self.endpoint} did not answer {within}: {last}", retry_after=wait)

    def _try(self, body: bytes, deadline: float) -> Any:
        """The answer's JSON; `Unavailable` for what may pass."""
        left = max(deadline - time.monotonic(), 0.001)
        request = Request(self.endpoint, data=body, headers=self._all_headers())  # noqa: S310 - see endpoint_at
        try:
            with self._opener.open(request, timeout=left) as response:
                return self._json(_read(response, deadline), response.headers.get("Content-Type", ""))
        except HTTPError as refused:
            with refused:
                raise self._refusal(refused) from None
        except (OSError, HTTPException) as broken:
            raise self._broken(broken) from broken

    def _all_headers(self) -> dict[str, str]:
        # Some gateways turn away the user agent that urllib gives itself.
        ours = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "eidet"}
        return ours | dict(self.headers)

    def _json(self, content: bytes, kind: str) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as malformed:
            if kind and "json" not in kind.lower():
                raise Misconfigured(
                    f"{self.endpoint} answered {kind[:60]}, not JSON; is the address right?"
                ) from None
            raise Unavailable(f"the answer is cut or malformed JSON ({malformed})") from None

    def _broken(self, error: Exception) -> EidetError:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Misconfigured(f"{self.endpoint} has a certificate that cannot be trusted: {reason}")
        why = f"{type(reason).__name__}: {reason}" if isinstance(reason, Exception) else str(reason)
        return TooSlow(why) if isinstance(reason, TimeoutError) else Unavailable(why)

    def _refusal(self, refused: HTTPError) -> EidetError:
        message = f"{self.endpoint} answered {refused.code}: {self._words(refused)}"
        if refused.code in PASSING or refused.code >= 500:
            kind = Busy if refused.code == TOO_MANY else Unavailable
            return kind(message, retry_after=retry_after(refused.headers.get("Retry-After")))
        return (BadInput if refused.code in BAD_INPUT else Misconfigured)(message)

    def _words(self, refused: HTTPError) -> str:
        try:
            text = refused.read(PIECE).decode(errors="replace")
        except (OSError, HTTPException):
            text = ""
        return self.blotted(error_text(text) or str(refused.reason))[:300]

    def blotted(self, text: str) -> str:
        """The text without the secrets, should a server repeat them."""
        hidden = {self.secret or "", *self.headers.values()}
        for secret in sorted(hidden, key=len, reverse=True):
            if len(secret) >= SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return text


def endpoint_at(url: str, path: str, whose: str) -> str:
    """The address of `path` under `url`, or a clear error where that is no plain http(s) address."""
    wrong = _wrong_with(url)
    if wrong:
        raise Misconfigured(f"the url of {whose} {wrong}")
    base = url.rstrip("/")
    return base if base.endswith(path) else base + path


def _wrong_with(url: str) -> str:
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
    return "holds a ? or #; give the address without" if parts.query or parts.fragment else ""


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """The whole body; a server that sends it drop by drop, or without end, is left."""
    pieces, size = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > deadline:
            raise TimeoutError("the answer came too slowly")
        if size > LARGEST:
            raise OSError(f"the answer is larger than {LARGEST:,} bytes")
    return b"".join(pieces)


def retry_after(value: str | None) -> float | None:
    """Seconds to wait, from a Retry-After header in either of its two forms."""
    try:
        seconds = float(value or "nan")
    except ValueError:
        return _until(value or "")
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(date: str) -> float | None:
    try:
        return max(parsedate_to_datetime(date).timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None


def error_text(text: str) -> str:
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
