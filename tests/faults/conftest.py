"""Children, of which none outlives its test or module; two stores that are one; a line that can be cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.nursery import Nursery
from tests.faults.tiers import Pair
from tests.servers.postgres import Postgres
from tests.servers.proxy import Proxy


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


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """Two stores that are one, each of which can be switched off."""
    made = Pair(tmp_path)
    yield made
    made.short.off = made.long.off = False
    made.store.close()


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[Proxy]:
    """A line to PostgreSQL that can be cut; tests of another server have their own."""
    proxy = Proxy(postgres.port)
    yield proxy
    proxy.stop()
