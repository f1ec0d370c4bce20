"""A filter means in PostgreSQL what it means in Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.strategies import SCALARS, records, wheres

from eidet.core.record import Record
from eidet.core.scope import Scope
from eidet.core.where import Condition, Where
from eidet.store import verbs
from eidet.store.ram import RamStore
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


def both(store: PostgresStore, found: list[Record]) -> RamStore:
    """The same records in PostgreSQL and in the reference."""
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
    store: PostgresStore, found: list[Record], asked: list[Where]
) -> None:
    reference = both(store, found)
    for where in (*asked, *(~one for one in asked)):
        assert told(store.find(where)) == told(reference.find(where)), where
        assert verbs.count(store, where) == verbs.count(reference, where)
        assert verbs.count_kinds(store, where) == verbs.count_kinds(reference, where)
        assert len(store.match(where)) == verbs.count(reference, where)


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
