"""Forgetting reaches each file of a memory, also of one in two stores."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.trust.erase.given import left_of

from eidet import Memory

TEXT = "the safe in the cellar opens with 4711-0815"
KEY = b"k" * 32
PLACES = {
    "a file": ("{0}/long.db", ["long.db"]),
    "tiers": ("tiered://?short={0}/short.db&long={0}/long.db", ["short.db", "long.db"]),
}


@pytest.fixture(params=PLACES)
def files(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[{}, {"audit": "audit.log"}], ids=["plain", "audited"])
def memory(files: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    audit = tmp_path / "audit.log" if request.param else None
    with Memory(PLACES[files][0].format(tmp_path), embedder="hashing:16", audit=audit) as opened:
        opened.remember(TEXT, id="short")
        opened.remember(TEXT, id="long", tier="long", agent="b")
        yield opened


def copy_schema(file: Path) -> Path:
    """What a change of the schema leaves beside the file."""
    target = Path(f"{file}.schema-0001")
    with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(target)) as copy:
        source.backup(copy)
    return target


def test_no_copy_of_an_older_schema_stays(memory: Memory, files: str, tmp_path: Path) -> None:
    copies = [copy_schema(tmp_path / name) for name in PLACES[files][1]]
    assert left_of(memory, TEXT)
    gone = memory.forget(["short", "long"])
    assert gone.receipt is not None
    assert gone.receipt.counts["schema_copies"] >= len(copies)
    assert not any(copy.exists() for copy in copies)
    assert left_of(memory, TEXT) == []


def test_shredding_leaves_no_copy_with_keys(files: str, tmp_path: Path) -> None:
    with Memory(PLACES[files][0].format(tmp_path), embedder="hashing:16", key=KEY) as sealed:
        sealed.remember(TEXT, scope="ann")
        sealed.remember(TEXT, scope="ann", tier="long", agent="b")
        copies = [copy_schema(tmp_path / name) for name in PLACES[files][1]]
        sealed.keys.shred("ann")
        assert not any(copy.exists() for copy in copies)
