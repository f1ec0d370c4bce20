"""The same verbs in asyncio, with an embedder of your own that is awaited in your loop."""

import asyncio

from eidet import AsyncMemory


async def embed(texts: list[str]) -> list[list[float]]:
    """Stands for a call to a model: here, how often each vowel occurs."""
    await asyncio.sleep(0)
    return [[float(text.count(vowel)) + 0.1 for vowel in "aeiou"] for text in texts]


async def main() -> None:
    async with AsyncMemory(embedder=embed) as memory:
        await asyncio.gather(*(memory.remember(f"note {n}: tune the piano") for n in range(3)))
        hits = await memory.recall("piano", limit=5)
        print(sorted(hit.text for hit in hits))


asyncio.run(main())
