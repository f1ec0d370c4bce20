"""What a question means, and that the caller's own arguments stand above its words."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest

from eidet import Memory
from eidet.models.embed.hashing import Hashing
from eidet.recall.participants import find_names, without
from eidet.recall.understand import FIRST, Understood, understand_query
from eidet.recall.understand import NOW as NOW_ASKED
from eidet.text.analysis import ACTOR, NAMED, NUMBERED, TIMED

NOW = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
VOICES = ("Ann Lee", "Bob", "", "user", "assistant", "Ann Smith", "Will")


def read(text: str, voices: tuple[str, ...] = VOICES) -> Understood:
    return understand_query(text, NOW, voices, "en")


# Names.


@pytest.mark.parametrize(
    ("text", "names", "dense"),
    [
        ("Where does Bob live?", ("Bob",), "Where does live"),
        ("where does bob live?", ("Bob",), "where does live"),
        ("What is Bob's dog called?", ("Bob",), "What is dog called"),
        ("What is Bob\u2019s dog called?", ("Bob",), "What is dog called"),
        ("Did Ann Smith meet Bob?", ("Ann Smith", "Bob"), "Did meet"),
        ("Did Bob meet Ann Lee?", ("Bob", "Ann Lee"), "Did meet"),
        ("What did Ann say?", ("Ann Lee", "Ann Smith"), "What did say"),
        ("Who is Bobby?", (), "Who is Bobby"),
        ("What did the user ask the assistant?", (), "What did the user ask the assistant"),
        ("Bob?", ("Bob",), "Bob"),
        ("Bob", ("Bob",), "Bob"),
        ("", (), ""),
    ],
)
def test_participants_are_found_and_left_out_of_the_vector(
    text: str, names: tuple[str, ...], dense: str
) -> None:
    found = read(text)
    assert (found.names, found.dense, found.text) == (names, dense, text)
    assert found.speaker == (names[0] if names else None)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("when will it rain?", ()),
        ("Will it rain?", ()),
        ("what does Will like?", ("Will",)),
        ("what is Will's dog called?", ("Will",)),
    ],
)
def test_a_name_that_is_a_common_word_needs_a_capital_inside_a_sentence(
    text: str, names: tuple[str, ...]
) -> None:
    assert read(text).names == names


@pytest.mark.parametrize(
    ("who", "text", "is_named"),
    [
        ("The Doctor", "what is the plan?", False),
        ("The Doctor", "what did the doctor say?", True),
        ("Dr. Who", "which dr. is it?", False),
        ("my agent", "where is my key?", False),
        ("C++ (old)", "who is c++ here?", True),
        ("a.b*", "tell a.b* so", True),
        ("a.b*", "tell acb so", False),
        ("  ", "what  is", False),
        ("J", "what does J say?", True),
    ],
)
def test_a_title_or_an_article_names_nobody_and_marks_are_plain(who: str, text: str, is_named: bool) -> None:
    assert find_names(text, (who,)) == ((who,) if is_named else ())


def test_a_name_that_is_another_ones_first_name_comes_first() -> None:
    assert find_names("what does Ann like?", ("Ann Lee", "Ann")) == ("Ann", "Ann Lee")
    assert find_names("what does Ann Lee like?", ("Ann Lee", "Ann")) == ("Ann Lee",)


def test_what_is_left_has_neither_names_nor_their_endings() -> None:
    assert without("Ann Lee's and lee's house, ANN!", ("Ann Lee",)) == "and house, !"


@pytest.mark.parametrize(
    "text",
    [
        "Did Bob fly to Lisbon on 1 May?",
        "What does Will like?",
        "On 3 March, what did Ann Lee sell?",
        "Which lessons did I write before March?",
        "How many weeks was I in Rome in July?",
        "What did you suggest for my back?",
        "May we grill on the balcony?",
    ],
)
def test_neither_case_nor_signs_change_what_is_understood(text: str) -> None:
    for other in (text.lower(), " ".join(word.strip("?,.") for word in text.split())):
        for part in ("names", "speaker", "expects", "several", "asks", "moment", "upcoming", "only_time"):
            assert getattr(read(other), part) == getattr(read(text), part), (other, part)
        assert [(one.first, one.last) for one in read(other).dates] == [
            (one.first, one.last) for one in read(text).dates
        ]


# What is asked for.


def day(*parts: int) -> int:
    return date(*parts).toordinal()


def test_times_are_meant_as_of_now() -> None:
    [one] = read("what happened yesterday?").dates
    assert (one.first, one.last) == (day(2023, 5, 7), day(2023, 5, 7))
    [one] = read("what happened in May?").dates
    assert one.yearless
    assert read("what happened?").dates == ()


# A part of what is understood -> questions, and what it is for each.
PARTS: dict[str, list[tuple[str, object]]] = {
    "speaker": [
        ("What did I say about my dog?", "user"),
        ("where do we live", "user"),
        ("What did you recommend?", "assistant"),
        ("What did you tell me?", "assistant"),
        ("What did you suggest for my back?", "assistant"),
        ("Did I ever mention your name?", "user"),
        ("Do you know my dog?", None),
        ("What was said?", None),
        ("What did I tell Bob?", "Bob"),
    ],
    "expects": [
        ("When did it rain?", TIMED),
        ("What year was it?", TIMED),
        ("How many days did it take?", TIMED),
        ("How many dogs are there?", NUMBERED),
        ("how old is he", NUMBERED),
        ("Who was it?", NAMED | ACTOR),
        ("Which door is it?", NAMED),
        ("What book did she read?", NAMED),
        ("Why did it rain?", 0),
    ],
    "several": [
        ("What instruments does she play?", True),
        ("Which cities has he seen?", True),
        ("What are her plans?", True),
        ("How many dogs?", True),
        ("list the dogs", True),
        ("What does she play?", False),
        ("What class is it?", False),
    ],
    "moment": [
        ("tracking number for Harriet's parcel", NOW_ASKED),
        ("what did the board decide?", ""),
        ("what's the code of the door?", NOW_ASKED),
        ("who's the chair?", NOW_ASKED),
        ("who chairs the board now?", NOW_ASKED),
        ("who chaired the board before?", FIRST),
    ],
    "only_time": [
        ("what happened on 10 April?", True),
        ("where was I yesterday?", True),
        ("what did Bob do on 10 April?", False),
        ("what did I eat on 10 April?", False),
        ("what happened?", False),
    ],
}


@pytest.mark.parametrize(
    ("part", "text", "meant"), [(part, *row) for part, rows in PARTS.items() for row in rows]
)
def test_a_question_means(part: str, text: str, meant: object) -> None:
    assert getattr(read(text), part) == meant


def test_a_letter_that_is_longer_in_lower_case_changes_nothing() -> None:
    text = "When did İpek leave Ankara?"
    odd, usual = read(text), read(text.replace("İ", "I"))
    assert usual.expects
    assert usual.asks
    assert replace(odd, text="", dense="") == replace(usual, text="", dense="")


def test_i_and_you_are_nobody_where_others_speak() -> None:
    for text, who in PARTS["speaker"]:
        assert read(text, ("Ann", "Bob")).speaker == (who if who == "Bob" else None)


def test_now_is_nothing_to_look_for_unless_nothing_else_is() -> None:
    assert read("who chairs the board now?").dense == "who chairs the board"
    assert read("what am I currently reading?").dense == "what am I currently reading"
    assert read("where am I now?").dense == "where am I now"


def test_phrases_are_what_is_quoted() -> None:
    assert read('who said "see you" or \u201cbye now\u201d?').phrases == ("see you", "bye now")
    assert read('an "x" only').phrases == ()
    assert read("it's Bob's").phrases == ()


def test_notes_tell_in_words_what_was_understood() -> None:
    found = read('facts: when did Bob say "hi there" to Carla yesterday?')
    assert found.notes() == (
        "about Bob",
        "'yesterday' is 2023-05-07",
        "asks for a time",
        "says 'hi there'",
    )
    assert read("what did I say?").notes() == ("said by user",)
    assert (
        read("what happened last month, list all of it").notes()[0]
        == "'last month' is 2023-04-01 to 2023-04-30"
    )


@pytest.mark.parametrize("part", ["a ", "what ", "A.", "session ", '"a" ', "1", "in May ", "Bob ", "\u0130"])
def test_a_query_of_a_million_characters_is_read_in_no_time(part: str) -> None:
    start = time.thread_time()
    read(part * (1_000_000 // len(part)))
    assert time.thread_time() - start < 5


# The caller's own arguments.


@pytest.fixture
def memory() -> Memory:
    memory = Memory(embedder="hashing:64", clock=NOW.timestamp)
    memory.remember(
        "we saw the sea", who="Bob", session="7", place=(1.0, 2.0), occurred="2023-05-07T10:00:00Z"
    )
    memory.remember(
        "we saw the lake", who="Cy", session="8", place=(9.0, 9.0), occurred="2023-01-07T10:00:00Z"
    )
    return memory


QUERY = "facts that Bob told yesterday of the sea in session 7"


def weighed(memory: Memory, query: str = QUERY, **how: Any) -> set[str]:
    trace = memory.recall(query, explain=True, **how).trace
    assert trace is not None
    return set(trace.weights)


def test_what_a_query_says_counts(memory: Memory) -> None:
    hits = memory.recall(QUERY, explain=True)
    assert hits[0].text == "we saw the sea"
    assert weighed(memory) >= {"speaker", "date", "asked"}
    assert hits.trace is not None
    assert "about Bob" in hits.trace.notes


@pytest.mark.parametrize(
    ("how", "unsaid"),
    [
        ({"who": "Bob"}, "speaker"),
        ({"since": "2020-01-01"}, "date"),
        ({"until": "2024-01-01"}, "date"),
    ],
)
def test_what_the_caller_says_stands_in_place_of_the_words(memory: Memory, how: Any, unsaid: str) -> None:
    assert unsaid not in weighed(memory, **how)


def test_a_session_that_the_caller_gives_is_no_signal(memory: Memory) -> None:
    assert "asked" not in weighed(memory, session="7")


def test_without_understanding_the_words_are_only_words(memory: Memory) -> None:
    assert weighed(memory, understand=False).isdisjoint({"speaker", "date", "asked", "form"})
    trace = memory.recall(QUERY, understand=False, explain=True).trace
    assert trace is not None
    assert trace.notes == ()
    assert "bob" in trace.terms


def test_the_query_is_embedded_without_who_speaks(memory: Memory) -> None:
    asked: list[str] = []

    class Noting(Hashing):
        def embed(self, texts: Sequence[str]) -> Any:
            asked.extend(texts)
            return super().embed(texts)

    with Memory(embedder=Noting(16)) as noted:
        noted.remember("I saw the lake", who="Bob", kind="message")
        asked.clear()
        for scope in ("default", "elsewhere"):
            noted.recall("what did Bob see?", scope=scope)
    assert asked == ["what did see", "what did Bob see"]


def test_last_week_is_meant_as_of_the_time_given(memory: Memory) -> None:
    then = memory.recall("what was yesterday?", now="2023-01-08T12:00:00Z", explain=True)
    assert then[0].text == "we saw the lake"
    assert then.trace is not None
    assert "'yesterday' is 2023-01-07" in then.trace.notes
