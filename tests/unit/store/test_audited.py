"""A memory that is audited: what is noted of what is done, what is not, and what is refused."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from eidet import (
    Audit,
    BadInput,
    Conflict,
    Memory,
    Misconfigured,
    Record,
    Refused,
    Scope,
    Settings,
    Unavailable,
    Upkeep,
    Where,
    acting,
)
from eidet.core.settings import read_settings
from eidet.store import Erasure, Tombstone
from eidet.store import verbs as port
from eidet.store.ram import RamStore
from eidet.store.traits import paths_of
from eidet.trust.audit.chain import AuditEntry
from eidet.trust.audit.log import AuditLog
from eidet.trust.audit.store import AuditedStore
from eidet.trust.audit.verify import entries, verify

DAY = 86_400.0
EMBEDDER = "hashing:64"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


def opened(path: Path, **how: Any) -> Memory:
    return Memory(path.with_name("memory.db"), embedder=EMBEDDER, audit=Audit(path=path, **how))


def noted(path: Path) -> list[AuditEntry]:
    """What was noted after the memory said how it is made."""
    return [entry for entry in entries(path) if entry.verb not in ("begin", "configure")]


def verbs(path: Path) -> list[str]:
    return [entry.verb for entry in noted(path)]


def test_every_change_is_noted_with_ids_kinds_and_counts(path: Path) -> None:
    with opened(path) as memory:
        one, two = memory.remember(["Ann lives in Lisbon", "Bob lives in Porto"], scope="acme/ann")
        memory.revise(one.id, text="Ann lives in Faro", scope="acme/ann", by="bob")
        memory.forget(two.id, scope="acme/ann", by="eve")
    put, revised, *rest = noted(path)
    assert (put.verb, put.scope, put.ids, put.count) == ("put", "acme/ann", (one.id, two.id), 2)
    assert put.details == {"kinds": {"fact": 2}}
    assert (revised.verb, revised.ids, revised.by) == ("put", (one.id,), "bob")
    gone = next(entry for entry in rest if entry.verb in ("drop", "erase"))
    assert (gone.ids, gone.details["kinds"], gone.by) == ((two.id,), {"fact": 1}, "eve")
    assert verify(path).ok


def test_forgetting_for_good_is_noted_step_by_step(path: Path) -> None:
    log = AuditLog(Audit(path=path))
    store = AuditedStore(RamStore(), log)
    x, _, z = port.put(store, [Record(id=id, scope="a", text=id) for id in "xyz"], now=0.0)
    port.erase(
        store,
        lambda _: Erasure(
            gone=[x],
            where=Where(ids=("y",), scope=Scope("a")),
            anew=[(z, z.but(text="w"))],
            stones=[Tombstone("a", b"m")],
        ),
        now=1.0,
        by="ann",
    )
    store.close()
    erase, anew, entomb = noted(path)[1:]
    assert [entry.by for entry in (erase, anew, entomb)] == ["ann"] * 3
    assert (erase.verb, erase.ids, anew.verb, anew.ids) == ("erase", ("x", "y"), "anew", ("z",))
    assert (entomb.verb, entomb.count) == ("entomb", 1)


def test_a_write_costs_one_entry(path: Path) -> None:
    with opened(path) as memory:
        memory.remember("the first")
        before = len(noted(path))
        memory.remember("the second", kind="message", agent="planner")
    assert [(entry.verb, entry.by) for entry in noted(path)[before:]] == [("put", "planner")]


def test_no_content_is_kept(path: Path) -> None:
    secret = "xylophone"
    with opened(path, recalls=True) as memory:
        record = memory.remember(f"Ann plays the {secret}", data={"note": secret}, meta={"m": secret})
        memory.recall(f"who plays the {secret}?")
        memory.find(Where(who=secret))
        memory.revise(record.id, text=f"Ann played the {secret}")
        memory.forget(where=Where(session=secret))
        with pytest.raises(Conflict):
            memory.revise(record.id, version=9, text=secret)
    assert secret not in path.read_text()


def test_what_is_read_is_only_noted_where_it_is_asked_for(path: Path) -> None:
    with opened(path) as memory:
        record = memory.remember("Ann lives in Lisbon")
        memory.recall("Ann")
        memory.get(record.id)
    assert verbs(path) == ["put"]
    with opened(path, recalls=True) as memory:
        memory.recall("Ann", scope=Scope.under("default"))
        memory.context("Ann")
        memory.get([record.id, "none"])
        memory.find(limit=5)
        memory.history(record.id)
    read = noted(path)[1:]
    assert [entry.verb for entry in read] == ["recall", "recall", "get", "find", "history"]
    assert read[0].scope == "default/**"
    assert {entry.ids for entry in read} == {(record.id,)}


def test_a_fact_that_is_there_already_is_told_apart(path: Path) -> None:
    with opened(path) as memory:
        first = memory.remember("Ann lives in Lisbon")
        memory.remember("Ann lives in Lisbon")
    _, again, done = noted(path)
    assert done.details == {"of": [again.n], "instead": {again.ids[0]: first.id}}


def test_one_write_to_several_scopes_has_an_entry_for_each(path: Path) -> None:
    log = AuditLog(Audit(path=path))
    store = AuditedStore(RamStore(), log)
    port.put(store, [Record(id=i, scope=s, text=i + s) for s in ("a", "b") for i in ("x", "y")], now=0.0)
    port.put(store, [], now=0.0)
    store.close()
    assert [(entry.scope, entry.ids) for entry in noted(path)] == [("a", ("x", "y")), ("b", ("x", "y"))]


def test_what_fails_after_it_was_noted_is_said_to_have_failed(path: Path) -> None:
    log = AuditLog(Audit(path=path))
    store = AuditedStore(RamStore(), log)
    with pytest.raises(Conflict):
        port.put(store, [Record(id="x", scope="a", text="x")], now=0.0, expect=3)
    put, failed = noted(path)
    assert (failed.verb, failed.details) == ("failed", {"of": [put.n], "error": "Conflict"})


def test_what_somebody_else_changed_meanwhile_is_not_told_as_gone(path: Path) -> None:
    log = AuditLog(Audit(path=path))
    store = AuditedStore(RamStore(), log)
    (old,) = port.put(store, [Record(id="x", scope="a", text="x")], now=0.0)
    port.put(store, [old.but(text="y")], now=1.0)
    port.delete_unchanged(store, [old], now=2.0)
    port.rewrite_form(store, [(old, old)], now=2.0)
    assert verbs(path) == ["put", "put"]


def test_a_change_of_embedder_or_language_is_noted(path: Path) -> None:
    with opened(path) as memory:
        memory.remember("Ann lives in Lisbon")
        memory.admin.reembed("hashing:32")
        memory.admin.rebuild(language="de")
    assert [entry.verb for entry in entries(path)][:3] == ["begin", "configure", "put"]
    adopt = next(entry for entry in noted(path) if entry.verb == "adopt")
    assert adopt.details["embedder"].startswith("hashing")
    assert "rewrite" in verbs(path)


def test_exports_and_loads_are_noted_with_their_counts(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    with opened(path) as memory:
        memory.remember(["one", "two"], scope="acme/ann")
        memory.export(file, scope="acme/ann")
        memory.load(file)
        with pytest.raises(Unavailable):
            memory.export(tmp_path / "none" / "export.jsonl", scope=None)
    told = [(e.verb, e.scope, e.count, e.details.get("of")) for e in noted(path) if e.verb != "put"]
    assert told == [
        ("export", "acme/ann", None, None),
        ("done", None, 2, [4]),
        ("load", None, None, None),
        ("done", None, 2, [6]),
        ("export", None, None, None),
        ("failed", None, None, [9]),
    ]


def test_upkeep_says_why_for_each_record(path: Path) -> None:
    now = 1e9
    settings = Settings(upkeep=Upkeep(forget_below=0.2, short_age_days=None))
    with Memory(embedder=EMBEDDER, audit=path, clock=lambda: now, settings=settings) as memory:
        gone = memory.remember("a one-time code", expires=now + 5)
        faded = memory.remember("a passing remark", importance=0.1)
        now += 400 * DAY
        with acting(by="ann", why="spring cleaning"):
            memory.upkeep.maintain(only=["expire", "forget"])
    buried = noted(path)[-1]
    assert (buried.verb, buried.by, buried.why) == ("drop", "upkeep", "spring cleaning")
    assert buried.details["asked_by"] == "ann"
    assert buried.details["reasons"][gone.id] == "expire: expired 400.0 days ago"
    assert buried.details["reasons"][faded.id].startswith("forget: strength 0.0")


# Who acts.


def test_who_acts_is_kept_by_audit_and_history(path: Path) -> None:
    with opened(path) as memory:
        record = memory.remember("Ann lives in Lisbon", agent="planner")
        with acting(by="ann", source="10.0.0.7"), acting(why="ticket 812"):
            memory.revise(record.id, text="Ann lives in Porto")
            memory.upkeep.pin(record.id, by="bob")
            memory.upkeep.restore(record.id)
        assert [event.by for event in memory.history(record.id)][:3] == ["planner", "ann", "bob"]
    told = [(entry.by, entry.source, entry.why) for entry in noted(path)[1:]]
    assert told == [
        ("ann", "10.0.0.7", "ticket 812"),
        ("bob", "10.0.0.7", "ticket 812"),
        ("ann", "10.0.0.7", "ticket 812"),
    ]


def test_history_knows_who_acts_without_an_audit_too() -> None:
    memory = Memory(embedder=EMBEDDER)
    memory.remember("Ann lives in Lisbon", id="one", agent="planner")
    with acting(by="ann"):
        memory.remember("Ann lives in Porto", id="one")
    with acting(by="eve"):
        memory.forget("one")
    assert [event.by for event in memory.history("one")] == ["planner", "ann", "eve"]


def test_outside_and_in_other_threads_nobody_acts(path: Path) -> None:
    with opened(path) as memory, acting(by="ann"):
        thread = threading.Thread(target=lambda: memory.remember("of another thread"))
        thread.start()
        thread.join()
    assert noted(path)[0].by is None


@pytest.mark.parametrize("what", ["by", "source", "why"])
def test_who_acts_is_text(what: str) -> None:
    said: dict[str, Any] = {what: 5}
    with pytest.raises(BadInput, match=f"{what} needs a string"), acting(**said):
        pass
    said = {what: "\udc80"}
    with pytest.raises(BadInput, match="surrogate"), acting(**said):
        pass


# The check of a user.


def secrets(record: Record) -> list[str]:
    if "forbidden" in record.text:
        raise Refused(f"{record.text} is not for this memory")
    return ["pii", "mail"] if "@" in record.text else []


def test_a_check_flags_records_and_can_refuse_them(path: Path) -> None:
    with opened(path, check=secrets) as memory:
        plain, flagged = memory.remember(["Ann lives in Lisbon", "write to ann@example.org"])
        with pytest.raises(Refused, match="not for this memory"):
            memory.remember(["something else", "this is forbidden"])
        with pytest.raises(Refused):
            memory.revise(plain.id, text="forbidden too")
        assert memory.count() == 2
    put, refused, again = noted(path)
    assert put.details["flags"] == {flagged.id: ["pii", "mail"]}
    assert (refused.verb, refused.count, refused.details) == ("refused", None, {"error": "Refused"})
    assert again.ids == (plain.id,)
    assert "forbidden" not in path.read_text()


@pytest.mark.parametrize("answer", ["pii", [1], {"pii": 1}, 5])
def test_a_check_that_answers_something_else_is_told(path: Path, answer: Any) -> None:
    with opened(path, check=lambda _: answer) as memory:
        with pytest.raises(Misconfigured, match="a list of flags"):
            memory.remember("Ann lives in Lisbon")
        assert memory.count() == 0


# What cannot be noted is not done.


@contextmanager
def full_disk(log: Path) -> Iterator[None]:
    """Every write to the log meets a full disk."""
    kept = log.rename(log.with_name("kept"))
    log.symlink_to("/dev/full")
    yield
    kept.rename(log)


@pytest.mark.parametrize(
    "act",
    [
        lambda memory, one: memory.remember("unnoted"),
        lambda memory, one: memory.revise(one, text="unnoted"),
        lambda memory, one: memory.forget(one),
        lambda memory, one: memory.upkeep.pin(one),
        lambda memory, one: memory.recall("Lisbon"),
        lambda memory, one: memory.export(paths_of(memory.parts.store)[0].with_name("unnoted.jsonl")),
        lambda memory, one: memory.upkeep.maintain(settings=Upkeep(short_age_days=0.0)),
    ],
)
def test_what_cannot_be_noted_is_refused_before_it_happens(
    path: Path, act: Callable[[Memory, str], object]
) -> None:
    with opened(path, recalls=True) as memory:
        record = memory.remember("Ann lives in Lisbon", occurred=0)
        refused = pytest.raises(Unavailable, match=r"audit.jsonl cannot be written \(No space left")
        with full_disk(path), refused:
            act(memory, record.id)
        assert memory.get(record.id) == record
        assert memory.count() == 1
    assert not path.with_name("unnoted.jsonl").exists()


# How it is asked for.


def test_the_settings_can_ask_for_it(path: Path) -> None:
    key = path.with_name("key")
    key.write_text("a key of many letters\n")
    key.chmod(0o600)
    settings = read_settings(
        {"EIDET_AUDIT": str(path), "EIDET_AUDIT_RECALLS": "yes", "EIDET_AUDIT_KEY_FILE": str(key)}
    )
    with Memory(embedder=EMBEDDER, settings=settings) as memory:
        memory.remember("Ann lives in Lisbon")
        memory.recall("Ann")
    assert verbs(path) == ["put", "recall"]
    assert verify(path, key="a key of many letters").ok


def test_a_log_of_your_own_serves_several_memories_and_stays_open(path: Path) -> None:
    log = AuditLog(Audit(path=path))
    for scope in ("a", "b"):
        with Memory(embedder=EMBEDDER, audit=log) as memory:
            memory.remember("Ann lives in Lisbon", scope=scope)
            assert memory.audit is log
    log.note("consent", scope="a", why="asked on the phone")
    assert [(entry.verb, entry.scope) for entry in noted(path)] == [
        ("put", "a"),
        ("put", "b"),
        ("consent", "a"),
    ]
