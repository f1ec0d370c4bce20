"""Milvus Lite: the engine of Milvus, which pymilvus starts beside us and ends with its client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


@contextmanager
def milvus_lite(folder: Path) -> Iterator[Any]:
    """A client of an engine of its own; the test is skipped where it is not installed."""
    for package in ("pymilvus", "milvus_lite"):
        pytest.importorskip(package, reason=f"needs {package}: pip install 'eidet[test-heavy]'")
    from pymilvus import MilvusClient

    client = MilvusClient(uri=str(folder / "lite.db"), timeout=20)
    try:
        yield client
    finally:
        client.close()
