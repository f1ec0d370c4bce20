"""A filter means in Redis what it means in Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import STEPS, TIMES, records, wheres

from eidet.core.record import Record
from eidet.core.where import Where
from eidet.store import ORDERS, verbs
from eidet.store.ram import RamStore
from eidet.store.redis import RedisStore

few = settings(
    max_examples=examples(25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
ENDS = (*TIMES, -1, 2**53, 2**53 + 1, 2**54, float("inf"), float("-inf"))


@pytest.fixture
def store(redis_url: str) -> Iterator[RedisStore]:
    store = RedisStore(redis_url)
    yield store
    store.close()


def both(store: RedisStore, found: list[Record]) -> RamStore:
    """The same records in Redis and in the reference."""
    named = [record.but(id=f"r{number}", text=f"says {number}") for number, record in enumerate(found)]
    reference = RamStore()
    verbs.delete_unchanged(store, store.find(Where()), now=1.0, follows=True)
    for one in (reference, store):
        verbs.put(one, named, now=1.0, unique=False)
    return reference


def told(found: list[Record]) -> list[str]:
    return sorted(record.id for record in found)


@few
@given(st.lists(records(), min_size=1, max_size=12), st.lists(wheres(), min_size=6, max_size=6))
def test_every_filter_finds_the_same_records(
    store: RedisStore, found: list[Record], asked: list[Where]
) -> None:
    reference = both(store, found)
    for where in (*asked, *(~one for one in asked), asked[0] & asked[1], asked[2] | asked[3]):
        assert told(store.find(where)) == told(reference.find(where)), where
        assert verbs.count(store, where) == verbs.count(reference, where)
        assert verbs.count_kinds(store, where) == verbs.count_kinds(reference, where)


ranges = st.dictionaries(
    st.sampled_from(("step_from", "step_to", "importance_min", "importance_max")), st.sampled_from(ENDS)
) | st.dictionaries(
    st.sampled_from(("since", "until", "created_since", "created_until", "alive_at")), st.sampled_from(TIMES)
)


@few
@given(st.lists(records(), min_size=1, max_size=12), st.lists(ranges, min_size=4, max_size=4), st.data())
def test_ranges_and_orders_are_exact(
    store: RedisStore, found: list[Record], asked: list[dict[str, float]], data: st.DataObject
) -> None:
    steps = st.none() | st.sampled_from((*STEPS, 2**53, 2**53 + 1, -(2**53) - 1))
    reference = both(store, [record.but(step=data.draw(steps)) for record in found])
    wheres = [Where(**parts) for parts in asked]  # type: ignore[arg-type]
    for where in (*wheres, wheres[0] & wheres[1]):
        for order in (*ORDERS, *(f"-{name}" for name in ORDERS)):
            mine, theirs = (one.find(where, order=order, limit=4, offset=1) for one in (store, reference))
            assert [r.id for r in mine] == [r.id for r in theirs], (where, order)
        assert len(store.match(where)) == verbs.count(reference, where)
