"""Whole memories as requests: exports and loads as streams of a file, figures, and how the server does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..core.errors import Corrupt
from ..core.scope import ALL, Scope
from ..memory.export_import import Progress
from .requests_of import Arguments, Steps
from .sending import WireRequest


def export(given: Arguments) -> Steps[int]:
    """Writes a file here; `progress` is told once, at the end."""
    params, target = _wide(given["scope"]) | {"plain": given["plain"]}, Path(given["path"])
    yield WireRequest(method="GET", path="/v1/export", params=params, download=target)
    return _tell(given["progress"], _count_of(target))


def _tell(progress: Progress | None, count: int) -> int:
    if progress is not None:
        progress(count, count)
    return count


def _count_of(path: Path) -> int:
    """What the last line of an export says."""
    last = b""
    with path.open("rb") as file:
        for line in file:
            last = line
    try:
        return int(json.loads(last)["count"])
    except (ValueError, KeyError, TypeError):
        raise Corrupt(f"{path} is not a whole export; the connection may have broken off") from None


def load(given: Arguments) -> Steps[int]:
    """Reads a file that is here; `progress` is told once, at the end."""
    params = _wide(given["scope"]) | {"unverified": given["unverified"]}
    answer = yield WireRequest(method="POST", path="/v1/load", params=params, upload=Path(given["path"]))
    return _tell(given["progress"], answer["count"])


def _wide(scope: str | Scope | None) -> dict[str, Any]:
    """None means every scope here, as it does for a memory of one's own."""
    if scope is None or scope == ALL:
        return {"scope": ALL}
    return {"scope": str(Scope.of(scope))}


def stats(given: Arguments) -> Steps[dict[str, Any]]:
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/stats", params=_wide(given["scope"]))
    return found


def health(_given: Arguments) -> Steps[dict[str, Any]]:
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/health")
    return found
