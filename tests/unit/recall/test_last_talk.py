"""Questions that ask for a talk and for nothing in it: the last session answers them, or the days named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from eidet import Memory, Where
from eidet.core.settings import Settings

NOW = datetime(2026, 6, 18, 12, tzinfo=UTC)  # a Thursday
DOG = ["I adopted a dog named Biscuit.", "What breed is it?", "A beagle from the shelter in Porto."]
TRIP = ["We fly to Kyoto in autumn.", "Book the ryokan early.", "I want to see the maple leaves."]


def read_questions(answers: set[str]) -> list[list[str]]:
    """The questions that one of the talks answers; "" is answered by none."""
    lines = Path(__file__).with_name("talk_questions.txt").read_text(encoding="utf-8").splitlines()
    rows = ([part.strip() for part in line.split("|")] for line in lines)
    return [row for row in rows if row[2] in answers]


def say(memory: Memory, session: str | None, when: datetime, texts: list[str]) -> None:
    for turn, text in enumerate(texts):
        role = "assistant" if turn % 2 else "user"
        at = when + timedelta(minutes=turn)
        memory.remember({"role": role, "content": text}, session=session, occurred=at)


def fill(memory: Memory) -> None:
    say(memory, "dog", NOW - timedelta(days=12), DOG)
    say(memory, "trip", NOW - timedelta(days=1), TRIP)
    memory.remember("Ann's gate code is 7731", occurred=NOW - timedelta(days=3))


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(clock=NOW.timestamp) as memory:
        fill(memory)
        yield memory


def texts(memory: Memory, query: str, **options: object) -> list[str]:
    return [hit.text for hit in memory.recall(query, **options)]  # type: ignore[arg-type]


@pytest.mark.parametrize(("language", "query", "answer"), read_questions({"trip", "dog"}))
def test_the_session_that_is_asked_for_answers_newest_first(language: str, query: str, answer: str) -> None:
    with Memory(clock=NOW.timestamp, embedder="hashing:16", settings=Settings(language=language)) as memory:
        fill(memory)
        assert texts(memory, query) == {"trip": TRIP, "dog": DOG}[answer][::-1]


@pytest.mark.parametrize(("language", "query", "answer"), read_questions({""}))
def test_a_question_with_a_word_of_its_own_is_searched_for(
    memory: Memory, language: str, query: str, answer: str
) -> None:
    hits = memory.recall(query, explain=True, least=0.0)
    assert hits.trace is not None
    assert hits.trace.searched == len(DOG) + len(TRIP) + 1
    assert not any("session" in hit.why() for hit in hits)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What did you say last?", [TRIP[1]]),
        ("What did I say last time?", [TRIP[2], TRIP[0]]),
        ("What did we talk about on 10 June?", []),
        ("What's new since 14 June?", [*TRIP[::-1], "Ann's gate code is 7731"]),
        ("What did we talk about lately?", [*TRIP[::-1], *DOG[::-1]]),
    ],
)
def test_other_days_and_speakers(memory: Memory, query: str, found: list[str]) -> None:
    assert texts(memory, query) == found


def test_every_hit_says_why_and_the_trace_what_was_understood(memory: Memory) -> None:
    hits = memory.recall("What did we talk about last time?", explain=True)
    assert {hit.why() for hit in hits} == {"from your last session, 17 June 2026"}
    assert hits.trace is not None
    assert "asks for the last session, newest first" in hits.trace.notes
    days = memory.recall("What did we talk about yesterday?")
    assert days[0].why() == "from 17 June 2026, within the time asked for"


def test_a_context_tells_the_talk_in_its_order(memory: Memory) -> None:
    told = memory.context("What did we talk about last time?").text
    assert [text for text in TRIP if text in told] == TRIP
    assert [told.index(text) for text in TRIP] == sorted(told.index(text) for text in TRIP)
    assert not any(text in told for text in DOG)


def test_the_session_under_way_is_left_out(memory: Memory) -> None:
    say(memory, "today", NOW - timedelta(minutes=3), ["Hello again.", "Hi! How can I help?"])
    assert texts(memory, "What did we talk about last time?") == TRIP[::-1]
    others = ~Where(session="trip")
    assert texts(memory, "What did we talk about last time?", where=others) == DOG[::-1]


def test_a_session_that_is_named_is_the_only_one(memory: Memory) -> None:
    assert texts(memory, "What did we talk about last time?", session="dog") == DOG[::-1]


def test_where_there_is_but_the_session_under_way_it_says_so() -> None:
    with Memory(clock=NOW.timestamp) as memory:
        say(memory, "today", NOW - timedelta(minutes=3), ["Hello.", "Hi!"])
        hits = memory.recall("What did we talk about last time?")
        assert [hit.text for hit in hits] == ["Hi!", "Hello."]
        assert hits[0].why() == "from this session, 18 June 2026; there is no earlier one"


def test_nothing_is_found_where_nothing_was_said() -> None:
    with Memory(clock=NOW.timestamp) as memory:
        assert texts(memory, "What did we talk about last time?") == []


def test_talks_without_a_session_are_told_apart_by_silence() -> None:
    with Memory(clock=NOW.timestamp) as memory:
        say(memory, None, NOW - timedelta(days=12), DOG)
        say(memory, None, NOW - timedelta(days=1), TRIP)
        assert texts(memory, "What did we talk about last time?") == TRIP[::-1]
        say(memory, None, NOW - timedelta(minutes=3), ["Hello again."])
        assert texts(memory, "What did we talk about last time?") == TRIP[::-1]


def test_notes_stand_for_a_talk_where_no_turn_is_stored(tmp_path: Path) -> None:
    with Memory(tmp_path / "notes.db", clock=NOW.timestamp) as memory:
        memory.remember("Ann likes tea", session="monday", occurred=NOW - timedelta(days=3))
        memory.remember("Ann moved to Porto", session="tuesday", occurred=NOW - timedelta(days=2))
        assert texts(memory, "What did we talk about last time?") == ["Ann moved to Porto"]


def test_the_newest_turns_of_a_long_session_are_shown(memory: Memory) -> None:
    say(memory, "long", NOW - timedelta(hours=5), [f"turn {n}" for n in range(30)])
    found = texts(memory, "What did we talk about last time?", limit=4)
    assert found == ["turn 29", "turn 28", "turn 27", "turn 26"]


def test_sessions_of_the_same_name_in_other_scopes_are_others() -> None:
    with Memory(clock=NOW.timestamp) as memory:
        memory.remember({"role": "user", "content": "Bob's turn"}, scope="acme/bob", session="chat")
        for scope, ago in (("acme/ann", 2), ("acme/bob", 3)):
            at = NOW - timedelta(days=ago)
            memory.remember(
                {"role": "user", "content": f"{scope} said"}, scope=scope, session="chat", occurred=at
            )
        assert texts(memory, "What did we talk about last time?", scope="acme/**") == ["acme/ann said"]


def test_what_does_not_read_the_question_searches_for_its_words(memory: Memory) -> None:
    assert texts(memory, "What did we talk about last time?", understand=False) != TRIP[::-1]


def test_as_of_an_earlier_time_the_talk_before_it_is_the_last(memory: Memory) -> None:
    then = NOW - timedelta(days=5)
    assert texts(memory, "What did we talk about last time?", as_of=then) == DOG[::-1]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("What did Leo say?", ["A quiet room, please.", "The team asks for bike parking."]),
        ("what has leo told us?", ["A quiet room, please.", "The team asks for bike parking."]),
        ("What did Leo talk about yesterday?", ["A quiet room, please."]),
        ("What did Leo say in our first session?", ["The team asks for bike parking."]),
    ],
)
def test_what_somebody_said_is_listed_newest_first(query: str, found: list[str]) -> None:
    with Memory(clock=NOW.timestamp) as memory:
        for days, session, leo in (
            (9, "a", "The team asks for bike parking."),
            (1, "b", "A quiet room, please."),
        ):
            turns = [("Sara", "Ben signs."), ("Leo", leo), ("Kim", "Leo collects the wishes.")]
            told = [{"role": "user", "name": who, "content": text} for who, text in turns]
            memory.remember(told, session=session, occurred=NOW - timedelta(days=days))
        assert texts(memory, query) == found
        assert texts(memory, "What was said about Leo?")[0] == "Leo collects the wishes."
