"""A scope that was forgotten as a whole does not come back from an older export, whatever clocks say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.making import DAY, Clock, make_store, wrapping

from eidet import Memory, Scope

PLACES = ("ram", "sqlite", "sealed", "audited", "postgres", "redis")


def open_at(place: str, folder: Path, request: pytest.FixtureRequest, clock: Clock) -> Memory:
    store = make_store(place, folder, request)
    return Memory(store, embedder="hashing:32", clock=clock, **wrapping(place, folder))


@pytest.mark.parametrize("skew", [5.0, DAY])
@pytest.mark.parametrize("place", PLACES)
def test_an_older_export_brings_no_ended_scope_back(
    place: str, skew: float, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    clock = Clock()
    with open_at(place, tmp_path, request, clock) as memory:
        clock.pass_(skew)  # the clock of whoever writes is fast
        memory.remember("Ann lives in Lisbon", scope="acme/ann")
        memory.remember("ok", scope="acme/ann", kind="message")
        memory.remember("Bob drinks tea", scope="acme/bob")
        memory.remember("Cleo plays chess", scope="other")
        memory.export(tmp_path / "old.jsonl", plain=True)
        clock.pass_(-skew)
        memory.forget(scope="acme/ann", everything=True)
        memory.forget(scope=Scope.under("acme"), everything=True)
        assert memory.load(tmp_path / "old.jsonl") == 1
        assert memory.scopes() == {"other": 1}


@pytest.mark.parametrize("place", ["ram", "sqlite"])
def test_nor_what_had_been_deleted_before_the_scope_ended(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    clock = Clock()
    with open_at(place, tmp_path, request, clock) as memory:
        clock.pass_(DAY)
        record = memory.remember("Ann lives in Lisbon", scope="ann")
        memory.export(tmp_path / "old.jsonl", plain=True)
        memory.forget(record.id, scope="ann", for_good=False)
        clock.pass_(-DAY)
        memory.forget(scope="ann", everything=True)
        assert memory.load(tmp_path / "old.jsonl") == 0


@pytest.mark.parametrize("place", ["ram", "sqlite"])
def test_nor_an_export_of_another_memory_that_holds_the_same(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    clock = Clock()
    clock.pass_(5)
    with open_at(place, tmp_path, request, clock) as memory, Memory(embedder="hashing:32") as other:
        memory.remember("Ann lives in Lisbon", scope="ann")
        memory.export(tmp_path / "first.jsonl")
        other.load(tmp_path / "first.jsonl")
        other.export(tmp_path / "second.jsonl")
        clock.pass_(-5)
        memory.forget(scope="ann", everything=True)
        assert memory.load(tmp_path / "second.jsonl") == 0


def test_what_is_said_after_the_end_loads_from_a_newer_export(tmp_path: Path) -> None:
    clock = Clock()
    with Memory(embedder="hashing:32", clock=clock) as memory:
        memory.remember("Ann lives in Lisbon", scope="ann")
        memory.forget(scope="ann", everything=True)
        clock.pass_()
        memory.remember("Ann is back, and lives in Porto", scope="ann", id="back")
        memory.export(tmp_path / "new.jsonl")
        memory.forget("back", scope="ann", for_good=False)
        assert memory.load(tmp_path / "new.jsonl") == 1
