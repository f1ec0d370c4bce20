"""`meta` is the caller's: every verb gives it back as it was, on every store, and no value of it acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock

from eidet import BadInput, Memory, Record, Settings, Where
from eidet.copy import copy
from eidet.core.settings import Upkeep
from eidet.core.state import NO_STATE, MergedPart, Misshapen, Protection, State
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.trust.seal.service import new_key

NOW = 1_700_000_000.0
DAY = 86_400.0
KEY = new_key()
NAMES = tuple(field.name for field in fields(State))
MARK = {"at": NOW, "by": "me"}
WORDS: dict[str, Any] = {
    **dict.fromkeys(NAMES, True),
    "hold": "music on hold",
    "poison": "ivy",
    "pinned": MARK,
    "ttl": 1,
    "quarantine": MARK,
    "merged": [{"id": "x", "text": "y", "occurred": 1.0}],
    "updates": "x",
    "by": "rules",
    "state": {"hold": MARK},
    "pii": ["email"],
    "nested": {"hold": [1, None, "é"]},
}
LOOKS_REAL: dict[str, Any] = WORDS | {"hold": MARK, "poison": {"score": 0.99, "why": ["x"]}}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["ram", "file", "sealed", "postgres", "redis"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    how: dict[str, Any] = {"embedder": "hashing:64", "clock": clock}
    settings = Settings(quarantine_above=0.9, poison="all", weigh=True)
    place: Any = tmp_path / "memory.db"
    if request.param == "ram":
        place = RamStore()
    elif request.param in ("postgres", "redis"):
        place = request.getfixturevalue(f"{request.param}_url")
    key = KEY if request.param == "sealed" else None
    with Memory(place, settings=settings, key=key, **how) as opened:
        yield opened


def record_in(memory: Memory, id: str) -> Record:
    found = memory.get(id)
    assert found is not None
    return found


@pytest.mark.parametrize("meta", [WORDS, LOOKS_REAL], ids=["words", "looks real"])
def test_meta_comes_back_as_given_from_every_verb(
    memory: Memory, clock: Clock, tmp_path: Path, meta: dict[str, Any]
) -> None:
    made = memory.remember("Ann lives in Lisbon by the river", id="ann", meta=meta)
    assert (made.meta, made.expires, made.trust) == (meta, None, "user")
    assert made.state == State(weighed=True)
    clock.now += DAY
    verbs: dict[str, Callable[[], Record]] = {
        "get": lambda: record_in(memory, "ann"),
        "find": lambda: memory.find(Where(ids=("ann",)))[0],
        "recall": lambda: memory.recall("Ann Lisbon river", limit=1)[0].record,
        "revise": lambda: memory.revise("ann", text="Ann lives in Porto by the river"),
        "pin": lambda: memory.upkeep.pin("ann"),
        "revise pinned": lambda: memory.revise("ann", who="Bob"),
        "unpin": lambda: memory.upkeep.unpin("ann"),
        "hold": lambda: memory.upkeep.hold("ann", by="court"),
        "release": lambda: memory.upkeep.release("ann"),
        "quarantine": lambda: memory.trust.quarantine("ann", because="odd"),
        "approve": lambda: memory.trust.approve("ann"),
        "detail": lambda: memory.upkeep.detail("ann"),
    }
    assert {name: verb().meta for name, verb in verbs.items()} == dict.fromkeys(verbs, meta)
    memory.upkeep.maintain(settings=Upkeep(short_age_days=1), now=NOW + 400 * DAY)
    assert record_in(memory, "ann").tier != "short"
    assert memory.upkeep.restore("ann").meta == record_in(memory, "ann").meta == meta
    memory.export(tmp_path / "all.jsonl", plain=True)
    with Memory(embedder="hashing:64", clock=clock) as other, Memory(embedder="hashing:64") as third:
        copy(memory, third)
        other.load(tmp_path / "all.jsonl")
        assert record_in(other, "ann").meta == meta
        assert (record_in(third, "ann").meta, record_in(third, "ann").state) == (
            meta,
            record_in(memory, "ann").state,
        )
    assert memory.forget("ann")


def test_meta_of_merged_moved_and_summed_up_records_is_theirs(memory: Memory, clock: Clock) -> None:
    one = memory.remember("Ann lives in Lisbon.", meta=WORDS)
    clock.now += 1
    two = memory.remember("Ann lives in Lisbon!", meta={"n": 2} | WORDS)
    said = [
        {"role": "user", "content": f"I moved to Lisbon in May, {n}", "metadata": WORDS} for n in range(3)
    ]
    memory.remember(said, session="s")
    assert memory.upkeep.maintain(only="merge").counts == {"merge": 1}
    kept = record_in(memory, one.id)
    assert kept.meta == WORDS
    assert [(part.id, part.meta) for part in kept.state.merged] == [(two.id, {"n": 2} | WORDS)]
    told = memory.upkeep.end_session("s")
    assert (told.meta, told.state.worded_by) == ({}, "rules")
    assert [message.meta for message in memory.find(kinds="message")] == [WORDS] * 3
    clock.now += 1000 * DAY
    memory.upkeep.maintain()
    assert record_in(memory, one.id).meta == WORDS


def test_no_value_of_meta_protects_labels_or_ends_anything(memory: Memory, clock: Clock) -> None:
    memory.remember("fades away", id="x", importance=0.1, meta=LOOKS_REAL)
    clock.now += 3000 * DAY
    assert memory.get("x") is not None, "a ttl in meta ends nothing"
    done = memory.upkeep.maintain(settings=Upkeep(forget_below=0.2, short_age_days=None))
    assert done.counts == {"forget": 1}, "neither pinned nor held"


def test_a_change_of_state_is_told_as_state(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon", id="ann", importance=0.5, meta={"pinned": 1})
    memory.upkeep.pin("ann", by="Bob")
    memory.upkeep.unpin("ann", by="Cid")
    told = [(event.what, event.by, event.before) for event in memory.history("ann")]
    pinned = {"pinned": {"at": NOW, "by": "Bob"}}
    assert told[1:] == [("revised", "Bob", {"state": {}}), ("revised", "Cid", {"state": pinned})]


# What callers may say of the state.


def test_a_pin_and_a_time_to_live_are_arguments(memory: Memory, clock: Clock) -> None:
    kept = memory.remember("keep", id="x", ttl=10, pinned=True, importance=0.5)
    assert (kept.expires, kept.meta) == (None, {})
    assert kept.state == State(ttl=10, pinned=Protection(at=NOW, expires=NOW + 10))
    clock.now += 100
    again = memory.remember("keep it", id="x", importance=0.5)
    assert again.state.pinned == Protection(at=NOW), "a pinned record stays pinned"
    assert memory.remember("keep it", id="x", pinned=False, importance=0.5).state is NO_STATE
    short = memory.revise("x", ttl=timedelta(seconds=5))
    assert (short.expires, short.state) == (NOW + 105, State(ttl=5.0))
    pinned = memory.revise("x", pinned=True)
    assert (pinned.expires, pinned.state.pinned) == (None, Protection(at=NOW + 100, expires=NOW + 105))
    assert memory.revise("x", expires=NOW + 999).expires is None
    free = memory.revise("x", clear=("pinned", "ttl"))
    assert (free.expires, free.state) == (NOW + 999, NO_STATE)


@pytest.mark.parametrize("ttl", [0, -1, True, "60", float("nan"), float("inf"), timedelta(0)])
def test_a_time_to_live_is_a_number_of_seconds_above_0(ttl: Any) -> None:
    with pytest.raises(BadInput, match="ttl is a number of seconds above 0"):
        Memory(embedder="hashing:64").remember("x", ttl=ttl)


@pytest.mark.parametrize("pinned", [1, 0, "yes"])
def test_pinned_is_true_or_false(pinned: Any) -> None:
    with pytest.raises(BadInput, match="pinned must be True or False"):
        Memory(embedder="hashing:64").remember("x", pinned=pinned)


# The value itself.


def test_a_state_comes_back_from_json_with_what_a_newer_version_wrote() -> None:
    said = {"hold": {"at": 1.0}, "pii": ["email"], "mood": {"a": [1]}}
    state = State.from_json(said)
    assert (state.hold, state.pii, state.more) == (Protection(at=1.0), ("email",), {"mood": {"a": [1]}})
    assert state.but(hold=None).to_json() == {"pii": ["email"], "mood": {"a": [1]}}
    assert State.from_json({}) is State(pinned=Protection(at=1.0)).but(pinned=None) is NO_STATE


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"hold": True},
        {"hold": {"at": 1.0, "x": 1}},
        {"hold": {}},
        {"ttl": 0},
        {"merged": [1]},
    ],
)
def test_a_state_of_another_shape_is_refused(said: Any) -> None:
    with pytest.raises(Misshapen):
        State.from_json(said)


def test_what_a_caller_does_to_merged_parts_stays_with_the_caller() -> None:
    store = RamStore()
    part = MergedPart(id="x", text="y", occurred=1.0, meta={"n": [1]})
    stored = verbs.put(store, [Record(id="a", scope="s", text="t", state=State(merged=(part,)))], now=NOW)
    for record in (stored[0], store.read("s", ["a"])[0]):
        assert record is not None
        record.state.merged[0].meta["n"].append(2)
    [kept] = store.read("s", ["a"])
    assert kept is not None
    assert kept.state.merged[0].meta == {"n": [1]}
