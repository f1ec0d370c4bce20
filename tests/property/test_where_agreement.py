"""One filter means the same to the predicate, to the columns of an index, and to every store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.making import examples, make_store
from tests.strategies import LABELS, PATTERNS, SCALARS, SCOPES, STEPS, TIMES, records, wheres

from eidet.core.record import Kind, Record, Tier, Trust
from eidet.core.scope import Scope
from eidet.core.where import Box, Condition, Near, Where
from eidet.index.embedded.columns import ColumnTable
from eidet.index.embedded.filters import mask
from eidet.index.embedded.shard import Shard
from eidet.index.embedded.vectors import VectorPlanes
from eidet.store import ORDERS, Changes, Head, Store, verbs
from eidet.store.model import entry_of
from eidet.store.ram import RamStore
from eidet.store.sql.postgres.write import escape, unescape_row
from eidet.store.sql.sqlite import SqliteStore
from eidet.store.verbs.changing import delete_records

POOLS: dict[str, Sequence[Any]] = {
    "scope": [Scope(path, below) for path in SCOPES for below in (False, True)],
    "ids": [(), ("r3",), ("r1", "r7", "never seen")],
    "kinds": [(), *Kind, tuple(Kind)[:3]],
    "tiers": [(), *Tier, tuple(Tier)],
    "trust": [(), *Trust, tuple(Trust)],
    **dict.fromkeys(("agent", "session", "who", "source"), (*LABELS, "never seen")),
    **dict.fromkeys(("since", "until", "created_since", "created_until", "alive_at"), TIMES),
    **dict.fromkeys(("step_from", "step_to"), (*STEPS, 0.5, 10**30, -(10**30))),
    **dict.fromkeys(("importance_min", "importance_max"), (0.0, 0.3, 0.4)),
    "box": [Box(low=(0, 0), high=(3, 4)), Box(low=(0, 0, 0), high=(3, 4, 0)), Box(low=(9, 9), high=(9, 9))],
    "near": [Near(place=(0, 0), radius=5), Near(place=(3, 4, 5), radius=5), Near(place=(0, 1), radius=0)],
    "conditions": [
        (Condition("data.a", op, value),)
        for op, value in (("=", 1), ("!=", 1), ("in", ["x", 1]), ("<", 2), ("exists", False), ("regex", "x"))
    ],
}

few = settings(
    max_examples=examples(60),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
STORES = ("sqlite", "postgres", "redis")


def columns_of(scope: str, rows: Sequence[Record]) -> ColumnTable:
    """The records of one scope as columns."""
    shard = Shard(scope, VectorPlanes(4))
    entries = [entry_of(record) for record in sorted(rows, key=lambda record: record.seq)]
    shard.apply(Changes(Head(0, 0), entries, ()))
    assert not shard.damaged
    return shard.columns


class Columns:
    """Records as the columns of an index; what those do not hold is asked of the predicate."""

    def __init__(self, rows: Sequence[Record]) -> None:
        self.rows = rows

    def find(self, where: Where) -> list[Record]:
        found: set[int] = set()
        for scope in {record.scope for record in self.rows}:
            columns = columns_of(scope, [record for record in self.rows if record.scope == scope])
            kept = mask(where, columns, lambda asked: np.array(self.match(asked), np.int64))
            found |= set(columns.seq[kept].tolist())
        return [record for record in self.rows if record.seq in found]

    def match(self, where: Where) -> list[int]:
        return [record.seq for record in self.rows if where.matches(record)]


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    with closing(make_store(request.param, tmp_path, request)) as made:
        yield made


def both(store: Store, found: Sequence[Record]) -> RamStore:
    """The same records in a store and in the reference."""
    named = [record.but(id=f"r{number}", text=f"says {number}") for number, record in enumerate(found)]
    reference = RamStore()
    store.write(lambda job: delete_records(job, list(job.find(Where())), 1.0, None, held=()))
    for one in (reference, store):
        verbs.put(one, named, now=1.0, unique=False)
    return reference


def documents(*found: Any) -> list[Record]:
    return [Record(id="", scope="a", text="", data=data) for data in found]


def told(found: Sequence[Record]) -> list[str]:
    return sorted(record.id for record in found)


def check(store: Store, reference: RamStore, where: Where) -> None:
    expected = reference.find(where)
    assert told(Columns(reference.find(Where())).find(where)) == told(expected), where
    assert told(store.find(where)) == told(expected), where
    assert verbs.count(store, where) == len(store.match(where)) == len(expected), where


@few
@given(st.lists(records(), min_size=1, max_size=12), st.lists(wheres(), min_size=4, max_size=4))
def test_every_filter_finds_the_same_records(store: Store, found: list[Record], asked: list[Where]) -> None:
    reference = both(store, found)
    for where in (*asked, ~asked[0], asked[0] & asked[1], asked[2] | asked[3]):
        check(store, reference, where)
        assert verbs.count_kinds(store, where) == verbs.count_kinds(reference, where)


def test_every_part_alone_and_its_opposite_find_the_same(store: Store) -> None:
    reference = both(store, [scattered(Random(n)) for n in range(50)])
    for name, pool in POOLS.items():
        for value in pool:
            where = Where(**{name: value})
            check(store, reference, where)
            check(store, reference, ~where)


def scattered(random: Random) -> Record:
    places = [None, (0.0, 1.0), (3.0, 4.0, 0.0), (3.0, 4.0, 5.0), (0.5, 0.5, -1.0)]
    labels: dict[str, Any] = {
        name: random.choice((None, *LABELS)) for name in ("agent", "session", "who", "source")
    }
    return Record(
        id="",
        scope=random.choice(SCOPES),
        text="",
        kind=random.choice(list(Kind)),
        tier=random.choice(list(Tier)),
        trust=random.choice(list(Trust)),
        data=random.choice((None, {}, {"a": 1}, {"a": None}, {"a": "x"}, [1])),
        step=random.choice((None, *STEPS)),
        place=random.choice(places),
        importance=random.choice((0.0, 0.3, 0.5)),
        created=random.choice(TIMES),
        occurred=random.choice(TIMES),
        expires=random.choice((None, *TIMES)),
        **labels,
    )


ODD = ("a", "a\0b", "\0", "\x1a", "\x1a0", "0", "1", "", "a\x1a1", "10", "Ä\n", '"', "\\u0000", "u0000")
INSIDE = (*SCALARS, *ODD)


def test_every_value_compares_as_in_python(store: Store) -> None:
    reference = both(store, documents(None, {}, *({"a": value} for value in (*SCALARS, [1], {"b": 2}))))
    orders = [(op, v) for op in ("<", "<=", ">", ">=") for v in SCALARS if type(v) in (int, float, str)]
    equals = [(op, v) for op in ("=", "!=", "contains") for v in SCALARS]
    others = [("exists", True), ("exists", False), ("in", list(SCALARS))]
    tests: list[tuple[str, str, Any]] = [
        ("data.a", *one) for one in (*orders, *equals, *(("regex", pattern) for pattern in PATTERNS))
    ]
    tests += [(path, *one) for path in ("data.a.0", "data.a.b", "data. 1", "data.+0") for one in equals]
    tests += [(path, *one) for path in ("data.a", "data.a.0", "data.a.b") for one in others]
    for test in tests:
        where = Where(conditions=(Condition(*test),))
        assert told(store.find(where)) == told(reference.find(where)), test
        if test[0] == "data.a":
            assert told(store.find(~where)) == told(reference.find(~where)), test


def test_texts_and_lists_contain_as_in_python(store: Store) -> None:
    held = [*ODD, *([value] for value in INSIDE), [[1]], [{"b": 1}], {"b": 1}, [], ["x", None, 2.0]]
    reference = both(store, documents(*({"a": value} for value in held)))
    for operand in (*INSIDE, 2, [1], {"b": 1}):
        where = Where(conditions=(Condition("data.a", "contains", operand),))
        for one in (where, ~where):
            assert told(store.find(one)) == told(reference.find(one)), operand


def test_every_path_leads_where_it_leads_in_python(store: Store) -> None:
    inner = ([1, {"a": 1}], {"0": 1, "a": {"a": 1}}, {"a": None}, {"a b": 1, "é": {'"': 1}}, "a", None, 1)
    reference = both(store, documents(*inner, *({"a": one} for one in inner), *([one] for one in inner)))
    steps: tuple[str | int, ...] = ("a", "0", 0, 1, -1, "a b", "é", '"', "$", "a]", "a.a", "", 10**12)
    paths: list[tuple[str | int, ...]] = [*((one,) for one in steps), *product(steps, steps)]
    for path in [*paths, ("a", 0, "a"), (0, "a", "a")]:
        for op, value in (("exists", True), ("exists", False), ("=", 1)):
            where = Where(conditions=(Condition(("data", *path), op, value),))
            assert told(store.find(where)) == told(reference.find(where)), (path, op)


def test_patterns_are_looked_for_in_the_values_alone(store: Store) -> None:
    held = [{"a": value, "b": {"c": ["x", value]}} for value in (*SCALARS, *ODD, ["a"], None)]
    reference = both(store, documents(*held))
    for path in ("data.a", "data.b.c.1", ("data", "b", "c", 1), "meta.a"):
        for pattern in ("^a", "0", ".", "(?i)Ä"):
            where = Where(conditions=(Condition(path, "regex", pattern),))
            other = Where(conditions=(Condition("data.a", "regex", "b"),))
            nested = (where & ~other, where & (other | Where(ids=("r1", "r2"))))
            for one in (where, ~where, where & Where(scope=Scope("a")), *nested):
                found = [record.id for record in store.read("a", store.match(one)) if record]
                assert sorted(found) == told(reference.find(one)), (path, pattern)


@pytest.mark.parametrize(
    "where",
    [
        Where(ids=(*(f"no{n}" for n in range(40_000)), "r3")),
        Where(conditions=(Condition("data.a", "in", [*map(str, range(40_000)), "x", 1]),)),
        Where(some=tuple(Where(agent=f"agent {n}") for n in range(1_100))),
        Where(every=tuple(Where(step_to=n) for n in range(2, 1_100))),
        Where(never=tuple(Where(step_from=n) for n in range(2, 1_100))),
    ],
    ids=["ids", "in", "some", "every", "never"],
)
def test_thousands_of_values_or_parts_stay_within_the_limits(store: Store, where: Where) -> None:
    values = ("x", 1.0, "y", True)
    rows = [
        one.but(agent=f"agent {n}", step=n) for n, one in enumerate(documents(*({"a": v} for v in values)))
    ]
    reference = both(store, rows)
    assert reference.find(where)
    check(store, reference, where)


ENDS = (*TIMES, -1, 2**53, 2**53 + 1, 2**54, float("inf"), float("-inf"))
ranges = st.dictionaries(
    st.sampled_from(("step_from", "step_to", "importance_min", "importance_max")), st.sampled_from(ENDS)
) | st.dictionaries(
    st.sampled_from(("since", "until", "created_since", "created_until", "alive_at")), st.sampled_from(TIMES)
)


@few
@given(st.lists(records(), min_size=1, max_size=12), st.lists(ranges, min_size=2, max_size=2), st.data())
def test_ranges_and_orders_are_exact(
    store: Store, found: list[Record], asked: list[dict[str, float]], data: st.DataObject
) -> None:
    steps = st.none() | st.sampled_from((*STEPS, 2**53, 2**53 + 1, -(2**53) - 1))
    reference = both(store, [record.but(step=data.draw(steps)) for record in found])
    one, other = (Where(**parts) for parts in asked)  # type: ignore[arg-type]
    for where in (one, other, one & other):
        for order in (*ORDERS, *(f"-{name}" for name in ORDERS)):
            mine, theirs = (kept.find(where, order=order, limit=4, offset=1) for kept in (store, reference))
            assert [r.id for r in mine] == [r.id for r in theirs], (where, order)
        assert len(store.match(where)) == verbs.count(reference, where)


@few
@given(st.text(st.sampled_from("\0\x1a\\u01a ")))
def test_any_text_comes_back_from_postgresql(text: str) -> None:
    assert unescape_row(escape([text])) == (text,)
    assert "\0" not in escape([text])[0]
    assert "\\u0000" not in escape([text])[0]


def test_a_document_that_cannot_be_read_matches_neither_a_test_nor_its_opposite(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.db")) as store:
        verbs.put(store, documents({"a": "x"}), now=1.0)
        with closing(sqlite3.connect(tmp_path / "m.db")) as raw, raw:
            raw.execute("UPDATE records SET data = '{\"a\":'")
        broken = Where(conditions=(Condition("data.a", "contains", "x"),))
        assert [*store.match(broken), *store.match(~broken)] == []


def test_what_the_store_finds_and_the_columns_do_not_hold_yet_is_passed_over() -> None:
    columns = columns_of("a", [Record(id=f"{seq}", scope="a", text="", seq=seq) for seq in (1, 4, 7)])
    kept = mask(Where(ids=("any",)), columns, lambda _: np.array([0, 1, 5, 99], np.int64))
    assert columns.seq[kept].tolist() == [1]
    assert len(mask(Where(ids=("any",)), columns_of("a", []), lambda _: np.array([1], np.int64))) == 0
