"""What the tests of forgetting for good share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.making import Clock

from eidet import Memory, Settings, Where
from eidet.store import SETTINGS, verbs
from eidet.store.tombstones import fold_text
from eidet.store.traits import paths_of

NOW = 1_700_000_000.0
SECRET = "the safe in the cellar opens with 4711-0815"
OTHER = "the cat sleeps on the warm windowsill"


def on_file(tmp_path: Path, **settings: Any) -> Memory:
    chosen = Settings(**settings)
    return Memory(tmp_path / "memory.db", embedder="hashing:32", clock=Clock(tick=1.0), settings=chosen)


def bytes_beside(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def left_of(memory: Memory, text: str) -> list[str]:
    """Where a memory still tells a text: records, their histories, settings, and the files of its store."""
    store, words = memory.parts.store, fold_text(text)
    records = list(verbs.scan(store, Where()))
    stories = [(one.id, [event.before for event in store.history(one.scope, one.id)]) for one in records]
    found = [f"record {one.id}" for one in records if words in fold_text(f"{one}\n{one.whole}")]
    found += [f"history of {id}" for id, story in stories if words in fold_text(str(story))]
    found += [name for name, value in store.values(SETTINGS).items() if words in fold_text(f"{name} {value}")]
    files = [
        file for path in paths_of(store) for file in path.parent.rglob(f"{path.name}*") if file.is_file()
    ]
    return found + [file.name for file in files if text.encode() in file.read_bytes()]


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
