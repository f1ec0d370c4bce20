"""A legal hold: nothing changes or deletes the record, by any verb, on any backend."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.making import make_store, wrapping
from tests.unit.trust.holds.verbs import (
    ENDS_IT,
    FACTS_LEAVE,
    HELD,
    LAST,
    LEAVES,
    REFUSED,
    SCOPE,
    SEALED_LEAVES,
    SEALED_REFUSED,
    Held,
    open_held,
)

from eidet import Memory, Refused
from eidet.core.record import Event, Record
from eidet.memory.admin import AdminNamespace
from eidet.memory.facts import FactsNamespace
from eidet.memory.keys import KeysNamespace
from eidet.memory.trust import TrustNamespace
from eidet.memory.upkeep import UpkeepNamespace

NAMESPACES = {
    "upkeep": UpkeepNamespace,
    "trust": TrustNamespace,
    "keys": KeysNamespace,
    "admin": AdminNamespace,
    "facts": FactsNamespace,
}
BACKENDS = ("ram", "sqlite", "postgres", "redis", "tiered", "tiered on redis", "sealed", "audited")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def case(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Held]:
    store = make_store(backend, tmp_path, request)
    case = open_held(store, tmp_path, **wrapping(backend, tmp_path))
    with closing(case.memory):
        yield case


def list_verbs() -> set[str]:
    """The public verbs of a memory, with the namespaces that they are in."""
    found = {name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")}
    for space, of in NAMESPACES.items():
        members = inspect.getmembers(of, inspect.isfunction)
        found |= {f"{space}.{name}" for name, _ in members if not name.startswith("_")}
    return found


def test_somebody_has_decided_about_every_verb() -> None:
    tables = (REFUSED, LEAVES, FACTS_LEAVE, SEALED_REFUSED, SEALED_LEAVES, ENDS_IT, LAST)
    decided = {entry.partition(",")[0] for table in tables for entry in table}
    assert decided - {"eidet.copy"} == list_verbs()


Kept = tuple[Record | None, list[Event]]


def look_at(memory: Memory, id: str) -> Kept:
    """All that a hold protects: what the record says and shows, and what its history tells.

    Uses, vectors and terms are Eidet's own, and the seq goes with where a record is kept.
    """
    (record,) = memory.parts.store.read(SCOPE, [id])
    if record is not None:
        record = record.but(uses=0, last_used=None, vector=None, terms=b"", seq=0)
    return record, memory.parts.store.history(SCOPE, id)


# Verbs that change much of a memory: each is tried on one of its own.
ALONE = (
    *("load", "upkeep.maintain", "upkeep.maintain, expiry", "upkeep.maintain, merging", "upkeep.background"),
    *("upkeep.unarchive", "upkeep.claim_archive", "admin.rebuild", "admin.reembed", "eidet.copy"),
)


def verbs_for(backend: str, always: dict[str, Any], sealed: dict[str, Any]) -> dict[str, Any]:
    return always | (sealed if backend == "sealed" else {})


def test_what_would_change_a_held_record_is_refused(case: Held, backend: str) -> None:
    ids = (HELD, case.kept["decision"].id)
    before = [look_at(case.memory, id) for id in ids], case.memory.scopes()
    for verb, call in verbs_for(backend, REFUSED, SEALED_REFUSED).items():
        with pytest.raises(Refused, match="legal hold"):
            call(case)
        assert ([look_at(case.memory, id) for id in ids], case.memory.scopes()) == before, verb


def test_verbs_that_change_little_leave_a_held_record_as_it_is(case: Held) -> None:
    """One after the other: what is held is looked at after each."""
    ids = (HELD, "fact", case.kept["decision"].id)
    before = [look_at(case.memory, id) for id in ids]
    for verb, call in LEAVES.items():
        if verb not in ALONE:
            call(case)
            assert [look_at(case.memory, id) for id in ids] == before, verb


@pytest.mark.parametrize("verb", [*ALONE, *SEALED_LEAVES])
def test_all_else_leaves_a_held_record_as_it_is(case: Held, backend: str, verb: str) -> None:
    calls: dict[str, Callable[[Held], object]] = verbs_for(backend, LEAVES, SEALED_LEAVES)
    if verb not in calls:
        pytest.skip("only sealed memories have keys")
    ids = (HELD, "fact", case.kept["decision"].id)
    before = [look_at(case.memory, id) for id in ids]
    calls[verb](case)
    after = [look_at(case.memory, id) for id in ids]
    assert after == before


def test_no_verb_of_facts_changes_a_held_record(case: Held) -> None:
    ids = (HELD, "fact", case.kept["decision"].id)
    before = [look_at(case.memory, id) for id in ids]
    for verb, call in FACTS_LEAVE.items():
        call(case)
        assert [look_at(case.memory, id) for id in ids] == before, verb


def test_once_it_is_released_all_is_as_usual(case: Held) -> None:
    case.memory.upkeep.release(HELD, scope=SCOPE, by="court")
    assert case.memory.upkeep.pin(HELD, scope=SCOPE).state.pinned is not None
    assert case.memory.upkeep.unpin(HELD, scope=SCOPE).state.pinned is None
    assert case.memory.upkeep.restore(HELD, scope=SCOPE).tier == "middle"
    assert (
        case.memory.revise(HELD, scope=SCOPE, text="Ann signed it in Porto").text == "Ann signed it in Porto"
    )
    assert case.memory.forget(HELD, scope=SCOPE, for_good=False) == 1
