"""A list of scopes shows exactly what its scopes show one by one, on every store and through a server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.test_facts_on_stores import STORES
from tests.making import examples, make_store
from tests.servers.served import serve_in_thread

from eidet import BadInput, Memory, Record

PLACES = tuple(
    (name, served) for name in STORES for served in (False, True) if not served or "on" not in name
)
PATHS = ("ann", "ann/work", "ann/work/plans", "anna", "team/core", "team", "empty")
TEXTS = ("Ann lives in Lisbon", "Ben likes green tea", "the gate is green", "the tea is cold", "a cold gate")
ROOTS = count()  # each world lies below a root of its own, so that one memory serves them all

scope_names = st.one_of(st.sampled_from(PATHS), st.sampled_from(PATHS).map(lambda path: f"{path}/**"))
worlds = st.lists(
    st.tuples(
        st.sampled_from(PATHS), st.sampled_from(TEXTS), st.sampled_from(["fact", "message", "document"])
    ),
    min_size=1,
    max_size=12,
)


@pytest.fixture(params=PLACES, ids=lambda place: f"{place[0]}{' served' if place[1] else ''}")
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    name, served = request.param
    store = make_store(name, tmp_path, request)
    if served:
        with serve_in_thread(store) as server, Memory(server.url) as opened:
            yield opened
    else:
        with Memory(store, embedder="hashing:64") as opened:
            yield opened


def keys(records: Any) -> set[tuple[str, str]]:
    return {(record.scope, record.id) for record in records}


def hits(memory: Memory, scope: Any, query: str) -> set[tuple[str, str]]:
    return keys(hit.record for hit in memory.recall(query, scope=scope, limit=1000, least=0.0))


@settings(
    max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(worlds, st.lists(scope_names, min_size=1, max_size=5), st.sampled_from(TEXTS))
def test_a_list_shows_exactly_the_union(
    memory: Memory, world: list[tuple[str, str, str]], named: list[str], query: str
) -> None:
    root = f"w{next(ROOTS)}"
    for at, (path, text, kind) in enumerate(world):
        memory.remember(
            text,
            scope=f"{root}/{path}",
            kind=kind,
            id=f"r{at % 5}",
            occurred=1000.0 + at,
            keep_duplicates=True,
        )
    scopes = [f"{root}/{name}" for name in named]
    single: set[tuple[str, str]] = set()
    for scope in scopes:
        single |= keys(memory.find(scope=scope, limit=None))
    found = memory.find(scope=scopes, limit=None)
    assert keys(found) == single
    assert len(found) == len(single) == memory.count(scope=scopes)
    assert [record.occurred for record in found] == sorted((r.occurred for r in found), reverse=True)
    page = memory.find(scope=scopes, limit=2, offset=1)
    assert list(map(identify, page)) == list(map(identify, found[1:3]))
    assert memory.count(scope=scopes, kinds="fact") == len(
        memory.find(scope=scopes, kinds="fact", limit=None)
    )
    union = set[tuple[str, str]]()
    for scope in scopes:
        union |= hits(memory, scope, query)
    assert hits(memory, scopes, query) == union
    about = [(fact.scope, fact.id) for fact in memory.facts.about("Ann", scope=scopes)]
    alone = {(fact.scope, fact.id) for scope in scopes for fact in memory.facts.about("Ann", scope=scope)}
    assert sorted(about) == sorted(alone)
    check_ids(memory, scopes)


def identify(record: Record) -> tuple[str, str]:
    return record.scope, record.id


def check_ids(memory: Memory, scopes: list[str]) -> None:
    """An id is looked up in each scope; the first that has it answers. A prefix is refused."""
    if any(scope.endswith("/**") for scope in scopes):
        with pytest.raises(BadInput):
            memory.get("r0", scope=scopes)
        return
    for id in ("r0", "r4", "nobody"):
        singles = [record for scope in scopes if (record := memory.get(id, scope=scope)) is not None]
        got = memory.get(id, scope=scopes)
        assert (None if got is None else identify(got)) == (identify(singles[0]) if singles else None)
        told = [events for scope in scopes if (events := memory.history(id, scope=scope))]
        assert memory.history(id, scope=scopes) == (told[0] if told else [])
