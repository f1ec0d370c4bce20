"""What cannot be kept is refused with a reason and leaves no trace; everything else comes back exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making import PLACES, place_of

from eidet import BadInput, Draft, EidetError, Memory, Message, Scope, Settings, Where

NOW = 1_700_000_000.0
WIDTH = 16


@pytest.fixture(params=PLACES, scope="module")
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """One for all tests that must not change it."""
    place = place_of(request, tmp_path_factory.mktemp("memory"))
    with Memory(place, embedder=f"hashing:{WIDTH}", clock=lambda: NOW) as opened:
        opened.remember("already there", id="there", importance=0.7)
        yield opened


@pytest.fixture
def fresh(memory: Memory) -> Iterator[Memory]:
    """The same, and what a test adds is forgotten after it."""
    yield memory
    for scope in memory.scopes():
        memory.forget(where=~Where(ids=("there",)), scope=scope, for_good=False)


def state(memory: Memory) -> Any:
    store = memory.parts.store
    return store.head(), store.find(Where()), memory.history("there")


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"in": value}
    return value


def cycle() -> Any:
    found: dict[str, Any] = {"list": []}
    found["list"].append(found)
    return found


WHAT: list[tuple[Any, str]] = [
    ("", "nothing to remember"),
    (" \t\n\u2003", "nothing to remember"),
    (None, "nothing to remember"),
    ("x" * 1_000_001, "1,000,001 characters, the limit is 1,000,000"),
    ("a\ud800b", "lone surrogate at character 1"),
    (5, "a memory must be a text, a message or a dict, not int"),
    (b"bytes", "not bytes"),
    (Path("docs/boiler.pdf"), r"sync_files\(memory, 'docs/boiler.pdf'\)"),
    ([Path("docs")], r"sync_files\(memory, 'docs'\)"),
    ({"a"}, "not set"),
    (iter(["a"]), "not list_iterator"),
    (["fine", None], "not NoneType"),
    (["fine", ["nested"]], "not list"),
    (["fine", ""], "nothing to remember"),
    ({"a": math.nan}, "data.a holds nan"),
    ({"a": [math.inf]}, r"data\.a\[0\] holds inf"),
    ({"a": {1}}, "data.a holds a set"),
    ({1: "a"}, "data has the key 1"),
    ({"a": "\udc00"}, "data.a has a lone surrogate"),
    (cycle(), "data.* contains itself"),
    (nested(201), "nested more than 200 levels"),
    ({"n": 10**1300}, "a whole number of 4,319 bits"),
    ({"role": "user", "content": 5}, "string"),
    ({"role": 5, "content": "x"}, "role needs a string, not int"),
    ({"role": "user", "content": [math.nan]}, "holds nan"),
    ({"role": "user", "content": "x", "timestamp": "noon"}, "is not an ISO 8601"),
    ({"role": "user", "content": "x", "metadata": 5}, "meta must be a dict, not int"),
    (Message(role="user", content=5), "string"),  # type: ignore[arg-type]
    (Message(role="user", tool_calls=[{"a": {1}}], content="x"), "holds a set"),
    (Draft(text=5), "text needs a string, not int"),  # type: ignore[arg-type]
    (Draft(), "nothing to remember"),
    (Draft(text="x", id="a", key="b"), "an id or a key, not both"),
]


@pytest.mark.parametrize(("what", "reason"), WHAT, ids=lambda v: repr(v).partition(" at 0x")[0][:40])
def test_what_cannot_be_a_memory_is_refused(memory: Memory, what: Any, reason: str) -> None:
    before = state(memory)
    with pytest.raises(BadInput, match=reason):
        memory.remember(what)
    with pytest.raises(BadInput):
        memory.remember([Draft(text="fine"), what])
    assert state(memory) == before


DETAILS: list[tuple[str, Any, str]] = [
    *(
        ("importance", value, "importance must be a number from 0 to 1")
        for value in (-0.1, 1.1, math.nan, math.inf)
    ),
    *(("importance", value, "importance must be a number from 0 to 1") for value in ("0.5", True, [1])),
    ("kind", "belief", "unknown kind 'belief'; there are message"),
    ("kind", 5, "unknown kind 5"),
    ("tier", "cold", "unknown tier 'cold'; there are short, middle, long"),
    *(("scope", value, "scope") for value in ("", "/", "a//b", " a", "a\0", "a\n", "x" * 201, 5, None)),
    ("scope", ["a"], "scope"),
    *(
        ("step", value, "step must be a whole number")
        for value in (1.0, "1", True, 2**53 + 1, -(2**60), math.nan)
    ),
    *(
        ("place", value, "a place must be two or three")
        for value in ((1,), (1, 2, 3, 4), (), 5, ("a", "b"), (1, None))
    ),
    *(
        ("place", value, "a place must be two or three")
        for value in ((math.nan, 1), (1, math.inf), (1e200, 1))
    ),
    *(("occurred", value, "occurred") for value in (math.nan, math.inf, "noon", True, [1], 1e15)),
    ("occurred", datetime.min, "occurred"),  # noqa: DTZ901  # a time that no clock shows
    ("expires", NOW, "expires is in the past"),
    ("expires", NOW - 1, "expires is in the past"),
    ("expires", timedelta(0), "expires is in the past"),
    ("expires", timedelta(seconds=-1), "expires is in the past"),
    ("expires", timedelta.max, "outside the years"),
    *(("expires", value, "expires") for value in (math.nan, "soon", True)),
    *(
        (name, value, reason)
        for name in ("who", "agent", "session", "source")
        for value, reason in (
            ("", "must have 1 to 1,000 characters, not 0"),
            ("x" * 1001, "must have 1 to 1,000 characters, not 1,001"),
            (5, "needs a string, not int"),
            ("\ud800", "lone surrogate"),
        )
    ),
    ("meta", [1], "meta must be a dict, not list"),
    ("meta", "x", "meta must be a dict, not str"),
    ("meta", {"a": math.nan}, "meta.a holds nan"),
    ("meta", {5: 1}, "meta has the key 5"),
    ("meta", cycle(), "meta.* contains itself"),
    ("data", math.nan, "data holds nan"),
    ("data", Ellipsis, "data holds a ellipsis"),
    ("data", datetime(2024, 1, 1, tzinfo=UTC), "data holds a datetime"),
    ("data", np.zeros(3), "data holds a ndarray"),
    ("derived_from", [5], "derived_from needs a string, not int"),
    ("derived_from", ["\ud800"], "derived_from has a lone surrogate"),
    ("derived_from", "an id", "derived_from"),
    ("derived_from", 5, "derived_from"),
    *(
        ("id", value, "an id must have 1 to 200 printable characters")
        for value in ("", "a\0b", "\n", "\ud800", "x" * 201, 5)
    ),
    ("key", 5, "key needs a string, not int"),
    ("key", "\ud800", "key has a lone surrogate"),
    ("vector", [1.0] * (WIDTH - 1), r"shape \(15,\), this memory's embedder makes \(16,\)"),
    ("vector", [[1.0] * WIDTH] * 65, r"shape \(65, 16\).* up to 64"),
    ("vector", [[1.0] * (WIDTH - 1)] * 2, r"shape \(2, 15\)"),
    ("vector", np.ones((1, 2, WIDTH)), r"shape \(1, 2, 16\)"),
    ("vector", [], r"shape \(0,\)"),
    ("vector", b"abc", "a vector is a sequence of 16 numbers"),
    ("vector", "x" * WIDTH, "a vector is a sequence of 16 numbers"),
    ("vector", [math.nan] * WIDTH, "holds NaN or infinity"),
    ("vector", [1e39] * WIDTH, "holds NaN or infinity"),
    ("vector", [None] * WIDTH, "holds NaN or infinity|sequence of 16 numbers"),
    ("importence", 0.5, r"remember does not know \['importence'\]"),
]


@pytest.mark.parametrize(("name", "value", "reason"), DETAILS, ids=lambda v: repr(v)[:30])
def test_details_that_cannot_be_are_refused(memory: Memory, name: str, value: Any, reason: str) -> None:
    before = state(memory)
    details: Any = {name: value}
    with pytest.raises(BadInput, match=reason):
        memory.remember("a new text", **details)
    assert state(memory) == before


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [case for case in DETAILS if case[0] not in ("scope", "id", "key", "importence")]
    + [("text", value, "text|nothing to remember") for value in ("", 5, "\ud800", "x" * 1_000_001)],
    ids=lambda v: repr(v)[:30],
)
def test_revisions_that_cannot_be_are_refused(memory: Memory, name: str, value: Any, reason: str) -> None:
    before = state(memory)
    with pytest.raises(BadInput, match=reason):
        memory.revise("there", **{name: value})
    assert state(memory) == before


def test_many_cannot_share_an_id_a_key_or_a_vector(memory: Memory) -> None:
    before = state(memory)
    for details in ({"id": "x"}, {"key": "x"}, {"vector": [1.0] * WIDTH}):
        said: Any = details
        with pytest.raises(BadInput, match="belong to one record"):
            memory.remember(["one", "two"], **said)
    assert state(memory) == before


EXACT: list[dict[str, Any]] = [
    {"what": "\0"},
    {"what": "a\0b\0"},
    {"what": " spaces stay \n"},
    {"what": "\ufeff\u202e\u200b🏳️‍🌈 e\u0301 \U0010ffff"},
    {"what": "'; DROP TABLE records; -- % _ \\ \" ?1 :name"},
    {"what": "x" * 1_000_000},
    {"what": "x", "data": {"": [None, True, False, 0, -0.0, 1.5, 1e-320, 2**64, -(10**300), "\0", {}, []]}},
    {"what": "x", "data": "text"},
    {"what": "x", "data": 0},
    {"what": "x", "data": False},
    {"what": "x", "data": []},
    {"what": "x", "data": nested(199)},
    {"what": {}},
    {"what": {"\0": "\0", "a.b": 1, "$": {"[0]": 2}, '"': "'"}},
    {"what": {f"key {n}": n for n in range(10_000)}},
    {"what": "x", "meta": {f"key {n}": [n, {"n": n}] for n in range(10_000)}},
    {"what": "x", "meta": {}},
    {"what": "x", "importance": 0},
    {"what": "x", "importance": 1},
    {"what": "x", "step": 2**53},
    {"what": "x", "step": -(2**53)},
    {"what": "x", "place": (-1e150, 1e150)},
    {"what": "x", "place": np.array([0.1, 0.2, 5e-324])},
    {"what": "x", "occurred": "0001-01-01T00:00:00+00:00"},
    {"what": "x", "occurred": "9999-12-31T23:59:59+00:00"},
    {"what": "x", "who": "\0 🙂\n", "agent": " ", "session": "x" * 1000, "source": "'"},
    {"what": "x", "id": "🙂 '\"%_\\/"},
    {"what": "x", "key": "\0\n" * 10_000},
    {"what": "x", "derived_from": ["", "\0", "x" * 10_000]},
    {"what": "x", "vector": [0.0] * WIDTH},
    {"what": "x", "vector": [3e38, -3e38] * (WIDTH // 2)},
    {"what": "x", "vector": [1e-45] * WIDTH},
    {"what": "x", "scope": "🙂/a b/%_\\'\"/a*/**a/." + "/x" * 400},
]


@pytest.mark.parametrize("said", EXACT, ids=lambda v: repr(v)[:50])
def test_strange_but_possible_input_comes_back_exactly(
    fresh: Memory, said: dict[str, Any], tmp_path: Path
) -> None:
    details = dict(said)
    what = details.pop("what")
    record = fresh.remember(what, **details)
    found = fresh.get(record.id, scope=record.scope)
    assert found == record
    assert repr(found) == repr(record)
    assert (record.text if isinstance(what, str) else record.data) == what
    for name in details.keys() & {
        "data",
        "meta",
        "importance",
        "step",
        "who",
        "agent",
        "session",
        "source",
        "id",
    }:
        assert getattr(record, name) == details[name]
    assert fresh.export(tmp_path / "export.jsonl", scope=record.scope) >= 1
    with Memory(embedder=f"hashing:{WIDTH}", clock=lambda: NOW) as other:
        other.load(tmp_path / "export.jsonl")
        loaded = other.get(record.id, scope=record.scope)
        assert loaded is not None
        assert replace(loaded, seq=record.seq) == record
    hits = fresh.recall("x", scope=record.scope, limit=100, least=0)
    assert record.id in {hit.id for hit in hits}
    assert fresh.context("x", scope=record.scope).tokens <= 1000


def test_the_longest_text_is_a_setting() -> None:
    with Memory(embedder="hashing:16", settings=Settings(text_chars=5)) as memory:
        assert memory.remember("12345").text == "12345"
        with pytest.raises(BadInput, match="has 6 characters, the limit is 5"):
            memory.remember("123456")


QUESTIONS: list[Callable[[Memory], object]] = [
    lambda memory: memory.recall("x", limit=0),
    lambda memory: memory.recall("x", limit=10**7),
    lambda memory: memory.recall("x", vector=[1.0]),
    lambda memory: memory.recall("x", vector=[math.nan] * WIDTH),
    lambda memory: memory.recall(order="uses; DROP"),
    lambda memory: memory.forget(kind="fact"),  # type: ignore[call-arg]
    lambda memory: memory.context("x", counter=5),  # type: ignore[arg-type]
    lambda memory: memory.find(offset=-1),
    lambda memory: memory.find(limit=0),
    lambda memory: memory.find(order="text"),
    lambda memory: memory.forget("\ud800"),
    lambda memory: memory.forget("there", scope="a//b"),
    lambda memory: memory.forget("there", scope=""),
    lambda memory: memory.forget(everything=True, scope=""),
    lambda memory: memory.forget("there", by="\ud800"),
    lambda memory: memory.revise("there", text="new", by="\ud800"),
    lambda memory: memory.revise("there", text="new", by=5),  # type: ignore[arg-type]
    lambda memory: memory.get("\ud800"),
    lambda memory: memory.history("\ud800"),
    lambda memory: memory.get("there", scope="a//b"),
    lambda memory: memory.scopes("a//b"),
    lambda memory: memory.admin.stats(5),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("ask", QUESTIONS, ids=range(len(QUESTIONS)))
def test_what_cannot_be_asked_is_refused(memory: Memory, ask: Callable[[Memory], object]) -> None:
    before = state(memory)
    with pytest.raises(BadInput):
        ask(memory)
    assert state(memory) == before


@pytest.mark.parametrize(
    "query", ["", " ", "\0", "\ud800", "?!", "the", "x" * 100_000, "🙂", "'; DROP TABLE x", "%"]
)
def test_any_text_can_be_asked(memory: Memory, query: str) -> None:
    assert len(memory.recall(query)) <= 1
    assert memory.context(query).tokens <= 1000


def test_a_vector_that_overflows_does_not_hide_the_others(fresh: Memory) -> None:
    fresh.remember("huge", vector=[3e38] * WIDTH)
    fresh.remember("tiny", vector=[1e-45] * WIDTH)
    hits = fresh.recall(vector=[1.0] * WIDTH)
    assert {hit.text for hit in hits} == {"huge", "tiny", "already there"}
    assert all(math.isfinite(hit.score) for hit in hits)


def test_errors_can_be_told_apart_by_a_program() -> None:
    assert issubclass(BadInput, EidetError)
    assert issubclass(BadInput, ValueError)
    with Memory(embedder="hashing:16") as memory, pytest.raises(ValueError, match="needs one scope"):
        memory.remember("x", scope=Scope.under("a"))
