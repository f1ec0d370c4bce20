"""The block for LlamaIndex, judged by its own `Memory`, agents and chat engines."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("llama_index.core", "llama_index")

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent  # noqa: E402
from llama_index.core.base.llms.types import ImageBlock, TextBlock, ToolCallBlock  # noqa: E402
from llama_index.core.chat_engine import SimpleChatEngine  # noqa: E402
from llama_index.core.llms import ChatMessage  # noqa: E402
from llama_index.core.llms.mock import (  # noqa: E402
    MockFunctionCallingLLM,
    MockLLMWithChatMemoryOfLastCall,
)
from llama_index.core.memory import Memory as AgentMemory  # noqa: E402
from sqlalchemy.ext.asyncio import create_async_engine  # noqa: E402

from eidet import BadInput, Memory, Unavailable  # noqa: E402
from eidet.integrations.llama_index import EidetMemoryBlock  # noqa: E402

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
