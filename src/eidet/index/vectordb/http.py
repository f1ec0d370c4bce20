"""JSON over HTTP for databases that are spoken to without a driver of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BadInput, Misconfigured
from ...net.http import HttpClient, NoSuchResource
from . import Lost


class Http:
    """Sends requests to one database and raises the errors that an index expects."""

    def __init__(self, base: str, headers: Mapping[str, str]) -> None:
        self._client = HttpClient(endpoint=base, headers=headers)

    def ask(
        self, method: str, path: str, left: float, *, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Returns the JSON of the answer, None for an empty one, within `left` seconds.

        404 is `Lost`; what may pass is `Unavailable`, and all else `Misconfigured`.
        """
        try:
            return self._client.request(method, path, left, body=body, query=query)
        except NoSuchResource as missing:
            raise Lost(str(missing)) from None
        except BadInput as refused:
            raise Misconfigured(str(refused)) from None
