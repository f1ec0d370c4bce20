"""JSON over HTTP with any method, for databases that are spoken to without a driver of theirs."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...net.http import LARGEST, PASSING, PIECE, Wire, error_text, retry_after
from . import Lost

NOT_FOUND: Final = 404


class _Stay(HTTPRedirectHandler):
    """A redirect is an error: following it would carry the key elsewhere."""

    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Requests to one server. No error holds the value of a header."""

    base: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    _opener: OpenerDirector = field(
        default_factory=lambda: build_opener(_Stay), init=False, repr=False, compare=False
    )

    def ask(
        self, method: str, path: str, left: float, *, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """The JSON of the answer, None for an empty one, within `left` seconds.

        404 is `Lost`; what may pass is `Unavailable`, and all else `Misconfigured`.
        """
        ends = time.monotonic() + left
        url = f"{self.base}{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data=data, headers=self._all_headers(), method=method)  # noqa: S310 - http(s) only
        try:
            with self._opener.open(request, timeout=left) as response:
                return self._json(_read(response, ends))
        except HTTPError as refused:
            with refused:
                raise self._refusal(refused, method, path) from None
        except (OSError, HTTPException) as broken:
            raise self._broken(broken) from broken

    def _all_headers(self) -> dict[str, str]:
        ours = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "eidet"}
        return ours | dict(self.headers)

    def _json(self, content: bytes) -> Any:
        if not content.strip():
            return None
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise Unavailable(f"{self.base} answered with what is no JSON; is the address right?") from None

    def _refusal(self, refused: HTTPError, method: str, path: str) -> EidetError:
        try:
            text = refused.read(PIECE).decode(errors="replace")
        except (OSError, HTTPException):
            text = ""
        words = Wire(endpoint=self.base, headers=self.headers).blotted(
            error_text(text) or str(refused.reason)
        )
        said = f"{self.base} answered {method} {path} with {refused.code}: {words[:300]}"
        if refused.code == NOT_FOUND:
            return Lost(said)
        if refused.code in PASSING or refused.code >= 500:
            return Unavailable(said, retry_after=retry_after(refused.headers.get("Retry-After")))
        return Misconfigured(said)

    def _broken(self, error: Exception) -> EidetError:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            return Misconfigured(f"{self.base} has a certificate that cannot be trusted: {reason}")
        return Unavailable(f"{type(reason).__name__}: {reason}" if str(reason) else type(reason).__name__)


def _read(response: HTTPResponse, ends: float) -> bytes:
    """The whole body; a server that sends it drop by drop, or without end, is left."""
    pieces, size = [], 0
    while piece := response.read1(PIECE):
        pieces.append(piece)
        size += len(piece)
        if time.monotonic() > ends:
            raise TimeoutError("the answer came too slowly")
        if size > LARGEST:
            raise OSError(f"the answer is larger than {LARGEST:,} bytes")
    if response.length or not (pieces or _is_empty(response)):
        raise OSError("the answer was cut short")
    return b"".join(pieces)


def _is_empty(response: HTTPResponse) -> bool:
    """Whether nothing was to come; an answer that was cut in its head says nothing of its length."""
    return response.status == 204 or response.headers.get("Content-Length") == "0"
