"""What the tests of forgetting for good share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.making import Clock

from eidet import Memory, Settings

NOW = 1_700_000_000.0
SECRET = "the safe in the cellar opens with 4711-0815"
OTHER = "the cat sleeps on the warm windowsill"


def on_file(tmp_path: Path, **settings: Any) -> Memory:
    chosen = Settings(**settings)
    return Memory(tmp_path / "memory.db", embedder="hashing:32", clock=Clock(tick=1.0), settings=chosen)


def bytes_beside(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def texts(memory: Memory, scope: str = "default") -> list[str]:
    return [record.text for record in memory.find(scope=scope, order="created")]


def talk(memory: Memory, *said: str, session: str = "s1") -> list[str]:
    turns = [{"role": "user", "content": text} for text in said]
    return [record.id for record in memory.remember(turns, session=session)]


TALK = (
    "My sister Eva has moved to Bergen in Norway last month",
    "The code of my alarm system is seven three nine two one",
    "We bought tickets for the opera in Milan for the third of May",
    "I have decided to learn the cello with a teacher in town",
)
