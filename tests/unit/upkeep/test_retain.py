"""How long memories are kept: policies, what wins over them, and what they do to a memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.making import Clock

from eidet import Kind, Memory, Misconfigured, Record, Refused, Retention, Settings, Upkeep
from eidet.core.settings import read_settings
from eidet.core.state import NO_STATE, Protection, State
from eidet.upkeep import Drop
from eidet.upkeep.tier_plan import Standing, due, is_kept, policy_for, retain

DAY = 86_400.0
NOW = 1_700_000_000.0


def aged(days: float, **fields: Any) -> Record:
    """A record that was stored so many days ago."""
    then = NOW - days * DAY
    usual: dict[str, Any] = {"id": "x", "scope": "acme/ann", "text": "x", "created": then, "occurred": then}
    return Record(**usual | fields)


MESSAGES = Retention(scope="acme/**", kinds=("message",), then="delete", days=30)
KEEP = Retention(scope="acme/**", then="keep")
ARCHIVE = Retention(then="archive", days=365)


@pytest.mark.parametrize(
    ("pattern", "scope", "covered"),
    [
        ("**", "anything/at all", True),
        ("acme", "acme", True),
        ("acme", "acme/ann", False),
        ("acme/**", "acme", True),
        ("acme/**", "acme/ann/notes", True),
        ("acme/**", "acmes", False),
        ("acme/ann", "acme/ann", True),
    ],
)
def test_a_policy_covers_a_scope_or_all_below_it(pattern: str, scope: str, covered: bool) -> None:
    policy = Retention(scope=pattern, then="delete", days=1)
    assert (policy_for([policy], aged(2, scope=scope)) is policy) == covered


def test_a_policy_can_be_for_some_kinds_only() -> None:
    assert policy_for([MESSAGES], aged(1, kind=Kind.MESSAGE)) is MESSAGES
    assert policy_for([MESSAGES], aged(1)) is None


def test_the_first_policy_that_covers_a_record_decides() -> None:
    old = aged(400, kind=Kind.MESSAGE)
    assert due([MESSAGES, KEEP], old, NOW) is MESSAGES
    assert due([KEEP, MESSAGES], old, NOW) is None
    assert is_kept([KEEP, MESSAGES], old, NOW)
    assert not is_kept([MESSAGES, KEEP], old, NOW)
    assert not is_kept([], old, NOW)


def test_days_count_from_when_it_was_stored_or_from_when_it_happened() -> None:
    record = aged(10, occurred=NOW - 100 * DAY)
    policy = Retention(then="delete", days=50)
    assert due([policy], record, NOW) is None
    assert due([replace(policy, since="occurred")], record, NOW) is not None


records = st.builds(
    aged,
    st.floats(-10, 1000),
    scope=st.sampled_from(["acme", "acme/ann", "other"]),
    kind=st.sampled_from(list(Kind)),
    state=st.sampled_from([NO_STATE, State(hold=Protection(at=1.0)), State(pinned=Protection(at=1.0))]),
    meta=st.sampled_from([{}, {"hold": True}]),
)
policies = st.lists(
    st.builds(
        Retention,
        scope=st.sampled_from(["**", "acme/**", "acme/ann", "other"]),
        kinds=st.sampled_from([None, ("message",), ("fact", "episode")]),
        then=st.sampled_from(["keep", "archive", "delete"]),
        days=st.floats(0, 800),
        since=st.sampled_from(["created", "occurred"]),
    ),
    max_size=4,
)


@given(record=records, policies=policies, archive=st.booleans())
def test_nothing_is_deleted_that_is_held_kept_or_not_due(
    record: Record, policies: list[Retention], archive: bool
) -> None:
    change, is_due = retain(record, NOW, policies, archive), due(policies, record, NOW) is not None
    assert (change is not None) == is_due
    if isinstance(change, Drop):
        assert is_due
        assert not record.state.is_protected
        assert not is_kept(policies, record, NOW)
        assert archive or not change.archive


# In a memory.


def memory_of(*retention: Retention, clock: Clock, **upkeep: Any) -> Memory:
    settings = Settings(retention=retention, upkeep=Upkeep(**upkeep))
    return Memory(embedder="hashing:64", settings=settings, clock=clock)


def test_a_dry_run_shows_what_would_be_done_before_it_is_done() -> None:
    clock = Clock()
    memory = memory_of(MESSAGES, clock=clock)
    said = memory.remember({"role": "user", "content": "hello"}, scope="acme/ann", kind="message")
    memory.remember("Ann lives in Lisbon", scope="acme/ann")
    clock.now += 40 * DAY
    shown = memory.upkeep.maintain(dry_run=True, only="retain")
    assert [(change.what, change.id) for change in shown.changes] == [("retain", said.id)]
    assert memory.count(scope="acme/ann") == 2
    done = memory.upkeep.maintain(only="retain")
    assert done.changes == shown.changes
    assert memory.count(scope="acme/ann") == 1
    assert memory.history(said.id, scope="acme/ann")[-1].by == "upkeep"
    assert str(memory.upkeep.maintain(only="retain")) == "nothing to do (1 examined)"


def test_archived_memories_leave_and_can_come_back(tmp_path: Path) -> None:
    clock = Clock()
    memory = memory_of(ARCHIVE, clock=clock)
    record = memory.remember("Ann lives in Lisbon")
    clock.now += 366 * DAY
    stays = memory.upkeep.maintain(only="retain")
    assert dict(stays.counts) == {"stays": 1}
    assert "there is no archive" in stays.changes[0].because
    assert memory.count() == 1
    done = memory.upkeep.maintain(only="retain", archive=tmp_path / "archive")
    assert (dict(done.counts), done.archived, memory.count()) == ({"retain": 1}, 1, 0)
    assert memory.upkeep.unarchive(tmp_path / "archive") == 1
    back = memory.get(record.id)
    assert back is not None
    assert back.text == "Ann lives in Lisbon"


def test_a_legal_hold_wins_over_a_policy_until_it_is_released() -> None:
    clock = Clock()
    memory = memory_of(Retention(then="delete", days=1), clock=clock)
    held, pinned = memory.remember(["Ann lives in Lisbon", "Bob lives in Porto"])
    memory.upkeep.hold(held.id, by="court")
    memory.upkeep.pin(pinned.id)
    clock.now += 10 * DAY
    done = memory.upkeep.maintain()
    assert dict(done.counts) == {"stays": 2}
    assert done.changes[0].because.startswith("under a legal hold")
    assert done.changes[1].because.startswith("pinned")
    with pytest.raises(Refused):
        memory.forget(held.id)
    memory.upkeep.release(held.id)
    assert dict(memory.upkeep.maintain(only="retain").counts) == {"retain": 1, "stays": 1}
    assert memory.get(held.id) is None


def test_keep_protects_from_the_curve_from_expiry_and_from_merging(tmp_path: Path) -> None:
    def lived(*retention: Retention) -> int:
        clock = Clock()
        memory = memory_of(*retention, clock=clock, forget_below=0.5, archive_above=1.0)
        memory.remember("a passing remark", importance=0.1, scope="acme/ann")
        memory.remember("a one-time code", expires=clock.now + 5, scope="acme/ann")
        memory.remember(["Ann lives in Lisbon.", "Ann lives in Lisbon!"], importance=1.0, scope="acme/ann")
        clock.now += 5 * DAY
        merged = memory.upkeep.maintain(only=["merge", "expire"]).counts
        clock.now += 100 * DAY
        forgotten = memory.upkeep.maintain(only="forget").counts
        return sum((*merged.values(), *forgotten.values()))

    assert lived() >= 3
    assert lived(KEEP) == 0


def test_keep_does_not_hinder_its_owner() -> None:
    memory = memory_of(KEEP, clock=Clock())
    record = memory.remember("Ann lives in Lisbon", scope="acme/ann")
    assert memory.forget(record.id, scope="acme/ann") == 1


def test_the_standings_of_a_memory(tmp_path: Path) -> None:
    clock = Clock()
    memory = memory_of(MESSAGES, KEEP, clock=clock)
    one, _ = memory.remember(["hello", "hello again"], kind="message", scope="acme/ann")
    memory.remember("Ann lives in Lisbon", scope="acme/ann")
    memory.remember("not covered", scope="other")
    memory.upkeep.hold(one.id, scope="acme/ann")
    clock.now += 40 * DAY
    assert memory.upkeep.retention() == [
        Standing(policy=MESSAGES, covered=2, due=1, held=1, kept=0),
        Standing(policy=KEEP, covered=1, due=0, held=0, kept=1),
    ]
    assert [standing.covered for standing in memory.upkeep.retention("other")] == [0, 0]


# Settings.


def test_policies_are_read_from_a_file_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "eidet.toml"
    file.write_text(
        """
[[eidet.retention]]
scope = "acme/**"
kinds = ["message"]
then = "delete"
days = 30
since = "occurred"
name = "GDPR"

[[eidet.retention]]
scope = "acme/**"
"""
    )
    first, second = read_settings({}, file).retention
    assert first == replace(MESSAGES, since="occurred", name="GDPR")
    assert second == KEEP
    assert str(second) == "keep all of acme/** for good"


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"then": "burn"}, "one of keep, archive, delete"),
        ({"then": "delete"}, "needs days"),
        ({"then": "delete", "days": -1}, "from 0 up"),
        ({"then": "delete", "days": float("nan")}, "from 0 up"),
        ({"then": "delete", "days": "30"}, "from 0 up"),
        ({"then": "delete", "days": True}, "from 0 up"),
        ({"since": "used"}, "one of created, occurred"),
        ({"kinds": ("gossip",)}, "unknown kind 'gossip'"),
        ({"scope": "acme//ann"}, "each label"),
        ({"scope": ""}, "each label"),
        ({"scope": 5}, "scope cannot be 5: it must be a text"),
    ],
)
def test_a_policy_that_makes_no_sense_is_told_at_once(said: dict[str, Any], error: str) -> None:
    with pytest.raises(Misconfigured, match=error):
        Retention(**said)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("[eidet]\nretention = 5", "write each policy as a table"),
        ("[eidet.retention]\nthen = 'keep'", "write each policy as a table"),
        ("[[eidet.retention]]\nafter = 5", "unknown settings .'after'. of retention"),
    ],
)
def test_a_file_that_makes_no_sense_is_told_at_once(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "eidet.toml").write_text(text)
    with pytest.raises(Misconfigured, match=error):
        read_settings({}, tmp_path / "eidet.toml")


def test_settings_take_policies_only() -> None:
    with pytest.raises(Misconfigured, match="a list of Retention"):
        Settings(retention=({"then": "keep"},))  # type: ignore[arg-type]


def test_one_kind_may_be_named_alone() -> None:
    assert Retention(kinds="message").kinds == ("message",)
