"""What the Redis store does beyond the laws of all stores."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.servers.fixtures import Serve
from tests.servers.valkey import Valkey, slot_of

from eidet import Memory
from eidet.core.errors import Corrupt, Misconfigured, MissingExtra, Unavailable
from eidet.core.record import Event, Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import Full, OutcomeUnknown
from eidet.store import Erasure, Reader, Tombstone, Transaction, verbs
from eidet.store.contract import NOW, fact
from eidet.store.redis import RedisStore
from eidet.store.redis.codec import Keys

BASE = Keys("eidet").base("a")


@pytest.fixture
def store(redis_url: str) -> Iterator[RedisStore]:
    store = RedisStore(f"{redis_url}?linger=0")
    yield store
    store.close()


def ids(store: RedisStore, where: Where | None = None) -> list[str]:
    return [r.id for r in store.find(Where() if where is None else where)]


# What expires.


def test_the_server_lets_a_scope_expire_of_which_nobody_keeps_anything(
    store: RedisStore, valkey: Valkey
) -> None:
    started = time.monotonic()
    verbs.put(store, [fact("x", expires=NOW + 0.5), fact("y", expires=NOW + 0.55)], now=NOW)
    assert ids(store) == ["x", "y"] or time.monotonic() - started > 0.5  # on a busy machine
    deadline = time.monotonic() + 60
    while ids(store) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.1)
    assert [valkey.ask("EXISTS", BASE + key) for key in "isocpxzdgm"] == [b":0"] * 10
    assert (store.read("a", ["x"]), store.find(Where()), verbs.count_scopes(store)) == ([None], [], {})
    assert verbs.put(store, [fact("x")], now=NOW + 1)[0].version == 1


def test_what_is_kept_keeps_its_scope(store: RedisStore, valkey: Valkey) -> None:
    verbs.put(store, [fact("x", expires=NOW + 0.05)], now=NOW)
    verbs.put(store, [fact("stays")], now=NOW)
    time.sleep(0.2)
    assert ids(store) == ["stays"]
    assert valkey.ask("TTL", BASE + "s") == b":-1"


def test_traces_of_what_expired_are_cleared_away_by_the_next_write(store: RedisStore) -> None:
    old, _ = verbs.put(store, [fact("x", text="same", expires=NOW + 0.05), fact("stays")], now=NOW)
    since = store.head().seq
    time.sleep(0.2)
    assert store.read("a", ["x"]) == [None]
    assert [r.id for r in verbs.put(store, [fact("y", text="same")], now=NOW + 60)] == ["y"]
    assert store.changes("a", since, 10).gone == [old.seq]
    assert verbs.count(store, Where()) == 2
    assert verbs.put(store, [fact("x", text="other")], now=NOW + 60)[0].version == 1
    assert verbs.count_scopes(store) == {"a": 3}


def test_expiry_goes_by_the_clock_of_the_caller(store: RedisStore, valkey: Valkey) -> None:
    """A caller whose clock stands in the past does not lose what lives by that clock."""
    verbs.put(store, [fact("x", expires=NOW + 600)], now=NOW)
    time.sleep(0.05)
    assert ids(store, Where(alive_at=NOW + 599)) == ["x"]
    assert ids(store, Where(alive_at=NOW + 600)) == []
    assert verbs.count(store, Where(alive_at=NOW + 600)) == 0


def test_a_longer_life_is_known_to_the_server(store: RedisStore) -> None:
    verbs.put(store, [fact("x", expires=NOW + 0.05)], now=NOW)
    verbs.put(store, [fact("x", expires=NOW + 600)], now=NOW)
    time.sleep(0.15)
    assert ids(store) == ["x"]
    verbs.add_uses(store, {("a", "x"): (2, NOW)})
    assert store.find(Where())[0].uses == 2


# Many writers.


def test_writers_of_many_processes_lose_nothing(redis_url: str) -> None:
    """Each store is a process of its own as far as the server can tell."""
    stores = [RedisStore(redis_url) for _ in range(4)]

    def write(worker: int) -> None:
        store = stores[worker % 4]
        for n in range(15):
            verbs.put(store, [fact("shared", text=f"{worker} {n}"), fact(f"{worker}-{n}")], now=NOW)
            verbs.add_uses(store, {("a", "shared"): (1, NOW)})
            verbs.put(store, [fact(f"twin {worker} {n}", text=f"fact {n}")], now=NOW)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    (shared,) = stores[0].read("a", ["shared"])
    assert shared is not None
    assert (shared.version, shared.uses) == (8 * 15, 8 * 15)
    assert len(stores[0].history("a", "shared")) == 8 * 15
    facts = [r for r in stores[1].find(Where()) if r.text.startswith("fact")]
    assert sorted(r.text for r in facts) == sorted(f"fact {n}" for n in range(15))
    assert sum(r.uses for r in facts) == 7 * 15
    assert verbs.count(stores[2], Where()) == 1 + 8 * 15 + 15
    for store in stores:
        store.close()


def test_a_plan_is_made_anew_when_others_write_meanwhile(redis_url: str) -> None:
    store, other = RedisStore(redis_url), RedisStore(redis_url)
    verbs.put(store, [fact("x")], now=NOW)
    seen: list[list[str]] = []

    def plan(look: Reader) -> Erasure:
        found = list(look.scan(Where(scope=Scope("a"))))
        if not seen:
            verbs.put(other, [fact("late")], now=NOW)
        seen.append([r.id for r in found])
        return Erasure(gone=found)

    assert [id for _, id in verbs.erase(store, plan, now=NOW).gone] == ["x", "late"]
    assert seen == [["x"], ["x", "late"]]
    store.close()
    other.close()


def test_a_scope_that_appears_meanwhile_is_seen_by_a_plan_for_all(redis_url: str) -> None:
    store, other = RedisStore(redis_url), RedisStore(redis_url)
    verbs.put(store, [fact("x")], now=NOW)
    tries: list[int] = []

    def plan(look: Reader) -> Erasure:
        found = list(look.scan(Where()))
        if not tries:
            verbs.put(other, [fact("late", "b")], now=NOW)
        tries.append(len(found))
        return Erasure(gone=found)

    verbs.erase(store, plan, now=NOW)
    assert (tries, verbs.count(store, Where())) == ([1, 2], 0)
    store.close()
    other.close()


# Servers.


def test_a_child_that_was_forked_has_connections_of_its_own(store: RedisStore) -> None:
    verbs.put(store, [fact("one")], now=NOW)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            verbs.put(store, [fact("two")], now=NOW)
            code = 0 if ids(store) == ["one", "two"] else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    verbs.put(store, [fact("three")], now=NOW)
    assert ids(store) == ["one", "two", "three"]


def test_scripts_that_the_server_forgot_are_sent_again(store: RedisStore, valkey: Valkey) -> None:
    verbs.put(store, [fact("x")], now=NOW)
    valkey.ask("SCRIPT", "FLUSH")
    verbs.put(store, [fact("y")], now=NOW)
    valkey.ask("SCRIPT", "FLUSH")
    assert [r and r.id for r in store.read("a", ["x", "y"])] == ["x", "y"]


def test_what_somebody_else_wrote_over_a_record_is_told(store: RedisStore, valkey: Valkey) -> None:
    (one,) = verbs.put(store, [fact("x")], now=NOW)
    for other in ("nonsense", "\x01" * 60, ""):
        valkey.ask("SET", f"{BASE}r:{one.seq}", other)
        if other:
            with pytest.raises(Corrupt, match="scope 'a'"):
                store.read("a", ["x"])


def test_prefixes_share_a_server_and_nothing_else(redis_url: str) -> None:
    one, other = RedisStore(f"{redis_url}?prefix=one"), RedisStore(f"{redis_url}?prefix=other")
    verbs.put(one, [fact("x")], now=NOW)
    verbs.set_settings(one, {"some": "thing"})
    assert (verbs.count(other, Where()), verbs.get_setting(other, "some"), other.head().seq) == (0, None, 0)
    assert one.identity != other.identity
    one.close()
    other.close()


def _fill(store: RedisStore, stored: list[str]) -> None:
    for n in range(3000):
        stored += [r.id for r in verbs.put(store, [fact(f"{n}", text=f"{n} " * 1500)], now=NOW)]


def test_a_full_server_says_so_and_loses_nothing(serve: Serve) -> None:
    server = serve("--maxmemory", "6mb", "--maxmemory-policy", "noeviction")
    store = RedisStore(server.url)
    stored: list[str] = []
    with pytest.raises(Full, match=r"is full \(maxmemory\): nothing of this call was stored"):
        _fill(store, stored)
    assert store.retrier.health()["state"] == "up"
    assert ids(store) == stored
    with pytest.raises(Full):
        verbs.put(store, [fact("0", text="revised")], now=NOW)
    assert store.read("a", ["0"])[0].version == 1  # type: ignore[union-attr]
    assert verbs.delete_where(store, Where(ids=tuple(stored[:300])), now=NOW) == stored[:300]
    verbs.put(store, [fact("new")], now=NOW)
    assert ids(store) == [*stored[300:], "new"]
    assert store.size() > 1_000_000
    store.close()


def test_what_no_replica_has_in_time_is_told_to_be_unsure(redis_url: str) -> None:
    store = RedisStore(f"{redis_url}?wait=1&wait_ms=20&deadline=1")
    assert verbs.count(store, Where()) == 0, "reading does not wait"
    with pytest.raises(OutcomeUnknown, match=r"stored, but only 0 of 1 replicas have it after 20 ms"):
        verbs.put(store, [fact("x")], now=NOW)
    assert [(r.id, r.version) for r in store.find(Where())] == [("x", 1)]
    assert store.retrier.health()["failures"] == 0, "the server itself is fine"
    store.close()


def test_replicas_that_have_it_let_a_write_return(serve: Serve) -> None:
    primary = serve("--repl-diskless-sync-delay", "1")  # seconds, in which a write that did not wait returns
    replica = serve("--replicaof", "127.0.0.1", str(primary.port))
    store = RedisStore(f"{primary.url}?wait=1&wait_ms=200&deadline=15")
    verbs.put(store, [fact("x")], now=NOW)
    assert replica.ask("EXISTS", BASE + "s") == b":1"
    store.close()
    with pytest.raises(Unavailable, match="accepts no writes now"):
        RedisStore(f"{replica.url}?deadline=1")


def test_a_server_that_evicts_at_will_is_refused(serve: Serve) -> None:
    server = serve("--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru")
    with pytest.raises(Misconfigured, match="noeviction"):
        RedisStore(server.url)
    server.ask("CONFIG", "SET", "maxmemory-policy", "volatile-lru")
    store = RedisStore(server.url)
    verbs.put(store, [fact("x", expires=NOW + 60)], now=NOW)
    assert server.ask("TTL", BASE + "s") == b":-1", "the indexes of a scope are not what may be evicted"
    store.close()


def test_a_wrong_password_is_told_without_it(serve: Serve) -> None:
    server = serve()
    server.ask("CONFIG", "SET", "requirepass", "s3cret")
    place = server.url.removeprefix("redis://")
    for login in ("", ":wr0ng@", "nobody:wr0ng@"):
        with pytest.raises(Misconfigured, match="password") as told:
            RedisStore(f"redis://{login}{place}")
        assert "wr0ng" not in str(told.value)
    store = RedisStore(f"redis://:s3cret@{place}")
    assert "s3cret" not in store.retrier.name
    assert "s3cret" not in repr(store.retrier.health())
    store.close()


def test_a_user_without_rights_is_told_what_is_missing(redis_url: str, valkey: Valkey) -> None:
    valkey.ask("ACL", "SETUSER", "poor", "on", ">p", "~*", "+@connection", "+@read", "+info")
    place = redis_url.removeprefix("redis://")
    with pytest.raises(Misconfigured, match="rights"):
        RedisStore(f"redis://poor:p@{place}")
    few = ("~eidet:*", "+@read", "+@write", "+@scripting", "+@connection", "+time")
    valkey.ask("ACL", "SETUSER", "modest", "on", ">p", *few)
    store = RedisStore(f"redis://modest:p@{place}")  # what it must not ask, it does without
    verbs.put(store, [fact("x")], now=NOW)
    assert verbs.count(store, Where()) == 1
    store.close()
    valkey.ask("ACL", "DELUSER", "poor", "modest")


def test_tls_to_a_server_without_it_is_told(redis_url: str) -> None:
    with pytest.raises(Unavailable, match="TLS"):
        RedisStore(redis_url.replace("redis://", "rediss://") + "?deadline=1")


def test_without_the_driver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(MissingExtra, match=r"eidet\[redis\]"):
        RedisStore("redis://localhost")


# A server that lost its last writes.


def test_an_index_follows_a_server_that_lost_its_last_writes(serve: Serve) -> None:
    server = serve()
    dropping = RedisStore(server.url)
    with Memory(server.url) as memory, Memory(server.url) as other:
        memory.remember("Ann lives in Lisbon", id="ann")
        memory.remember("Bob lives in Porto", id="bob")
        server.ask("SAVE")
        verbs.delete_where(dropping, Where(ids=("ann",)), now=NOW)
        memory.remember("Eve lives in Faro", id="eve")
        for one in (memory, other):
            assert {hit.id for hit in one.recall("who lives where?")} == {"bob", "eve"}
        server.kill()
        server.start()
        for one in (memory, other):
            assert {hit.id for hit in one.recall("who lives where?")} == {"ann", "bob"}
        memory.remember("Kim lives in Braga", id="kim")
        for one in (memory, other):
            assert {hit.id for hit in one.recall("who lives where?")} == {"ann", "bob", "kim"}
    dropping.close()


# Small things.


def test_all_keys_of_a_scope_lie_in_one_slot() -> None:
    keys = Keys("eidet")
    for scope in ("a", "a{b}c", "é/ü", "}{", "x" * 200):
        base = keys.base(scope)
        assert len({slot_of(base + key) for key in ("m", "r:1", "w:{x}", "e")}) == 1


# The page about it.


def test_the_snippet_of_the_page_prints_what_the_page_says(redis_url: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "operate" / "redis.md").read_text("utf-8")
    found = re.findall(r"^```py\n(.*?)^```\n\n```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found
    for code, wanted in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code.replace("redis://localhost:6379/0", redis_url), {})
        assert printed.getvalue() == wanted


# Derived bytes of many records.


def test_more_is_forgotten_at_once_than_lua_takes_as_arguments(store: RedisStore) -> None:
    verbs.erase(store, lambda _: Erasure(stones=[Tombstone("a", b"%d" % n) for n in range(9000)]), now=NOW)
    marks = [b"%d" % n for n in range(9000)]
    assert len(verbs.tombstones_in(store, "a", marks)) == verbs.lift_tombstones(store, "a", marks) == 9000
    assert verbs.tombstones_in(store, "a", marks) == {}


def test_a_job_sees_the_history_that_the_script_will_write(store: RedisStore) -> None:
    (first,) = verbs.put(store, [fact("x")], now=NOW)
    verbs.delete_unchanged(store, [first], now=NOW + 1)

    def come_and_go(transaction: Transaction) -> list[list[str]]:
        told = []
        for what in ("come", "go", "come"):
            if what == "come":
                transaction.insert([fact("x", agent='the "first"')])
            else:
                event = Event(what="forgotten", id="x", scope="a", at=NOW + 2)
                transaction.remove([one for one in transaction.read("a", ["x"]) if one], [event])
            told.append([event.what for event in transaction.history("a", "x")])
        return told

    gone = ["created", "forgotten"]
    assert store.write(come_and_go) == [[*gone, "created"], gone * 2, [*gone * 2, "created"]]
    assert [event.what for event in store.history("a", "x")] == [*gone * 2, "created"]
    assert store.history("a", "x")[-1].by == 'the "first"'


def _say_often(store: RedisStore, times: int, **fields: Any) -> list[Record]:
    """Records of one text by many agents, each of which finds out whether it was said before."""
    stored = []
    for n in range(times):
        stored += verbs.put(store, [fact(f"said {n}", text="often", agent=f"{n}", **fields)], now=NOW)
    return stored


def test_nothing_is_left_of_many_that_said_the_same(store: RedisStore, valkey: Valkey) -> None:
    stored = _say_often(store, 40)
    assert _count_keys(valkey) == 40
    verbs.delete_unchanged(store, stored, now=NOW)
    assert _count_keys(valkey) == 0


def test_of_many_that_say_the_same_those_that_expire_leave_no_trace(
    store: RedisStore, valkey: Valkey
) -> None:
    _say_often(store, 30, expires=NOW + 1.5)
    kept = verbs.put(store, [fact("kept", text="often", agent="kept")], now=NOW)
    assert _count_keys(valkey) == 31
    time.sleep(1.6)
    for n in range(5):
        verbs.put(store, [fact(f"later {n}", created=NOW + 2)], now=NOW + 2)
    assert store.find(Where(ids=("kept",))) == kept
    assert _count_keys(valkey) == 6


def _count_keys(valkey: Valkey) -> int:
    """Exact keys by which facts are found."""
    return int(valkey.ask("HLEN", f"{BASE}d")[1:])
