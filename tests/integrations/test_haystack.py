"""Haystack's stores, judged by Haystack's own suites, and by real pipelines and agents."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("haystack_experimental", "haystack")

from haystack import Pipeline, component  # noqa: E402
from haystack.components.agents import Agent  # noqa: E402
from haystack.components.writers import DocumentWriter  # noqa: E402
from haystack.dataclasses import ByteStream, ChatMessage, Document, SparseEmbedding  # noqa: E402
from haystack.document_stores.errors import DuplicateDocumentError  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402
from haystack.document_stores.types import DuplicatePolicy  # noqa: E402
from haystack.testing import document_store as suites  # noqa: E402
from haystack.testing import document_store_async as async_suites  # noqa: E402
from haystack.utils import Secret  # noqa: E402
from haystack_experimental.memory_stores import MemoryStore  # noqa: E402

from eidet import Memory, Misconfigured, Unavailable  # noqa: E402
from eidet.integrations.haystack import (  # noqa: E402
    EidetChatMemoryStore,
    EidetDocumentRetriever,
    EidetDocumentStore,
    EidetRecallHook,
    EidetRememberHook,
)
from eidet.models.adapt import adapt_embedder  # noqa: E402


@pytest.fixture(params=["ram", "sqlite"])
def document_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EidetDocumentStore]:
    place = None if request.param == "ram" else tmp_path / "memory.db"
    with Memory(place) as memory:
        yield EidetDocumentStore(memory)


class TestDocumentStore(
    suites.DocumentStoreBaseExtendedTests,
    suites.CountDocumentsByFilterTest,
    suites.CountUniqueMetadataByFilterTest,
    suites.GetMetadataFieldsInfoTest,
    suites.GetMetadataFieldMinMaxTest,
    suites.GetMetadataFieldUniqueValuesTest,
):
    @pytest.fixture
    def document_store(self, document_store: EidetDocumentStore) -> EidetDocumentStore:
        return document_store

    def test_write_documents(self, document_store: EidetDocumentStore) -> None:
        """Ours to say: without a policy, a document that exists is an error."""
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])
        assert document_store.filter_documents() == [document]


class TestDocumentStoreAsync(
    async_suites.CountDocumentsAsyncTest,
    async_suites.CountDocumentsByFilterAsyncTest,
    async_suites.CountUniqueMetadataByFilterAsyncTest,
    async_suites.DeleteAllAsyncTest,
    async_suites.DeleteByFilterAsyncTest,
    async_suites.DeleteDocumentsAsyncTest,
    async_suites.FilterDocumentsAsyncTest,
    async_suites.GetMetadataFieldMinMaxAsyncTest,
    async_suites.GetMetadataFieldsInfoAsyncTest,
    async_suites.GetMetadataFieldUniqueValuesAsyncTest,
    async_suites.UpdateByFilterAsyncTest,
    async_suites.WriteDocumentsAsyncTest,
):
    @pytest.fixture
    def document_store(self, document_store: EidetDocumentStore) -> EidetDocumentStore:
        return document_store

    async def test_write_documents_async(self, document_store: EidetDocumentStore) -> None:
        document = Document(content="test doc")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document])


WHOLE = [
    Document(
        id="a b/ü", content="  Ann's gate code is 7731. \n", meta={"topic": "home", "n": {"k": [1, 1.0]}}
    ),
    Document(content=None, blob=ByteStream(b"\x00\xff", mime_type="image/png", meta={"a": 1})),
    Document(content="", meta={"empty": True}),
    Document(content="sparse", sparse_embedding=SparseEmbedding([1, 5], [0.5, 0.25]), score=0.5),
    Document(content="dense", embedding=[0.1, 1e-9, 3.0]),
]


def test_documents_come_back_exactly_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        EidetDocumentStore(memory, scope="ann").write_documents(WHOLE)
    with reopen() as memory:
        store = EidetDocumentStore(memory, scope="ann")
        assert store.filter_documents() == WHOLE
        assert store.search("What is the gate code?", top_k=1)[0].id == "a b/ü"
        assert EidetDocumentStore(memory, scope="bob").filter_documents() == []
        assert EidetDocumentStore(memory, scope="bob").search("gate code") == []


COMPARED = ("==", "!=", ">", "<=", "in", "not in")
VALUES: list[Any] = ["red", "2024-05-01", "2024-05-01T00:00:00", 1, 1.0, True, None, ["red"], "", "café"]


@pytest.mark.parametrize("operator", COMPARED)
def test_filters_mean_what_they_mean_in_haystacks_own_store(operator: str) -> None:
    """One by one, negated, and joined with one that the store itself can apply.

    Haystack's own store refuses a filter if it cannot be compared with a single document. What the store
    leaves out beforehand is not compared.
    """
    documents = [Document(content=f"d{at}", meta={"v": value}) for at, value in enumerate(VALUES)]
    documents.append(Document(content="none", meta={"colour": "red"}))
    theirs = InMemoryDocumentStore()
    theirs.write_documents(documents)
    with Memory() as memory:
        ours = EidetDocumentStore(memory)
        ours.write_documents(documents)
        for value in VALUES:
            operand = [value] if "in" in operator else value
            one = {"field": "meta.v", "operator": operator, "value": operand}
            red = {"field": "colour", "operator": "==", "value": "red"}
            for filters in (
                one,
                {"operator": "NOT", "conditions": [one]},
                {"operator": "AND", "conditions": [one, red]},
                {"operator": "OR", "conditions": [red, one]},
            ):
                expected, outcome = _outcome(theirs, filters), _outcome(ours, filters)
                left_out = filters.get("operator") == "AND" and expected == "refused"
                assert outcome == expected or left_out, filters


def _outcome(store: Any, filters: dict[str, Any]) -> Any:
    """What matches; that it refused, if the filter cannot be applied."""
    try:
        return [document.content for document in store.filter_documents(filters)]
    except Exception:  # noqa: BLE001  # FilterError and TypeError, as the value is compared with others
        return "refused"


def test_a_search_finds_enough_that_pass_a_filter() -> None:
    with Memory() as memory:
        store = EidetDocumentStore(memory)
        many = [Document(content=f"note {at} about the garden", meta={"at": at}) for at in range(200)]
        store.write_documents(many)
        last = {"field": "meta.at", "operator": ">=", "value": 190}
        found = store.search("a note about the garden", filters=last, top_k=8)
        assert len(found) == 8
        assert all(document.meta["at"] >= 190 for document in found)
        assert all(document.score is not None and 0 <= document.score <= 1 for document in found)


def test_embeddings_are_the_vectors_if_so_wished() -> None:
    with Memory(embedder=adapt_embedder(lambda _: [1.0, 0.0], name="flat", width=2, batch=False)) as memory:
        store = EidetDocumentStore(memory, use_embeddings=True)
        store.write_documents(
            [Document(content="east", embedding=[1.0, 0.0]), Document(content="north", embedding=[0.0, 1.0])]
        )
        assert store.search(query_embedding=[0.1, 0.9], top_k=1)[0].content == "north"


def test_a_pipeline_is_saved_and_loaded_and_finds_what_another_wrote(tmp_path: Path) -> None:
    place = tmp_path / "memory.db"
    writing = Pipeline()
    store = EidetDocumentStore(place, scope="ann")
    writing.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.SKIP))
    writing.run({"writer": {"documents": WHOLE}})
    store.close()
    reading = Pipeline()
    reading.add_component(
        "retriever", EidetDocumentRetriever(EidetDocumentStore(place, scope="ann"), top_k=1)
    )
    loaded = Pipeline.loads(reading.dumps(), allowed_modules=["eidet.integrations.haystack.*"])
    retriever = loaded.get_component("retriever")
    try:
        found = loaded.run({"retriever": {"query": "What is the gate code?"}})["retriever"]["documents"]
        assert [document.id for document in found] == ["a b/ü"]
        again = asyncio.run(retriever.run_async("gate code"))["documents"]
        assert [document.id for document in again] == ["a b/ü"]
    finally:
        retriever.document_store.close()


def test_no_password_is_serialized(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="Secret"):
        EidetDocumentStore("postgresql://ann:pw@localhost/db").to_dict()
    with Memory() as memory, pytest.raises(Misconfigured, match="place"):
        EidetChatMemoryStore(memory).to_dict()
    monkeypatch.setenv("MEMORY_PLACE", str(tmp_path / "memory.db"))
    written = EidetDocumentStore(Secret.from_env_var("MEMORY_PLACE")).to_dict()
    assert str(tmp_path) not in str(written)
    store = EidetDocumentStore.from_dict(written)
    store.write_documents([Document(content="kept")])
    store.close()
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.find()[0].text == "kept"


def test_a_store_that_fails_writes_no_half_of_a_list() -> None:
    def refuse(*_args: object) -> None:
        raise Unavailable("the disk is away")

    with Memory() as memory:
        documents, memories = EidetDocumentStore(memory), EidetChatMemoryStore(memory)
        with out_of_reach(memory):
            with pytest.raises(Unavailable):
                documents.write_documents(WHOLE)
            with pytest.raises(Unavailable):
                memories.add_memories(messages=[ChatMessage.from_user("lost")], user_id="ann")
        assert documents.write_documents(WHOLE) == len(WHOLE)
        for _ in range(2):
            memories.add_memories(messages=[ChatMessage.from_user("lost")], user_id="ann")
        assert memory.count(scope="haystack/ann") == 1


def test_a_cancelled_write_is_finished_once(reopen: Reopen) -> None:
    async def cancel(store: EidetDocumentStore) -> None:
        await cancel_at_once(store.write_documents_async(WHOLE))
        assert await store.filter_documents_async() == WHOLE

    with reopen() as memory:
        asyncio.run(cancel(EidetDocumentStore(memory)))


def test_the_memory_store_takes_what_the_protocol_names() -> None:
    """The protocol is not checkable at run time: every method and parameter is looked for by name."""
    for name, method in inspect.getmembers(MemoryStore, inspect.isfunction):
        if not name.startswith("_"):
            ours = inspect.signature(getattr(EidetChatMemoryStore, name)).parameters
            for parameter in inspect.signature(method).parameters.values():
                if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
                    assert parameter.name in ours, (name, parameter.name)
                else:
                    assert any(one.kind is parameter.kind for one in ours.values()), name


def test_memories_are_searched_filtered_and_deleted(reopen: Reopen) -> None:
    with reopen() as memory:
        store = EidetChatMemoryStore(memory)
        food = ChatMessage.from_user("I am allergic to peanuts.", meta={"topic": "food"})
        seat = ChatMessage.from_user("I prefer aisle seats.", meta={"topic": "travel"})
        store.add_memories(messages=[food, seat], user_id="ann/1", run_id="r1")
        store.add_memories(messages=[food], user_id="bob")
    with reopen() as memory:
        store = EidetChatMemoryStore(memory)
        (best,) = store.search_memories(query="Which seat?", top_k=1, user_id="ann/1")
        assert (best.text, best.role.value) == ("I prefer aisle seats.", "system")
        assert best.meta["topic"] == "travel"
        about_food = {"field": "meta.topic", "operator": "==", "value": "food"}
        (only,) = store.search_memories(filters=about_food, user_id="ann/1")
        assert only.text == "I am allergic to peanuts."
        assert store.search_memories(query="seat", user_id="ann/1", run_id="r2") == []
        store.delete_memory(best.meta["memory_id"], user_id="bob")
        assert len(store.search_memories(user_id="ann/1")) == 2
        store.delete_memory(best.meta["memory_id"], user_id="ann/1")
        assert len(store.search_memories(user_id="ann/1")) == 1
        store.delete_all_memories(user_id="ann/1")
        assert store.search_memories(user_id="ann/1") == []
        assert len(store.search_memories(user_id="bob")) == 1


@component
class Scripted:
    """A chat generator that answers as told and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[list[ChatMessage]] = []

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    def run(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, list[ChatMessage]]:
        self.asked.append(list(messages))
        return {"replies": [ChatMessage.from_assistant(self.answers.pop(0))]}

    @component.output_types(replies=list[ChatMessage])  # type: ignore[untyped-decorator]
    async def run_async(self, messages: list[ChatMessage], tools: Any = None) -> dict[str, list[ChatMessage]]:
        return self.run(messages, tools)


def _agent(store: EidetChatMemoryStore, model: Scripted) -> Agent:
    return Agent(
        chat_generator=model,
        system_prompt="Be brief.",
        hooks={"before_run": [EidetRecallHook(store)], "after_run": [EidetRememberHook(store)]},
    )


def test_an_agent_uses_what_another_run_was_told_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        agent = _agent(EidetChatMemoryStore(memory), Scripted("Noted."))
        told = [ChatMessage.from_user("My gate code is 7731.")]
        agent.run(messages=told, hook_context={"user_id": "ann", "run_id": "monday"})
    with reopen() as memory:
        model = Scripted("7731.", "I do not know.")
        agent = _agent(EidetChatMemoryStore(memory), model)
        question = [ChatMessage.from_user("What is my gate code?")]
        agent.run(messages=question, hook_context={"user_id": "ann", "run_id": "tuesday"})
        asyncio.run(agent.run_async(messages=question, hook_context={"user_id": "bob"}))
        anns, bobs = model.asked
        assert [message.role.value for message in anns] == ["system", "system", "user"]
        assert "7731" in str(anns[1].text)
        assert [message.role.value for message in bobs] == ["system", "user"]
        said = memory.find(scope="haystack/ann", order="occurred")
        assert [(record.who, record.text) for record in said] == [
            ("user", "My gate code is 7731."),
            ("assistant", "Noted."),
            ("user", "What is my gate code?"),
            ("assistant", "7731."),
        ]


def test_a_history_that_is_added_after_each_turn_is_stored_once() -> None:
    with Memory() as memory:
        store = EidetChatMemoryStore(memory)
        history = [
            ChatMessage.from_user("yes"),
            ChatMessage.from_assistant("Sure?"),
            ChatMessage.from_user("yes"),
        ]
        for end in (2, 3, 3):
            store.add_memories(messages=history[:end], user_id="ann", run_id="r")
        assert [record.text for record in memory.find(scope="haystack/ann", order="occurred")] == [
            "yes",
            "Sure?",
            "yes",
        ]


def test_an_agent_is_not_reminded_of_what_its_own_run_said() -> None:
    with Memory() as memory:
        model = Scripted("Noted.", "7731.", "7731.")
        agent = _agent(EidetChatMemoryStore(memory), model)
        monday, tuesday = ({"user_id": "ann", "run_id": day} for day in ("monday", "tuesday"))
        told = ChatMessage.from_user("My gate code is 7731.")
        asked = ChatMessage.from_user("What is my gate code?")
        agent.run(messages=[told], hook_context=monday)
        agent.run(messages=[told, ChatMessage.from_assistant("Noted."), asked], hook_context=monday)
        assert [message.role.value for message in model.asked[1]] == ["system", "user", "assistant", "user"]
        agent.run(messages=[asked], hook_context=tuesday)
        assert "7731" in str(model.asked[2][1].text)
        assert memory.count(scope="haystack/ann", session="monday") == 4
