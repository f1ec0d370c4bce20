"""Milvus Lite: the engine of Milvus, which pymilvus starts beside us and ends with its client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def milvus_lite(folder: Path) -> Iterator[Any]:
    """A client of an engine of its own."""
    from pymilvus import MilvusClient

    client = MilvusClient(uri=str(folder / "lite.db"), timeout=20)
    try:
        yield client
    finally:
        client.close()
