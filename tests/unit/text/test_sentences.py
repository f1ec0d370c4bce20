"""Where sentences end."""

from __future__ import annotations

import time

import pytest

from eidet.text.sentences import sentences


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        (" \n\n ", []),
        ("no mark at all", ["no mark at all"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("i went home. it was fun.", ["i went home.", "it was fun."]),
        ("What?! Yes.", ["What?!", "Yes."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("Dr. Ann met Mr. Bob.", ["Dr. Ann met Mr. Bob."]),
        ("Fruit, e.g. pears. And bread.", ["Fruit, e.g. pears.", "And bread."]),
        ("It cost 3.14 euros. Fine.", ["It cost 3.14 euros.", "Fine."]),
        (
            "J. K. Rowling wrote it. So did I. Then we ate.",
            ["J. K. Rowling wrote it.", "So did I.", "Then we ate."],
        ),
        ("At 5 p.m. we left. At 5 p.m. We left.", ["At 5 p.m. we left.", "At 5 p.m.", "We left."]),
        ("See No. 5. I said no. Then I left.", ["See No. 5.", "I said no.", "Then I left."]),
        ("Well... maybe. Well... Maybe.", ["Well... maybe.", "Well...", "Maybe."]),
        ("1. Buy milk\n2. Eat", ["1. Buy milk", "2. Eat"]),
        ("a line\nanother\r\n\r\nlast", ["a line", "another", "last"]),
        ("今日は。元気！「はい。」そう", ["今日は。", "元気！", "「はい。」", "そう"]),
        ("See example.com now. Ok.", ["See example.com now.", "Ok."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@pytest.mark.parametrize(
    "text", ["." * 50_000 + "x", "1. " * 30_000, "\n" * 50_000, '."' * 30_000, "J. " * 30_000]
)
def test_strange_text_takes_time_in_line_with_its_length(text: str) -> None:
    begun = time.thread_time()
    sentences(text)
    assert time.thread_time() - begun < 2
