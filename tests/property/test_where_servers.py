"""A filter means in PostgreSQL and in Redis what it means in Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import SCALARS, STEPS, TIMES, records, wheres

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Condition, Where
from eidet.store import ORDERS, Store, verbs
from eidet.store.ram import RamStore
from eidet.store.redis import RedisStore
from eidet.store.sql.postgres import PostgresStore
from eidet.store.sql.postgres.text import escape, unescape_row

few = settings(
    max_examples=examples(25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_url)
    yield store
    store.close()


@pytest.fixture
def redis(redis_url: str) -> Iterator[RedisStore]:
    store = RedisStore(redis_url)
    yield store
    store.close()


@pytest.fixture(params=["store", "redis"], ids=["postgres", "redis"])
def each(request: pytest.FixtureRequest) -> Store:
    found: Store = request.getfixturevalue(request.param)
    return found


def both(store: Store, found: list[Record]) -> RamStore:
    """The same records on a server and in the reference."""
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
def test_every_filter_finds_the_same_records(each: Store, found: list[Record], asked: list[Where]) -> None:
    reference = both(each, found)
    for where in (*asked, *(~one for one in asked), asked[0] & asked[1], asked[2] | asked[3]):
        assert told(each.find(where)) == told(reference.find(where)), where
        assert verbs.count(each, where) == verbs.count(reference, where)
        assert verbs.count_kinds(each, where) == verbs.count_kinds(reference, where)
        assert len(each.match(where)) == verbs.count(reference, where)


def test_every_scalar_compares_as_in_python(store: PostgresStore) -> None:
    reference = both(
        store, [Record(id="", scope="a", text="", data={"a": value}) for value in (*SCALARS, [1], {"b": 2})]
    )
    orders = [(op, v) for op in ("<", "<=", ">", ">=") for v in SCALARS if type(v) in (int, float, str)]
    equals = [(op, v) for op in ("=", "!=", "contains") for v in SCALARS]
    for path in ("data.a", "data.a.0", "data.a.b", "data. 1", "data.+0"):
        for op, operand in (*orders, *equals, ("exists", True), ("exists", False), ("in", list(SCALARS))):
            where = Where(conditions=(Condition(path, op, operand),))
            assert told(store.find(where)) == told(reference.find(where)), (path, op, operand)


ODD = ("a", "a\0b", "\0", "\x1a", "\x1a0", "0", "1", "", "a\x1a1", "10", "Ä\n", '"', "\\u0000", "u0000")
INSIDE = (*SCALARS, *ODD)


def test_texts_and_lists_contain_as_in_python(store: PostgresStore) -> None:
    documents = [*ODD, *([value] for value in INSIDE), [[1]], [{"b": 1}], {"b": 1}, [], ["x", None, 2.0]]
    reference = both(store, [Record(id="", scope="a", text="", data={"a": value}) for value in documents])
    for operand in (*INSIDE, 2, [1], {"b": 1}):
        where = Where(conditions=(Condition("data.a", "contains", operand),))
        for one in (where, ~where):
            assert told(store.find(one)) == told(reference.find(one)), operand
            assert len(store.match(one)) == verbs.count(reference, one), operand


def test_patterns_are_looked_for_in_the_values_alone(store: PostgresStore) -> None:
    documents = [{"a": value, "b": {"c": ["x", value]}} for value in (*SCALARS, *ODD, ["a"], None)]
    reference = both(store, [Record(id="", scope="a", text="", data=document) for document in documents])
    for path in ("data.a", "data.b.c.1", ("data", "b", "c", 1), "meta.a"):
        for pattern in ("^a", "0", ".", "(?i)Ä"):
            where = Where(conditions=(Condition(path, "regex", pattern),))
            other = Where(conditions=(Condition("data.a", "regex", "b"),))
            nested = (where & ~other, where & (other | Where(ids=("r1", "r2"))))
            for one in (where, ~where, where & Where(scope=Scope("a")), *nested):
                found = [record.id for record in store.read("a", store.match(one)) if record]
                assert sorted(found) == told(reference.find(one)), (path, pattern)


@few
@given(st.text(st.sampled_from("\0\x1a\\u01a ")))
def test_any_text_comes_back(text: str) -> None:
    assert unescape_row(escape([text])) == (text,)
    assert "\0" not in escape([text])[0]
    assert "\\u0000" not in escape([text])[0]


ENDS = (*TIMES, -1, 2**53, 2**53 + 1, 2**54, float("inf"), float("-inf"))
ranges = st.dictionaries(
    st.sampled_from(("step_from", "step_to", "importance_min", "importance_max")), st.sampled_from(ENDS)
) | st.dictionaries(
    st.sampled_from(("since", "until", "created_since", "created_until", "alive_at")), st.sampled_from(TIMES)
)


@few
@given(st.lists(records(), min_size=1, max_size=12), st.lists(ranges, min_size=4, max_size=4), st.data())
def test_ranges_and_orders_are_exact(
    redis: RedisStore, found: list[Record], asked: list[dict[str, float]], data: st.DataObject
) -> None:
    steps = st.none() | st.sampled_from((*STEPS, 2**53, 2**53 + 1, -(2**53) - 1))
    reference = both(redis, [record.but(step=data.draw(steps)) for record in found])
    wheres = [Where(**parts) for parts in asked]  # type: ignore[arg-type]
    for where in (*wheres, wheres[0] & wheres[1]):
        for order in (*ORDERS, *(f"-{name}" for name in ORDERS)):
            mine, theirs = (one.find(where, order=order, limit=4, offset=1) for one in (redis, reference))
            assert [r.id for r in mine] == [r.id for r in theirs], (where, order)
        assert len(redis.match(where)) == verbs.count(reference, where)
