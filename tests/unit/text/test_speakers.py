"""Texts that begin with a speaker are told by whom and when; what only looks like one is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, Clock, examples

from eidet import Draft, Memory, Settings
from eidet.core.validate import moment
from eidet.exchange import import_memories
from eidet.models.embed.hashing import Hashing

SPEAKERS = [
    ("[2026-05-08] Ann: I moved.", "Ann", "2026-05-08"),
    ("[2026-05-08 10:30] Ann Lee: I moved.", "Ann Lee", "2026-05-08 10:30"),
    ("[2026-05-08T10:30:00+00:00] O'Brien: Hi.", "O'Brien", "2026-05-08T10:30Z"),
    ("  [2026-05-08] Jean-Luc McDonald:\n Hello.", "Jean-Luc McDonald", "2026-05-08"),
    ("[2026-05-08] Dr. José Müller: Guten Tag.", "Dr. José Müller", "2026-05-08"),
]
TWICE = ["Ann: I moved.", "Ann Lee: Really?", "Assistant: Noted.", "Ann: Yes."]
LABELS = [
    *("Note: buy milk", "TODO: buy milk", "http://example.org: a page", "KeyError: 'x'", "12:30: lunch"),
    *("Warning: hot", "Side Note: see below", "Sunday: rest", "ann: hi", "Ann Bea Cleo Dora: hi", "Ann:hi"),
    *("Ann says: hi", "[draft one] Ann: hi", "[2026-13-45] Ann: hi", "[2026-05-08] Note: buy milk", "Ann:"),
    *("[2026-05-08] it rained", "The Plan: leave early", "JSON: {}", "Ann", " : x"),
]


def open_memory(place: Path | None = None, **chosen: bool | None) -> Memory:
    return Memory(place, embedder=Hashing(16), settings=Settings(**chosen), clock=Clock(NOW))  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "who", "when"), SPEAKERS)
def test_a_date_and_a_name_are_read_and_the_text_is_kept(text: str, who: str, when: str) -> None:
    with open_memory(read_speakers=True) as memory:
        record = memory.remember(text)
        assert (record.text, record.who, record.occurred) == (text, who, moment(when))


def test_a_name_counts_if_it_begins_several_texts_or_is_known_in_the_scope() -> None:
    with open_memory(read_speakers=True) as memory:
        assert [one.who for one in memory.remember(TWICE)] == ["Ann", None, None, "Ann"]
        assert memory.remember("Ann: And I like it.").who == "Ann"
        assert memory.remember("Ann: And I like it.", scope="other").who is None


@pytest.mark.parametrize("text", LABELS)
def test_what_is_no_speaker_is_left_alone(text: str) -> None:
    with open_memory(read_speakers=True) as memory:
        stored = memory.remember([text, f"{text} ", text], keep_duplicates=True)
        assert {(one.who, one.occurred) for one in stored} == {(None, NOW)}


@pytest.mark.parametrize(
    ("setting", "asked", "reads"),
    [(None, False, False), (None, True, True), (True, False, True), (False, True, False)],
)
def test_the_setting_decides_and_without_one_the_caller(
    setting: bool | None, asked: bool, reads: bool
) -> None:
    with open_memory(read_speakers=setting) as memory:
        record = memory.remember("[2026-05-08] Ann: I moved.", read_speakers=asked)
        assert record.who == ("Ann" if reads else None)


def test_what_a_caller_says_wins() -> None:
    with open_memory(read_speakers=True) as memory:
        record = memory.remember(Draft(text="[2026-05-08] Ann: I moved.", who="Bob"))
        assert (record.who, record.occurred) == ("Bob", NOW)
        assert memory.remember("[2026-05-08] Ann: I moved.", occurred=5.0).occurred == 5.0


@pytest.mark.parametrize("setting", [None, False])
def test_an_import_reads_speakers_unless_the_setting_says_no(setting: bool | None, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text("\n".join(json.dumps({"text": text}) for text in TWICE))
    with open_memory(read_speakers=setting) as memory:
        import_memories(memory, "jsonl", file)
        assert memory.count(who="Ann") == (2 if setting is None else 0)
        assert {one.text for one in memory.find()} == set(TWICE)


def test_a_context_names_the_speaker_once() -> None:
    with open_memory(read_speakers=True) as memory:
        memory.remember("[2026-05-08] Ann: I moved to Porto.")
        assert memory.context("Who moved to Porto?").text.count("Ann:") == 1


speech = st.text(alphabet="AnBob: []2026-05.\n", max_size=30).filter(str.strip)


@given(st.lists(speech, min_size=1, max_size=4))
@settings(deadline=None, max_examples=examples(200))
def test_no_text_is_lost_or_refused(texts: list[str]) -> None:
    with open_memory(read_speakers=True) as memory:
        assert [one.text for one in memory.remember(texts, keep_duplicates=True)] == texts
