"""Filters as dicts mean what the same `Where` means, in every verb."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eidet import BadInput, Box, Memory, Near, Where
from eidet.core.dict_filters import where_of

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

RECORDS: list[dict[str, Any]] = [
    {"id": "a", "data": {"health": 0.9, "tags": ["x", "y"], "name": "Ann"}, "who": "ann", "importance": 0.2},
    {
        "id": "b",
        "data": {"health": 0.4, "tags": []},
        "who": "bob",
        "agent": "one",
        "importance": 0.5,
        "step": 3,
    },
    {"id": "c", "meta": {"team": "red"}, "session": "s1", "kind": "message", "importance": 0.8, "step": 5},
    {"id": "d", "data": {"health": 0.5}, "place": (1, 1), "trust": "web", "occurred": NOON},
]


@pytest.fixture(params=["ram", "file"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    place = None if request.param == "ram" else tmp_path / "m.db"
    with Memory(place, embedder="hashing:16") as opened:
        for record in RECORDS:
            opened.remember(f"the text of {record['id']}", **record)
        yield opened


MEANT: list[tuple[dict[str, Any], str]] = [
    ({"data.health": {"$gt": 0.5}}, "a"),
    ({"data.health": {"$gte": 0.5}}, "ad"),
    ({"data.health": {"$lt": 0.5}}, "b"),
    ({"data.health": {"$lte": 0.5, "$gt": 0.4}}, "d"),
    ({"data.health": 0.5}, "d"),
    ({"data.health": {"$eq": 0.5}}, "d"),
    ({"data.health": {"$ne": 0.5}}, "abc"),
    ({"data.health": {"$in": [0.4, 0.9]}}, "ab"),
    ({"data.health": {"$nin": [0.4, 0.9]}}, "cd"),
    ({"data.health": {"$exists": False}}, "c"),
    ({"data.health": {"$not": {"$gt": 0.45}}}, "bc"),
    ({"data.tags": {"$contains": "x"}}, "a"),
    ({"data.tags": {"$not_contains": "x"}}, "bcd"),
    ({"data.tags": {"$eq": []}}, "b"),
    ({"data.name": {"$regex": "^A"}}, "a"),
    ({"meta.team": "red"}, "c"),
    ({"record.uses": {"$gte": 0}}, "abcd"),
    ({"$and": [{"data.health": {"$gt": 0.3}}, {"who": "bob"}]}, "b"),
    ({"$or": [{"who": "ann"}, {"session": "s1"}]}, "ac"),
    ({"$not": {"$or": [{"who": "ann"}, {"session": "s1"}]}}, "bd"),
    ({"$nor": [{"who": "ann"}, {"session": "s1"}]}, "bd"),
    ({"AND": [{"who": "ann"}, {"NOT": [{"who": "bob"}]}]}, "a"),
    ({"OR": [{"run_id": "s1"}, {"agent_id": "one"}]}, "bc"),
    ({"data.health": {"gte": 0.5, "lt": 0.9}}, "d"),
    ({"who": {"$in": ["ann", "bob"]}, "importance": {"$gt": 0.2}}, "b"),
    ({"who": {"$in": []}}, ""),
    ({"who": {"$nin": ["ann"]}}, "bcd"),
    ({"id": {"$in": ["a", "z"]}}, "a"),
    ({"id": {"$in": []}}, ""),
    ({"kind": "message"}, "c"),
    ({"kind": {"$ne": "message"}}, "abd"),
    ({"trust": "web"}, "d"),
    ({"importance": {"$lt": 0.5}}, "a"),
    ({"importance": 0.8}, "c"),
    ({"importance": {"$in": [0.2, 0.8]}}, "ac"),
    ({"step": {"$gte": 3, "$lt": 5}}, "b"),
    ({"occurred": {"$lte": "2024-05-01T12:00:00+00:00"}}, "d"),
    ({"occurred": {"$gt": NOON}}, "abc"),
    ({"near": {"place": [0, 0], "radius": 2}}, "d"),
    ({"box": {"low": [2, 2], "high": [3, 3]}}, ""),
    ({"since": NOON, "kinds": ["fact", "message"], "importance_min": 0.5}, "bcd"),
    ({"data.health": {"$lt": 0.9}, "data.tags": {"$exists": True}, "never": [{"who": "ann"}]}, "b"),
    ({"some": [{"who": "ann"}, {"step": 5}], "$or": [{"kind": "message"}, {"step": 3}]}, "c"),
    ({}, "abcd"),
]

COUNTS: dict[str, Callable[[Memory, Any], str]] = {
    "find": lambda memory, where: "".join(sorted(record.id for record in memory.find(where))),
    "recall": lambda memory, where: "".join(sorted(hit.id for hit in memory.recall(where=where))),
}


@pytest.mark.parametrize(("where", "wanted"), MEANT, ids=[str(where) for where, _ in MEANT])
def test_a_dict_means_the_same_in_every_verb(memory: Memory, where: dict[str, Any], wanted: str) -> None:
    for verb in COUNTS.values():
        assert verb(memory, where) == wanted
    assert memory.count(where) == len(wanted)
    assert {hit.id for hit in memory.context("the text", where=where).hits} <= {*wanted}
    if where:
        assert memory.trust.preview_forget(where=where).count == len(wanted)
        assert memory.forget(where=where, for_good=False) == len(wanted)
        assert memory.count() == len(RECORDS) - len(wanted)


WRONG: list[tuple[Any, str]] = [
    ({"health": 1}, "'meta.health', structured content is 'data.health'"),
    ({"user_id": "ann"}, "scope="),
    (
        {"text": {"$contains": "Ilse"}},
        r"does not search texts.*recall\(words, recipe='exact'\).*record\.text",
    ),
    ({"data.a": {"$near": 1}}, r"unknown operator '\$near' for data.a; there are \$eq"),
    ({"data.a": {"x": 1}}, "unknown operator 'x'"),
    ({"data.a": {}}, "compared with nothing"),
    ({"$and": []}, "at least one"),
    ({"$or": {"who": "x"}}, "needs a list"),
    ({"$or": [{"who": "x"}, {"wo": "y"}]}, r"\$or, item 2: a filter knows no 'wo'"),
    ({"$xor": [{"who": "x"}]}, r"unknown operator '\$xor'"),
    ({"who": {"$gt": "x"}}, r"cannot be asked with \$gt"),
    ({"who": {"$in": "ann"}}, "needs a list"),
    ({"who": None}, "cannot be compared with None"),
    ({"kind": "belief"}, "belief"),
    ({"data.a": {"$not": 5}}, "needs operators"),
    ({5: 1}, "must be a string"),
    ({"near": {"place": [0, 0]}}, "near of a filter has place and radius"),
    ({"conditions": [[5, "=", 1]]}, "condition path 5 must be a text or a list"),
    ("who = x", "a Where.* or a dict"),
    ([{"who": "x"}], "a Where.* or a dict"),
]


@pytest.mark.parametrize(("where", "why"), WRONG, ids=[str(where) for where, _ in WRONG])
def test_what_is_no_filter_is_refused_with_a_hint(memory: Memory, where: Any, why: str) -> None:
    for ask in (memory.find, memory.count, lambda where: memory.forget(where=where)):
        with pytest.raises(BadInput, match=why):
            ask(where)


def test_nesting_has_an_end() -> None:
    deep: dict[str, Any] = {"who": "x"}
    for _ in range(5000):
        deep = {"$not": deep}
    with pytest.raises(BadInput, match="at most 30 levels"):
        where_of(deep)


def test_an_empty_dict_does_not_delete_everything(memory: Memory) -> None:
    from eidet import Refused

    with pytest.raises(Refused, match="empty"):
        memory.forget(where={})


PARTS: list[tuple[dict[str, Any], str]] = [
    ({"kinds": "message"}, "c"),
    ({"kinds": ["message", "fact"], "who": "ann"}, "a"),
    ({"session": "s1"}, "c"),
    ({"agent": "one"}, "b"),
    ({"who": "bob"}, "b"),
    ({"trust": "web"}, "d"),
    ({"tiers": "long"}, ""),
    ({"until": NOON}, "d"),
    ({"since": "2024-05-02"}, "abc"),
    ({"near": Near(place=(0, 0), radius=2)}, "d"),
    ({"box": Box(low=(0, 0), high=(2, 2))}, "d"),
]


@pytest.mark.parametrize(("parts", "wanted"), PARTS, ids=[str(part) for part, _ in PARTS])
def test_the_same_parts_can_be_named_in_every_verb(memory: Memory, parts: Any, wanted: str) -> None:
    assert "".join(sorted(record.id for record in memory.find(**parts))) == wanted
    assert "".join(sorted(hit.id for hit in memory.recall(**parts))) == wanted
    assert memory.count(**parts) == len(wanted)
    assert memory.count(Where(who="nobody"), **parts) == 0
    assert {hit.id for hit in memory.context("the text", **parts).hits} <= {*wanted}
    assert memory.trust.preview_forget(**parts).count == len(wanted)
    assert memory.forget(**parts, for_good=False) == len(wanted)


def test_a_state_asks_for_states_that_resemble_it() -> None:
    with Memory(":memory:", embedder="hashing") as memory:
        memory.remember("mood: merry")
        memory.remember({"health": 0.2, "mood": "sad", "inventory": {"wood": 5}}, id="s1")
        memory.remember({"health": 0.9, "mood": "merry", "inventory": {"iron": 1}}, id="s2")
        hits = memory.recall({"mood": "merry", "inventory": {"iron": 2}})
        assert hits[0].id == "s2"
        assert {hit.record.kind for hit in hits} == {"state"}
        [fact] = memory.recall({"mood": "merry"}, kinds="fact")
        assert fact.text == "mood: merry"
        assert memory.context({"mood": "merry"}).tokens > 0


@pytest.mark.parametrize("place", [":memory:", "ram://", "sqlite://:memory:", "sqlite:///:memory:"])
def test_the_usual_name_for_ram_is_ram(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory(place, embedder="hashing:16") as memory:
        memory.remember("x")
        assert memory.count() == 1
    assert not list(tmp_path.iterdir())
