"""An embedder of your own: the default one, taught the words of your house.

    python examples/programs/custom_embedder.py

No general model knows that PTO is holiday or that "Heron" is your billing system. `HouseEmbedder` spells
such words out before another embedder sees the text. A memory that was filled before is re-embedded in
place, and stays usable meanwhile. The program compares both on the same questions.

For your own use: change `GLOSSARY` and `VERSION` together (the name of an embedder says which vectors these
are), or call your own model in `embed`. `EmbedderContract` (eidet.models.contract) tests any
embedder.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from eidet import Memory
from eidet.models.embed import Embedder, Vectors, embedder_of

VERSION = 1
GLOSSARY = {
    "PTO": "holiday, vacation, time off",
    "Heron": "billing and invoice system",
    "ICE": "internal customer escalation, urgent complaint",
    "T-1": "the day before the release",
}
RECORDS = (
    "Mara is on PTO until Thursday.",
    "Heron was down for two hours on Friday.",
    "Three ICE tickets are open, all of them from Porto.",
    "On T-1 nobody merges anything.",
    "The coffee machine on the second floor is broken.",
    "Jon plays chess on Tuesday evenings.",
    "The new office opens in October.",
)
QUESTIONS = {
    "Who is away on vacation?": "Mara",
    "Did invoices have an outage?": "Heron",
    "Are there urgent complaints?": "ICE",
    "What happens the day before we release?": "T-1",
}


class HouseEmbedder:
    """Spells out the words of a glossary, then embeds with another embedder."""

    def __init__(self, inner: Embedder, glossary: dict[str, str], version: int) -> None:
        self._inner, self._glossary = inner, glossary
        self._words = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, glossary)) + r")(?!\w)")
        self.name = f"house:{version}+{inner.name}"
        self.width = inner.width

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._inner.embed([self.spell_out(text) for text in texts])

    def spell_out(self, text: str) -> str:
        return self._words.sub(lambda found: f"{found[0]} ({self._glossary[found[0]]})", text)


def ask(memory: Memory) -> int:
    """Prints the best hit for each question; how many were right."""
    right = 0
    for question, wanted in QUESTIONS.items():
        hits = memory.recall(question, limit=1)
        best = hits[0].text if hits else "nothing"
        right += wanted in best
        print(f"  {'right' if wanted in best else 'wrong'}: {question} -> {best}")
    return right


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder) / "team.db"
        with Memory(at) as memory:
            memory.remember(list(RECORDS))
            print(f"with {memory.parts.embedder.name}:")
            before = ask(memory)
            house = HouseEmbedder(embedder_of("wordllama"), GLOSSARY, VERSION)
            print(f"\nre-embedded {memory.admin.reembed(house)} records")
        with Memory(at, embedder=house) as memory:  # from now on, name it when you open the memory
            print(f"with {memory.parts.embedder.name}:")
            after = ask(memory)
        print(f"\nright before: {before}, after: {after}, of {len(QUESTIONS)}")


if __name__ == "__main__":
    main()
