from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.servers.pinecone import Pinecone

from eidet.index.contract import WIDTH


@pytest.fixture
def server() -> Iterator[Pinecone]:
    server = Pinecone(WIDTH)
    yield server
    server.stop()
