"""Children for a test or for a whole module; none outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.faults.nursery import Nursery


@pytest.fixture
def start() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(scope="module")
def start_for_module() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()
