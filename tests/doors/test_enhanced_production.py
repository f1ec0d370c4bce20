"""`VectorMemoryStore` on the vector databases of production: the same answers, with the vectors there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from tests.needs import each
from tests.servers.milvus import milvus_lite
from tests.servers.pinecone import Pinecone
from tests.servers.weaviate import Weaviate

from eidet.compat.enhanced import EnhancedAgentMemory, VectorMemoryStore
from eidet.core.errors import Misconfigured
from eidet.models.embed.hashing import Hashing

WIDTH = 32
HOW = "small=0&ship_rows=1&background=no"
TEXTS = {
    "cat": "a small cat that sleeps on the sofa",
    "dog": "a large dog that barks at the postman",
    "tax": "the tax return is due in May",
    "rain": "it rains on the roof of the market hall",
}


def address(name: str, stack: ExitStack, folder: Path) -> str:
    """Where a database of that kind is, started for this test."""
    if name == "pinecone":
        pinecone = Pinecone(WIDTH)
        stack.callback(pinecone.stop)
        return f"pinecone+{pinecone.url}?key={pinecone.key}&settle=0&{HOW}"
    if name == "weaviate":
        weaviate = Weaviate()
        stack.callback(weaviate.stop)
        return f"weaviate+{weaviate.url}?{HOW}"
    if name == "milvus":
        stack.enter_context(milvus_lite(folder))
        return f"milvus+file://{folder}/ours.db?{HOW}"
    return f"qdrant://:memory:?{HOW}"


@pytest.fixture(params=each(["pinecone", "weaviate", "milvus", "qdrant"]))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    with ExitStack() as stack:
        yield address(request.param, stack, tmp_path)


def rows_there(store: VectorMemoryStore) -> int:
    return int(store.memory.admin.stats()["index"]["rows_in_database"])


@pytest.mark.point(25)
def test_a_store_on_a_vector_database_answers_as_one_without(index: str) -> None:
    plain, there = (
        VectorMemoryStore(model=Hashing(WIDTH)),
        VectorMemoryStore(model=Hashing(WIDTH), index=index),
    )
    for key, text in TEXTS.items():
        plain.add(key, text)
        there.add(key, text)
    for query in ("the cat sleeps", "when is the tax due?", "rain on the roof", "nothing of it"):
        truth, told = plain.search(query, 3), there.search(query, 3)
        assert [key for key, _, _ in told] == [key for key, _, _ in truth]
        assert np.allclose([score for *_, score in told], [score for *_, score in truth], atol=1e-3)
    assert rows_there(there) == len(TEXTS)
    there.close()


@pytest.mark.point(25)
def test_what_is_forgotten_is_no_longer_in_the_database(index: str) -> None:
    store = VectorMemoryStore(model=Hashing(WIDTH), index=index)
    for key, text in TEXTS.items():
        store.add(key, text)
    store.search("cat", 1)
    assert store.forget("cat")
    assert "cat" not in [key for key, _, _ in store.search("a small cat that sleeps", 4)]
    assert rows_there(store) == len(TEXTS) - 1
    assert store.memory.admin.check() == []
    store.close()


@pytest.mark.point(25)
def test_the_agents_memory_works_on_one(index: str) -> None:
    agent = EnhancedAgentMemory(model=Hashing(WIDTH), index=index)
    for text in TEXTS.values():
        agent.add_experience(text)
    agent.add_experience("Ann moved to Oslo")
    assert agent.search("where did Ann move to?", 1)[0][1] == "Ann moved to Oslo"
    assert isinstance(agent.vector, VectorMemoryStore)
    assert rows_there(agent.vector) >= len(TEXTS)
    agent.close()


@pytest.mark.point(25)
def test_a_database_that_nobody_offers_is_named_with_those_that_are_there() -> None:
    with pytest.raises(Misconfigured, match=r"milvus, .*pinecone, qdrant, weaviate"):
        VectorMemoryStore(index="chalk+http://board").search("x")
    with pytest.raises(Misconfigured, match=r"pinecone\+https"):
        VectorMemoryStore(index="pinecone+https://host").search("x")
