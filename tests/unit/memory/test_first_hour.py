"""What newcomers try first: it works, or an error names what was given and what to write instead."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from eidet import BadInput, EidetError, Kind, Memory, Misconfigured

ODD: Any = {"userid": "ann"}
FIRST: list[tuple[Callable[[Memory], object], type[EidetError], str]] = [
    (
        lambda memory: memory.remember({"role": "user"}),
        BadInput,
        r"a message needs content .* only \['role'\]",
    ),
    (
        lambda _: Memory(embedder="hashing:16", guard="redakt"),
        BadInput,
        "guard has the unknown action 'redakt'; there are off",
    ),
    (
        lambda _: Memory("mysql://host/name"),
        Misconfigured,
        "no store has addresses that begin with 'mysql'.*postgresql://",
    ),
    (lambda memory: memory.recall("x", **ODD), BadInput, r"\blimit\b.*\bscope\b.*\bwhere\b"),
    (lambda memory: memory.find(**ODD), BadInput, r"\blimit\b.*\bscope\b.*\bwhere\b"),
    (lambda memory: memory.context("x", **ODD), BadInput, r"\bbudget\b.*\blimit\b.*\bscope\b"),
]


@pytest.mark.parametrize(("ask", "kind", "why"), FIRST, ids=range(len(FIRST)))
def test_an_early_error_says_what_to_write(
    ask: Callable[[Memory], object], kind: type[EidetError], why: str
) -> None:
    with Memory(embedder="hashing:16") as memory, pytest.raises(kind, match=why):
        ask(memory)


def test_a_state_may_have_a_role() -> None:
    with Memory(embedder="hashing:16") as memory:
        stored = memory.remember({"role": "guard", "health": 3})
        assert (stored.kind, stored.data) == ("state", {"role": "guard", "health": 3})


def test_find_says_that_there_are_more_and_gives_all(memory: Memory) -> None:
    memory.remember([f"note {number}" for number in range(130)])
    assert (len(memory.find()), memory.find().more) == (100, True)
    assert (len(memory.find(limit=None)), memory.find(limit=None).more) == (130, False)
    assert memory.find(limit=10, offset=120).more is False


def test_find_orders_by_values_of_data(memory: Memory) -> None:
    for price in (3, 1, "two", None, 2.5):
        memory.remember(f"costs {price}", data={"price": price})
    memory.remember("has no price")
    rising = [record.text for record in memory.find(order="data.price")]
    assert rising == ["costs 1", "costs 2.5", "costs 3", "costs two", "costs None", "has no price"]
    falling = [record.text for record in memory.find(order="-data.price", limit=2)]
    assert falling == ["costs two", "costs 3"]
    with pytest.raises(BadInput, match=r"paths such as data\.price"):
        memory.find(order="colour")


def test_a_context_leaves_out_what_scores_low(memory: Memory) -> None:
    memory.remember(["Ann lives in Lisbon", "The kettle is new", "Rain is due on Friday"])
    everything = memory.context("Where does Ann live?", least=0)
    assert "Lisbon" in str(everything)
    assert str(memory.context("Where does Ann live?", least=1)) == ""
    with pytest.raises(BadInput, match="least"):
        memory.context("Where does Ann live?", least=2)


def test_a_role_and_a_text_are_a_message(memory: Memory) -> None:
    record = memory.remember({"role": "user", "text": "I live in Lisbon", "mood": "calm"})
    assert (record.kind, record.who, record.text) == (Kind.MESSAGE, "user", "I live in Lisbon")
    assert record.data == {"role": "user", "mood": "calm"}


def test_a_context_names_the_agent_where_nobody_else_spoke(memory: Memory) -> None:
    memory.remember("The gateway runs version 7", agent="scout")
    memory.remember("The gateway is slow", who="Ann", agent="scout")
    packed = str(memory.context("What about the gateway?"))
    assert "scout: The gateway runs version 7" in packed
    assert "Ann: The gateway is slow" in packed


def test_a_memory_has_a_reranker_of_its_own() -> None:
    texts = ["Ann lives in Lisbon", "Ann wrote from Porto", "Ann works in a cafe"]
    with Memory(reranker=lambda _, texts: [float("Porto" in text) for text in texts]) as memory:
        memory.remember(texts)
        assert memory.recall("Where does Ann live?")[0].text == "Ann wrote from Porto"
        assert memory.recall("Where does Ann live?", rerank=False)[0].text == "Ann lives in Lisbon"
        assert memory.context("Where does Ann live?").hits[0].text == "Ann wrote from Porto"
    with pytest.raises(Misconfigured):
        Memory(reranker="no such thing")


@pytest.mark.parametrize("answer", ["5", None, -3, float("nan"), True, [1]])
def test_a_counter_that_does_not_count_is_named(memory: Memory, answer: Any) -> None:
    memory.remember("The kettle is new")
    with pytest.raises(BadInput, match=r"token counter .* has to give a number from 0 up"):
        memory.context("kettle", counter=lambda _: answer)


def test_a_counter_may_divide(memory: Memory) -> None:
    memory.remember("The kettle is new")
    packed = memory.context("kettle", counter=lambda text: len(text) / 4)
    assert packed.tokens == math.ceil(len(str(packed)) / 4)
