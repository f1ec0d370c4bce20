"""Mistakes that callers make get our errors, which say what to do and which item was meant."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import numpy as np
import pytest

from eidet import AsyncMemory, BadInput, Draft, EidetError, Memory, Misconfigured, Near, Where


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16") as opened:
        opened.remember("there", id="there")
        yield opened


MISTAKES: list[tuple[Callable[[Any], object], str]] = [
    (lambda m: m.get(None), "get takes an id or a list of ids, not NoneType"),
    (lambda m: m.get(5), "get takes an id or a list of ids, not int"),
    (lambda m: m.get({"there"}), "get takes an id or a list of ids, not set"),
    (lambda m: m.get(["there", None]), "item 2 of 2: an id needs a string, not NoneType"),
    (lambda m: m.upkeep.pin(["there"]), "an id needs a string, not list"),
    (lambda m: m.upkeep.hold(None), "an id needs a string, not NoneType"),
    (lambda m: m.trust.approve(["there"]), "an id needs a string, not list"),
    (lambda m: m.history(None), "an id needs a string"),
    (lambda m: m.recall("x", recipe={"words": 1}), r"a recipe must be a name or a Recipe\(…\), not dict"),
    (lambda m: m.recall("x", recipe=5), r"a recipe must be a name or a Recipe\(…\), not int"),
    (lambda m: m.remember(["a", "b", 5]), "item 3 of 3: a memory must be a text"),
    (lambda m: m.remember(["a", ""]), "item 2 of 2: there is nothing to remember"),
    (lambda m: m.remember(["a", {"x": object()}, "c"]), "item 2 of 3: data.x holds a object"),
    (lambda m: m.remember(["a", Draft(text="b", importance=5)]), "item 2 of 2: importance must be"),
    (lambda m: m.remember([{"role": "user", "content": 5}, "b"]), "item 1 of 2: text needs a string"),
    (lambda m: m.remember("q", derived_from=["a", 5]), "item 2 of 2: derived_from needs a string"),
    (lambda m: m.forget(["there", 5]), "item 2 of 2: an id needs a string, not int"),
    (lambda m: m.find(kinds=["fact", "belief"]), "unknown kind 'belief'"),
    (lambda m: m.find(Where(ids=("a", 5))), "item 2 of 2: a filter needs a string"),  # type: ignore[arg-type]
    (
        lambda m: m.find(Where(conditions=[("data.a", "=", 1), ("data.b", "~", 1)])),
        "item 2 of 2: unknown operator '~'",
    ),
    (lambda m: m.remember("x", user_id="ann"), "instead of user_id say scope=…"),
    (
        lambda m: m.remember("x", run_id="r", metadata={}),
        "instead of metadata say meta=…; instead of run_id say",
    ),
    (
        lambda m: m.recall("x", user_id="ann", top_k=3),
        "instead of top_k say limit=…; instead of user_id say scope",
    ),
    (lambda m: m.find(filters={}), "instead of filters say where=…"),
    (lambda m: m.count(kind="fact"), "instead of kind say kinds=…"),
    (lambda m: m.forget(session_id="s"), "instead of session_id say session=…"),
    (pickle.dumps, "an open memory cannot be pickled: open it anew"),
    (copy.deepcopy, "an open memory cannot be pickled"),
    (lambda m: pickle.dumps(AsyncMemory()), "an open memory cannot be pickled"),
]


@pytest.mark.parametrize(("ask", "why"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistakes_get_our_errors(memory: Memory, ask: Callable[[Any], object], why: str) -> None:
    with pytest.raises(EidetError, match=why) as caught:
        ask(memory)
    assert isinstance(caught.value, BadInput | Misconfigured)
    assert memory.count() == 1


def test_dates_and_scalars_of_numpy_are_taken(memory: Memory) -> None:
    half: Any = np.float32(0.5)
    three: Any = np.int64(3)
    place: Any = np.array([1, 2])
    data = {"health": np.float64(0.25), "on": np.bool_(True)}
    kept = memory.remember(
        "numbers",
        id="n",
        occurred=date(2024, 5, 1),
        expires=date(2124, 5, 1),
        importance=half,
        step=three,
        place=place,
        data=data,
        meta={"floor": three},
    )
    assert (kept.step, kept.importance, kept.place, kept.meta) == (3, 0.5, (1.0, 2.0), {"floor": 3})
    assert repr(kept.data) == "{'health': 0.25, 'on': True}"
    assert memory.find(since=date(2024, 5, 1), until=date(2024, 5, 1))[0].id == "n"
    assert memory.find(Where(conditions=[("data.health", "<", half)]), limit=three)[0].id == "n"
    assert memory.find(Where(step_from=three, near=Near(place=(1, 2), radius=half)))[0].id == "n"
    assert memory.recall("numbers", least=half * 0, limit=three, now=date(2024, 5, 1))
