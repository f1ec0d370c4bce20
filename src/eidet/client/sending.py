"""Sends one request, retries it while the server is down, and raises its errors as those of Eidet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import (
    BadInput,
    Conflict,
    Corrupt,
    EidetError,
    Misconfigured,
    MissingExtra,
    NotFound,
    Refused,
    Unavailable,
)
from ..core.private_files import replace_when_whole
from ..core.validate import dump_json
from ..net.http import Unsent, check_header, parse_retry_after, translate_errors
from ..net.retry import Busy, Hopeless, OutcomeUnknown, Retrier, RetryPolicy
from ..net.url import API_KEY, is_server, read_secret

if TYPE_CHECKING:
    import httpx

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
_NEVER: Final = 1_000_000_000  # failures in a row before a client stops; its caller decides when
PIECE: Final = 1 << 16
WAIT: Final = frozenset((429, 502, 503, 504))  # the server, or a proxy before it, asks to retry


class Sender:
    """Sends requests to one address, with a key and a time limit."""

    def __init__(self, url: str, key: str | None, timeout: float) -> None:
        if not is_server(url):
            raise Misconfigured(f"a server's address begins with http:// or https://, not {url!r}")
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra("a client of a server", extra="client") from error
        self.url: str = url.rstrip("/")
        policy = RetryPolicy(
            deadline_seconds=timeout,
            first_pause_seconds=FIRST_PAUSE,
            longest_pause_seconds=LONGEST_PAUSE,
            break_after=_NEVER,
        )
        self._retrier = Retrier(f"the server {self.url}", policy)
        self._http = httpx.Client(base_url=self.url, headers=_headers(key), timeout=timeout)

    def send(self, method: str, path: str, *, repeatable: bool = True, **what: Any) -> Any:
        """Sends a request and returns the answer; retries with growing pauses until the time is over.

        `repeatable`: sending it twice does no harm. The rest is what `_exchange` takes.
        """

        def send_once(_seconds_left: float) -> Any:
            try:
                return self._exchange(method, path, **what)
            except (Unsent, Busy, Hopeless):
                raise
            except Unavailable as error:
                if repeatable:
                    raise
                raise OutcomeUnknown(str(error)) from error

        return self._retrier.call(send_once, idempotent=repeatable)

    def _exchange(
        self,
        method: str,
        path: str,
        *,
        params: dict[str, Any] | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        upload: Path | None = None,
        download: Path | None = None,
    ) -> Any:
        """Sends JSON, written losslessly, or a file; returns the JSON of the answer, or writes a file."""
        content: Any = None
        described = dict(headers or {})
        if body is not None:
            content = dump_json(body).encode()
            described["Content-Type"] = "application/json"
        elif upload is not None:
            content = _read_file(upload)
            described["Content-Type"] = "application/x-ndjson"
        asked: dict[str, Any] = {"params": params, "headers": described, "content": content}
        with translate_errors(self._retrier.name), self._http.stream(method, path, **asked) as reply:
            if download is not None and reply.is_success:
                return _download(reply, download)
            reply.read()
        return _parse_answer(reply)

    def close(self) -> None:
        self._http.close()


def _headers(key: str | None) -> dict[str, str]:
    """Returns a header with the key, by default that of the environment; reads env:NAME and file:PATH."""
    chosen = key or os.environ.get(API_KEY)
    if not chosen:
        return {}
    secret = read_secret(chosen, os.environ, "the server")
    check_header(secret, "the key")
    return {"Authorization": f"Bearer {secret}"}


def _read_file(path: Path) -> Iterator[bytes]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error
    with file:
        while piece := file.read(PIECE):
            yield piece


def _download(reply: httpx.Response, path: Path) -> None:
    try:
        with replace_when_whole(path) as file:
            for piece in reply.iter_bytes(PIECE):
                file.write(piece)
    except OSError as error:
        raise Hopeless(f"{path} could not be written: {error.strerror}") from error


def _parse_answer(reply: httpx.Response) -> Any:
    """Returns the JSON of an answer; raises the error that a failure stands for."""
    if reply.is_success:
        if not reply.content:
            return None
        return reply.json()
    try:
        problem = reply.json()
        type, message = str(problem["type"]), str(problem["message"])
        hint = problem.get("hint")
    except (ValueError, KeyError, TypeError, AttributeError):
        type, message, hint = "", f"the server answered {reply.status_code} without saying why", None
    if hint:
        message = f"{message}: {hint}"
    raise _make_error(reply, type, message)


_BY_TYPE: Final[dict[str, type[EidetError]]] = {
    "bad_input": BadInput,
    "key_reused": BadInput,
    "too_many_records": BadInput,
    "too_many_tokens": BadInput,
    "too_large": BadInput,
    "not_found": NotFound,
    "gone": NotFound,
    "conflict": Conflict,
    "changed": Conflict,
    "refused": Refused,
    "no_right": Refused,
    "damaged_export": Corrupt,
    "corrupt": Corrupt,
}


def _make_error(reply: httpx.Response, type: str, message: str) -> EidetError:
    """Returns the error that the same verb of a local memory would raise."""
    if reply.status_code in WAIT:
        return Busy(message, retry_after=parse_retry_after(reply.headers.get("retry-after")))
    kind = _BY_TYPE.get(type)
    if kind is not None:
        return kind(message)
    if reply.status_code == 408 or reply.status_code >= 500:
        return Hopeless(message)
    return Misconfigured(message)
