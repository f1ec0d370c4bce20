"""The life of a memory: tiers, forgetting, marks, duplicates, episodes, and what upkeep says of it."""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.making import PLACES, Clock, place_of

from eidet import BadInput, Corrupt, Memory, Misconfigured, NotFound, Refused, Settings, Unavailable, Where
from eidet.core.record import Kind, Record, Tier
from eidet.core.settings import Upkeep
from eidet.core.state import NO_STATE, Protection, State
from eidet.models.llm import Answer, Request
from eidet.store import verbs
from eidet.upkeep import Maintained
from eidet.upkeep.archive import FolderArchive
from eidet.upkeep.curve import DAY

NOW = 1_700_000_000.0
LONG = " ".join(f"Ann told on day {n} of the {n * 7}th house she had seen in Lisbon." for n in range(40))
QUICK = Upkeep(short_age_days=1, middle_age_days=10)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=PLACES)
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    place = place_of(request, tmp_path)
    with Memory(place, embedder="hashing:64", clock=clock) as opened:
        yield opened


def tiers(memory: Memory) -> list[str]:
    return [f"{record.tier} {record.level}" for record in memory.find(order="created")]


# Tiers.


def test_memories_move_down_as_they_age_and_show_less(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456})
    clock.days(2)
    assert memory.upkeep.maintain(settings=QUICK).counts == {"move": 1}
    middle = memory.get(full.id)
    assert middle is not None
    assert (middle.tier, middle.level, middle.text, middle.data) == ("middle", 1, LONG, {"x": 0.123456})
    assert len(middle.vector or b"") < len(full.vector or b"") / 3
    clock.days(20)
    memory.upkeep.maintain(settings=QUICK)
    long = memory.get(full.id)
    assert long is not None
    assert (long.tier, long.level, long.data) == ("long", 2, {"x": 0.123})
    assert len(long.text) < 400
    assert long.version == full.version
    assert len(long.vector or b"") < len(middle.vector or b"") / 6
    assert memory.recall("the 77th house in Lisbon")[0].id == full.id
    assert memory.recall("the 77th house in Lisbon")[0].record.level == 2
    told = [event.what for event in memory.history(full.id)]
    assert told == ["created", "moved"], "the note of the first move is older than a week"
    assert memory.upkeep.detail(full.id).text == LONG


def test_what_is_very_old_goes_to_the_long_tier_at_once(memory: Memory, clock: Clock) -> None:
    memory.remember("old")
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["long 2"]


def test_importance_delays_a_move_and_use_puts_it_off(memory: Memory, clock: Clock) -> None:
    memory.remember("dull", importance=0.0)
    clock.now += 1
    memory.remember("usual", importance=0.5)
    clock.now += 1
    memory.remember("grave", importance=1.0)
    clock.days(0.7)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["middle 1", "short 0", "short 0"]
    memory.recall("usual", limit=3)
    clock.days(0.7)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory)[1:] == ["short 0", "short 0"]
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["long 2", "long 2", "short 0"]


def test_a_crowded_tier_gives_up_those_unused_longest(memory: Memory, clock: Clock) -> None:
    memory.remember([f"note {n}" for n in range(10)])
    clock.days(0.1)
    kept = memory.recall("note 3", limit=1)[0].id
    limits = Upkeep(short_entries=4, short_age_days=None)
    assert memory.upkeep.maintain(settings=limits).counts == {"move": 6}
    there = memory.find(tiers="short")
    assert len(there) == 4
    clock.days(1)
    memory.recall("note 3", limit=1)
    memory.upkeep.maintain(settings=Upkeep(short_entries=1, short_age_days=None))
    assert [record.id for record in memory.find(tiers=["short"])] == [kept]
    assert memory.upkeep.maintain(settings=limits).counts == {}


def test_steps_left_behind_move(memory: Memory) -> None:
    for step in range(0, 50, 10):
        memory.remember(f"state at {step}", kind="state", step=step)
    memory.upkeep.maintain(settings=Upkeep(short_steps=20, short_age_days=None))
    assert [record.step for record in memory.find(tiers="short", order="step")] == [20, 30, 40]


def test_a_query_names_the_tiers_it_wants(memory: Memory, clock: Clock) -> None:
    memory.remember("Ann lives in Porto")
    clock.days(2)
    memory.upkeep.maintain(settings=QUICK)
    memory.remember("Ann lives in Lisbon")
    assert len(memory.recall("Ann lives")) == 2
    assert [hit.text for hit in memory.recall("Ann lives", tiers="middle")] == ["Ann lives in Porto"]
    assert [hit.text for hit in memory.recall("Ann lives", tiers=["short", "long"])] == [
        "Ann lives in Lisbon"
    ]
    with pytest.raises(BadInput, match="tier"):
        memory.recall("Ann", tiers="stm")


def test_restoring_brings_everything_back_to_the_middle(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456}, vector=[0.5] * 64)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    back = memory.upkeep.restore(full.id)
    assert (back.tier, back.level) == ("middle", 0)
    assert (back.text, back.data, back.vector, back.terms) == (full.text, full.data, full.vector, full.terms)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}, "what was just restored is not moved again"
    clock.days(100)
    assert memory.upkeep.maintain(settings=QUICK).counts == {"move": 1}


def test_what_is_used_often_is_promoted_tier_by_tier(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG)
    for _ in range(9):
        memory.recall("Lisbon")
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    for _ in range(4):
        memory.recall("Lisbon")
    assert memory.upkeep.maintain(settings=QUICK, only="promote").counts == {}, (
        "uses before the move do not count"
    )
    memory.recall("Lisbon")
    assert memory.upkeep.maintain(settings=QUICK).counts == {"promote": 1}
    there = memory.get(full.id)
    assert there is not None
    assert (there.tier, there.level, there.text, there.uses) == ("middle", 0, LONG, 14)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}
    for _ in range(5):
        memory.recall("Lisbon")
    memory.upkeep.maintain(settings=QUICK)
    assert tiers(memory) == ["short 0"]


def test_a_revision_is_of_the_whole_record(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, data={"x": 0.123456})
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    new = memory.revise(full.id, who="Ann", digest=full.digest)
    assert (new.text, new.data, new.who, new.level, new.version) == (LONG, {"x": 0.123456}, "Ann", 0, 2)
    assert memory.history(full.id)[-1].before == {"who": None, "level": 2}
    memory.upkeep.maintain(settings=QUICK)
    assert memory.revise(full.id, text="short now").text == "short now"
    assert memory.history(full.id)[-1].before["text"] == LONG  # type: ignore[index]


def test_a_fact_is_known_again_by_its_whole_text(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    assert memory.remember(LONG).id == full.id
    assert memory.count() == 1


def test_an_export_carries_the_whole(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    full = memory.remember(LONG, vector=[0.25] * 64)
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    memory.export(tmp_path / "all.jsonl")
    with Memory(embedder="hashing:64", clock=clock) as other:
        other.load(tmp_path / "all.jsonl")
        assert other.get(full.id).level == 2  # type: ignore[union-attr]
        assert other.upkeep.restore(full.id).vector == full.vector
    with Memory(embedder="hashing:32", language="de", clock=clock) as foreign:
        foreign.load(tmp_path / "all.jsonl")
        assert foreign.recall("the 77th house in Lisbon")[0].record.level == 2
        detail = foreign.upkeep.detail(full.id)
        assert detail.text == LONG
        assert len(detail.vector or b"") == len(foreign.remember(LONG, keep_duplicates=True).vector or b"")
        assert foreign.admin.check() == []


def test_another_embedder_makes_lowered_vectors_of_the_whole_text(memory: Memory, clock: Clock) -> None:
    full = memory.remember(LONG, vector=[0.25] * 64)
    memory.remember("Bob has a boat")
    clock.days(100)
    memory.upkeep.maintain(settings=QUICK)
    memory.admin.reembed("hashing:32")
    assert memory.recall("the 77th house in Lisbon")[0].id == full.id
    back = memory.upkeep.restore(full.id)
    assert back.vector == memory.remember(LONG, keep_duplicates=True).vector
    assert memory.admin.rebuild(language="de") == 3
    assert memory.recall("77th house")[0].text == LONG


def test_the_history_forgets_moves_and_indexes_that_were_away_begin_anew(
    tmp_path: Path, clock: Clock
) -> None:
    path = tmp_path / "m.db"
    with (
        Memory(path, embedder="hashing:64", clock=clock) as here,
        Memory(path, embedder="hashing:64", clock=clock) as away,
    ):
        records = here.remember([f"note {n}" for n in range(50)])
        assert len(away.recall("note 7", limit=50)) == 50
        clock.days(100)
        here.upkeep.maintain(settings=QUICK)
        assert here.history(records[0].id)[-1].what == "moved"
        clock.days(8)
        here.remember("one more")
        here.forget(records[1].id)
        here.upkeep.maintain(settings=QUICK)
        assert [event.what for event in here.history(records[0].id)] == ["created"]
        assert away.admin.check() == []
        assert len(away.recall("note 7", limit=60)) == 50
        assert len(here.recall("note 7", limit=60)) == 50
        assert [event.what for event in here.history(records[1].id)] == ["created", "forgotten"]
        here.forget(records[2].id)  # the last event of a file stays, so that no seq is given twice
        clock.days(1)
        here.upkeep.maintain(settings=Upkeep(history_days=0))
        assert here.history(records[1].id) == []
        assert here.admin.check() == away.admin.check() == []


def test_detail_of_what_is_not_there_is_not_found(memory: Memory) -> None:
    for verb in (
        memory.upkeep.detail,
        memory.upkeep.restore,
        memory.upkeep.pin,
        memory.upkeep.hold,
        memory.upkeep.unpin,
        memory.upkeep.release,
    ):
        with pytest.raises(NotFound):
            verb("none")


# What upkeep says.


def test_a_dry_run_tells_each_change_with_its_reason_and_changes_nothing(
    memory: Memory, clock: Clock
) -> None:
    memory.remember("gone soon", expires=timedelta(days=1), id="a")
    memory.remember("old", id="b")
    clock.days(2)
    head = memory.parts.store.head()
    said = memory.upkeep.maintain(settings=QUICK, dry_run=True)
    assert [str(change) for change in said.changes] == [
        "expire default/a: expired 1.0 days ago",
        "move default/b: not used for 2.0 days at importance 0.50",
    ]
    assert str(said) == "would expire 1, move 1 (2 examined)"
    assert memory.parts.store.head() == head
    done = memory.upkeep.maintain(settings=QUICK)
    assert set(done.changes) == set(said.changes)
    assert memory.upkeep.maintain(settings=QUICK).counts == {}


def test_only_the_works_that_are_named_are_done(memory: Memory, clock: Clock) -> None:
    memory.remember("gone soon", expires=timedelta(days=1))
    clock.days(2)
    assert memory.upkeep.maintain(settings=QUICK, only="move", dry_run=True).counts == {"move": 1}
    assert memory.upkeep.maintain(settings=QUICK, only=["expire"]).counts == {"expire": 1}
    with pytest.raises(BadInput, match="unknown upkeep steps"):
        memory.upkeep.maintain(only="tidy")


def test_a_scope_can_be_named(memory: Memory, clock: Clock) -> None:
    memory.remember("here", scope="a")
    memory.remember("there", scope="b")
    clock.days(2)
    assert memory.upkeep.maintain("a", settings=QUICK).counts == {"move": 1}
    assert memory.find(scope="b")[0].tier is Tier.SHORT


def test_a_record_whose_original_is_damaged_keeps_no_other_from_moving(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "m.db"
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        memory.remember(LONG, id="x", vector=[0.5] * 64)
        clock.days(2)
        memory.upkeep.maintain(settings=QUICK)
        memory.remember(LONG.replace("Lisbon", "Porto"), id="y")
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("UPDATE records SET original = 'rubbish' WHERE id = 'x'")
        clock.days(100)
        done = memory.upkeep.maintain(settings=QUICK)
        assert done.counts == {"move": 1}
        assert any("x" in failure and "damaged" in failure for failure in done.failed)
        assert memory.get("y").tier is Tier.LONG  # type: ignore[union-attr]
        with pytest.raises(Corrupt, match="damaged"):
            memory.upkeep.detail("x")


# Forgetting.


def test_what_fades_is_forgotten_and_what_is_important_is_archived_first(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    dull = memory.remember("dull", importance=0.1)
    grave = memory.remember("grave", importance=0.6, vector=[0.5] * 64)
    memory.remember("pinned", importance=0.1, pinned=True)
    fading = Upkeep(forget_below=0.05, short_age_days=None)
    clock.days(2000)
    assert memory.upkeep.maintain(settings=fading, dry_run=True).counts == {"forget": 1}, (
        "no archive: grave stays"
    )
    done = memory.upkeep.maintain(settings=fading, archive=tmp_path / "archive")
    assert (done.counts, done.archived) == ({"forget": 2}, 1)
    assert [record.text for record in memory.find()] == ["pinned"]
    archive = FolderArchive(tmp_path / "archive")
    assert [record.id for name in archive.names() for record in archive.read(name)] == [grave.id]
    assert memory.upkeep.unarchive(tmp_path / "archive") == 1
    back = memory.get(grave.id)
    assert back is not None
    assert (back.text, back.vector, back.uses) == ("grave", grave.vector, 1)
    assert memory.get(dull.id) is None
    assert memory.upkeep.maintain(settings=fading, archive=tmp_path / "archive").counts == {}


def test_nothing_is_forgotten_by_default(memory: Memory, clock: Clock) -> None:
    memory.remember("old", importance=0.0)
    clock.days(100_000)
    memory.upkeep.maintain()
    assert memory.count() == 1


def test_spaced_use_keeps_a_memory(memory: Memory, clock: Clock) -> None:
    memory.remember("used", importance=0.2)
    memory.remember("unused", importance=0.2)
    for _ in range(6):
        clock.days(20)
        memory.recall("used", where=Where(importance_min=0.1), limit=1)
    clock.days(60)
    memory.upkeep.maintain(settings=Upkeep(forget_below=0.12, short_age_days=None))
    assert [record.text for record in memory.find()] == ["used"]


def test_some_of_an_archive_comes_back_by_id_and_by_time(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path / "archive")
    for day in range(4):
        made = Record(id=f"{day}", scope="a", text=f"day {day}", created=day * 86_400.0, occurred=0.0)
        archive.keep([made], {}, now=NOW)
    memory = Memory(embedder="hashing:64")
    assert memory.upkeep.unarchive(archive, ids="2") == 1
    assert memory.upkeep.unarchive(archive, since=86_400.0, until=2 * 86_400.0) == 2
    assert memory.upkeep.unarchive(archive, since=9 * 86_400.0) == 0
    assert {record.id for record in memory.find(scope="a")} == {"1", "2"}
    with pytest.raises(Misconfigured, match="as text"):
        memory.upkeep.unarchive(Path("s3://bucket/prefix"))


def test_an_archive_that_cannot_be_written_keeps_everything(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    memory.remember("grave", importance=0.9)
    clock.days(100_000)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="nothing is deleted"):
        memory.upkeep.maintain(settings=Upkeep(forget_below=0.5), archive=tmp_path / "file" / "archive")
    assert memory.count() == 1


def test_expired_memories_are_gone_from_every_verb_at_once(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    record = memory.remember("secret plan", id="x", scope="s", expires=timedelta(days=1))
    memory.revise("x", scope="s", text="secret plan B")
    clock.days(1)
    assert memory.get("x", scope="s") is None
    assert memory.find(scope="s") == []
    assert len(memory.recall("secret", scope="s")) == 0
    assert memory.count(scope="s") == 0
    assert memory.scopes() == {}
    assert memory.admin.stats()["records"] == 0
    assert memory.export(tmp_path / "all.jsonl", scope=None) == 0
    assert [event.before for event in memory.history("x", scope="s")] == [None, None]
    with pytest.raises(NotFound):
        memory.revise("x", scope="s", text="y")
    assert memory.upkeep.maintain().counts == {"expire": 1}
    assert memory.parts.store.read("s", [record.id]) == [None]


def test_expired_memories_are_gone_from_the_disk_after_upkeep(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "memory.db"
    with Memory(path, embedder="hashing:64", clock=clock) as memory:
        for n in range(200):
            memory.remember(f"topsecret number {n} " + "and so on " * 40, expires=timedelta(days=1))
        memory.remember("to stay")
        clock.days(1)
        memory.upkeep.maintain()
        files = [file for file in tmp_path.iterdir() if file.is_file()]
        assert not any(b"topsecret" in file.read_bytes() for file in files)
        assert path.stat().st_size < 200_000


def test_a_time_to_live_begins_anew_with_each_reading(memory: Memory, clock: Clock) -> None:
    memory.remember("a token", id="x", ttl=10 * DAY)
    memory.remember("another", id="y", ttl=timedelta(days=10))
    assert memory.get("x").expires == NOW + 10 * DAY  # type: ignore[union-attr]
    for _ in range(6):
        clock.days(6)
        assert memory.recall("token", limit=1)[0].id == "x"
    assert memory.get("y") is None
    clock.days(3)
    memory.get("x")
    memory.admin.flush()
    assert memory.get("x").expires == clock.now + 10 * DAY  # type: ignore[union-attr]
    clock.days(10)
    assert memory.get("x") is None


# Pins and holds.


def test_a_pinned_memory_is_left_alone_until_it_is_unpinned(memory: Memory, clock: Clock) -> None:
    memory.remember("keep", id="x", expires=timedelta(days=3), importance=0.0)
    pinned = memory.upkeep.pin("x", by="Ann")
    assert pinned.state.pinned == Protection(at=NOW, by="Ann", expires=NOW + 3 * DAY)
    assert pinned.meta == {}
    clock.days(5000)
    assert memory.upkeep.maintain(settings=Upkeep(forget_below=0.9)).counts == {}
    assert memory.upkeep.pin("x").version == pinned.version
    assert memory.upkeep.unpin("x").expires == NOW + 3 * DAY
    assert memory.get("x") is None


def test_nobody_changes_or_deletes_what_is_held(memory: Memory, clock: Clock) -> None:
    memory.remember("evidence", id="x", key=None)
    memory.remember("other", id="y")
    memory.upkeep.hold("x", by="court")
    clock.days(5000)
    memory.upkeep.maintain(settings=Upkeep(forget_below=0.9, archive_above=1.0))
    assert memory.get("y") is None
    for delete in (
        lambda: memory.forget("x"),
        lambda: memory.forget(where=Where(kinds=(Kind.FACT,))),
        lambda: memory.forget(scope="default", everything=True),
        lambda: memory.revise("x", text="nothing"),
        lambda: memory.remember("nothing", id="x"),
    ):
        with pytest.raises(Refused, match="legal hold"):
            delete()
    assert memory.get("x").text == "evidence"  # type: ignore[union-attr]
    memory.upkeep.release("x", by="court")
    assert memory.forget("x") == 1


def test_a_hold_and_a_pin_together_keep_the_expiry(memory: Memory, clock: Clock) -> None:
    memory.remember("both", id="x", expires=timedelta(days=3))
    memory.upkeep.pin("x")
    memory.upkeep.hold("x")
    memory.upkeep.unpin("x")
    clock.days(10)
    assert memory.get("x") is not None
    memory.upkeep.release("x")
    assert memory.get("x") is None


# Duplicates, updates, episodes, facts.


def test_facts_that_say_the_same_become_one_with_its_sources(memory: Memory, clock: Clock) -> None:
    one = memory.remember("Ann lives in Lisbon.", importance=0.3)
    clock.days(1)
    two = memory.remember("Ann lives in Lisbon!", importance=0.6, source="mail")
    memory.feedback(two.id, useful=True)
    done = memory.upkeep.maintain(only="merge")
    assert done.counts == {"merge": 1}
    [kept] = memory.find()
    assert (kept.id, kept.derived_from, kept.importance, kept.uses) == (one.id, (two.id,), 0.6, 1)
    assert kept.state.to_json()["merged"] == [
        {"id": two.id, "text": "Ann lives in Lisbon!", "occurred": two.occurred, "source": "mail"}
    ]
    assert memory.history(two.id)[-1].what == "forgotten"
    assert memory.upkeep.maintain(only="merge").counts == {}


def test_an_update_is_kept_as_newer(memory: Memory, clock: Clock) -> None:
    old = memory.remember("Ann moved to Porto")
    clock.days(1)
    new = memory.remember("Ann moved to Lisbon")
    clock.days(1)
    done = memory.upkeep.maintain(only="merge", settings=Upkeep(alike=0.5))
    assert done.counts == {"merge": 2}, done.changes
    there = {record.id: record for record in memory.find()}
    assert there[new.id].state.updates == old.id
    assert there[new.id].derived_from == (old.id,)
    assert there[old.id].state.updated_by == new.id
    memory.upkeep.keeping._merged.clear()
    assert memory.upkeep.maintain(only="merge", settings=Upkeep(alike=0.5)).counts == {}


def test_what_differs_in_more_than_words_or_is_protected_is_not_merged(memory: Memory) -> None:
    memory.remember("Ann lives in Lisbon.", data={"since": 2020})
    memory.remember("Ann lives in Lisbon!", data={"since": 2021})
    memory.remember("Bob has a boat.", pinned=True)
    memory.remember("Bob has a boat!")
    memory.remember([{"role": "user", "content": "yes"}] * 3)
    assert memory.upkeep.maintain(only="merge").counts == {}


TALK = [
    {"role": "user", "content": "I moved to Lisbon in May and I love the light there."},
    {"role": "assistant", "content": "Great!"},
    {"role": "user", "content": "My sister Cleo is going to visit me in October with her two dogs."},
    {"role": "assistant", "content": "Nice."},
]


def test_ending_a_session_makes_an_episode_that_names_its_messages(memory: Memory, clock: Clock) -> None:
    said = memory.remember(TALK, session="s1")
    told = memory.upkeep.end_session("s1")
    assert (told.kind, told.session) == (Kind.EPISODE, "s1")
    assert set(told.derived_from) == {record.id for record in said}
    assert "Lisbon" in told.text
    assert told.data["messages"] == 4
    clock.days(1)
    memory.remember({"role": "user", "content": "Cleo came a month early."}, session="s1")
    again = memory.upkeep.end_session("s1")
    assert (again.id, again.version, again.data["messages"]) == (told.id, 2, 5)
    with pytest.raises(NotFound, match="no messages"):
        memory.upkeep.end_session("s2")


def test_upkeep_tells_the_sessions_that_ended_or_overflow(memory: Memory, clock: Clock) -> None:
    memory.remember(TALK, session="quiet")
    clock.days(1)
    memory.remember(TALK * 3, session="busy")
    memory.remember(TALK[:2], session="small")
    done = memory.upkeep.maintain(only="summarise", settings=Upkeep(episode_messages=10))
    assert [change.because for change in done.changes] == [
        "the session ended: silent for 24 hours",
        "12 messages since the last summary",
    ]
    assert memory.upkeep.maintain(only="summarise", settings=Upkeep(episode_messages=10)).counts == {}
    assert {record.session for record in memory.find(kinds="episode")} == {"quiet", "busy"}


def test_what_several_episodes_say_becomes_a_fact_with_its_sources(memory: Memory, clock: Clock) -> None:
    for n in range(3):
        memory.remember(TALK, session=f"s{n}")
        memory.upkeep.end_session(f"s{n}")
        clock.days(1)
    done = memory.upkeep.maintain(only="consolidate")
    assert done.counts["consolidate"] >= 1
    facts = memory.find(kinds="fact")
    episodes = {record.id for record in memory.find(kinds="episode")}
    assert any("Lisbon" in fact.text for fact in facts)
    assert all(len(fact.derived_from) >= 2 and set(fact.derived_from) <= episodes for fact in facts)
    assert memory.upkeep.maintain(only="consolidate").counts == {}


class Model:
    """A model that says what it is told to."""

    name = "test"

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.asked.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Answer(text=self.answer, model="test")


def test_a_model_words_the_summary_off_the_write_path(memory: Memory) -> None:
    model = Model("They talked about Lisbon.")
    memory.remember(TALK, session="s1")
    assert model.asked == []
    told = memory.upkeep.end_session("s1", llm=model)
    assert (told.text, told.state.worded_by) == ("They talked about Lisbon.", "llm")
    assert "Cleo" in model.asked[0].prompt


@pytest.mark.parametrize("answer", ["", "  ", Unavailable("away"), ValueError("broken")])
def test_a_model_that_fails_leaves_the_rules_result_and_is_recorded(
    memory: Memory, answer: str | Exception
) -> None:
    memory.remember(TALK, session="s1")
    told = memory.upkeep.end_session("s1", llm=Model(answer))
    assert told.state.worded_by == "rules"
    assert "Lisbon" in told.text
    assert len(memory.upkeep.keeping.ledger.recent_failures()) == 1


# At the write path.


def test_importance_is_weighed_where_nobody_stated_it(clock: Clock) -> None:
    with Memory(embedder="hashing:64", settings=Settings(weigh=True), clock=clock) as memory:
        small, telling, stated = memory.remember(["ok thanks", "I was born in Lisbon in 1987", "x y z"])
        assert small.importance < telling.importance
        assert memory.remember("stated", importance=0.5).importance == 0.5
        state = memory.remember({"health": 0.1, "reward": 0})
        assert state.importance == pytest.approx(0.9)
        action = memory.remember("hit", kind="action", data={"reward": -1, "state_change": 0.4})
        assert action.importance == pytest.approx(0.7)
        assert (stated.state, stated.meta) == (State(weighed=True), {})
        for _ in range(30):
            memory.recall("born in Lisbon", limit=1)
        clock.days(1)
        memory.upkeep.maintain(only="weigh")
        assert memory.get(telling.id).importance > telling.importance  # type: ignore[union-attr]


def test_an_echo_of_what_was_recalled_says_so(clock: Clock) -> None:
    with Memory(embedder="hashing:64", settings=Settings(echo_guard=True), clock=clock) as memory:
        known = memory.remember("Ann moved to Lisbon with her two dogs")
        memory.recall("where is Ann?")
        echo = memory.remember("As I remember, Ann moved to Lisbon with her two dogs", kind="message")
        assert (echo.state.echo_of, echo.importance) == (known.id, 0.25)
        fresh = memory.remember("Ann moved to Porto with her two dogs", kind="message")
        assert fresh.state is NO_STATE
        clock.days(1)
        assert memory.remember("Ann moved to Lisbon with her two dogs now", kind="message").state is NO_STATE


def test_uses_are_logged_where_a_log_is_asked_for(tmp_path: Path, clock: Clock) -> None:
    log = tmp_path / "uses.jsonl"
    with Memory(embedder="hashing:64", settings=Settings(access_log=str(log)), clock=clock) as memory:
        record = memory.remember("Ann moved to Lisbon")
        memory.recall("Ann")
        memory.recall("Ann")
    assert [json.loads(line) for line in log.read_text().splitlines()] == [
        {"scope": "default", "id": record.id, "at": NOW, "count": 2}
    ]


# In the background.


def wait_for(what: Any) -> None:
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_upkeep_runs_in_the_background_and_ends_with_its_block(memory: Memory, clock: Clock) -> None:
    memory.remember([f"note {n}" for n in range(100)])
    clock.days(2)
    with memory.upkeep.background(every=3600, settings=QUICK) as worker:
        wait_for(lambda: worker.rounds)
        assert isinstance(worker.last, Maintained)
        assert worker.last.counts == {"move": 100}
        assert memory.admin.stats()["upkeep"]["rounds"] == 1
    assert not worker.running
    assert memory.recall("note 7")[0].record.tier is Tier.MIDDLE


def test_upkeep_goes_on_every_so_often_and_close_ends_it(memory: Memory) -> None:
    worker = memory.upkeep.background(every=0.01).start()
    wait_for(lambda: worker.rounds >= 3)
    memory.close()
    assert not worker.running
    assert not [thread for thread in threading.enumerate() if thread.name == "eidet-upkeep"]


def test_insertions_make_moves_due(tmp_path: Path, clock: Clock) -> None:
    limits = Settings(upkeep=Upkeep(every_insertions=10, short_entries=5, short_age_days=None))
    with Memory(tmp_path / "m.db", embedder="hashing:64", settings=limits, clock=clock) as memory:
        for n in range(9):
            memory.remember(f"note {n}")
        assert "upkeep" not in memory.admin.stats()
        memory.remember("note 9")
        wait_for(lambda: memory.admin.stats()["tiers"] == {"short": 5, "middle": 5})


def test_an_error_in_the_background_is_logged_and_told(
    memory: Memory, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.remember("grave", importance=0.9)
    clock.days(100_000)
    (tmp_path / "file").write_text("in the way")
    with (
        caplog.at_level(logging.WARNING, "eidet"),
        memory.upkeep.background(
            0.01, settings=Upkeep(forget_below=0.5), archive=tmp_path / "file" / "x"
        ) as worker,
    ):
        wait_for(lambda: worker.errors >= 2)
        assert "nothing is deleted" in memory.admin.stats()["upkeep"]["last_error"]
    assert "upkeep failed" in caplog.text
    assert memory.count() == 1


def test_only_one_of_two_memories_on_a_file_does_the_upkeep(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as one:
        one.remember("note")
        assert verbs.take_lease(
            one.parts.store, "upkeep", "somebody else", now=time.time(), until=time.time() + 60
        )
        with one.upkeep.background(every=0.01) as worker:
            wait_for(lambda: worker.rounds >= 2)
            assert worker.last is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_no_worker_and_can_start_one(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as memory:
        memory.remember("note")
        with memory.upkeep.background(every=3600) as worker:
            wait_for(lambda: worker.rounds)
            child = os.fork()
            if child == 0:
                worker.stop()
                fine = not worker.running
                worker.start()
                deadline = time.monotonic() + 10
                while worker.rounds < 2 and time.monotonic() < deadline:
                    time.sleep(0.01)
                worker.stop()
                os._exit(0 if fine and worker.rounds >= 2 else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert worker.running


@pytest.mark.parametrize("every", [0, -1, True, "often"])
def test_upkeep_needs_a_span(memory: Memory, every: Any) -> None:
    with pytest.raises(BadInput, match="every must be a number of seconds"):
        memory.upkeep.background(every)


def test_recalls_go_on_while_upkeep_works(tmp_path: Path, clock: Clock) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:64", clock=clock) as memory:
        memory.remember([f"note number{n}" for n in range(1500)])
        clock.days(100)
        with memory.upkeep.background(every=3600, settings=QUICK) as worker:
            n = 0
            while not worker.rounds:
                texts = [hit.text for hit in memory.recall(f"number{n % 1500}")]
                assert f"note number{n % 1500}" in texts
                n += 7
        assert worker.last is not None
        assert worker.last.counts == {"move": 1500}
        assert memory.admin.check() == []


def test_records_changed_meanwhile_are_left_as_they_are(memory: Memory, clock: Clock) -> None:
    record = memory.remember("note")
    clock.days(100)
    stale: list[Record] = [record]
    memory.revise(record.id, text="changed")
    store = memory.parts.store
    assert verbs.rewrite_form(store, [(stale[0], stale[0].but(tier=Tier.LONG))], now=clock.now) == [None]
    assert memory.get(record.id).text == "changed"  # type: ignore[union-attr]
