"""Sealed and guarded memories are copied, and bad input is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.making import Clock
from tests.unit.copy.given import KEY, by_id, counted, ram

from eidet import BadInput, Memory, NotFound, Settings
from eidet.compat.opening import next_number
from eidet.copy import copy
from eidet.store import verbs
from eidet.store.tombstones import secret_of

# Sealed, guarded, and what else there is.


def test_from_sealed_to_plain_and_back(source: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "s.db", embedder="hashing:64", key=KEY, clock=Clock(tick=1.0)) as sealed:
        assert copy(source, sealed).ok
        assert copy(sealed, tmp_path / "p.db").ok
    with Memory(tmp_path / "p.db", clock=Clock(tick=1.0)) as plain:
        assert by_id(plain) == by_id(source)
        assert plain.history("ann") == source.history("ann")
    assert b"Lisbon" not in (tmp_path / "s.db").read_bytes()


def test_the_secret_of_tombstones_does_not_leave_a_sealed_memory_for_a_plain_one(tmp_path: Path) -> None:
    with Memory(tmp_path / "s.db", embedder="hashing:64", key=KEY) as sealed:
        sealed.remember("the PIN is 7731", id="pin")
        sealed.forget("pin")
        sealed.remember("Ann lives in Lisbon")
        assert "forgotten memories for good" in " ".join(copy(sealed, tmp_path / "p.db").notes)
        secret = secret_of(sealed.parts.store, "marks").hex()
    assert secret.encode() not in (tmp_path / "p.db").read_bytes()


def test_the_guard_of_the_target_sees_what_comes(tmp_path: Path) -> None:
    source = ram()
    source.remember("Write to ann.smith@example.org", id="mail")
    source.revise("mail", text="Write to bob.jones@example.org")
    with Memory(tmp_path / "m.db", embedder="hashing:64", guard="redact", clock=Clock(tick=1.0)) as target:
        copied = copy(source, target)
        assert copied.ok
        assert "only ids were compared" in copied.notes[-1]
        kept = target.get("mail")
        assert kept is not None
        assert "example.org" not in kept.text
        assert copy(source, target).ok
    assert b"example.org" not in (tmp_path / "m.db").read_bytes()


def test_numbers_that_were_given_are_not_given_again(source: Memory, target: Memory) -> None:
    given = [next_number(source, "turn") for _ in range(5)]
    copy(source, target)
    assert next_number(target, "turn") == 5 not in given
    for _ in range(3):
        next_number(target, "turn")
    copy(source, target)
    assert next_number(target, "turn") == 9


def test_archives_of_the_source_are_known_to_the_target(
    source: Memory, target: Memory, tmp_path: Path
) -> None:
    source.upkeep.maintain(archive=tmp_path / "archive")
    copy(source, target)
    assert str(tmp_path / "archive") in (verbs.get_setting(target.parts.store, "archives") or "")


# Bad input.


def test_a_memory_is_not_copied_into_itself(source: Memory, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="same memory"):
        copy(source, source)
    copy(source, tmp_path / "m.db")
    with pytest.raises(BadInput, match="same memory"):
        copy(tmp_path / "m.db", tmp_path / "m.db")


def test_a_source_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no memory"):
        copy(tmp_path / "none.db", tmp_path / "m.db")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_memory_is_copied_as_such(target: Memory) -> None:
    copied = copy(ram(), target)
    assert copied.ok
    assert counted(copied) == {}


def test_a_source_that_is_written_meanwhile_is_copied_up_to_where_it_was(target: Memory) -> None:
    source = ram(settings=Settings(keep_duplicates=True))
    source.remember([f"fact {n}" for n in range(300)])

    def write(done: int, total: int) -> None:
        source.remember("meanwhile")

    copied = copy(source, target, progress=write)
    assert copied.ok
    assert copied.created == 300
    assert copy(source, target).ok
    assert target.count() == source.count()
