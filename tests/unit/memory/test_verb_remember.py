"""`remember` and every promise of its docstring, in RAM and in a file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.making import DAY, Clock, texts
from tests.unit.memory.given import HASHING

from eidet import BadInput, Conflict, Draft, Kind, Memory, Message, Settings, Tier


def test_a_text_becomes_a_fact_with_defaults(memory: Memory, clock: Clock) -> None:
    record = memory.remember("Ann lives in Lisbon")
    assert (record.text, record.kind, record.tier, record.scope) == (
        "Ann lives in Lisbon",
        Kind.FACT,
        Tier.SHORT,
        "default",
    )
    assert (record.created, record.occurred, record.importance, record.uses) == (clock.now, clock.now, 0.5, 0)
    assert (record.version, record.expires, record.data, record.meta) == (1, None, None, {})
    assert memory.get(record.id) == record


def test_everything_that_is_said_of_a_record_is_kept(memory: Memory, clock: Clock) -> None:
    details: dict[str, Any] = {
        "kind": "episode",
        "tier": "long",
        "who": "Ann",
        "agent": "planner",
        "session": "s1",
        "step": 7,
        "importance": 0.9,
        "source": "mail",
        "data": {"n": [1, 2.5, None]},
        "meta": {"tag": "x"},
    }
    record = memory.remember(
        "hello",
        scope="acme/ann",
        place=(1, 2, 3),
        occurred="2024-05-01T12:00:00+00:00",
        expires=timedelta(days=1),
        derived_from=["one", "two"],
        id="mine",
        **details,
    )
    found = memory.get("mine", scope="acme/ann")
    assert found == record
    assert {name: getattr(record, name) for name in details} == details
    assert record.place == (1.0, 2.0, 3.0)
    assert record.occurred == datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp()
    assert record.expires == clock.now + DAY
    assert record.derived_from == ("one", "two")


def test_a_list_is_remembered_in_order_with_the_same_details(memory: Memory) -> None:
    stored = memory.remember(
        ["one", Draft(text="two", who="Bob", meta={"a": 1}), "three"], who="Ann", meta={"b": 2}
    )
    assert texts(stored) == ["one", "two", "three"]
    assert [record.who for record in stored] == ["Ann", "Bob", "Ann"]
    assert [record.meta for record in stored] == [{"b": 2}, {"a": 1, "b": 2}, {"b": 2}]
    assert memory.remember(("four",))[0].text == "four"
    assert memory.remember([]) == []


def test_a_dict_is_structured_data_with_a_text_to_search(memory: Memory) -> None:
    record = memory.remember({"health": 0.85, "inventory": {"wood": 5, "tools": ["axe", "saw"]}})
    assert record.kind == Kind.STATE
    assert record.data == {"health": 0.85, "inventory": {"wood": 5, "tools": ["axe", "saw"]}}
    assert record.text == "health: 0.85; inventory wood: 5; tools: axe, saw"
    assert memory.recall("axe")[0].id == record.id
    assert memory.remember(data=[1, 2]).text == "1, 2"


def test_data_may_come_with_a_text_of_its_own(memory: Memory) -> None:
    record = memory.remember("the state", data={"hp": 1}, kind="state")
    assert (record.text, record.data, record.kind) == ("the state", {"hp": 1}, Kind.STATE)


def test_messages_keep_who_spoke_and_are_never_merged(memory: Memory) -> None:
    said = [
        Message(role="user", content="Shall we?", name="Ann", timestamp=5.0, metadata={"channel": "web"}),
        Message(role="assistant", content="yes"),
        Message(role="assistant", content="yes"),
    ]
    first, *answers = memory.remember(said, session="s1")
    assert (first.kind, first.who, first.occurred, first.meta) == (
        Kind.MESSAGE,
        "Ann",
        5.0,
        {"channel": "web"},
    )
    assert first.data == {"role": "user", "name": "Ann"}
    assert [(r.who, r.text, r.session) for r in answers] == [("assistant", "yes", "s1")] * 2
    assert answers[0].id != answers[1].id
    assert len(memory.find(kinds="message")) == 3


def test_messages_as_openai_writes_them_are_understood(memory: Memory) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"q":1}'}}
    parts = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
        {"type": "text", "text": "this?"},
    ]
    user, plain, asking, tool = memory.remember(
        [
            {"role": "user", "content": parts},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "42", "tool_call_id": "c1"},
        ]
    )
    assert (user.text, user.data) == ("What is\nthis?", {"role": "user", "content": parts})
    assert (plain.text, plain.who, plain.data) == ("hello", "user", {"role": "user"})
    assert asking.data == {"role": "assistant", "tool_calls": [call]}
    assert "look" in asking.text
    assert (tool.text, tool.data) == ("42", {"role": "tool", "tool_call_id": "c1"})
    assert {r.kind for r in (user, plain, asking, tool)} == {Kind.MESSAGE}


def test_a_kind_that_is_said_wins_over_the_kind_of_a_message(memory: Memory) -> None:
    assert memory.remember({"role": "user", "content": "x"}, kind="episode").kind == Kind.EPISODE


@pytest.mark.parametrize("kind", ["fact", "document"])
def test_a_duplicate_is_counted_as_a_use(memory: Memory, clock: Clock, kind: str) -> None:
    first = memory.remember("Ann lives in Lisbon", kind=kind)
    clock.pass_()
    again = memory.remember("Ann lives in Lisbon", kind=kind)
    assert again == first.but(uses=1, last_used=clock.now)
    assert len(memory.find()) == 1


def test_duplicates_can_be_kept(memory: Memory, clock: Clock) -> None:
    one, two = memory.remember("same"), memory.remember("same", keep_duplicates=True)
    assert one.id != two.id
    with Memory(embedder=HASHING, settings=Settings(keep_duplicates=True), clock=clock) as keeping:
        assert len({keeping.remember("same").id for _ in range(3)}) == 3
        assert len({keeping.remember("same", keep_duplicates=False).id for _ in range(3)}) == 1


@pytest.mark.parametrize("name", ["id", "key"])
def test_an_id_or_key_makes_an_upsert(memory: Memory, clock: Clock, name: str) -> None:
    named: Any = {name: "ann"}
    first = memory.remember("Ann lives in Lisbon", **named)
    clock.pass_()
    assert memory.remember("Ann lives in Lisbon", **named) == first
    second = memory.remember("Ann lives in Porto", **named)
    assert (second.id, second.version, second.created) == (first.id, 2, first.created)
    assert texts(memory.find()) == ["Ann lives in Porto"]
    assert texts(memory.recall("Lisbon Porto")) == ["Ann lives in Porto"]
    elsewhere = memory.remember("Ann lives in Porto", scope="b", **named)
    assert elsewhere.version == 1


def test_many_may_each_have_an_id_or_key(memory: Memory) -> None:
    drafts = [Draft(text="one", id="1"), Draft(text="two", key="any text\n🙂")]
    first = memory.remember(drafts)
    assert memory.remember(drafts) == first
    assert first[0].id == "1"


def test_a_vector_of_ones_own_is_used(memory: Memory) -> None:
    east, north = np.eye(64, dtype=np.float32)[:2]
    memory.remember("zebra", vector=east)
    memory.remember("giraffe", vector=north.tolist())
    memory.remember("lion", vector=north.tobytes())
    found = memory.recall(vector=east)
    assert found[0].text == "zebra"
    assert found[0].record.vector == east.tobytes()
    assert set(texts(memory.recall(vector=north.tolist(), limit=2))) == {"giraffe", "lion"}


def test_the_default_embedder_finds_meaning(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db") as memory:
        memory.remember(["The dog barked at the postman.", "Revenue grew in the third quarter."])
        assert memory.recall("an animal made noise", limit=1)[0].text == "The dog barked at the postman."
    with Memory(tmp_path / "memory.db") as memory:
        assert memory.recall("puppy", limit=1)[0].text == "The dog barked at the postman."


def test_a_record_that_must_be_new_is_a_conflict_where_there_is_one(memory: Memory) -> None:
    first = memory.remember("one", key="note", version=0)
    with pytest.raises(Conflict, match="exists already"):
        memory.remember("two", key="note", version=0)
    with pytest.raises(Conflict, match="at version 1, not 4"):
        memory.remember("two", key="note", version=4)
    assert memory.remember("two", key="note", version=1).version == 2
    with pytest.raises(BadInput, match="version must be a whole number"):
        memory.remember("three", key="note", version=-1)
    assert memory.get(first.id) == memory.find()[0]
