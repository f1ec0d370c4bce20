"""A memory, and every warning told anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eidet import Memory
from eidet.hooks import keep


@pytest.fixture
def memory() -> Memory:
    return Memory(embedder="hashing")


@pytest.fixture(autouse=True)
def _every_warning_is_logged() -> Iterator[None]:
    keep._warned.clear()
    yield
    keep._warned.clear()
