"""The secrets of tombstones and receipts of a sealed memory lie nowhere in plain."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.trust.erase.given import bytes_beside

from eidet import Memory
from eidet.copy import copy
from eidet.core.errors import Corrupt, Refused
from eidet.store import SETTINGS
from eidet.store.tombstones import secret_of

KEY = bytes(range(32))
NAMES = ("marks", "receipts")
PLAIN = "5e" * 32


def opened(path: Path, key: bytes | None = KEY) -> Memory:
    return Memory(path, key=key, embedder="hashing:16")


def live(path: Path, key: bytes | None = KEY) -> list[bytes]:
    """A memory that has forgotten something for good; its secrets."""
    with opened(path, key) as memory:
        memory.remember("the PIN is 7731", id="pin")
        assert memory.forget("pin")
        return [secret_of(memory.parts.store, name) for name in NAMES]


def found_in(folder: Path, secrets: list[bytes]) -> list[str]:
    content = bytes_beside(folder)
    wanted = [secret.hex().encode() for secret in secrets] + secrets
    return [secret.hex() for secret in wanted if secret in content]


def test_no_secret_is_in_a_sealed_file(tmp_path: Path) -> None:
    assert found_in(tmp_path, live(tmp_path / "m.db")) == []
    with opened(tmp_path / "m.db") as memory, pytest.raises(Refused, match="forgotten for good"):
        memory.remember("the PIN is 7731")


def test_a_sealed_copy_of_a_plain_memory_refuses_what_was_forgotten_there(tmp_path: Path) -> None:
    secrets = live(tmp_path / "plain.db", None)
    assert found_in(tmp_path, secrets), "a plain file cannot hide them"
    folder = tmp_path / "sealed"
    folder.mkdir()
    with opened(folder / "m.db") as memory:
        assert copy(tmp_path / "plain.db", memory).ok
    assert found_in(folder, secrets) == []
    with opened(folder / "m.db") as memory, pytest.raises(Refused, match="forgotten for good"):
        memory.remember("the PIN is 7731")


@pytest.mark.parametrize("name", ["secret:marks", "secret:receipts"])
def test_a_secret_that_somebody_else_wrote_is_not_believed(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.db"
    live(path)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, PLAIN))
    with opened(path) as memory:
        assert any(name in fault for fault in memory.admin.check())
        with pytest.raises(Corrupt, match="cannot be trusted"):
            memory.parts.store.values(SETTINGS, (name,))
