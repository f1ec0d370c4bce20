"""The block and the vector store for LlamaIndex, judged by its own `Memory`, agents, indexes and store."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("llama_index.core", "llama_index")

from llama_index.core import StorageContext, VectorStoreIndex  # noqa: E402
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent  # noqa: E402
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ToolCallBlock  # noqa: E402
from llama_index.core.chat_engine import SimpleChatEngine  # noqa: E402
from llama_index.core.llms import ChatMessage  # noqa: E402
from llama_index.core.llms.mock import (  # noqa: E402
    MockFunctionCallingLLM,
    MockLLMWithChatMemoryOfLastCall,
)
from llama_index.core.memory import Memory as AgentMemory  # noqa: E402
from llama_index.core.schema import NodeRelationship, TextNode  # noqa: E402
from llama_index.core.vector_stores import SimpleVectorStore  # noqa: E402
from llama_index.core.vector_stores.types import (  # noqa: E402
    FilterCondition,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)
from sqlalchemy.ext.asyncio import create_async_engine  # noqa: E402

from eidet import BadInput, Memory, Unavailable, Upkeep  # noqa: E402
from eidet.integrations.llama_index import (  # noqa: E402
    EidetEmbedding,
    EidetMemoryBlock,
    EidetNodeStore,
)
from eidet.models.adapt import adapt_embedder  # noqa: E402

GATE = "My gate code is 7731, please keep it."
FILLER = "The weather is fine and the garden needs a little water today."


def said(text: str, role: str = "user") -> ChatMessage:
    return ChatMessage(role=role, content=text)


OpenAgentMemory = Callable[..., AgentMemory]


@pytest.fixture
def open_agent_memory() -> Iterator[OpenAgentMemory]:
    """Opens LlamaIndex' memory around a block; its short-term memory is closed at the end."""
    engines = []

    def open_one(block: EidetMemoryBlock, session: str = "s", limit: int = 40) -> AgentMemory:
        engines.append(create_async_engine("sqlite+aiosqlite://"))
        return AgentMemory.from_defaults(
            session_id=session,
            token_limit=limit,
            token_flush_size=1,
            tokenizer_fn=str.split,
            memory_blocks=[block],
            async_engine=engines[-1],
        )

    yield open_one
    for engine in engines:
        asyncio.run(engine.dispose())


async def fill(memory: AgentMemory) -> None:
    """Pushes what was said before out of the short-term memory."""
    for number in range(4):
        await memory.aput(said(f"{FILLER} {number}"))
        await memory.aput(said("Indeed.", "assistant"))


def texts(memory: Memory, scope: str = "default") -> list[str]:
    return [record.text for record in memory.find(scope=scope, order="occurred")]


def refuse(*_args: object) -> None:
    raise Unavailable("the disk is away")


def test_what_llama_index_flushes_is_in_the_next_prompt_after_a_restart(
    reopen: Reopen, open_agent_memory: OpenAgentMemory
) -> None:
    async def tell(memory: AgentMemory) -> None:
        await memory.aput(said(GATE))
        await memory.aput(said("Noted.", "assistant"))
        await fill(memory)

    with reopen() as memory:
        asyncio.run(tell(open_agent_memory(EidetMemoryBlock(memory=memory, scope="users/ann"), "monday")))
        assert texts(memory, "users/ann")[:2] == [GATE, "Noted."]
        assert {record.session for record in memory.find(scope="users/ann")} == {"monday"}
    with reopen() as memory:
        later = open_agent_memory(EidetMemoryBlock(memory=memory, scope="users/ann"), "tuesday")
        (system,) = asyncio.run(later.aget(input="What is my gate code?"))
        assert system.role.value == "system"
        assert "7731" in str(system.content)
        other = open_agent_memory(EidetMemoryBlock(memory=memory, scope="users/bob"), "tuesday")
        assert asyncio.run(other.aget(input="What is my gate code?")) == []


def test_a_chat_engine_uses_it_without_asyncio(open_agent_memory: OpenAgentMemory) -> None:
    llm = MockLLMWithChatMemoryOfLastCall(is_chat_model=True)
    with Memory() as memory:
        memory.remember(GATE, scope="ann")
        block = EidetMemoryBlock(memory=memory, scope="ann")
        engine = SimpleChatEngine.from_defaults(llm=llm, memory=open_agent_memory(block, limit=200))
        engine.chat("What is my gate code?")
        assert "7731" in str(llm.last_chat_messages)
        assert "What is my gate code?" in str(llm.last_chat_messages)


@pytest.mark.filterwarnings("ignore::pydantic.PydanticDeprecationWarning")  # by LlamaIndex itself
@pytest.mark.parametrize("many", [False, True], ids=["one agent", "a workflow"])
def test_an_agent_reads_in_one_run_what_another_was_told(
    many: bool, reopen: Reopen, open_agent_memory: OpenAgentMemory
) -> None:
    prompts: list[str] = []

    def answer(messages: list[ChatMessage], **_more: Any) -> ChatMessage:
        prompts.append(str(messages))
        return said("Noted.", "assistant")

    async def run(block: EidetMemoryBlock, question: str) -> None:
        agent = FunctionAgent(name="helper", llm=MockFunctionCallingLLM(response_generator=answer))
        agents: Any = AgentWorkflow(agents=[agent]) if many else agent
        memory = open_agent_memory(block)
        await agents.run(question, memory=memory)
        await fill(memory)

    with reopen() as memory:
        asyncio.run(run(EidetMemoryBlock(memory=memory, scope="ann"), GATE))
    with reopen() as memory:
        asyncio.run(run(EidetMemoryBlock(memory=memory, scope="ann"), "What is my gate code?"))
        assert "7731" in prompts[-1]
        asyncio.run(run(EidetMemoryBlock(memory=memory, scope="bob"), "What is my gate code?"))
        assert "7731" not in prompts[-1]


def test_messages_of_every_sort_are_kept_and_found() -> None:
    call = ToolCallBlock(tool_name="lookup", tool_kwargs={"city": "Oslo"}, tool_call_id="c1")
    image = ImageBlock(image=b"\x89PNG not really", image_mimetype="image/png")
    messages = [
        ChatMessage(role="user", blocks=[TextBlock(text="Look at this."), image]),
        ChatMessage(role="assistant", blocks=[call]),
        ChatMessage(role="tool", content="12 degrees", additional_kwargs={"tool_call_id": "c1"}),
        ChatMessage(role="assistant", content=""),
    ]
    with Memory() as memory:
        asyncio.run(EidetMemoryBlock(memory=memory).aput(messages, session_id="s"))
        records = memory.find(order="occurred")
        assert [record.text for record in records] == [
            "Look at this.\n[image]",
            'lookup {"city":"Oslo"}',
            "12 degrees",
            "[empty]",
        ]
        assert [record.trust for record in records] == ["user", "user", "tool", "user"]
        assert {record.session for record in records} == {"s"}
        for message, record in zip(messages, records, strict=True):
            message.additional_kwargs.pop("session_id")
            assert ChatMessage.model_validate(record.whole.data) == message


def test_a_cancelled_flush_is_kept_once(reopen: Reopen) -> None:
    async def cancel(block: EidetMemoryBlock) -> None:
        await cancel_at_once(block.aput([said("one"), said("two")]))

    with reopen() as memory:
        asyncio.run(cancel(EidetMemoryBlock(memory=memory)))
        assert texts(memory) == ["one", "two"]


def test_what_a_failing_store_did_not_take_is_written_with_the_next_flush(
    open_agent_memory: OpenAgentMemory,
) -> None:
    async def fail(block: EidetMemoryBlock) -> None:
        memory = open_agent_memory(block)
        await memory.aput(said(GATE))
        with out_of_reach(block.memory), pytest.raises(Unavailable):
            await fill(memory)
        assert texts(block.memory) == ["before"]
        await fill(memory)

    with Memory() as memory:
        memory.remember("before", kind="message", occurred=0)
        asyncio.run(fail(EidetMemoryBlock(memory=memory)))
        assert texts(memory).count(GATE) == 1
        assert texts(memory)[:2] == ["before", GATE]


def test_a_flush_that_was_written_before_the_error_is_not_written_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Memory() as memory:
        block = EidetMemoryBlock(memory=memory)
        asyncio.run(block.aput([said("zero")]))
        write = type(memory.parts.store).write

        def write_and_fail(*args: Any, **options: Any) -> None:
            write(*args, **options)
            raise Unavailable("the line broke before the answer came")

        with monkeypatch.context() as broken:
            broken.setattr(type(memory.parts.store), "write", write_and_fail)
            with pytest.raises(Unavailable):
                asyncio.run(block.aput([said("one")]))
        assert texts(memory) == ["zero", "one"]
        asyncio.run(block.aput([said("two")]))
        assert texts(memory) == ["zero", "one", "two"]


def test_what_can_never_be_stored_does_not_stop_what_follows() -> None:
    with Memory() as memory:
        block = EidetMemoryBlock(memory=memory)
        with pytest.raises(BadInput):
            asyncio.run(block.aput([said("long " * 1_000_000)]))
        asyncio.run(block.aput([said("short")]))
        assert texts(memory) == ["short"]


def test_the_block_shrinks_to_what_is_left_of_the_prompt(open_agent_memory: OpenAgentMemory) -> None:
    with Memory() as memory:
        memory.remember(
            [f"Fact {number}: the gate code of house {number} is {number}77." for number in range(40)]
        )
        block = EidetMemoryBlock(
            memory=memory, budget=400, priority=1, counter=lambda text: len(text.split())
        )
        question = [said("What is the gate code of house 7?")]
        whole = asyncio.run(block.aget(question))
        assert 200 < len(whole.split()) <= 400
        shorter = asyncio.run(block.atruncate(whole, 150))
        assert shorter is not None
        assert len(shorter.split()) <= len(whole.split()) - 150
        assert whole.startswith(shorter)
        assert asyncio.run(block.atruncate(whole, 1000)) is None
        (system,) = asyncio.run(open_agent_memory(block, limit=100).aget(input=question[0].content))
        assert 50 < len(str(system.content).split()) < 130


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda block: block.aget(None), id="without messages"),
        pytest.param(lambda block: block.aget([said("Hello.", "assistant")]), id="without a user"),
        pytest.param(lambda block: block.aget([said(" ")]), id="without words"),
    ],
)
def test_who_asks_nothing_gets_nothing(ask: Callable[[EidetMemoryBlock], Awaitable[str]]) -> None:
    async def run(block: EidetMemoryBlock) -> str:
        return await ask(block)

    with Memory() as memory:
        memory.remember(GATE)
        assert asyncio.run(run(EidetMemoryBlock(memory=memory))) == ""


def test_a_wrong_scope_is_refused_at_once() -> None:
    with Memory() as memory, pytest.raises(ValueError, match="stands once at the end"):
        EidetMemoryBlock(memory=memory, scope="users/**")


def direction(angle: float) -> list[float]:
    return [math.cos(angle), math.sin(angle), 0.0, 0.0]


def open_narrow() -> Memory:
    """A memory whose vectors have four numbers."""
    return Memory(
        embedder=adapt_embedder(lambda texts: [direction(0) for _ in texts], name="narrow", batch=True)
    )


TESTS: list[tuple[str, str, Any]] = [
    ("topic", "==", "music"),
    ("topic", "!=", "music"),
    ("topic", "in", ["music", "it's"]),
    ("topic", "nin", ["music", "none"]),
    ("topic", "text_match", "us"),
    ("topic", "text_match_insensitive", "MUS"),
    ("page", ">", 2),
    ("page", "<=", 2),
    ("page", ">=", 2.5),
    ("page", "<", 4),
    ("a.b", "==", 1),
    ("tags", "contains", "red"),
    ("tags", "any", ["red", "blue"]),
    ("tags", "all", ["red", "blue"]),
    ("tags", "is_empty", None),
    ("note", "is_empty", None),
    ("ref_doc_id", "==", "doc 1"),
]


def make_node(pick: random.Random, number: int) -> TextNode:
    metadata: dict[str, Any] = {}
    choices: dict[str, list[Any]] = {
        "topic": ["music", "home", "it's"],
        "page": [1, 2, 3, 4.5],
        "tags": [[], ["red"], ["red", "blue"], ["green"]],
        "note": [None, "", "kept"],
        "a.b": [1, 2],
    }
    for name, values in choices.items():
        if pick.random() < 0.8:
            metadata[name] = pick.choice(values)
    node = TextNode(id_=f"node {number}", text=f"text {number}", metadata=metadata)
    node.embedding = direction(pick.uniform(0, 1.5))
    if pick.random() < 0.7:
        source = TextNode(id_=f"doc {pick.randint(0, 4)}", text="whole")
        node.relationships[NodeRelationship.SOURCE] = source.as_related_node_info()
    return node


def pick_filters(pick: random.Random) -> MetadataFilters:
    chosen = [
        MetadataFilter(key=key, operator=operator, value=value)
        for key, operator, value in pick.sample(TESTS, pick.randint(1, 3))
    ]
    return MetadataFilters(filters=chosen, condition=pick.choice(list(FilterCondition)))


def pick_query(pick: random.Random) -> VectorStoreQuery:
    return VectorStoreQuery(
        query_embedding=direction(pick.uniform(0, 1.5)),
        similarity_top_k=pick.choice([1, 3, 50]),
        filters=pick.choice([None, pick_filters(pick), pick_filters(pick)]),
        node_ids=pick.choice([None, None, [f"node {number}" for number in range(0, 60, 3)]]),
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_node_store_behaves_as_that_of_llama_index_does(seed: int) -> None:
    pick, reference = random.Random(seed), SimpleVectorStore()
    with open_narrow() as memory:
        store = EidetNodeStore(memory=memory)
        nodes = {node.node_id: node for node in (make_node(pick, number) for number in range(60))}
        assert store.add(list(nodes.values())) == reference.add(list(nodes.values()))
        for step in range(40):
            if step % 10 == 9:
                gone: dict[str, Any] = {"filters": pick_filters(pick), "node_ids": [f"node {step}", "node 7"]}
                store.delete_nodes(**gone)
                reference.delete_nodes(**gone)
                store.delete(f"doc {step // 10}")
                reference.delete(f"doc {step // 10}")
            query = pick_query(pick)
            ours, theirs = store.query(query), reference.query(query)
            assert ours.ids == theirs.ids, query
            assert ours.similarities == pytest.approx(theirs.similarities, abs=1e-5)
            assert [node.node_id for node in ours.nodes or ()] == ours.ids
        left = store.get_nodes()
        assert 0 < len(left) < 60
        assert {node.node_id for node in left} == set(reference.data.embedding_dict)
        for node in left:
            assert (
                node.model_dump() == nodes[node.node_id].model_copy(update={"embedding": None}).model_dump()
            )


def test_filters_nest_and_documents_are_chosen() -> None:
    with open_narrow() as memory:
        store = EidetNodeStore(memory=memory)
        store.add([make_node(random.Random(number), number) for number in range(30)])
        inner = MetadataFilters.from_dicts([{"key": "topic", "value": "music"}], FilterCondition.NOT)
        page = MetadataFilter(key="page", value=2, operator=">")
        nested = MetadataFilters(filters=[inner, page])
        for node in store.get_nodes(filters=nested):
            assert node.metadata.get("topic") != "music"
            assert node.metadata["page"] > 2
        query = VectorStoreQuery(
            query_embedding=direction(1), similarity_top_k=30, doc_ids=["doc 1", "doc 2"]
        )
        found = store.query(query).nodes or ()
        assert {node.ref_doc_id for node in found} == {"doc 1", "doc 2"}
        store.delete_nodes()
        assert len(store.get_nodes()) == 30, "who wants to delete all says `clear`"
        store.clear()
        assert store.get_nodes() == []
        with pytest.raises(BadInput, match="svm"):
            store.query(VectorStoreQuery(query_embedding=direction(1), mode=VectorStoreQueryMode.SVM))


NOTES = [
    TextNode(id_="gate", text="The gate code is 7731.", metadata={"topic": "home"}),
    TextNode(id_="cello", text="A cello has four strings.", metadata={"topic": "music"}),
    TextNode(id_="blank", text=""),
]


def test_an_index_finds_its_nodes_after_a_restart(reopen: Reopen) -> None:
    with reopen() as memory:
        context = StorageContext.from_defaults(vector_store=EidetNodeStore(memory=memory, scope="ann"))
        VectorStoreIndex(nodes=NOTES, storage_context=context, embed_model=EidetEmbedding(memory=memory))
    with reopen() as memory:
        store, model = EidetNodeStore(memory=memory, scope="ann"), EidetEmbedding(memory=memory)
        index = VectorStoreIndex.from_vector_store(store, embed_model=model)
        for mode in ("default", "text_search", "hybrid"):
            retriever = index.as_retriever(similarity_top_k=1, vector_store_query_mode=mode)
            (best,) = retriever.retrieve("What is the code of the gate?")
            assert best.node.model_dump() == NOTES[0].model_dump()
            (again,) = asyncio.run(retriever.aretrieve("What is the code of the gate?"))
            assert (again.node_id, again.score) == (best.node_id, best.score)
            assert 0.4 < (best.score or 0) <= 1
        other = EidetNodeStore(memory=memory, scope="bob")
        assert (
            VectorStoreIndex.from_vector_store(other, embed_model=model).as_retriever().retrieve("gate") == []
        )
        assert memory.recall("gate code", scope="ann")[0].text == NOTES[0].text


def test_nodes_of_a_lower_tier_are_found_and_told_as_before() -> None:
    with Memory() as memory:
        store, model = EidetNodeStore(memory=memory), EidetEmbedding(memory=memory)
        vector = model.get_text_embedding("The gate code is 7731.")
        node = TextNode(text="The gate code is 7731.", metadata={"n": 1.23456789}, embedding=vector)
        store.add([node])
        settings = Upkeep(short_age_days=1, middle_age_days=10)
        for days in (5, 50):
            memory.upkeep.maintain(settings=settings, only="move", now=time.time() + days * 86400)
        assert memory.find(scope="llama_index")[0].level == 2
        filters = MetadataFilters(filters=[MetadataFilter(key="n", value=1.23456789)])
        result = store.query(VectorStoreQuery(query_embedding=vector, filters=filters))
        assert result.nodes is not None
        assert result.nodes[0].model_dump(exclude={"embedding"}) == node.model_dump(exclude={"embedding"})
        assert 0.7 < (result.similarities or [0])[0] <= 1


def test_the_node_store_without_waiting() -> None:
    async def work(store: EidetNodeStore) -> None:
        await cancel_at_once(store.async_add(NOTES))
        assert len(await store.aget_nodes()) == 3
        found = await store.aquery(VectorStoreQuery(query_str="gate code", similarity_top_k=1))
        assert found.ids == ["gate"]
        await store.adelete_nodes(["gate"])
        await store.adelete("None")
        assert await store.aget_nodes() == []
        await store.async_add(NOTES)
        await store.aclear()
        assert await store.aget_nodes() == []

    with Memory() as memory:
        asyncio.run(work(EidetNodeStore(memory=memory)))
