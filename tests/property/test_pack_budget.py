"""A context never costs more than its budget, whatever is told and whoever counts."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from eidet import Draft, Memory
from eidet.model import Hit, Record
from eidet.recall.pack import line_of, pack
from eidet.text.tokens import Estimate, TokenCounter, Words, counter_of

often = settings(derandomize=True, deadline=None, max_examples=200)

COUNTERS: list[TokenCounter | Callable[[str], int]] = [
    Estimate(),
    Words(),
    Words(factor=0.1),
    len,
    lambda text: len(text.encode()),
    lambda text: len(text) // 4,
    lambda text: 7 if text else 0,
    lambda text: 10**9 if text else 0,
    lambda text: len(text) % 7,  # more text may cost less
    lambda text: len(text) ** 2,  # joined texts cost much more than apart
    lambda text: 0,
]
counters = st.sampled_from(COUNTERS)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["word " * 30, "日本語の文章はスペースを持たない", "🙂" * 20, "a" * 300, "\n\t \r\n", ""]
)
hits = st.lists(
    st.builds(
        lambda text, who, occurred: (text, who, occurred),
        texts,
        st.none() | st.sampled_from(["Ann", "日本"]),
        st.sampled_from([0.0, 1.7e9, -6e10, 2.5e11]),
    ),
    max_size=6,
).map(
    lambda found: [
        Hit(record=Record(id=f"{n}", scope="a", text=text, who=who, occurred=at), score=1.0)
        for n, (text, who, at) in enumerate(found)
    ]
)


@often
@given(hits, st.integers(1, 200), counters)
def test_a_pack_never_costs_more_than_its_budget(
    found: list[Hit], budget: int, spec: TokenCounter | Callable[[str], int]
) -> None:
    counter = counter_of(spec)
    context = pack(found, budget, counter)
    assert counter.count(context.text) == context.tokens <= budget == context.budget


@often
@given(hits, st.integers(1, 200), counters)
def test_every_hit_is_told_or_left_out(
    found: list[Hit], budget: int, spec: TokenCounter | Callable[[str], int]
) -> None:
    context = pack(found, budget, counter_of(spec))
    assert sorted(hit.id for hit in (*context.hits, *context.left_out)) == [hit.id for hit in found]
    if len(context.hits) > 1:
        assert all(line_of(hit.record) in context.text for hit in context.hits)


@often
@given(hits, st.integers(100_000, 200_000))
def test_what_fits_is_told_whole_in_the_order_it_happened(found: list[Hit], budget: int) -> None:
    context = pack(found, budget, Estimate())
    told = sorted(found, key=lambda hit: hit.record.occurred)
    assert context.left_out == ()
    assert str(context) == "\n".join(line_of(hit.record) for hit in told)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(st.lists(texts.filter(str.strip), max_size=8), st.integers(1, 60), counters)
def test_a_context_from_a_memory_keeps_to_its_budget(
    said: list[str], budget: int, spec: TokenCounter | Callable[[str], int]
) -> None:
    with Memory(embedder="hashing:16", clock=lambda: 1.7e9) as memory:
        memory.remember([Draft(text=text) for text in said])
        context = memory.context("word 日本語", budget=budget, counter=spec)
        assert counter_of(spec).count(context.text) <= budget
