"""What a database is asked to filter lets pass at least what was asked for, and nothing else if it can."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from tests.making import examples
from tests.strategies import records, wheres

from eidet.core.record import Record
from eidet.core.where import Box, Condition, Near, Where
from eidet.index.vectordb.pushdown import (
    LABELS,
    NOTHING,
    Filter,
    Leaf,
    columns,
    hash_label,
    negate,
    passes,
    push_down,
)
from eidet.store import Entry

NOW = 1_700_000_000.0
KEY = b"a secret of the store"


def entry_of(record: Record) -> Entry:
    x, y, z = (*(record.place or ()), None, None, None)[:3]
    named = {name: getattr(record, name) for name in Entry._fields if name not in ("x", "y", "z")}
    return Entry(**{**named, "x": x, "y": y, "z": z})


def row(record: Record) -> dict[str, Any]:
    return columns(entry_of(record), KEY)


def alive(record: Record) -> bool:
    return record.expires is None or record.expires > NOW


def leaves(only: Filter) -> Iterator[Leaf]:
    if isinstance(only, Leaf):
        yield only
    else:
        for part in only.parts:
            yield from leaves(part)


@pytest.mark.parametrize(
    ("where", "passes_any"),
    [
        (Where(step_from=10**30), False),
        (Where(step_from=-(10**30)), True),
        (Where(step_to=10**30), True),
        (Where(step_to=-(10**30)), False),
        (Where(importance_max=1e300), True),
        (Where(near=Near(place=(1e150, 1.0), radius=sys.float_info.max)), True),
        (Where(never=(Where(step_from=10**30),)), True),
        (Where(never=(Where(step_to=10**30),)), True),
    ],
)
def test_no_database_is_asked_for_an_infinite_number(where: Where, passes_any: bool) -> None:
    only = push_down(where, "a", NOW, KEY).only
    numbers = [leaf.value for leaf in leaves(only) if isinstance(leaf.value, float)]
    assert all(map(math.isfinite, numbers))
    assert (only != NOTHING) == passes_any


@settings(max_examples=examples(250))
@given(record=records(), where=wheres())
def test_nothing_that_was_asked_for_is_kept_back(record: Record, where: Where) -> None:
    only, exact = push_down(where, record.scope, NOW, KEY)
    if where.matches(record) and alive(record):
        assert passes(only, row(record))
    elif exact:
        assert not passes(only, row(record))


@given(record=records(), where=wheres())
def test_the_opposite_passes_what_does_not_pass(record: Record, where: Where) -> None:
    only = push_down(where, record.scope, NOW, KEY).only
    assert passes(negate(only), row(record)) is not passes(only, row(record))


def test_labels_are_not_given_away() -> None:
    told = row(
        Record(id="x", scope="a", text="secret", who="Ann", session="s\x00", created=NOW, occurred=NOW)
    )
    assert {told[name] for name in LABELS} == {"", hash_label("Ann", KEY), hash_label("s\x00", KEY)}
    assert "Ann" not in str(told)
    assert "secret" not in str(told)
    assert hash_label("", KEY) != hash_label(None, KEY)
    assert hash_label("Ann", KEY) != hash_label("Ann", b"another store")


def test_what_cannot_be_told_is_left_open_not_guessed() -> None:
    for where in (Where(ids=("x",)), Where(conditions=(Condition("data.n", "=", 1),))):
        assert push_down(where, "a", NOW, KEY) == (Leaf("expires", ">", NOW), False)
        assert push_down(~where, "a", NOW, KEY) == (Leaf("expires", ">", NOW), False)
    ball = push_down(Where(near=Near(place=(1.0, 2.0), radius=3.0)), "a", NOW, KEY)
    assert not ball.exact
    assert not passes(ball.only, {**row(Record(id="x", scope="a", text="", place=(9.0, 0.0)))})


@pytest.mark.parametrize(
    "box", [Box(low=(0.0, 0.0), high=(1.0, 1.0)), Box(low=(0.0, 0.0, 0.0), high=(1.0, 1.0, 1.0))]
)
def test_a_box_holds_no_record_without_a_place(box: Box) -> None:
    only = push_down(Where(box=box), "a", NOW, KEY).only
    here, nowhere = (Record(id="x", scope="a", text="", place=place) for place in ((0.5, 0.5), None))
    assert passes(only, row(here))
    assert not passes(only, row(nowhere))
    assert passes(negate(only), row(nowhere))
