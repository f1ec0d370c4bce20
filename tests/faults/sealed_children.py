"""Programs that write to a sealed memory, or change its keys, until they are killed."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from tests.faults.children import tell

from eidet import Memory
from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings, Upkeep

KEY = bytes(range(32))
OTHER = bytes(32)
NOW = 1_700_000_000.0
WORDS = (
    "quetzalcoatlus",
    "žluťoučký",
    "brobdingnag",
    "xylophonist",
    "hippogriff",
    "ornithomancy",
    "zugzwang",
)
LABELS = ("mnemosyne", "telemachus", "clytemnestra", "agamemnon", "philoctetes")
SETTINGS = Settings(sidecar_from=5, upkeep=Upkeep(short_age_days=1.0, middle_age_days=2.0, gist_tokens=4))


def opened(
    path: Path | str, key: bytes | None = KEY, at: float = NOW, embedder: str = "hashing:64"
) -> Memory:
    return Memory(path, key=key, embedder=embedder, settings=SETTINGS, clock=lambda: at)


def told(n: int) -> str:
    """A text with all the words, long enough to be shortened."""
    return (
        f"{' and the '.join(WORDS)} of number {n} met. They spoke of ornithomancy for {n} days, and left. "
        * 3
    )


def write(path: str, at: str) -> None:
    memory = opened(path)
    for n in count(int(at)):
        record = memory.remember(told(n), agent=LABELS[1], id=f"{at}-{n}")
        tell([record.id, record.text])
        if n % 3 == 0:
            memory.revise(record.id, text=told(n) + " revised", by=LABELS[2])


def turn(path: str) -> None:
    """Puts the memory under the other master key, and back."""
    keys = [KEY, OTHER]
    try:
        memory = opened(path, keys[0])
    except Misconfigured:
        keys.reverse()
        memory = opened(path, keys[0])
    for n in count(1):
        tell(memory.keys.rotate(keys[n % 2]))
