"""Summaries and gists: chosen sentences, in order, within the budget."""

from __future__ import annotations

import time

import pytest

from eidet.models.embed.hashing import Hashing
from eidet.models.embed.wordllama import WordLlama
from eidet.text.tokens import Estimate, Words
from eidet.upkeep.summary import Passage, gist, summarise

embed = WordLlama().embed
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
    assert whole.text.splitlines()[:2] == [
        "[2026-05-08] Ann: Hey Bob! How are you?",
        "Bob: Hi! I adopted a dog called Rex from the shelter. He is so cute.",
    ]
    assert whole.text.splitlines()[4].startswith("[2026-05-09] Ann: I signed")
    assert whole.sources == (0, 1, 2, 3, 4, 5)


def test_the_topics_are_covered_and_repetitions_and_small_talk_left_out() -> None:
    short = summarise(TALK, embed, 60)
    assert "Rex" in short.text
    assert "Lisbon" in short.text
    assert "How are you" not in short.text
    assert not {1, 3} <= set(short.sources)


def test_sentences_keep_their_order_speakers_and_days() -> None:
    lines = summarise(TALK, embed, 60).text.splitlines()
    assert lines[0].startswith("[2026-05-08] Bob: ")
    assert lines[-1].startswith("[2026-05-09] Ann: ")


def test_what_was_said_first_is_told_first() -> None:
    said = [f"Ann visited place {n} with friend {n % 7} and paid {n * n} euros." for n in range(60)]
    told = summarise(said, embed, 200).text.splitlines()
    assert len(told) > 5
    assert told == [sentence for sentence in said if sentence in told]


def test_a_day_is_written_only_where_it_changes() -> None:
    said = [Passage(text=f"Ann paid invoice {n}.", who="Ann", day="2026-05-08") for n in range(3)]
    assert summarise(said, embed, 1_000).text.count("[2026-05-08]") == 1


def test_plain_texts_need_no_speaker() -> None:
    assert summarise(["Ann lives in Lisbon.", "Bob lives in Rome."], embed, 100).text == (
        "Ann lives in Lisbon.\nBob lives in Rome."
    )


def test_the_same_is_summarised_the_same() -> None:
    assert summarise(TALK, embed, 40) == summarise(TALK, embed, 40)


@pytest.mark.parametrize("nothing", [[], [""], ["  \n "], [Passage(text="", who="Ann")]])
def test_nothing_said_is_nothing_summarised(nothing: list[Passage | str]) -> None:
    assert summarise(nothing, embed, 50).text == ""


@pytest.mark.parametrize("budget", [0, -5])
def test_no_budget_no_text(budget: int) -> None:
    assert summarise(TALK, embed, budget).text == ""


def test_where_no_sentence_fits_the_best_one_is_begun() -> None:
    text = "The committee of the northern harbour decided to rebuild the old lighthouse before winter comes."
    short = summarise([text], embed, 8)
    assert text.startswith(short.text)
    assert 0 < short.tokens <= 8
    assert short.sources == (0,)


def test_a_sentence_that_fits_is_better_than_the_beginning_of_one_that_does_not() -> None:
    long = [
        f"The lighthouse of Lisbon was rebuilt in {year} by Ann Smith, who paid 1,200 euros to Bob Jones."
        for year in range(1900, 1906)
    ]
    assert summarise([*long, "It is in the north."], embed, 12).text == "It is in the north."


def test_scripts_without_spaces_are_summarised_too() -> None:
    text = "我在里斯本租了一套公寓。天气很好。房租每月九百欧元。今天天气也很好。你好吗？" * 3
    short = summarise([text], embed, 40)
    assert 0 < short.tokens <= 40
    assert all(part in text for part in short.text.split())


def test_a_table_without_sentence_ends_is_read_in_pieces() -> None:
    short = summarise(["cell " * 20_000], embed, 50)
    assert 0 < short.tokens <= 50


def test_two_thousand_sentences_take_less_than_a_second() -> None:
    said = [
        Passage(text=f"Ann visited place {n} with friend {n % 7} and paid {n} euros.") for n in range(2_000)
    ]
    start = time.thread_time()
    short = summarise(said, embed, 500)
    assert time.thread_time() - start < 3  # under 0.3 s when nothing else runs
    assert 400 < short.tokens <= 500


def test_ten_thousand_sentences_are_covered_from_end_to_end() -> None:
    said = [f"Ann visited place {n} and paid {n} euros." for n in range(10_000)]
    short = summarise(said, Hashing(64).embed, 1_000)
    assert short.tokens <= 1_000
    assert len(short.sources) > 20


def test_days_cost_as_well() -> None:
    said = [Passage(text=f"Ann paid invoice {n}.", who="Ann", day=f"2026-05-{n + 1:02}") for n in range(30)]
    assert summarise(said, embed, 100).tokens <= 100


def test_a_short_text_is_its_own_gist() -> None:
    text = "Ann lives in Lisbon.\n\n  She has two cats. "
    assert gist(text, embed) == text


def test_a_long_text_has_a_short_gist_of_its_own_sentences() -> None:
    said = [f"The harbour of town {n} was rebuilt in {1900 + n} after a storm." for n in range(50)]
    told = gist(" ".join(said), embed, 40)
    assert 0 < Estimate().count(told) <= 40
    assert all(sentence.strip(". ") in " ".join(said) for sentence in told.split(". "))
    assert told.startswith("The harbour of town")
    assert "\n" not in told


def test_a_gist_is_counted_as_the_caller_counts() -> None:
    told = gist("one two three. four five six. seven eight nine.", embed, 4, Words(factor=1))
    assert told in {"one two three.", "four five six.", "seven eight nine."}
