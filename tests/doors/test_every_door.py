"""What Eidet promises of every memory holds through every door: durable, apart, held, sealed, guarded.

Each door of the table is filled, and then each of its verbs is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.doors.every_door import DOORS, WORD, Door, some_id, wait_for
from tests.making import make_store

from eidet import Memory, Scope, Where
from eidet.compat import api, messages
from eidet.core.errors import EidetError
from eidet.core.record import Record
from eidet.models.embed.hashing import Hashing
from eidet.store.traits import is_sealed

REFUSALS = ("legal hold", "leaves a trail", "append-only")  # some doors refuse, held or not
KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
EVERY_DOOR = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.of.__name__)


def open_door(door: Door, memory: Memory, folder: Path, scope: str = "home") -> Any:
    """The door, filled; one that saves files has saved one."""
    opened = door.open(memory, folder, scope)
    wait_for(door.fill(opened))
    if door.of is api.AgentMemoryAPI and not is_sealed(memory.parts.store):  # which saves no files
        opened.before = folder / "before.jsonl"
        opened.save(opened.before)
        opened.set_importance_score("ann", some_id(opened), 0.3)
    return opened


def tell(door: Door, opened: Any) -> str:
    return repr(wait_for(door.tell(opened)))


def call_every_verb(door: Door, opened: Any) -> None:
    """Each on a door that was filled again, because some of them empty it."""
    for verb in door.writes.values():
        with suppress(EidetError):
            wait_for(door.fill(opened))
        with suppress(EidetError):
            wait_for(verb(opened))


def read_files(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@pytest.fixture(params=["file", "postgres", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return str(tmp_path / "m.db")
    return str(request.getfixturevalue("postgres_emptied" if request.param == "postgres" else "redis_url"))


@EVERY_DOOR
def test_what_a_door_was_told_others_see_at_once_and_after_a_restart_in_its_scope_alone(
    door: Door, place: str, tmp_path: Path
) -> None:
    with Memory(place, embedder="hashing") as memory, Memory(place, embedder="hashing") as other:
        told = tell(door, open_door(door, memory, tmp_path))
        assert WORD in told
        assert tell(door, door.open(other, tmp_path, "home")) == told
    with Memory(place, embedder="hashing") as memory:
        assert tell(door, door.open(memory, tmp_path, "home")) == told
        assert WORD not in tell(door, door.open(memory, tmp_path, "elsewhere"))


@EVERY_DOOR
def test_the_native_verbs_find_what_a_door_wrote_and_closing_it_leaves_the_memory_open(
    door: Door, tmp_path: Path
) -> None:
    with Memory(embedder="hashing") as memory:
        opened = open_door(door, memory, tmp_path)
        if hasattr(opened, "close"):
            wait_for(opened.close())
        found = [*memory.find(scope="home"), *memory.find(scope=Scope.under("home"))]
        assert found
        if door.of is not messages.EncryptedMemoryStore:
            assert any(WORD in repr(record) for record in found)


@EVERY_DOOR
def test_no_file_of_a_sealed_memory_has_a_word_of_it(door: Door, tmp_path: Path) -> None:
    with Memory(tmp_path / "plain.db", embedder="hashing") as memory:
        open_door(door, memory, tmp_path)
    is_plain = door.of is not messages.EncryptedMemoryStore
    assert (WORD.encode() in read_files(tmp_path)) == is_plain, "what is there is found"
    sealed = tmp_path / "sealed"
    sealed.mkdir()
    with Memory(sealed / "m.db", key=KEY, embedder="hashing") as memory:
        opened = open_door(door, memory, sealed)
        assert WORD in tell(door, opened), "the door reads it back"
        call_every_verb(door, opened)
        assert WORD.encode() not in read_files(sealed)
    assert WORD.encode() not in read_files(sealed)


@EVERY_DOOR
def test_no_door_tells_what_is_in_quarantine(door: Door, tmp_path: Path) -> None:
    with Memory(embedder="hashing") as memory:
        opened = open_door(door, memory, tmp_path)
        for record in memory.parts.store.find(Where()):
            memory.trust.quarantine(record.id, scope=record.scope)
        assert WORD not in tell(door, opened)


class Watched(Hashing):
    """An embedder that remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(16)
        self.asked: list[str] = []

    def embed(self, texts: Any) -> Any:
        self.asked.extend(texts)
        return super().embed(texts)


@EVERY_DOOR
def test_neither_a_file_nor_an_embedder_sees_what_the_guard_takes_out(door: Door, tmp_path: Path) -> None:
    embedder = Watched()
    with Memory(tmp_path / "m.db", embedder=embedder, guard="redact") as memory:
        opened = open_door(door, memory, tmp_path)
        call_every_verb(door, opened)
        if door.of is not messages.EncryptedMemoryStore:  # whose texts the guard never sees
            assert WORD not in tell(door, opened)
    assert embedder.asked
    assert WORD not in repr(embedder.asked)
    assert WORD.encode() not in read_files(tmp_path)


@EVERY_DOOR
def test_somebody_has_decided_about_every_verb_of_a_door(door: Door) -> None:
    found = {name for name, _ in inspect.getmembers(door.of, callable) if not name.startswith("_")}
    writing = {verb for verb in door.writes if "," not in verb}
    assert writing | set(door.reads.split()) == found


def look_at(memory: Memory) -> dict[str, Record]:
    """What a hold protects of every record; uses, vectors and terms are Eidet's own."""
    found = memory.parts.store.find(Where())
    return {one.id: one.but(uses=0, last_used=None, vector=None, terms=b"", seq=0) for one in found}


def open_held(door: Door, memory: Memory, folder: Path) -> Any:
    """The door, with everything behind it under a hold."""
    opened = open_door(door, memory, folder)
    filled = memory.parts.store.find(Where())
    assert filled
    for record in filled:
        memory.upkeep.hold(record.id, scope=record.scope, by="court")
    if door.of is messages.RedisMemoryStore:
        opened.ttl = timedelta(microseconds=1)  # from now on, each message is due at once
    return opened


def check_verb(door: Door, verb: str, opened: Any, memory: Memory, before: dict[str, Record]) -> None:
    try:
        wait_for(door.writes[verb](opened))
    except EidetError as error:
        assert any(word in str(error) for word in REFUSALS)  # noqa: PT017
    after = look_at(memory)
    assert {id: after.get(id) for id in before} == before, verb


BACKENDS = ("ram", "postgres", "redis", "tiered", "sealed", "audited")  # the last two on SQLite


@pytest.fixture(params=BACKENDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    wrapped: dict[str, Any] = {"sealed": {"key": KEY}, "audited": {"audit": tmp_path / "audit.jsonl"}}
    store = make_store(request.param, tmp_path, request)
    with Memory(store, embedder="hashing:16", **wrapped.get(request.param, {})) as opened:
        yield opened


@EVERY_DOOR
def test_no_door_changes_what_is_held_on_any_store(door: Door, kept: Memory, tmp_path: Path) -> None:
    """All verbs of a door, one after the other: what was held at first is as it was after each."""
    opened = open_held(door, kept, tmp_path)
    before = look_at(kept)
    for verb in door.writes:
        check_verb(door, verb, opened, kept, before)
