"""What anybody tries first holds wherever a memory lives: a text finds itself, and its question finds it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contract.test_facts_on_stores import STORES
from tests.making import Clock, make_store
from tests.servers.served import serve_in_thread

from eidet import Hits, Memory

NOW = 1_730_000_000.0
TEXTS = (
    "foo",
    "bar",
    "Buy milk",
    "KeyError: 'rate'",
    "note 7",
    "note 17",
    "pip install eidet",
    "to be or not to be",
    "7",
    "3.14",
    "👍",
    "👎",
    "猫が好き",
    "犬が好き",
    "Tom is allergic to peanuts.",
    "Ann is allergic to cats.",
    "The spare key can be borrowed from Mrs. Okafor.",
    "Hi Lena, thanks for the soup! Where did you find the saffron?",
    "We leave for Bergen on 3 May and come back a week later.",
    "Invoice INV-2291 over 1,200 euros was paid late.",
    "more please",
    "The kiln was fired twice. " * 60 + "The last glaze was cobalt.",
)
WHETHER = {
    "Is Tom allergic to peanuts?": "Tom is allergic to peanuts.",
    "Is Ann allergic to cats?": "Ann is allergic to cats.",
    "Can the spare key be borrowed from Mrs. Okafor?": "The spare key can be borrowed from Mrs. Okafor.",
    "Was invoice INV-2291 over 1,200 euros paid late?": "Invoice INV-2291 over 1,200 euros was paid late.",
}
PLACES = (*STORES, "reopened", "server")


def fill(memory: Memory, order: tuple[int, ...] = tuple(range(len(TEXTS)))) -> Memory:
    memory.remember([TEXTS[at] for at in order], occurred=NOW)
    return memory


@pytest.fixture(scope="module")
def in_ram() -> Iterator[Memory]:
    with Memory(clock=Clock(NOW)) as memory:
        yield fill(memory)


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    if request.param == "server":
        with serve_in_thread(embedder="wordllama") as server, Memory(server.url) as opened:
            yield fill(opened)
        return
    if request.param == "reopened":
        with Memory(tmp_path / "memory.db", clock=Clock(NOW)) as opened:
            fill(opened)
        with Memory(tmp_path / "memory.db", clock=Clock(NOW)) as opened:
            yield opened
        return
    with Memory(make_store(request.param, tmp_path, request), clock=Clock(NOW)) as opened:
        yield fill(opened)


def test_a_text_finds_itself_and_a_question_its_statement(memory: Memory) -> None:
    for text in TEXTS:
        best = memory.recall(text)[0]
        assert (best.text, best.score >= 0.8) == (text.strip(), True), text
    for question, statement in WHETHER.items():
        best = memory.recall(question)[0]
        assert (best.text, best.score >= 0.6) == (statement, True), question


def test_every_place_answers_as_ram_does(memory: Memory, in_ram: Memory) -> None:
    for query in (*TEXTS, *WHETHER, "who lends keys?", "what makes Tom ill?"):
        assert rounded(memory.recall(query, now=NOW)) == rounded(in_ram.recall(query, now=NOW)), query


def rounded(hits: Hits) -> list[tuple[str, float]]:
    return [(hit.text, round(hit.score, 4)) for hit in hits]


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_writing_leaves_the_first_hit(in_ram: Memory, seed: int) -> None:
    order = random.Random(seed).sample(range(len(TEXTS)), len(TEXTS))
    with Memory(clock=Clock(NOW)) as other:
        fill(other, tuple(order))
        for query in (*TEXTS, *WHETHER):
            assert other.recall(query)[0].text == in_ram.recall(query)[0].text
