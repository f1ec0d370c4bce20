"""Every record of a sealed piece is authenticated: one that was changed or added is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from eidet import Memory, Scope
from eidet.core.errors import Corrupt
from eidet.core.record import Record
from eidet.trust.seal.archives import archive_for
from eidet.upkeep.archive import Archive, FolderArchive

LABEL = "\N{GRINNING FACE}" * 1000  # its token is longer than any label may be
KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m.db", key=KEY, embedder="hashing:16") as opened:
        yield opened


def archive_some(memory: Memory, inside: Archive) -> str:
    """A piece with four records of two scopes, which then are deleted."""
    said: dict[str, Any] = {"who": LABEL, "agent": LABEL, "session": LABEL, "source": LABEL}
    records = [memory.remember(f"fact {n}", scope="ann" if n < 3 else "bob", **said) for n in range(4)]
    archive = archive_for(memory.parts.store, inside)
    assert archive is not None
    name = archive.keep(records, memory.parts.manifest(1.0), now=1.0)
    for record in records:
        memory.forget(record.id, scope=record.scope, for_good=False)
    return name


Lines = list[dict[str, Any]]


def move_text(lines: Lines) -> None:
    lines[1]["sealed"] = lines[2]["sealed"]


def add_record(lines: Lines) -> None:
    lines.append({"id": "new", "scope": "eve", "text": "forged"})


CHANGES: dict[str, Callable[[Lines], object]] = {
    "a column": lambda lines: lines[1].__setitem__("importance", 0.9),
    "the text of another": move_text,
    "plain text": lambda lines: lines[1].__setitem__("text", "forged"),
    "one that was never sealed": lambda lines: lines[1].pop("sealed"),
    "one that was added": add_record,
}


def forge(file: Path, change: Callable[[Lines], object]) -> None:
    """Changes the lines of a piece, and makes count and checksum fit: they have no key."""
    lines: Lines = [json.loads(line) for line in file.read_text().splitlines()][:-1]
    change(lines)
    body = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    end = {"count": len(lines) - 1, "sha256": sha256(body).hexdigest()}
    file.write_bytes(body + json.dumps(end, separators=(",", ":")).encode() + b"\n")


@pytest.mark.parametrize("change", CHANGES)
def test_a_piece_that_was_changed_is_refused_and_nothing_of_it_comes_back(
    memory: Memory, tmp_path: Path, change: str
) -> None:
    name = archive_some(memory, FolderArchive(tmp_path / "archive"))
    forge(tmp_path / "archive" / name, CHANGES[change])
    with pytest.raises(Corrupt):
        memory.upkeep.unarchive(tmp_path / "archive")
    assert memory.scopes() == {}


def test_a_piece_as_it_was_comes_back(memory: Memory, tmp_path: Path) -> None:
    name = archive_some(memory, FolderArchive(tmp_path / "archive"))
    forge(tmp_path / "archive" / name, lambda lines: None)
    assert memory.upkeep.unarchive(tmp_path / "archive") == 4
    for one in (*memory.find(scope="ann"), *memory.find(scope="bob")):
        assert {one.who, one.agent, one.session, one.source} == {LABEL}


def test_what_is_forgotten_leaves_a_piece_that_can_be_read(memory: Memory, tmp_path: Path) -> None:
    inside = FolderArchive(tmp_path / "archive")
    name = archive_some(memory, inside)
    archive = archive_for(memory.parts.store, inside)
    assert archive is not None

    def is_second(record: Record) -> bool:
        return record.text == "fact 1"

    assert archive.expunge(name, is_second, now=2.0) == 1
    assert memory.upkeep.unarchive(inside) == 3
    assert [record.text for record in memory.find(scope=Scope("ann"))] == ["fact 2", "fact 0"]


def test_a_shredded_scope_is_lost_and_the_others_come_back(memory: Memory, tmp_path: Path) -> None:
    archive_some(memory, FolderArchive(tmp_path / "archive"))
    memory.keys.shred("ann")
    assert memory.upkeep.unarchive(tmp_path / "archive") == 1
    assert memory.scopes() == {"bob": 1}
