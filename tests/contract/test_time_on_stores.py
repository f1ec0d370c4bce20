"""Questions about a time or a session: which record comes first and which never come, on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.making import make_store
from tests.servers.pinecone import Pinecone

from eidet import Memory
from eidet.core.settings import Settings
from eidet.models.embed.hashing import Hashing

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday
WIDTH = 16
INDEXES = ("pgvector", "a vector database")

DIARY = {
    "The dentist appointment is on 19 November at nine.": "2026-11-01",
    "We hiked up Monte Rosa.": "2026-11-14",
    "We repaired the boiler.": "2026-11-10",
    "The office is closed from 1 to 14 December.": "2026-11-05",
    "The office is closed for inventory on 3 January.": "2026-11-05",
    "The office got new chairs.": "2026-11-06",
    "Signed the lease for the studio.": "2026-03-03",
    "Painted the studio.": "2026-03-20",
    "Maya's recital was on May twenty-fifth.": "2026-06-02",
    "The conference in Lisbon is on 10 January 2027.": "2026-10-02",
    "The conference in Oslo was on 10 September 2026.": "2026-08-02",
    "Ben's visit is from Monday to Wednesday next week.": "2026-11-17",
}
OF_TIME = [
    ("What do I have tomorrow?", ["dentist"], ["boiler", "Oslo"]),
    ("What did we do last weekend?", ["Monte Rosa"], ["boiler", "visit"]),
    ("What happened in the first week of March?", ["lease"], ["Painted", "office"]),
    ("What did we do in March?", ["lease", "Painted"], ["office", "boiler", "recital"]),
    ("What was on May twenty-fifth?", ["recital"], ["lease", "Oslo"]),
    ("Is the office open on 5 December?", ["1 to 14 December"], []),
    ("Is the office closed on 3 January?", ["3 January"], []),
    ("What's happening on 5 December?", ["1 to 14 December"], ["3 January", "chairs"]),
    ("What's on the calendar for 14 December?", ["1 to 14 December"], ["3 January"]),
    ("What is coming up in the next two months?", [""], ["Oslo", "Rosa", "lease"]),
    ("Which conferences are coming up in the next two months?", ["Lisbon"], ["Oslo"]),
    ("Which conferences are coming up?", ["Lisbon"], ["Oslo"]),
    ("What's coming up?", [""], ["Oslo", "chairs", "recital"]),
]

TALKS = ["sailing", "bread", "taxes", "violins", "beetles", "castles"]
OF_SESSIONS = [
    ("What did we discuss in our first session?", [1]),
    ("What did we talk about in our 3rd conversation?", [3]),
    ("What did we discuss in session 4?", [4]),
    ("What did we discuss two sessions ago?", [5]),
    ("What did we talk about 6 sessions back?", [1]),
    ("What did we discuss in the last session?", [6]),
    ("What did we discuss in the second to last session?", [5]),
    ("What did we discuss in the second-to-last session?", [5]),
    ("What did we discuss in the session before last?", [5]),
    ("What did we talk about over sessions 2 through 4?", [2, 3, 4]),
    ("What did we chat about from the first through third sessions?", [1, 2, 3]),
    ("What did we discuss in sessions 2 and 5?", [2, 5]),
    ("What did we discuss in the last two sessions?", [5, 6]),
    ("What did we discuss in our first two talks?", [1, 2]),
    ("What did we discuss in our 7th session?", []),
    ("What did we discuss 7 sessions ago?", []),
]


def remember_talks(memory: Memory, scope: str = "default") -> None:
    """Stored in another order than they happened, under names that say nothing of it."""
    for number in (4, 1, 6, 2, 5, 3):
        start = NOW - timedelta(days=2 * (7 - number))
        for turn in range(3):
            memory.remember(
                f"Turn {turn} about {TALKS[number - 1]}.",
                scope=scope,
                kind="message",
                session=f"{TALKS[number - 1]}-{scope}",
                occurred=start + timedelta(minutes=turn),
            )


@pytest.fixture
def pinecone() -> Iterator[str]:
    server = Pinecone(WIDTH)
    yield f"pinecone+{server.url}?key={server.key}&small=0&ship_rows=1&background=no&settle=0"
    server.stop()


@pytest.fixture(params=[*STORES, *INDEXES])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    """Nothing stays in RAM where a server is to search."""
    index, store = "embedded", request.param
    if store == "pgvector":
        index, store = "pgvector://?from_records=1&tail=0&background=no", "postgres"
    elif store == "a vector database":
        index, store = request.getfixturevalue("pinecone"), "ram"
    with Memory(
        make_store(store, tmp_path, request),
        embedder=Hashing(WIDTH),
        clock=NOW.timestamp,
        settings=Settings(index=index),
    ) as opened:
        yield opened


def list_ids(memory: Memory, question: str) -> list[str]:
    return [hit.id for hit in memory.recall(question)]


def test_a_question_about_a_time_means_that_time(memory: Memory) -> None:
    for text, day in DIARY.items():
        memory.remember(text, occurred=f"{day}T10:00:00Z")
    wrong = []
    for question, first, never in OF_TIME:
        texts = [hit.text for hit in memory.recall(question)]
        best = [any(word in text for text in texts[: len(first)]) for word in first]
        if not all(best) or any(word in text for word in never for text in texts):
            wrong.append((question, texts))
    assert wrong == []
    before = {question: list_ids(memory, question) for question, _, _ in OF_TIME}
    memory.admin.rebuild()
    assert {question: list_ids(memory, question) for question, _, _ in OF_TIME} == before
    for question in ("What is coming up in the next two months?", "What's coming up?"):
        coming = " ".join(hit.text for hit in memory.recall(question))
        assert all(word in coming for word in ("dentist", "1 to 14", "3 January", "Lisbon", "visit"))


def test_sessions_are_counted_by_when_they_began(memory: Memory) -> None:
    remember_talks(memory)
    remember_talks(memory, "other")
    wrong = []
    for question, numbers in OF_SESSIONS:
        hits = memory.recall(question, limit=20)
        expected = {f"Turn {turn} about {TALKS[number - 1]}." for number in numbers for turn in range(3)}
        if {hit.text for hit in hits} != expected or {hit.record.scope for hit in hits} > {"default"}:
            wrong.append((question, [hit.text for hit in hits]))
    assert wrong == []


def test_a_question_with_a_subject_prefers_the_session_it_counts(memory: Memory) -> None:
    remember_talks(memory)
    for number, price in ((2, 12), (5, 40)):
        memory.remember(
            f"The flour costs {price} euros.",
            kind="message",
            session=f"{TALKS[number - 1]}-default",
            occurred=NOW - timedelta(days=2 * (7 - number)) + timedelta(minutes=9),
        )
    for question, price in (
        ("What did the flour cost in our second session?", 12),
        ("What did the flour cost two sessions ago?", 40),
        ("In the second to last session, what did the flour cost?", 40),
    ):
        hit = memory.recall(question)[0]
        assert hit.text == f"The flour costs {price} euros."
        assert f"from session {2 if price == 12 else 5} of 6" in hit.why()
