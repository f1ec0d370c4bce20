"""`forget` and `history`: what goes, what stays, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.making import Clock, texts

from eidet import Kind, Memory, Refused, Scope, Where

# forget


def test_forgetting_by_id_counts_only_what_existed(memory: Memory) -> None:
    one, two, three = memory.remember(["one", "two", "three"])
    assert memory.forget([one.id, "no"]) == 1
    assert memory.forget(two.id) == 1
    assert memory.forget(two.id) == 0
    assert memory.forget([]) == 0
    assert memory.forget(three.id, scope="other") == 0
    assert texts(memory.find()) == texts(memory.recall("one two three")) == ["three"]


def test_forgetting_by_filter(memory: Memory) -> None:
    memory.remember(["one", "two"], session="s1")
    memory.remember("three", session="s2")
    memory.remember("one", session="s1", scope="other")
    assert memory.forget(where=Where(session="s1")) == 2
    assert texts(memory.find()) == ["three"]
    assert memory.scopes() == {"default": 1, "other": 1}


def test_a_whole_scope_is_forgotten_only_when_it_is_named(memory: Memory) -> None:
    for scope in ("default", "a", "a/b", "ab"):
        memory.remember("note", scope=scope)
    assert memory.forget(everything=True, scope="a") == 1
    assert memory.forget(everything=True, scope=Scope.under("a")) == 1
    assert memory.scopes() == {"ab": 1, "default": 1}


EMPTY = [
    Where(),
    Where(scope=Scope("default")),
    Where(alive_at=5.0),
    Where() & Where(),
    Where() | Where(kinds=(Kind.FACT,)),
    Where(every=(Where(scope=Scope("default")),)),
    Where(some=(Where(),)),
    Where() & (Where() & Where(scope=Scope.under("default"))),
    ~Where(scope=Scope("other")),
]


@pytest.mark.parametrize("where", EMPTY, ids=range(len(EMPTY)))
def test_an_empty_filter_never_forgets_everything(memory: Memory, where: Where) -> None:
    memory.remember(["one", "two"])
    with pytest.raises(Refused, match="would match everything"):
        memory.forget(where=where)
    with pytest.raises(Refused):
        memory.forget(where=where, scope="default")
    assert len(memory.find()) == 2


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"scope": "default"},
        {"everything": True},
        {"everything": True, "ids": "x"},
        {"everything": True, "scope": "default", "ids": ["x"]},
        {"everything": True, "scope": "default", "where": Where(who="x")},
        {"ids": ["x"], "where": Where(who="x")},
    ],
)
def test_what_to_forget_must_be_clear(memory: Memory, how: dict[str, Any]) -> None:
    memory.remember("one")
    with pytest.raises(Refused):
        memory.forget(**how)
    assert len(memory.find()) == 1


# history


def test_history_tells_what_happened_when_and_by_whom(memory: Memory, clock: Clock) -> None:
    record = memory.remember("one", agent="Ann")
    start = clock.now
    clock.pass_()
    memory.revise(record.id, text="two", by="Bob")
    clock.pass_()
    memory.remember("three", id=record.id, agent="Ann")
    clock.pass_()
    told = [(e.what, e.at - start, e.by, e.version) for e in memory.history(record.id)]
    assert told == [("created", 0, "Ann", 1), ("revised", 1, "Bob", 2), ("revised", 2, None, 3)]
    assert [event.before for event in memory.history(record.id)] == [None, {"text": "one"}, {"text": "two"}]
    memory.forget(record.id, by="Cid")
    assert [(e.what, e.by) for e in memory.history(record.id)][-1] == ("forgotten", "Cid")
    assert memory.history("no") == memory.history(record.id, scope="other") == []
