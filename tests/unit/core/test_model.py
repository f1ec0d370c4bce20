"""The nouns: frozen, exact, and clear about what they cannot be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import Any

import pytest

from eidet.core.draft import Details, Draft
from eidet.core.errors import BadInput
from eidet.core.hit import Hit, Hits, Reasons, Signal, Trace
from eidet.core.record import Kind, Record, Tier, content_digest, key_id, kind_of, new_id, tier_of
from eidet.core.scope import Scope

RECORD = Record(id="x", scope="a", text="hello")


@pytest.mark.parametrize(
    "path",
    ["default", "a", "acme/ann", "a b", "ünï/日本", "a.b-c_d", "%", "🙂", "a" * 200, "x/" * 499 + "xx"],
)
def test_a_scope_is_a_path_of_printable_labels(path: str) -> None:
    assert Scope(path).path == path
    assert str(Scope(path)) == path
    assert Scope.of(path) == Scope(path)


@pytest.mark.parametrize(
    "path",
    ["", "/", "a/", "/a", "a//b", " a", "a ", "a/ b", "a\0b", "a\nb", "\ud800", "a" * 201, "ab/" * 334 + "a"],
)
def test_a_scope_with_strange_labels_is_refused(path: str) -> None:
    with pytest.raises(BadInput, match="scope"):
        Scope(path)


@pytest.mark.parametrize("path", [None, 5, b"a", ["a"], ("a", "b")])
def test_a_scope_that_is_no_string_is_refused(path: Any) -> None:
    with pytest.raises(BadInput, match="a scope must be a string such as 'acme/ann'"):
        Scope(path)


def test_a_scope_holds_itself_and_only_below_when_asked() -> None:
    assert Scope("a").holds("a")
    assert not Scope("a").holds("a/b")
    assert Scope.under("a").holds("a")
    assert Scope.under("a").holds("a/b/c")
    assert not Scope.under("a").holds("ab")
    assert not Scope.under("a").holds("b/a")
    assert str(Scope.under("a")) == "a/**"
    assert Scope.of(Scope.under("a")) == Scope.under("a")


def test_values_are_frozen() -> None:
    for value in (RECORD, Scope("a"), Draft(text="x"), Hit(record=RECORD, score=1.0)):
        with pytest.raises(FrozenInstanceError):
            setattr(value, fields(value)[0].name, "other")


def test_a_record_is_changed_by_making_another() -> None:
    other = RECORD.but(text="bye", importance=0.9)
    assert (other.text, other.importance, other.id) == ("bye", 0.9, "x")
    assert RECORD.text == "hello"
    assert other.but(text="hello", importance=0.5) == RECORD


def test_a_record_made_of_values_has_each_in_its_field() -> None:
    names = [field.name for field in fields(Record)]
    made = Record.of(names)
    for record in (made, made.but(), made.but(seq=7).but(seq="seq")):
        assert type(record) is Record
        assert [getattr(record, name) for name in names] == names
        with pytest.raises(FrozenInstanceError):
            setattr(record, names[0], "other")


def test_a_record_has_no_field_that_is_not_known() -> None:
    with pytest.raises(AttributeError, match="colour"):
        RECORD.but(colour="red")
    with pytest.raises(ValueError, match="unpack"):
        Record.of(["x"])


def test_kinds_and_tiers_are_known_by_name() -> None:
    assert kind_of("fact") is Kind.FACT
    assert tier_of("long") is Tier.LONG
    with pytest.raises(BadInput, match="unknown kind 'belief'; there are message, working, fact"):
        kind_of("belief")
    with pytest.raises(BadInput, match="unknown tier 'cold'; there are short, middle, long"):
        tier_of("cold")


def test_a_digest_tells_contents_apart() -> None:
    contents: list[tuple[str, Any]] = [("", None), ("a", None), ("a", ""), ("a", {}), ("a", 1), ("a", 1.0)]
    contents += [("a", True), ("a", [1]), ("a", {"x": 1}), ("a\0", 1), ("a\x001", None)]
    assert len({content_digest(*content) for content in contents}) >= len(contents) - 1
    assert content_digest("a", {"x": 1, "y": 2}) == content_digest("a", {"y": 2, "x": 1})
    assert RECORD.digest == content_digest("hello", None).hex() == RECORD.but(importance=0.1).digest


def test_when_is_an_aware_time() -> None:
    assert RECORD.but(occurred=1.7e9).when == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_ids_rise_and_are_never_given_twice() -> None:
    ids = [new_id(1.7e9) for _ in range(1000)] + [new_id(1.6e9)]
    assert ids == sorted(set(ids))
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: new_id(1.7e9), range(1000)))) == 1000


def test_a_key_always_gives_the_same_id() -> None:
    assert key_id("user:1") == key_id("user:1") != key_id("user:2")
    assert key_id("x\0y 日本\n").isalnum()


def test_a_hit_says_why_in_one_line() -> None:
    signals = (
        Signal(name="dense", value=0.8, share=0.61, rank=1),
        Signal(name="words", value=3.2, share=0.34, rank=2),
        Signal(name="importance", value=0.5, share=0.02),
    )
    reasons = Reasons(signals=signals, matched=("live", "lisbon"))
    hit = Hit(record=RECORD, score=0.97, reasons=lambda: reasons)
    assert hit.why() == "dense 0.61 (#1) + words 0.34 (#2: live, lisbon) + importance 0.02"
    assert (hit.id, hit.text) == ("x", "hello")
    assert Hit(record=RECORD, score=1.0).why() == "matches the filter"


def test_hits_are_a_sequence_with_a_trace() -> None:
    hits = Hits([Hit(record=RECORD.but(id=id), score=1.0) for id in "abc"], Trace(query="q"))
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert (len(hits), hits[-1].id, [hit.id for hit in hits[:2]]) == (3, "c", ["a", "b"])
    assert hits.trace is not None
    assert hits == Hits(list(hits))
    assert hash(hits) == hash(Hits(list(hits)))
    assert not Hits([])
    assert repr(Hits([])) == "Hits([])"


def test_details_name_every_field_of_a_draft() -> None:
    drafted = {field.name for field in fields(Draft)}
    assert set(Details.__annotations__) - drafted == {
        *("scope", "version", "keep_duplicates", "read_speakers", "again")
    }
    assert drafted - set(Details.__annotations__) == {"text"}
