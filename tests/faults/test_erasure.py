"""kill -9 in the middle of forgetting: all is there, or gone for good and clean after opening again."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from tests.faults.children import opened
from tests.faults.erasers import SESSIONS, forget_all, forget_and_die
from tests.faults.nursery import Nursery
from tests.unit.trust.erase.given import bytes_beside

from eidet import Memory, Refused, Where
from eidet.store import verbs

MANY = 120


def secret(session: int, number: int) -> str:
    return f"secret{session}x{number} of the vault number {number} and what lies in it " + "word " * (
        number % 90
    )


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with opened(str(path)) as memory:
        for session in range(SESSIONS):
            memory.remember([secret(session, n) for n in range(MANY)], session=f"s{session}")
        memory.recall("what lies in the vault")
    return path


def check_session(memory: Memory, session: int, folder: Path) -> bool:
    """Whether it is gone; it is never half gone."""
    left = memory.count(Where(session=f"s{session}"))
    assert left in (0, MANY)
    if left:
        assert memory.remember(secret(session, 1)).version == 1, "what is there is not refused"
        return False
    for number in (0, 1, MANY - 1):
        with pytest.raises(Refused):
            memory.remember(secret(session, number))
    assert f"secret{session}x".encode() not in bytes_beside(folder)
    return True


@pytest.mark.parametrize(("where", "gone"), [("write", False), ("scrub", True), ("log", True)])
def test_dying_at_a_point_leaves_all_or_nothing(
    start: Nursery, filled: Path, tmp_path: Path, where: str, gone: bool
) -> None:
    child = start(forget_and_die, filled, where)
    assert child.hear() == "begun"
    child.process.wait()
    with opened(str(filled)) as memory:
        assert check_session(memory, 1, tmp_path) is gone
        assert not check_session(memory, 0, tmp_path)
        assert memory.admin.check() == []
        assert not verbs.get_setting(memory.parts.store, "unclean")


def test_dying_at_any_moment_leaves_all_or_nothing(start: Nursery, filled: Path, tmp_path: Path) -> None:
    chance = random.Random(3)
    forgotten: set[int] = set()
    for _ in range(4):
        child = start(forget_all, filled)
        child.hear()
        time.sleep(chance.uniform(0.0, 0.4))
        child.kill()
        acknowledged = {told[1] for told in child.hear_rest() if told[0] == "done"}
        with opened(str(filled)) as memory:
            gone = {session for session in range(SESSIONS) if check_session(memory, session, tmp_path)}
            assert acknowledged | forgotten <= gone
            assert memory.admin.check() == []
        forgotten = gone
