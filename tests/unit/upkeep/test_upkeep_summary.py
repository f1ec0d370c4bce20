"""Summaries and gists: chosen sentences, in order, within the budget."""

from __future__ import annotations

import time

from eidet.models.embed.wordllama import WordLlama
from eidet.text.tokens import counter_of
from eidet.upkeep.summary import Passage, summarise

embed, count = WordLlama().embed, counter_of(None).count
TALK = [
    Passage(text="Hey Bob! How are you?", who="Ann", day="2026-05-08"),
    Passage(
        text="Hi! I adopted a dog called Rex from the shelter. He is so cute.", who="Bob", day="2026-05-08"
    ),
    Passage(text="Wow, that's great!", who="Ann", day="2026-05-08"),
    Passage(text="Rex is a dog from the shelter, I adopted him.", who="Bob", day="2026-05-08"),
    Passage(
        text="I signed the contract for the flat in Lisbon, 900 euros a month.", who="Ann", day="2026-05-09"
    ),
    Passage(text="Congrats! Talk to you soon.", who="Bob", day="2026-05-09"),
]


def test_what_fits_is_told_as_a_whole() -> None:
    whole = summarise(TALK, embed, 1_000)
    assert len(whole.splitlines()) == 6
    assert whole.splitlines()[:2] == [
        "[2026-05-08] Ann: Hey Bob! How are you?",
        "Bob: Hi! I adopted a dog called Rex from the shelter. He is so cute.",
    ]
    assert whole.splitlines()[4].startswith("[2026-05-09] Ann: I signed")


def test_the_topics_are_covered_and_repetitions_and_small_talk_left_out() -> None:
    short = summarise(TALK, embed, 60)
    assert "Rex" in short
    assert "Lisbon" in short
    assert "How are you" not in short
    assert not ("I adopted a dog" in short and "Rex is a dog" in short)


def test_sentences_keep_their_order_speakers_and_days() -> None:
    lines = summarise(TALK, embed, 60).splitlines()
    assert lines[0].startswith("[2026-05-08] Bob: ")
    assert lines[-1].startswith("[2026-05-09] Ann: ")


def test_where_no_sentence_fits_the_best_one_is_begun() -> None:
    text = "The committee of the northern harbour decided to rebuild the old lighthouse before winter comes."
    short = summarise([Passage(text=text)], embed, 8)
    assert text.startswith(short)
    assert 0 < count(short) <= 8


def test_scripts_without_spaces_are_summarised_too() -> None:
    text = "我在里斯本租了一套公寓。天气很好。房租每月九百欧元。今天天气也很好。你好吗？" * 3
    short = summarise([Passage(text=text)], embed, 40)
    assert 0 < count(short) <= 40
    assert all(part in text for part in short.split())


def test_two_thousand_sentences_take_less_than_a_second() -> None:
    said = [
        Passage(text=f"Ann visited place {n} with friend {n % 7} and paid {n} euros.") for n in range(2_000)
    ]
    start = time.thread_time()
    short = summarise(said, embed, 500)
    assert time.thread_time() - start < 3  # under 0.3 s when nothing else runs
    assert 400 < count(short) <= 500
