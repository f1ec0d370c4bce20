"""What a caller gives is stored exactly or refused with the reason."""

from __future__ import annotations

import math
from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from eidet.core.errors import BadInput
from eidet.core.record import Kind
from eidet.core.validate import EARLIEST, LATEST, clean_json, dump_json, moment


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (0, 0.0),
        (1.5, 1.5),
        (-1, -1.0),
        ("1970-01-01T00:00:01+00:00", 1.0),
        ("1970-01-01T01:00:00+01:00", 0.0),
        (datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC), 1.7e9),
        (datetime(2023, 11, 14, 23, 13, 20, tzinfo=timezone(timedelta(hours=1))), 1.7e9),
        (np.float64(1.5), 1.5),
        (np.int64(3), 3.0),
        (EARLIEST, EARLIEST),
        (LATEST, LATEST),
    ],
)
def test_a_moment_is_a_number_a_datetime_or_an_iso_string(given: Any, wanted: float) -> None:
    assert moment(given) == wanted
    assert type(moment(given)) is float


def test_a_time_without_a_zone_is_local_time() -> None:
    naive = datetime(2024, 5, 1, 12)  # noqa: DTZ001
    assert moment(naive) == naive.timestamp() == moment("2024-05-01T12:00:00")
    assert moment("2024-05-01") == datetime(2024, 5, 1).timestamp()  # noqa: DTZ001
    assert moment(date(2024, 5, 1)) == moment("2024-05-01")


@pytest.mark.parametrize(
    "given",
    [
        "",
        "yesterday",
        "2024-13-01",
        math.nan,
        math.inf,
        -math.inf,
        1e300,
        10**20,
        True,
        None,
        [1],
        b"1",
        "1.5",
    ],
)
def test_what_is_no_moment_is_refused(given: Any) -> None:
    with pytest.raises(BadInput, match=r"^occurred "):
        moment(given, "occurred")


def test_json_is_copied() -> None:
    inner = [1]
    given = {"a": inner}
    cleaned = clean_json(given, "data")
    inner.append(2)
    assert cleaned == {"a": [1]}


def test_what_json_can_carry_becomes_plain() -> None:
    given = OrderedDict(a=(1, 2), b=MappingProxyType({"c": np.float64(0.5)}), d=Kind.FACT)
    cleaned = clean_json(given, "data")
    assert cleaned == {"a": [1, 2], "b": {"c": 0.5}, "d": "fact"}
    scalars = [np.int64(1), np.float32(0.5), np.bool_(True), np.str_("é"), np.uint8(7)]
    assert repr(clean_json(scalars, "data")) == "[1, 0.5, True, 'é', 7]"
    assert type(cleaned["b"]) is dict
    assert type(cleaned["b"]["c"]) is float


def test_a_cycle_is_refused_but_a_value_twice_is_not() -> None:
    cycle: dict[str, Any] = {"a": []}
    cycle["a"].append(cycle)
    with pytest.raises(BadInput, match=r"meta.* contains itself"):
        clean_json(cycle, "meta")
    shared = [1]
    assert clean_json([shared, {"again": shared}], "meta") == [[1], {"again": [1]}]


def test_json_is_written_compactly_and_without_escapes() -> None:
    assert dump_json({"b": "é", "a": [1, None]}) == '{"b":"é","a":[1,null]}'
    assert dump_json({"b": 1, "a": 2}, sort_keys=True) == '{"a":2,"b":1}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump_json(math.nan)
