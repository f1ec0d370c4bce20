"""`memory.admin.sessions`: the sessions of a scope, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from eidet import BadInput, Memory

MAY = datetime(2026, 5, 1, 9, tzinfo=UTC).timestamp()
DAY = 86_400.0


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16") as opened:
        fill(opened)
        yield opened


def fill(memory: Memory) -> None:
    for at, session, text in (
        (
            MAY + DAY,
            "garden",
            "The oak needs water\nevery second day, and so do the roses beside the old gate wall",
        ),
        (MAY, "garden", "Shall we talk of the garden?"),
        (MAY + 2 * DAY, "boat", "The boat leaks"),
    ):
        memory.remember(text, kind="message", session=session, scope="ann", occurred=at)
    memory.remember("Ann likes tea", scope="ann")
    memory.remember("hello", kind="message", session="garden", scope="ann/work", occurred=MAY)
    memory.remember("secret", kind="message", session="hers", scope="bob")


def test_sessions_are_told_newest_first_with_their_first_words(memory: Memory) -> None:
    boat, garden = memory.admin.sessions("ann")
    assert (boat.session, boat.count, boat.first, boat.last) == ("boat", 1, MAY + 2 * DAY, MAY + 2 * DAY)
    assert (garden.session, garden.count, garden.first, garden.last) == ("garden", 2, MAY, MAY + DAY)
    assert garden.title == "Shall we talk of the garden?"
    assert garden.to_dict()["first"].startswith("2026-05-01T09:00:00")


def test_sessions_of_scopes_below_stay_apart(memory: Memory) -> None:
    found = [(one.scope, one.session, one.count) for one in memory.admin.sessions("ann/**")]
    assert found == [("ann", "boat", 1), ("ann", "garden", 2), ("ann/work", "garden", 1)]
    assert memory.admin.sessions() == []
    assert len(memory.admin.sessions("ann/**", limit=1)) == 1
    with pytest.raises(BadInput):
        memory.admin.sessions("ann", limit=0)


def test_what_is_in_quarantine_or_forgotten_is_not_told(memory: Memory) -> None:
    [leak] = memory.find(session="boat", scope="ann")
    memory.trust.quarantine(leak.id, scope="ann")
    assert [one.session for one in memory.admin.sessions("ann")] == ["garden"]
    memory.forget(session="garden", scope="ann")
    assert memory.admin.sessions("ann") == []


def test_a_long_beginning_is_cut_between_words(memory: Memory) -> None:
    memory.remember("word " * 40, kind="message", session="long", scope="c")
    memory.remember("x" * 200, kind="message", session="solid", scope="d")
    [long], [solid] = memory.admin.sessions("c"), memory.admin.sessions("d")
    assert long.title == "word " * 11 + "word…"
    assert solid.title == "x" * 60 + "…"
