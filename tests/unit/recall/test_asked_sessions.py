"""Questions that count or name sessions: what counts as one, in which order, and in which languages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eidet import Memory
from eidet.core.settings import Settings

NOW = datetime(2026, 6, 18, 12, tzinfo=UTC)
TALKS = ("sailing", "bread", "taxes", "violins")


def fill(memory: Memory, names: tuple[str, ...] = TALKS, last: timedelta = timedelta(hours=3)) -> None:
    """Four talks, a week apart; the last of them ended so long ago."""
    for at, topic in enumerate(TALKS):
        start = NOW - last - timedelta(weeks=len(TALKS) - 1 - at)
        for turn in (1, 0):
            memory.remember(
                {"role": "user", "content": f"Turn {turn} on {topic}."},
                session=names[at],
                occurred=start - timedelta(minutes=turn),
            )


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(clock=NOW.timestamp, embedder="hashing:16") as memory:
        fill(memory)
        yield memory


def topics(memory: Memory, question: str, **how: object) -> list[str]:
    """Of the hits, in the order of the talks."""
    texts = " ".join(hit.text for hit in memory.recall(question, **how))  # type: ignore[arg-type]
    return [topic for topic in TALKS if topic in texts]


def test_each_hit_says_which_session_it_is_from(memory: Memory) -> None:
    hits = memory.recall("What did we discuss in our second session?", explain=True)
    assert [hit.text for hit in hits] == ["Turn 0 on bread.", "Turn 1 on bread."]
    assert hits[0].why() == "from session 2 of 4, 4 June 2026"
    assert hits.trace is not None
    assert hits.trace.notes[-2:] == ("in session 2 of 4", "asks for what was said in it, newest first")


def test_beyond_the_sessions_there_are_nothing_comes_and_the_trace_says_so(memory: Memory) -> None:
    hits = memory.recall("What did we discuss 9 sessions ago?", explain=True)
    assert list(hits) == []
    assert hits.trace is not None
    assert "asks for a session that is not there: there are 4" in hits.trace.notes


@pytest.mark.parametrize(
    ("quiet", "last", "two_ago"),
    [
        (timedelta(minutes=2), ["taxes"], ["bread"]),
        (timedelta(minutes=5), ["violins"], ["taxes"]),
        (timedelta(hours=3), ["violins"], ["taxes"]),
    ],
)
def test_the_session_under_way_is_not_counted_from_the_end(
    quiet: timedelta, last: list[str], two_ago: list[str]
) -> None:
    with Memory(clock=NOW.timestamp, embedder="hashing:16") as memory:
        fill(memory, last=quiet)
        for question in (
            "What did we discuss in the last session?",
            "What did we talk about last time?",
            "What did we discuss one session ago?",
        ):
            assert topics(memory, question) == last
        assert topics(memory, "What did we discuss two sessions ago?") == two_ago
        assert topics(memory, "What did we discuss in our fourth session?") == ["violins"]


def test_only_what_had_happened_by_then_is_counted(memory: Memory) -> None:
    then = NOW - timedelta(days=10)
    assert topics(memory, "What did we discuss one session ago?", now=then) == ["bread"]
    assert topics(memory, "What did we talk about last time?", now=then) == ["bread"]
    assert topics(memory, "What did we discuss in our third session?", now=then) == []
    hit = memory.recall("What did we discuss in our first session?", now=then)[0]
    assert hit.why().startswith("from session 1 of 2")


def test_a_number_is_a_label_before_it_is_a_place_in_the_order() -> None:
    with Memory(clock=NOW.timestamp, embedder="hashing:16") as memory:
        fill(memory, ("session-3", "s-17", "chat-2024-05-01", "last"))
        assert topics(memory, "What did we discuss in session 3?") == ["sailing"]
        assert topics(memory, "What did we discuss in our third session?") == ["taxes"]
        assert topics(memory, "What did we discuss in session 2?") == ["bread"]
        assert topics(memory, "What did we discuss in session s-17?") == ["bread"]
        assert topics(memory, "What did we discuss in chat 2024-05-01?") == ["taxes"]


def test_the_caller_says_which_session_and_the_words_do_not(memory: Memory) -> None:
    assert topics(memory, "What did we discuss in our first session?", session="taxes") in ([], ["taxes"])


@pytest.mark.parametrize(
    "question",
    [
        "When did we first talk about bread?",
        "What did we last chat about?",
        "Was my first session with the therapist in May?",
        "Did Ann book a session?",
    ],
)
def test_other_questions_are_searched_for(question: str) -> None:
    with Memory(clock=NOW.timestamp, embedder="hashing:16") as memory:
        memory.remember("My first session with the therapist was in May.", occurred=NOW - timedelta(days=9))
        memory.remember("Ann booked a session.", occurred=NOW - timedelta(days=9))
        memory.remember("We baked bread.", occurred=NOW - timedelta(days=9))
        assert not any("from session" in hit.why() for hit in memory.recall(question))


def read_questions() -> list[list[str]]:
    lines = Path(__file__).with_name("talk_questions.txt").read_text(encoding="utf-8").splitlines()
    rows = ([part.strip() for part in line.split("|")] for line in lines)
    return [row for row in rows if row[2].split()[:1] and row[2].split()[0] in TALKS]


@pytest.mark.parametrize(("language", "question", "found"), read_questions())
def test_other_languages_count_too(language: str, question: str, found: str) -> None:
    with Memory(clock=NOW.timestamp, embedder="hashing:16", settings=Settings(language=language)) as memory:
        fill(memory)
        assert topics(memory, question) == found.split()
