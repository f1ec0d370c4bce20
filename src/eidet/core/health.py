"""What a part says about the server behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasHealth(Protocol):
    """A store, index, embedder or model that talks to a server."""

    def health(self) -> Mapping[str, Any]:
        """The state of the server and what happened to the last calls; empty if there is no server."""
