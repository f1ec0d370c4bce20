"""One filter, three answers: the predicate, SQL on SQLite, and the mask on numpy columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.making import examples
from tests.strategies import IDS, LABELS, PATTERNS, SCALARS, SCOPES, STEPS, TIMES, records, wheres

from eidet.core.record import Kind, Record, Tier, Trust
from eidet.core.scope import Scope
from eidet.core.state import dump_state
from eidet.core.validate import dump_json
from eidet.core.where import Box, Condition, Near, Where
from eidet.index.embedded.filters import mask
from eidet.store.sql.filters import compile_where
from eidet.store.sql.migrate import make_tables
from eidet.store.sql.rows import COLUMNS as NAMES
from eidet.store.sql.sqlite_json import SqliteJson, register

POOLS: dict[str, Sequence[Any]] = {
    "scope": [Scope(path, below) for path in SCOPES for below in (False, True)],
    "ids": [(), *((id,) for id in IDS), IDS],
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

agreement = settings(
    max_examples=examples(120),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


class Shard:
    """The records of one scope as columns."""

    def __init__(self, scope: str, rows: Sequence[Record]) -> None:
        self.scope = scope
        self._labels: dict[str, dict[str, int]] = {}
        place = [(*(r.place or (np.nan, np.nan)), np.nan)[:3] for r in rows]
        self.x, self.y, self.z = np.array(place, np.float64).reshape(-1, 3).T
        self.seq = np.array([r.seq for r in rows], np.int64)
        self.kind = np.array([list(Kind).index(r.kind) for r in rows], np.uint8)
        self.tier = np.array([list(Tier).index(r.tier) for r in rows], np.uint8)
        self.trust = np.array([list(Trust).index(r.trust) for r in rows], np.uint8)
        self.agent = self._coded("agent", [r.agent for r in rows])
        self.session = self._coded("session", [r.session for r in rows])
        self.who = self._coded("who", [r.who for r in rows])
        self.source = self._coded("source", [r.source for r in rows])
        self.occurred = np.array([r.occurred for r in rows], np.float64)
        self.created = np.array([r.created for r in rows], np.float64)
        self.step = np.array([np.nan if r.step is None else r.step for r in rows], np.float64)
        self.importance = np.array([r.importance for r in rows], np.float64)
        self.expires = np.array([np.inf if r.expires is None else r.expires for r in rows], np.float64)

    def __len__(self) -> int:
        return len(self.seq)

    def code(self, column: str, label: str) -> int:
        return self._labels[column].get(label, -2)

    def _coded(self, column: str, labels: Sequence[str | None]) -> NDArray[np.int32]:
        codes = self._labels.setdefault(column, {})
        found = [-1 if label is None else codes.setdefault(label, len(codes)) for label in labels]
        return np.array(found, np.int32)


@pytest.fixture(scope="module")
def connection() -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(":memory:")
    register(found)
    make_tables(found)
    found.execute("DROP INDEX records_by_id")  # records of one test may share their ids
    yield found
    found.close()


def fill(connection: sqlite3.Connection, rows: Sequence[Record]) -> None:
    """Makes the table hold these records, as a store would write them."""
    connection.execute("DELETE FROM records")
    marks = ", ".join(f":{name}" for name in NAMES)
    connection.executemany(f"INSERT INTO records ({', '.join(NAMES)}) VALUES ({marks})", map(row_of, rows))


def row_of(record: Record) -> dict[str, object]:
    x, y, z = (*(record.place or (None, None)), None)[:3]
    return {
        **{name: getattr(record, name, None) for name in NAMES},
        "kind": str(record.kind),
        "tier": str(record.tier),
        "trust": str(record.trust),
        "data": None if record.data is None else dump_json(record.data),
        "meta": dump_json(record.meta) if record.meta else None,
        "state": dump_state(record.state),
        "derived_from": None,
        "exact_key": b"",
        "x": x,
        "y": y,
        "z": z,
    }


def by_sql(connection: sqlite3.Connection, where: Where) -> list[int]:
    test = compile_where(where, SqliteJson())
    found = connection.execute(f"SELECT seq FROM records WHERE {test.text} ORDER BY seq", test.values)
    return [seq for (seq,) in found]


def by_mask(rows: Sequence[Record], where: Where) -> list[int]:
    found: list[int] = []
    for scope in {r.scope for r in rows}:
        shard = Shard(scope, [r for r in rows if r.scope == scope])
        kept = mask(where, shard, lambda asked: np.array(by_predicate(rows, asked), np.int64))
        found += shard.seq[kept].tolist()
    return sorted(found)


def by_predicate(rows: Sequence[Record], where: Where) -> list[int]:
    return [r.seq for r in rows if where.matches(r)]


def numbered(rows: Sequence[Record]) -> list[Record]:
    return [replace(r, seq=3 * n + 1) for n, r in enumerate(rows)]


@agreement
@given(
    rows=st.lists(records(), min_size=3, max_size=5).map(numbered),
    asked=st.lists(wheres(), min_size=1, max_size=3),
)
def test_sql_and_columns_find_what_the_predicate_finds(
    connection: sqlite3.Connection, rows: list[Record], asked: list[Where]
) -> None:
    fill(connection, rows)
    for where in asked:
        check(connection, rows, where)


def check(connection: sqlite3.Connection, rows: Sequence[Record], where: Where) -> None:
    expected = by_predicate(rows, where)
    assert by_sql(connection, where) == expected
    assert by_mask(rows, where) == expected


def test_every_part_alone_and_its_opposite_find_what_the_predicate_finds(
    connection: sqlite3.Connection,
) -> None:
    rows = numbered([scattered(Random(n)) for n in range(80)])
    fill(connection, rows)
    for name, pool in POOLS.items():
        for value in pool:
            where = Where(**{name: value})
            check(connection, rows, where)
            check(connection, rows, ~where)


def scattered(random: Random) -> Record:
    places = [None, (0.0, 1.0), (3.0, 4.0, 0.0), (3.0, 4.0, 5.0), (0.5, 0.5, -1.0)]
    labels: dict[str, Any] = {
        name: random.choice((None, *LABELS)) for name in ("agent", "session", "who", "source")
    }
    return Record(
        id=random.choice(IDS),
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


def test_every_scalar_compares_in_sql_as_in_python(connection: sqlite3.Connection) -> None:
    documents = (None, {}, *({"a": value} for value in SCALARS))
    rows = numbered([Record(id="x", scope="a", text="", data=data) for data in documents])
    fill(connection, rows)
    orders = [(op, v) for op in ("<", "<=", ">", ">=") for v in SCALARS if type(v) in (int, float, str)]
    equals = [(op, v) for op in ("=", "!=", "contains") for v in SCALARS]
    for op, operand in (*orders, *equals, *(("regex", pattern) for pattern in PATTERNS)):
        where = Where(conditions=(Condition("data.a", op, operand),))
        assert by_sql(connection, where) == by_predicate(rows, where), (op, operand)
        assert by_sql(connection, ~where) == by_predicate(rows, ~where), (op, operand)


def test_every_path_leads_in_sql_where_it_leads_in_python(connection: sqlite3.Connection) -> None:
    inner = ([1, {"a": 1}], {"0": 1, "a": {"a": 1}}, {"a": None}, {"a b": 1, "é": {'"': 1}}, "a", None, 1)
    rows = numbered(
        [
            Record(id="x", scope="a", text="", data=data)
            for data in (*inner, *({"a": i} for i in inner), *([i] for i in inner))
        ]
    )
    fill(connection, rows)
    steps: tuple[str | int, ...] = ("a", "0", 0, 1, -1, "a b", "é", '"', "$", "a]", "a.a", "", 10**12)
    paths: list[tuple[str | int, ...]] = [*((one,) for one in steps), *product(steps, steps)]
    for path in [*paths, ("a", 0, "a"), (0, "a", "a")]:
        tests = (("exists", True), ("exists", False), ("=", 1))
        for found in (Condition(("data", *path), op, value) for op, value in tests):
            where = Where(conditions=(found,))
            assert by_sql(connection, where) == by_predicate(rows, where), found


@pytest.mark.parametrize(
    "where",
    [
        Where(ids=(*(f"no{n}" for n in range(40_000)), "id3", "x\0y")),
        Where(conditions=(Condition("data.a", "in", [*map(str, range(40_000)), "x", 1]),)),
        Where(some=tuple(Where(agent=f"agent {n}") for n in range(1_100))),
        Where(every=tuple(Where(step_to=n) for n in range(2, 1_100))),
        Where(never=tuple(Where(step_from=n) for n in range(2, 1_100))),
    ],
    ids=["ids", "in", "some", "every", "never"],
)
def test_thousands_of_values_or_parts_stay_within_the_limits_of_sqlite(
    connection: sqlite3.Connection, where: Where
) -> None:
    values = ("x", 1.0, "y", True)
    rows = numbered(
        [
            Record(id=id, scope="a", text="", agent=f"agent {n}", step=n, data={"a": values[n % 4]})
            for n, id in enumerate(IDS)
        ]
    )
    fill(connection, rows)
    assert by_predicate(rows, where)
    check(connection, rows, where)


def test_a_document_that_cannot_be_read_matches_neither_a_test_nor_its_opposite(
    connection: sqlite3.Connection,
) -> None:
    fill(connection, numbered([Record(id="x", scope="a", text="", data={"a": "x"})]))
    connection.execute("UPDATE records SET data = '{\"a\":'")
    broken = Where(conditions=(Condition("data.a", "contains", "x"),))
    assert by_sql(connection, broken) == []
    assert by_sql(connection, ~broken) == []


def test_what_the_store_finds_and_the_columns_do_not_hold_yet_is_passed_over() -> None:
    shard = Shard("a", numbered([Record(id=id, scope="a", text="") for id in ("x", "y", "z")]))
    kept = mask(Where(ids=("any",)), shard, lambda _: np.array([0, 1, 5, 99], np.int64))
    assert shard.seq[kept].tolist() == [1]
    assert len(mask(Where(ids=("any",)), Shard("a", []), lambda _: np.array([1], np.int64))) == 0
