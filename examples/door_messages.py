"""Message stores of an agent framework on Eidet: limits, sharing, search, encryption, a restart."""

import asyncio
import tempfile
from pathlib import Path

from eidet import Memory
from eidet.compat.messages import (
    App,
    AuditMemoryStore,
    FileMemoryStore,
    FilterableMemoryStore,
    LLMAgent,
    Message,
    SlidingWindowMemory,
)


async def model(messages: list[dict[str, object]]) -> str:
    """Stands in for a language model that knows only what the messages say."""
    said = " ".join(str(message["content"]) for message in messages)
    return "Your name is Alice." if "My name is Alice" in said and "What's my name" in said else "Hello!"


async def main(folder: Path) -> None:
    for question in ("My name is Alice", "What's my name?"):  # each run as if after a restart
        async with FileMemoryStore(folder / "bot.db", max_messages=50) as store:
            app = App(LLMAgent("Bot", model, memory_store=store, system_prompt="Be kind."))
            async with app.run_context() as rt:
                print(question, "->", await rt.call_agent("Bot", question))

    window = SlidingWindowMemory(window_size=2)
    for i in range(5):
        await window.add_message(Message(role="user", content=f"Message {i}"))
    print("window:", [str(message) for message in await window.get_history()])

    memory = Memory()
    notes = FilterableMemoryStore(memory=memory, session_id="monday")
    await notes.add_message(Message("user", "The server is down", metadata={"priority": "high"}))
    await notes.add_message(Message("user", "Nice weather", metadata={"priority": "low"}))
    urgent = await notes.get_messages_by_metadata(priority="high")
    print("urgent:", [str(message) for message in urgent])
    print("recalled:", memory.recall("what happened to the server?", limit=1)[0].text)

    audited = AuditMemoryStore(current_user_id="ann", request_ip="10.0.0.1")
    await audited.add_message(Message("user", "Write to ann@example.org"))
    await audited.clear()
    [trail] = await audited.audit_store.get_history()
    print("trail:", trail.metadata["user_id"], trail.metadata["compliance_flags"])


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder)))
