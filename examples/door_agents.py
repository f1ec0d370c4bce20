"""Keeps an agent's working, conversation, semantic and episodic memory in one file."""

import asyncio
import tempfile
from pathlib import Path

from eidet.compat.agents import AgentMemorySystem, create_memory_aware_prompt


async def first_day(file: Path) -> None:
    system = AgentMemorySystem(memory=file)
    await system.learn("Ann is allergic to nuts", importance=0.9, source="Ann")

    system.start_task("Plan a birthday dinner for Ann")
    system.record_step("Look for a place", "search", "Trattoria Roma has a nut-free menu")
    print(create_memory_aware_prompt(system, "Plan a birthday dinner for Ann"))
    system.conversation.add_message("assistant", "Booked for eight.")
    await system.end_task(True, "Trattoria Roma, eight o'clock")

    system.start_task("Order a cake")
    await system.end_task(False, "the bakery is closed on Sundays")
    system.close()


async def next_day(file: Path) -> None:  # perhaps in another process
    system = AgentMemorySystem(memory=file)
    print("\nlast said:", system.conversation.get_last_n(1)[0].content)
    print(await system.get_relevant_context("what must Ann not eat?", max_semantic_results=1))
    for episode in await system.episodic.search("buying a cake", success=False):
        print("failed before:", episode.situation, "-", episode.outcome)
    system.close()


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(first_day(Path(folder) / "agent.db"))
    asyncio.run(next_day(Path(folder) / "agent.db"))
