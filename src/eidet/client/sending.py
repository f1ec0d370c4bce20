"""One request over the wire: sent again while the server is away, and its errors as those of Eidet."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

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
from ..core.private_files import name_partial, remove_partial, write_bytes_anew
from ..core.validate import dump_json
from ..net.url import API_KEY, is_server, read_secret

if TYPE_CHECKING:
    import httpx

    from .requests_of import Steps

T = TypeVar("T")
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
PIECE: Final = 1 << 16
WAIT: Final = frozenset((429, 502, 503, 504))  # the server, or what stands before it, asks to come again


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """A request. `repeatable` says that it does no harm when the server has seen it already."""

    method: str
    path: str
    params: dict[str, Any] = field(default_factory=dict)
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    repeatable: bool = True
    upload: Path | None = None
    download: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """Where to, with which key, and for how long a call is tried."""

    url: str
    key: str | None = field(repr=False)
    timeout: float

    @classmethod
    def of(cls, url: str, key: str | None, timeout: float) -> Sending:
        if not is_server(url):
            raise Misconfigured(f"a server's address begins with http:// or https://, not {url!r}")
        chosen = key or os.environ.get(API_KEY)
        secret = None
        if chosen:
            secret = read_secret(chosen, os.environ, "the server")
        return cls(url=url.rstrip("/"), key=secret, timeout=timeout)

    def headers(self) -> dict[str, str]:
        if self.key is None:
            return {}
        if not (self.key.isascii() and self.key.isprintable()):
            raise Misconfigured(
                "the key holds a character that no header can carry; does it end in a line break?"
            )
        return {"Authorization": f"Bearer {self.key}"}


def load_httpx() -> Any:
    try:
        import httpx
    except ImportError as error:
        raise MissingExtra("a client of a server", extra="client") from error
    return httpx


class VerbRun(Generic[T]):
    """The requests of one call, in turn, each again until it is answered or its time is over.

    It sends nothing and waits for nothing itself, so that it serves both senders.
    """

    def __init__(self, steps: Steps[T], timeout: float) -> None:
        self._steps, self._timeout = steps, timeout
        self._resume: Callable[[], WireRequest] = partial(steps.send, None)
        self._asking: WireRequest | None = None
        self.result: T

    def next_request(self) -> WireRequest | None:
        """None once there is a result; the same request again after a pause."""
        if self._asking is None:
            try:
                self._asking = self._resume()
            except StopIteration as end:
                self.result = end.value
                return None
            self._deadline, self._pause = time.monotonic() + self._timeout, FIRST_PAUSE
        return self._asking

    def take(self, answer: Any) -> None:
        self._asking, self._resume = None, partial(self._steps.send, answer)

    def fail(self, error: Exception) -> float:
        """How long to pause before the request is sent again; 0 where the verb is told of the error."""
        sent = not isinstance(error, _Unsent | _Waits)
        if isinstance(error, _Unsent):
            error = error.as_unavailable()
        if isinstance(error, Unavailable) and (pause := self._choose_pause(error, sent=sent)):
            return pause
        self._asking, self._resume = None, partial(self._steps.throw, error)
        return 0.0

    def _choose_pause(self, error: Unavailable, *, sent: bool) -> float:
        """0 where the request must not or need not be sent again."""
        assert self._asking is not None
        pause = max(self._pause, error.retry_after or 0.0)
        lost = sent and not self._asking.repeatable
        if lost or isinstance(error, _Failed) or time.monotonic() + pause > self._deadline:
            return 0.0
        self._pause = min(LONGEST_PAUSE, self._pause * 2)
        return pause


class Sender:
    """Sends the requests of a verb one after the other."""

    def __init__(self, sending: Sending) -> None:
        self.sending = sending
        self._http: httpx.Client = load_httpx().Client(
            base_url=sending.url, headers=sending.headers(), timeout=sending.timeout
        )

    def run(self, steps: Steps[T]) -> T:
        run = VerbRun(steps, self.sending.timeout)
        while (asking := run.next_request()) is not None:
            try:
                run.take(self._send(asking))
            except (EidetError, _Unsent) as error:
                time.sleep(run.fail(error))
        return run.result

    def _send(self, asking: WireRequest) -> Any:
        httpx = load_httpx()
        try:
            with self._http.stream(**_arguments(asking, _read_file)) as reply:
                if asking.download is not None and reply.is_success:
                    with _Download(asking.download) as download:
                        for piece in reply.iter_bytes(PIECE):
                            download.write(piece)
                    return None
                reply.read()
                return read_answer(reply)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise _Unsent(self.sending.url, error) from error
        except httpx.HTTPError as error:
            raise _make_lost(self.sending.url, error) from error

    def close(self) -> None:
        self._http.close()


class AsyncSender:
    """The same for asyncio."""

    def __init__(self, sending: Sending) -> None:
        self.sending = sending
        self._http: httpx.AsyncClient = load_httpx().AsyncClient(
            base_url=sending.url, headers=sending.headers(), timeout=sending.timeout
        )

    async def run(self, steps: Steps[T]) -> T:
        run = VerbRun(steps, self.sending.timeout)
        while (asking := run.next_request()) is not None:
            try:
                run.take(await self._send(asking))
            except (EidetError, _Unsent) as error:
                await asyncio.sleep(run.fail(error))
        return run.result

    async def _send(self, asking: WireRequest) -> Any:
        httpx = load_httpx()
        try:
            async with self._http.stream(**_arguments(asking, _read_file_async)) as reply:
                if asking.download is not None and reply.is_success:
                    with _Download(asking.download) as download:
                        async for piece in reply.aiter_bytes(PIECE):
                            await asyncio.to_thread(download.write, piece)
                    return None
                await reply.aread()
                return read_answer(reply)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise _Unsent(self.sending.url, error) from error
        except httpx.HTTPError as error:
            raise _make_lost(self.sending.url, error) from error

    async def close(self) -> None:
        await self._http.aclose()


def _arguments(asking: WireRequest, read: Any) -> dict[str, Any]:
    """What httpx takes. JSON is written as Eidet writes it: exactly."""
    headers = dict(asking.headers)
    content: Any = None
    if asking.body is not None:
        content = dump_json(asking.body).encode()
        headers["Content-Type"] = "application/json"
    if asking.upload is not None:
        content = read(asking.upload)
        headers["Content-Type"] = "application/x-ndjson"
    return {
        "method": asking.method,
        "url": asking.path,
        "params": asking.params,
        "headers": headers,
        "content": content,
    }


def _read_file(path: Path) -> Iterator[bytes]:
    with _open(path) as file:
        while piece := file.read(PIECE):
            yield piece


async def _read_file_async(path: Path) -> AsyncIterator[bytes]:
    with await asyncio.to_thread(_open, path) as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise Misconfigured(f"{path} cannot be read: {error.strerror}") from error


class _Download:
    """Writes beside and renames: a file of that name is always whole."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._partial = name_partial(path)

    def __enter__(self) -> Self:
        try:
            self._file = write_bytes_anew(self._partial)
        except OSError as error:
            raise Unavailable(f"{self._path} could not be written: {error.strerror}") from error
        return self

    def write(self, piece: bytes) -> None:
        self._file.write(piece)

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._file.close()
        try:
            if kind is None:
                self._partial.replace(self._path)
        except OSError as error:
            raise Unavailable(f"{self._path} could not be written: {error.strerror}") from error
        finally:
            remove_partial(self._partial)


class _Unsent(Exception):
    """The server could not be reached, so it has not seen the request."""

    def __init__(self, url: str, error: Exception) -> None:
        super().__init__(f"the server {url} cannot be reached: {error or type(error).__name__}")

    def as_unavailable(self) -> Unavailable:
        unavailable = Unavailable(str(self))
        unavailable.__cause__ = self.__cause__
        return unavailable


class _Waits(Unavailable):
    """The server asks to come again: it has done nothing yet."""


class _Failed(Unavailable):
    """The server failed at this request; it would fail again."""


def _make_lost(url: str, error: Exception) -> Unavailable:
    return Unavailable(f"the connection to {url} broke off: {error or type(error).__name__}")


def read_answer(reply: httpx.Response) -> Any:
    """The JSON of an answer; raises what an error means."""
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
    raise make_error(reply, type, message)


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


def make_error(reply: httpx.Response, type: str, message: str) -> EidetError:
    """The error that the same verb of a memory of one's own would raise."""
    if reply.status_code in WAIT:
        return _Waits(message, retry_after=_read_seconds(reply.headers.get("retry-after")))
    kind = _BY_TYPE.get(type)
    if kind is not None:
        return kind(message)
    if reply.status_code == 408 or reply.status_code >= 500:
        return _Failed(message)
    return Misconfigured(message)


def _read_seconds(said: str | None) -> float | None:
    try:
        return float(said or "")
    except ValueError:
        return None
