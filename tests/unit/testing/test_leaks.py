"""The leak fuzzer finds every leak that was made on purpose, and none in what is shipped."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from tests.unit.testing.leaky import LEAKY_MEMORIES, LEAKY_STORES

from eidet import BadInput, Memory, Settings
from eidet.testing import assert_no_leaks, leaks
from eidet.testing.fuzz import READS, WRITES


@pytest.mark.parametrize("kind", LEAKY_STORES, ids=lambda kind: kind.__name__)
def test_a_store_that_ignores_scopes_in_one_verb_is_found(kind: Any) -> None:
    report = leaks(lambda: Memory(kind(), embedder="hashing:32"), tenants=6, operations=1000, most=1)
    assert report.leaks


@pytest.mark.parametrize("kind", LEAKY_MEMORIES, ids=lambda kind: kind.__name__)
def test_a_memory_that_tells_too_much_is_found(kind: Any) -> None:
    report = leaks(lambda: kind(embedder="hashing:32"), tenants=6, operations=1000, most=1)
    assert report.leaks


def test_a_memory_in_ram_leaks_nothing() -> None:
    report = leaks(lambda: Memory(embedder="hashing:32"), tenants=30, operations=400, seed=1)
    assert not report.leaks
    assert report.verbs.keys() == {move.__name__ for move in (*READS, *WRITES)}
    assert "400 moves of 30 tenants (seed 1): no leaks" in str(report)


def test_a_memory_in_a_file_leaks_nothing(tmp_path: Path) -> None:
    assert_no_leaks(lambda: Memory(tmp_path / "m.db", embedder="hashing:32"), tenants=8, operations=250)


def test_weighing_and_a_small_index_leak_nothing() -> None:
    settings = Settings(weigh=True, flush_uses=1, guard="label", poison="all")
    assert_no_leaks(lambda: Memory(embedder="hashing:32", settings=settings), operations=300, seed=2)


def test_a_leak_is_told_with_its_verb_and_its_tenants() -> None:
    leaky = LEAKY_STORES[0]
    report = leaks(lambda: Memory(leaky(), embedder="hashing:32"), tenants=4, operations=300, most=2)
    first = report.leaks[0]
    assert first.verb in str(report)
    assert first.seen_by != first.owner
    with pytest.raises(AssertionError, match="leaks"):
        assert_no_leaks(lambda: Memory(leaky(), embedder="hashing:32"), tenants=4, operations=300)


def test_the_same_seed_plays_the_same_game() -> None:
    games = [leaks(lambda: Memory(embedder="hashing:32"), tenants=3, operations=60, seed=5) for _ in range(2)]
    assert games[0] == games[1]


def test_a_game_needs_two_tenants_some_moves_and_an_empty_memory() -> None:
    with pytest.raises(BadInput, match="a leak needs two"):
        leaks(Memory, tenants=1)
    with pytest.raises(BadInput, match="operations must be"):
        leaks(Memory, operations=0)
    used = Memory(embedder="hashing:32")
    used.remember("something")
    with pytest.raises(BadInput, match="already has records"):
        leaks(lambda: used)


def test_the_log_is_left_as_it_was() -> None:
    log = logging.getLogger("eidet")
    before = log.level, list(log.handlers)
    leaks(lambda: Memory(embedder="hashing:32"), tenants=2, operations=5)
    assert (log.level, list(log.handlers)) == before
