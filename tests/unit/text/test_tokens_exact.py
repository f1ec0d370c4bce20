"""Exact counters, and how far the estimate is from them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.tokenizer_file import LLAMA
from tokenizers import Tokenizer, models, pre_tokenizers

from eidet.core.errors import Misconfigured
from eidet.text.tokens import Estimate, counter_of, cut

ENGLISH = (
    "Hey Ann! Yesterday we finally moved into the workshop in Lisbon, and the first thing I did was to "
    "put the oak table next to the window. It's wonderful: there is light until eight, the neighbours are "
    "friendly, and nobody minds the noise of the saw. Could you remind me next Monday to order varnish and "
    "new brushes? "
)
GERMAN = (
    "Gestern sind wir endlich in die Werkstatt in Lissabon eingezogen, und zuerst habe ich den Eichentisch "
    "neben das Fenster gestellt. Es ist wunderschön: bis acht Uhr ist es hell, die Nachbarn sind "
    "freundlich, und niemand stört sich am Lärm der Säge. Könntest du mich nächsten Montag an die "
    "Bestellung erinnern? "
)
CHINESE = (
    "昨天我们终于搬进了里斯本的工作室,我做的第一件事就是把橡木桌放到窗边。那里一直到八点都有阳光,"
    "邻居们很友好,没有人介意锯子的声音。下周一你能提醒我订购清漆和新刷子吗?"
)
CODE = (
    "def total(orders: list[Order], *, since: datetime) -> Decimal:\n"
    '    """What the orders since then cost."""\n'
    "    found = [order.price * order.count for order in orders if order.placed >= since]\n"
    "    return sum(found, start=Decimal(0)).quantize(Decimal('0.01'))\n"
)
TEXTS = [ENGLISH, GERMAN, CHINESE, CODE]
LLAMA_2 = [79, 97, 122, 78]


def test_llama_counts_as_llama_2_does() -> None:
    counter = counter_of(LLAMA)
    assert counter.count("") == 0
    assert counter.count("Hello world, this is Ann.") == 7
    assert counter.count("我") == 2, "a space and the sign"
    assert [counter.count(text) for text in TEXTS] == LLAMA_2


def test_the_estimate_is_near_the_count_of_llama_2() -> None:
    for text in (ENGLISH, GERMAN, CODE):
        assert 0.85 <= Estimate().count(text) / counter_of(LLAMA).count(text) <= 1.15


def test_a_tokenizer_file_is_read_from_its_path(tmp_path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "ann": 1}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.enable_padding(length=50)
    tokenizer.enable_truncation(2)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    assert counter_of(f"file:{path}").count("ann and bob") == 3, "neither padded nor cut off"


def test_a_file_that_is_none_is_misconfigured(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="there is no tokenizer file"):
        counter_of(f"file:{tmp_path}/absent.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(Misconfigured, match="not a tokenizer in Hugging Face format"):
        counter_of(f"file:{tmp_path}/bad.json")


@pytest.mark.parametrize("spec", ["", "nope", "nope:x", "tiktoken:o200k_base", "file:"])
def test_an_unknown_counter_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(Misconfigured, match="there are estimate, words and file:PATH"):
        counter_of(spec)


odd_text = st.text(st.characters(exclude_categories=()), max_size=60)


@settings(max_examples=examples(60), deadline=None)
@given(odd_text)
def test_any_text_can_be_counted(text: str) -> None:
    assert counter_of(LLAMA).count(text) >= bool(text)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.sampled_from([*ENGLISH.split(), *CHINESE, "\n", "  "]), max_size=30), st.integers(0, 25))
def test_a_cut_is_within_an_exact_budget(words: list[str], budget: int) -> None:
    counter = counter_of(LLAMA)
    assert counter.count(cut(" ".join(words), budget, counter)) <= budget


def test_half_a_surrogate_pair_costs_about_a_token() -> None:
    assert counter_of(LLAMA).count("\ud800") == 1


def test_many_threads_count_the_same() -> None:
    counter = counter_of(LLAMA)
    with ThreadPoolExecutor(4) as pool:
        counts = list(pool.map(counter.count, TEXTS * 10))
    assert counts == [counter.count(text) for text in TEXTS] * 10
