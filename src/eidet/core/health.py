"""The health of a part that talks to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class HasHealth(Protocol):
    """A store, index, embedder or model that talks to a server."""

    def health(self) -> Mapping[str, Any]:
        """Returns the state of the server and the outcome of the last calls; empty if there is no server."""
