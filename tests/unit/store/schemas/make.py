"""Writes a file of the present schema as SQL, to be kept for good once that schema is released.

python tests/unit/store/schemas/make.py
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from eidet import Memory
from eidet.store.sql.migrate import REVISION
from eidet.store.sql.sqlite import APPLICATION_ID


def fill(path: Path) -> None:
    """What `test_migrations.py` expects to find."""
    now = 1_700_000_000.0
    with Memory(path, embedder="hashing:16", clock=lambda: now) as memory:
        memory.remember(
            "Ann lives in Lisbon",
            id="ann",
            agent="planner",
            importance=0.75,
            place=(1.5, 2.5),
            meta={"tag": "é"},
        )
        memory.remember(
            {"health": 0.5, "bag": ["axe"]}, id="state", scope="game/one", step=7, expires=1_900_000_000.0
        )
        memory.remember([{"role": "user", "content": "yes"}] * 2, session="s1")
        memory.remember("Bob lives in Porto", id="bob")
        now += 1
        memory.revise("ann", text="Ann lives in Faro", by="Bob")
        memory.forget("bob", by="Bob")
        memory.recall("Ann", limit=1)


def main() -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        fill(path)
        with closing(sqlite3.connect(path)) as connection:
            lines = [f"PRAGMA application_id = {APPLICATION_ID};", *connection.iterdump()]
    Path(__file__).with_name(f"{REVISION}.sql").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
