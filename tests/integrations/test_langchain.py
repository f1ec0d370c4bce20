"""LangChain's retriever, vector store and chat history, judged by LangChain's standard tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once

need("langchain_tests", "langchain")

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage  # noqa: E402
from langchain_tests.integration_tests import (  # noqa: E402
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

from eidet import Memory  # noqa: E402
from eidet.integrations.langchain import (  # noqa: E402
    EidetChatMessageHistory,
    EidetRetriever,
    EidetVectorStore,
)
from eidet.models.adapt import adapt_embedder  # noqa: E402


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[EidetVectorStore]:
        embed = self.get_embeddings().embed_documents
        with Memory(embedder=adapt_embedder(embed, name="standard", batch=True)) as memory:
            yield EidetVectorStore(memory)


class TestVectorStoreWithItsOwnEmbedder(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[EidetVectorStore]:
        with Memory() as memory:
            yield EidetVectorStore(memory)


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[EidetRetriever]:
        return EidetRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        memory = Memory()
        memory.remember([f"note {number} about the garden" for number in range(10)])
        return {"memory": memory}

    @property
    def retriever_query_example(self) -> str:
        return "a note about the garden"


CALL = {"name": "lookup", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}
TURNS = [
    HumanMessage("My gate code is 7731.", name="ann"),
    AIMessage("", tool_calls=[CALL]),
    ToolMessage("done", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "Noted."}], additional_kwargs={"a": 1}),
]


def test_messages_come_back_exactly_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        history = EidetChatMessageHistory("s", memory, scope="ann")
        history.add_messages(TURNS[:2])
        asyncio.run(history.aadd_messages(TURNS[2:]))
    with reopen() as memory:
        history = EidetChatMessageHistory("s", memory, scope="ann")
        assert history.messages == TURNS
        assert asyncio.run(history.aget_messages()) == TURNS
        assert EidetChatMessageHistory("s", memory, scope="bob").messages == []
        (best,) = EidetRetriever(memory=memory, scope="ann", k=1).invoke("What is the gate code?")
        assert best.page_content == "My gate code is 7731."
        history.clear()
        assert history.messages == []


def test_documents_are_found_by_filter_and_scored(reopen: Reopen) -> None:
    with reopen() as memory:
        store = EidetVectorStore(memory, scope="library")
        store.add_texts(
            ["The cello has four strings.", "The gate code is 7731."],
            metadatas=[{"topic": "music"}, {"topic": "home"}],
            ids=["m", "h"],
        )
        (found,) = store.similarity_search("strings", filter={"topic": "music"})
        assert (found.id, found.metadata) == ("m", {"topic": "music"})
        best, score = store.similarity_search_with_score("What is the gate code?", k=1)[0]
        assert best.id == "h"
        assert 0.5 < score <= 1


def test_a_cancelled_turn_is_kept_once() -> None:
    async def cancel(history: EidetChatMessageHistory) -> None:
        await cancel_at_once(history.aadd_messages(TURNS[:1]))

    with Memory() as memory:
        history = EidetChatMessageHistory("s", memory)
        asyncio.run(cancel(history))
        assert history.messages == TURNS[:1]
