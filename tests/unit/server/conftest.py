from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.served import Running, serve_in_thread


@pytest.fixture
def running() -> Iterator[Running]:
    with serve_in_thread() as server:
        yield server


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    """One for all tests of a module, which clear away what they do not want to find."""
    with serve_in_thread() as server:
        yield server
