"""Many records of the same text: one more costs no more among them, and none is taken for another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.making import make_store

from eidet import Memory
from eidet.core.record import Record
from eidet.store.contract import NOW, fact
from eidet.store.rules import list_repeated

KEY = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
TEXT = "The gate code is 7731"
BACKENDS = ("ram", "sqlite", "postgres", "tiered", "sealed", "audited")


@pytest.fixture(params=(*BACKENDS, "redis"))
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    how: dict[str, Any] = {}
    if request.param == "sealed":
        how["key"] = KEY
    if request.param == "audited":
        how["audit"] = tmp_path / "audit.jsonl"
    store = make_store(request.param, tmp_path, request)
    with closing(Memory(store, embedder="hashing:16", clock=lambda: NOW, **how)) as opened:
        yield opened


# Each makes a record of its own out of the same text; a number makes another one.
WAYS: dict[str, Callable[[int], dict[str, Any]]] = {
    "agent": lambda n: {"agent": f"agent {n}"},
    "session": lambda n: {"session": f"session {n}"},
    "who": lambda n: {"who": f"Ann {n}"},
    "source": lambda n: {"source": f"page {n}"},
    "step": lambda n: {"step": n},
    "place": lambda n: {"place": (n, 0.5)},
    "time": lambda n: {"occurred": 1_600_000_000 + n},
    "meta": lambda n: {"meta": {"n": n, "deep": {"é": [n]}}},
    "importance": lambda n: {"importance": 0.3 + n / 1000},
    "trust": lambda n: {"trust": ("trusted", "user", "tool")[n % 3], "agent": "of trust"},
}


def tell_all(memory: Memory, times: int) -> None:
    for number in range(times):
        for way in WAYS.values():
            memory.remember(TEXT, **way(number))


def test_each_is_told_from_the_others_and_found_when_it_is_said_again(memory: Memory) -> None:
    tell_all(memory, 3)
    kept = {record.id for record in memory.find()}
    assert len(kept) == 3 * len(WAYS)
    tell_all(memory, 3)
    assert {record.id for record in memory.find()} == kept
    memory.remember([TEXT, "something else"], agent="agent 1")  # together with others, too
    assert [record.text for record in memory.find() if record.id not in kept] == ["something else"]


def test_one_that_was_revised_or_forgotten_is_news(memory: Memory) -> None:
    tell_all(memory, 3)
    gone, changed = memory.remember(TEXT, agent="agent 0"), memory.remember(TEXT, agent="agent 1")
    memory.forget(gone.id, for_good=False)
    memory.revise(changed.id, agent="nobody")
    count = memory.count()
    assert memory.remember(TEXT, agent="nobody").id == changed.id
    assert memory.remember(TEXT, agent="agent 0").id not in (gone.id, changed.id)
    assert memory.remember(TEXT, agent="agent 1").id != changed.id
    assert memory.count() == count + 2


@pytest.mark.parametrize("way", sorted(WAYS.keys() - {"trust"}))
@pytest.mark.parametrize("backend", ["ram", "sqlite", "postgres", "tiered", "redis"])
def test_one_more_reads_no_more_among_many(
    backend: str, way: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with closing(make_store(backend, tmp_path, request)) as store:
        new = make_one(way, 999_999)
        for upto in (100, 300):
            records = [make_one(way, number) for number in range(upto - 100, upto)]
            store.write(lambda transaction, records=records: transaction.insert(records))  # type: ignore[misc]
            read = store.write(lambda transaction: transaction.same(new.scope, list_repeated(new)))
            assert len(read) <= 1, f"among {upto}"


def make_one(way: str, number: int) -> Record:
    details = WAYS[way](number)
    details.setdefault("occurred", NOW)
    return fact(f"{way} {number}", text=TEXT, created=NOW, **details)
