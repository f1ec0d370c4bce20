"""Whole memories as requests: exports and loads as streams of a file, figures, and how the server does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..core.errors import Corrupt
from ..core.scope import ALL, Scope
from ..memory.export_import import Progress
from .requests_of import Steps
from .sending import WireRequest


def export(
    path: str | Path,
    *,
    scope: str | Scope | None = None,
    plain: bool = False,
    progress: Progress | None = None,
) -> Steps[int]:
    """Writes every scope, or the one named, to a JSONL file here; `progress` is told once, at the end."""
    params = _wide(scope) | {"plain": plain}
    target = Path(path)
    yield WireRequest(method="GET", path="/v1/export", params=params, download=target)
    return _tell(progress, _count_of(target))


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


def load(
    path: str | Path,
    *,
    scope: str | Scope | None = None,
    unverified: bool = False,
    progress: Progress | None = None,
) -> Steps[int]:
    """Reads an export that is here into the memory on the server; `progress` is told once, at the end."""
    params = _wide(scope) | {"unverified": unverified}
    answer = yield WireRequest(method="POST", path="/v1/load", params=params, upload=Path(path))
    return _tell(progress, answer["count"])


def _wide(scope: str | Scope | None) -> dict[str, Any]:
    """None means every scope here, as it does for a memory of one's own."""
    if scope is None or scope == ALL:
        return {"scope": ALL}
    return {"scope": str(Scope.of(scope))}


def stats(scope: str | Scope | None = None) -> Steps[dict[str, Any]]:
    """Counts by kind and tier (of a scope, or of all), and how recalls went."""
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/stats", params=_wide(scope))
    return found


def health() -> Steps[dict[str, Any]]:
    """How the servers do that the memory on the server stands on."""
    found: dict[str, Any] = yield WireRequest(method="GET", path="/v1/health")
    return found
