"""Filters in the words of a vector set: the server lets pass what `passes` does, whatever the values."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.servers.redis8 import Redis8
from tests.unit.index.vectordb.test_databases import SHELF, row, vector

from eidet.index.vectordb import Point, VectorShelf, key_of
from eidet.index.vectordb.pushdown import Every, Filter, Leaf, Some, passes
from eidet.index.vectordb.vectorset import VectorSets
from eidet.store.redis.address import address_of
from eidet.store.redis.client import RedisClient
from eidet.store.redis.key_names import Keys

ODD = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1.5e-300,
    1e-7,
    -1e-7,
    0.1,
    1e15,
    1e16,
    -1e300,
    1.7e308,
    2.0**53 + 2,
    1 / 3,
]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VectorSets]:
    server = Redis8(tmp_path_factory.mktemp("redis8")).start()
    made = VectorSets(RedisClient(address_of(server.url), None), Keys("test"))
    made.prepare(SHELF)
    made.put(SHELF, [Point(key_of(n + 1, 0), vector(n), told) for n, told in enumerate(ROWS)])
    yield made
    made.close()
    server.stop()


ROWS = [{**row(n), "x": ODD[n], "y": -ODD[n], "kind": ("fact", 'a "b"', "ü\\", "")[n % 4]} for n in range(14)]

values = st.sampled_from(ODD) | st.floats(allow_nan=False)
texts = st.sampled_from(["fact", 'a "b"', "ü\\", "", "nobody", "] or (1 == 1"])
leaves: st.SearchStrategy[Filter] = st.one_of(
    st.builds(
        Leaf,
        st.sampled_from(["x", "y", "occurred"]),
        st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
        values,
    ),
    st.builds(Leaf, st.just("kind"), st.sampled_from(["=", "!="]), texts),
    st.builds(
        Leaf,
        st.just("kind"),
        st.sampled_from(["in", "not in"]),
        st.lists(texts, min_size=1, max_size=3).map(tuple),
    ),
)
filters = st.recursive(
    leaves,
    lambda inner: st.one_of(*(st.lists(inner, max_size=3).map(tuple).map(join) for join in (Every, Some))),
    max_leaves=6,
)


@pytest.mark.needs("redis8")
@given(filters)
@settings(max_examples=examples(80))
def test_the_server_lets_pass_what_a_filter_says(database: VectorSets, only: Filter) -> None:
    found = {match.key for match in database.near(SHELF, vector(0), 50, only=only)}
    assert found == {key_of(n + 1, 0) for n, told in enumerate(ROWS) if passes(only, told)}


@pytest.mark.needs("redis8")
def test_the_few_that_pass_are_found_among_many(database: VectorSets) -> None:
    """Too many for a narrow search of the graph: then all elements are looked at."""
    narrow = VectorSets(database._wire, Keys("test"), ef=1)
    crowd = VectorShelf("Eidet_ab_8", "crowd-1", 8)
    told = [{**row(n), "kind": "episode" if n % 400 == 7 else "fact"} for n in range(2000)]
    database.prepare(crowd)
    database.put(crowd, [Point(key_of(n + 1, 0), vector(n), facts) for n, facts in enumerate(told)])
    found = narrow.near(crowd, vector(1), 5, only=Leaf("kind", "=", "episode"))
    wanted = sorted(range(7, 2000, 400), key=lambda n: -float(vector(n) @ vector(1)))
    assert [match.key for match in found] == [key_of(n + 1, 0) for n in wanted]
    database.discard(crowd)
