"""Writes one file of each format that Eidet writes, for `tests/unit/test_released_files.py`.

    python -m tests.released_files 0.3              # the files
    python -m tests.released_files 0.3 --ranking    # only the order in which that release answers

Run it once for a release whose formats or ranking changed, and never again: the files are what that release
left behind.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from eidet import Draft, Memory, acting
from eidet.core.settings import Upkeep
from eidet.mirror import mirror_folder
from eidet.recall.model import list_versions

FOLDER: Final = Path(__file__).parent / "fixtures" / "releases"
KEY: Final = bytes(range(32))  # it protects nothing but these files
BEGAN: Final = 1_795_000_000.0  # 18 November 2026
NOTES: Final = {
    "home": "Ann lives in Lisbon and restores furniture.",
    "hours": "Her workshop opens at nine, except on Mondays.",
    "table": "She promised Mr. Lund an oak table by 12 June.",
    "cat": "Her cat is called Tofu and sleeps on the lathe.",
}
ROLES: Final = ("user", "assistant", "user")
TURNS: Final = ["My varnish is from Silva & Sons.", "Noted. The tin or the bottle?", "The tin of 2 litres."]


def fill(memory: Memory) -> None:
    """The same in every file: notes, a talk, a state with a place, and a second version."""
    for id, text in NOTES.items():
        memory.remember(text, id=id, scope="ann", occurred="2026-05-08", importance=0.6, meta={"of": "0.3"})
    talk = [{"role": role, "content": text} for role, text in zip(ROLES, TURNS, strict=True)]
    memory.remember(talk, scope="ann", session="monday", occurred="2026-05-11")
    memory.remember({"wood": 5, "glue": 0.5}, id="stock", scope="ann", step=3, place=(2.0, 4.0))
    memory.revise("cat", scope="ann", text="Her cat is called Miso and sleeps on the lathe.")


def clock() -> Iterator[float]:
    yield from (BEGAN + second for second in range(1_000_000))


def write(folder: Path) -> None:
    """Makes the files in a folder without a name, because some of them keep where they were made."""
    with tempfile.TemporaryDirectory() as made, acting(source="release"):
        _write_open(Path(made), clock().__next__)
        _write_sealed(Path(made), clock().__next__)
        with Memory(clock=clock().__next__) as memory:
            fill(memory)
            fading = Upkeep(forget_below=0.05, archive=str(Path(made, "archive")))
            memory.upkeep.maintain(now=BEGAN + 4_000 * 86_400, settings=fading)
        kept = shutil.ignore_patterns("*.db", "*.db-*")
        shutil.copytree(made, folder, dirs_exist_ok=True, ignore=kept)


def _write_open(folder: Path, now: Callable[[], float]) -> None:
    file = folder / "memory.db"
    with Memory(file, clock=now, audit=str(folder / "audit.jsonl")) as memory:
        fill(memory)
        memory.export(folder / "export.jsonl")
        mirror_folder(memory, folder / "mirror", scope="ann")
    (folder / "memory.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def _write_sealed(folder: Path, now: Callable[[], float]) -> None:
    file = folder / "sealed.db"
    with Memory(file, clock=now, key=KEY) as memory:
        fill(memory)
    (folder / "sealed.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def read_ranking(version: str) -> dict[str, Any]:
    """Which ranking a release had, `records` and questions with the ids that it found, best first."""
    told: dict[str, Any] = json.loads((FOLDER / version / "ranking.json").read_text(encoding="utf-8"))
    return told


def ask_all(told: dict[str, Any], ranking: str | None) -> dict[str, list[str]]:
    """The ids that the questions find by a ranking, best first."""
    with Memory(ranking=ranking, clock=lambda: BEGAN) as memory:
        memory.remember([Draft(**record) for record in told["records"]])
        return {asked: [hit.id for hit in memory.recall(asked, limit=5)] for asked in told["asked"]}


def write_ranking(version: str) -> None:
    told = read_ranking(version)
    told |= {"ranking": list_versions()[-1], "asked": ask_all(told, None)}
    text = json.dumps(told, ensure_ascii=False, indent=1)
    (FOLDER / version / "ranking.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--ranking" in sys.argv:
        write_ranking(sys.argv[1])
    else:
        made = FOLDER / sys.argv[1]
        made.mkdir(parents=True, exist_ok=True)
        if (made / "memory.db.gz").exists():
            sys.exit(f"{made} has its files")
        write(made)
