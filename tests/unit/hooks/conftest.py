"""A memory, and every warning told anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from eidet import Memory
from eidet.hooks.keep import failures


@pytest.fixture
def memory() -> Memory:
    return Memory(embedder="hashing")


@pytest.fixture(autouse=True)
def _every_warning_is_logged() -> Iterator[None]:
    failures._logged.clear()
    yield
    failures._logged.clear()
