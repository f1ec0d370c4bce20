"""The same verbs in asyncio, with your own embedder awaited in your event loop."""

import asyncio

from eidet import AsyncMemory


async def embed(texts: list[str]) -> list[list[float]]:
    """Stands in for a call to a model: counts how often each vowel occurs."""
    await asyncio.sleep(0)
    return [[float(text.count(vowel)) + 0.1 for vowel in "aeiou"] for text in texts]


async def main() -> None:
    async with AsyncMemory(embedder=embed) as memory:
        await asyncio.gather(*(memory.remember(f"note {n}: tune the piano") for n in range(3)))
        hits = await memory.recall("piano", limit=5)
        print(sorted(hit.text for hit in hits))


asyncio.run(main())
