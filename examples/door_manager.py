"""MemoryManager, ConversationContext and Agent: one conversation uses what another learned."""

import asyncio
import re
import tempfile
from pathlib import Path

from eidet.compat.manager import Agent, ConversationContext, MemoryConfig, MemoryTypes, Message


def model(prompt: str) -> str:
    """Stands in for a language model. For a real one, use Agent("claude-…", api_key=…), which streams."""
    found = re.search(r"sister (\w+) is a (\w+)", prompt)
    return f"{found[1]} is a {found[2]}." if found and "?" in prompt else "Noted."


async def main(path: Path) -> None:
    agent = Agent(llm=model)

    config = MemoryConfig(memory=path, short_term_window=10)
    monday = ConversationContext("monday", config)
    print(await agent.respond("My sister Clara is a pilot.", monday))
    await monday.memory.add_memory(
        "The kitchen is painted blue", MemoryTypes.LONG_TERM, {"source": "letter", "room": "kitchen"}
    )
    print((await monday.end()).content)  # an episode, in episodic memory
    config.close()

    config = MemoryConfig(memory=path)  # after a restart
    friday = ConversationContext("friday", config)
    async for piece in agent.process_message(Message("user", "What does my sister do?"), friday):
        print(piece)
    for entry in await friday.memory.search_memory(
        "which colour?", MemoryTypes.LONG_TERM, metadata={"room": "kitchen"}
    ):
        print(f"{entry.content} (from a {entry.source}, importance {entry.importance_score:.2f})")
    config.close()


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder) / "memory.db"))
