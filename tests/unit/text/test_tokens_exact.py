"""Exact counters, and how far the estimate is from them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tokenizers import Tokenizer, models, pre_tokenizers

from eidet.core.errors import Misconfigured, MissingExtra
from eidet.text import tokens_exact
from eidet.text.tokens import Estimate, TokenCounter, counter_of, cut

with_splintr = pytest.mark.needs("splintr")

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
    counter = counter_of("llama")
    assert counter.count("") == 0
    assert counter.count("Hello world, this is Ann.") == 7
    assert counter.count("我") == 2, "a space and the sign"
    assert [counter.count(text) for text in TEXTS] == LLAMA_2


@with_splintr
@pytest.mark.parametrize(
    ("name", "counts"),
    [("o200k_base", [68, 73, 73, 66]), ("cl100k_base", [69, 93, 107, 66]), ("llama2", LLAMA_2)],
)
def test_splintr_counts_what_the_original_tokenizers_count(name: str, counts: list[int]) -> None:
    counter = counter_of(f"splintr:{name}")
    assert counter.count("") == 0
    assert [counter.count(text) for text in TEXTS] == counts


@with_splintr
def test_control_tokens_in_a_text_are_plain_text() -> None:
    assert counter_of("splintr:o200k_base").count("<|endoftext|>") > 1


@with_splintr
@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base", "llama3", "qwen3", "deepseek_v3", "gemma3"])
def test_the_estimate_is_hardly_ever_below_the_exact_count(name: str) -> None:
    exact = counter_of(f"splintr:{name}")
    for text in TEXTS:
        assert Estimate().count(text) >= 0.9 * exact.count(text)


@with_splintr
@pytest.mark.parametrize("name", ["cl100k_base", "llama3"])
def test_the_estimate_is_not_far_above_the_exact_count_for_english_and_code(name: str) -> None:
    exact = counter_of(f"splintr:{name}")
    for text in (ENGLISH, CODE):
        assert Estimate().count(text) <= 1.2 * exact.count(text)


def test_the_estimate_is_near_the_count_of_llama_2() -> None:
    for text in (ENGLISH, GERMAN, CODE):
        assert 0.85 <= Estimate().count(text) / counter_of("llama").count(text) <= 1.15


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


@pytest.mark.parametrize("spec", ["", "nope", "nope:x", "tiktoken:o200k_base", "splintr:", "file:"])
def test_an_unknown_counter_lists_the_known_ones(spec: str) -> None:
    with pytest.raises(Misconfigured, match="there are estimate, words, llama, splintr:NAME"):
        counter_of(spec)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_exact, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"pip install 'eidet\[splintr\]'"):
        counter_of("splintr:absent")


def test_without_the_llama_file_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_exact, "find_spec", lambda _: None)
    with pytest.raises(Misconfigured, match="pip install --force-reinstall wordllama=="):
        tokens_exact._llama_file()


@with_splintr
def test_an_unknown_vocabulary_is_misconfigured_with_the_known_ones() -> None:
    with pytest.raises(Misconfigured, match="o200k_base"):
        counter_of("splintr:nope")


def _exact_ones() -> list[TokenCounter]:
    specs = ["llama"] + (["splintr:o200k_base", "splintr:qwen3"] if find_spec("splintr") else [])
    return [counter_of(spec) for spec in specs]


exact_ones = st.deferred(lambda: st.sampled_from(_exact_ones()))
odd_text = st.text(st.characters(exclude_categories=()), max_size=60)


@settings(max_examples=examples(60), deadline=None)
@given(exact_ones, odd_text)
def test_any_text_can_be_counted(counter: TokenCounter, text: str) -> None:
    assert counter.count(text) >= bool(text)


@settings(max_examples=examples(60), deadline=None)
@given(
    exact_ones,
    st.lists(st.sampled_from([*ENGLISH.split(), *CHINESE, "\n", "  "]), max_size=30),
    st.integers(0, 25),
)
def test_a_cut_is_within_an_exact_budget(counter: TokenCounter, words: list[str], budget: int) -> None:
    assert counter.count(cut(" ".join(words), budget, counter)) <= budget


def test_half_a_surrogate_pair_costs_about_a_token() -> None:
    assert [counter.count("\ud800") for counter in _exact_ones()] == [1] * len(_exact_ones())


def test_many_threads_count_the_same() -> None:
    for counter in _exact_ones():
        with ThreadPoolExecutor(4) as pool:
            counts = list(pool.map(counter.count, TEXTS * 10))
        assert counts == [counter.count(text) for text in TEXTS] * 10
