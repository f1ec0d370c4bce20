"""A memory on PostgreSQL: its verbs, its addresses, many records at once, many writers."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.faults import postgres_children
from tests.faults.nursery import ROOT, Nursery
from tests.property.test_tenants import play
from tests.servers.postgres import Postgres

from eidet import Memory
from eidet.core.errors import Conflict, Corrupt, Misconfigured, Refused, Unavailable
from eidet.core.record import Kind, Record
from eidet.core.scope import Scope
from eidet.core.where import Where
from eidet.net.retry import RetryPolicy
from eidet.store import verbs
from eidet.store.ram import RamStore
from eidet.store.sql.postgres import PostgresStore
from eidet.store.sql.postgres.address import address_of
from eidet.trust.seal.service import new_key

psycopg = pytest.importorskip("psycopg", reason="needs psycopg: pip install 'eidet[test]'")

HASHING = "hashing:64"
NOW = 1_700_000_000.0
QUICK = RetryPolicy(deadline_seconds=1.0, first_pause_seconds=0.02)


@pytest.fixture
def store(postgres_emptied: str) -> Iterator[PostgresStore]:
    store = PostgresStore(postgres_emptied)
    yield store
    store.close()


def fact(id: str, text: str | None = None, scope: str = "a", **more: object) -> Record:
    return Record(id=id, scope=scope, text=text or f"says {id}", created=NOW, occurred=NOW).but(**more)


# The verbs.


@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed and audited"])
def test_a_memory_lives_on_postgresql(postgres_emptied: str, tmp_path: Path, sealed: bool) -> None:
    key = new_key() if sealed else None
    audit = tmp_path / "audit.jsonl" if sealed else None
    with Memory(postgres_emptied, embedder=HASHING, key=key, audit=audit) as memory:
        ann = memory.remember("Ann lives in Rome", scope="ann", importance=0.9)
        memory.remember([f"Ann saw film number {n} on a Sunday" for n in range(30)], scope="ann")
        memory.remember("Bob lives in Oslo", scope="bob")
        assert memory.recall("where does Ann live?", scope="ann", limit=1)[0].record.id == ann.id
        assert "Rome" in str(memory.context("where does Ann live?", scope="ann"))
        assert memory.remember("Ann lives in Rome", scope="ann", importance=0.9).id == ann.id
        revised = memory.revise(ann.id, text="Ann lives in Paris", scope="ann")
        assert revised.version == 2
        assert [event.what for event in memory.history(ann.id, scope="ann")] == ["created", "revised"]
        gone = memory.forget(ann.id, scope="ann")
        assert gone == 1
        assert gone.receipt is not None
        assert gone.receipt.pending == ()
        assert memory.trust.verify_receipt(gone.receipt)
        with pytest.raises(Refused):
            memory.remember("Ann lives in Paris", scope="ann")
        assert memory.remember("Ann lives in Paris", scope="ann", again=True).version == 1
        memory.upkeep.maintain()
        assert memory.admin.reembed("hashing:32") == 32
        assert memory.export(tmp_path / "all.jsonl", scope=None, plain=sealed) == 32
        assert memory.admin.check() == []
    with Memory(postgres_emptied, embedder="hashing:32", key=key, audit=audit) as memory:
        assert memory.recall("where is Paris?", scope="ann", limit=1)[0].record.text == "Ann lives in Paris"
        assert memory.forget(everything=True, scope="ann", for_good=False) == 31
    with Memory(embedder="hashing:32") as other:
        assert other.load(tmp_path / "all.jsonl") == 32
    if audit is not None:
        assert '"verb":"export"' in audit.read_text()


def test_no_tenant_sees_another_one(postgres_emptied: str, tmp_path: Path) -> None:
    with Memory(postgres_emptied, embedder="hashing:16") as memory:
        play(memory, tmp_path, 3, 120, 4)


@pytest.fixture
def start() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


def test_what_one_process_writes_another_one_finds(postgres_emptied: str, start: Nursery) -> None:
    with Memory(postgres_emptied, embedder=HASHING) as memory:
        memory.remember("The door is green", scope="house")
        assert memory.recall("door", scope="house")
        child = start(postgres_children.remember, postgres_emptied, "house", "The roof is red")
        assert child.result() == ["The door is green"]
        assert memory.recall("which colour is the roof?", scope="house", limit=1)[0].record.text == (
            "The roof is red"
        )


def test_a_child_that_was_forked_has_connections_of_its_own(store: PostgresStore) -> None:
    verbs.put(store, [fact("one")], now=NOW)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            verbs.put(store, [fact("two")], now=NOW)
            code = 0 if verbs.count(store, Where()) == 2 else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert verbs.put(store, [fact("three")], now=NOW)[0].seq == 3
    assert verbs.count(store, Where()) == 3


def test_processes_that_do_not_close_end_without_a_word_and_leave_each_other_alone(
    postgres_emptied: str,
) -> None:
    program = "import sys; from tests.faults.postgres_children import leave_open; leave_open(sys.argv[1])"
    command = [sys.executable, "-c", program, postgres_emptied]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=True)
    assert (json.loads(ended.stdout), ended.stderr) == ([0, 0], "")


# Many records at once.


def same_everywhere(store: PostgresStore, *calls: list[Record], **how: object) -> None:
    """One call after the other gives the same answers and leaves the same records as in the reference."""
    reference = RamStore()
    for number, records in enumerate(calls):
        at = NOW + number
        given = [verbs.put(one, records, now=at, **how) for one in (store, reference)]  # type: ignore[arg-type]
        assert given[0] == given[1]
    assert store.find(Where()) == reference.find(Where())
    assert store.head() == reference.head()


def test_many_new_records_are_written_as_if_one_by_one(store: PostgresStore) -> None:
    odd = fact("odd", "a \0 b \x1a c \t \\N \n \\. end", meta={"k": ["\0", "é", 1.5]}, step=7, place=(1, 2.5))
    same_everywhere(store, [odd, *(fact(f"r{n}", vector=bytes([n] * 8)) for n in range(50))])


def test_known_ids_contents_and_repeats_find_their_place_among_new_ones(store: PostgresStore) -> None:
    first = [fact(f"r{n}") for n in range(6)]
    mixed = [
        fact("new"), fact("r1"), fact("r2", "in other words"), fact("twin", "says r3"), fact("new", "again"),
        fact("x1"), fact("x2", "says x1"), fact("x1"), fact("late", "in other words"), fact("r3", scope="b"),
        fact("m1", "says r4", kind=Kind.MESSAGE), fact("m2", "says r4", kind=Kind.MESSAGE), fact("last"),
    ]  # fmt: skip
    same_everywhere(store, first, mixed, mixed)


def test_thousands_are_forgotten_at_once(store: PostgresStore) -> None:
    verbs.put(store, [fact(f"r{n}") for n in range(2500)], now=NOW)
    verbs.put(store, [fact("r1", "else")], now=NOW)
    assert len(verbs.delete_where(store, Where(), now=NOW, by="ann")) == 2500
    assert [event.what for event in store.history("a", "r1")] == ["created", "revised", "forgotten"]
    assert store.history("a", "r1")[1].before is None
    assert store.history("a", "r2499")[-1].by == "ann"
    assert store.head().seq == 2500 + 2 + 2500


# One record at a time.


def test_a_refused_record_does_not_spoil_the_statements_that_were_prepared(store: PostgresStore) -> None:
    """psycopg prepares a statement after its fifth use; the refusal may come with that one."""
    for before in range(8):
        for n in range(before):
            verbs.put(store, [fact(f"{before}-{n}")], now=NOW)
        with pytest.raises(Corrupt):
            verbs.put(store, [fact("bad", step=2**70)], now=NOW)
        assert verbs.put(store, [fact(f"after {before}")], now=NOW)[0].version == 1
    assert verbs.count(store, Where()) == sum(range(8)) + 8


def test_a_text_that_does_not_fit_into_the_buffers_of_the_line_is_written(store: PostgresStore) -> None:
    long = "\0 and so on " * 700_000
    (stored,) = verbs.put(store, [fact("long", long)], now=NOW)
    assert store.read("a", ["long"]) == [stored]
    assert stored.text == long


def test_a_process_with_many_open_files_writes(postgres_emptied: str) -> None:
    """`select` cannot wait for a file above the first 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1400:
        pytest.skip("needs more than 1400 open files: ulimit -Hn")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1400), hard))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        store = PostgresStore(postgres_emptied)
        assert verbs.put(store, [fact("one")], now=NOW)[0].seq == 1
        store.close()
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# Many writers.


def test_a_writer_that_fails_does_not_take_others_along(store: PostgresStore) -> None:
    held = threading.Event()
    done: list[object] = []

    def hold(cursor: object) -> None:
        held.wait(60)

    def write(what: Record, **how: int) -> None:
        try:
            done.append(verbs.put(store, [what], now=NOW, **how)[0].id)  # type: ignore[arg-type]
        except Conflict:
            done.append("conflict")

    jobs = [(fact("good"), {}), (fact("absent"), {"expect": 3}), (fact("better"), {})]
    threads = [threading.Thread(target=store._driver.write, args=[hold])]
    threads += [threading.Thread(target=write, args=[what], kwargs=how) for what, how in jobs]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    held.set()
    for thread in threads:
        thread.join(20)
    assert sorted(map(str, done)) == ["better", "conflict", "good"]
    assert {r.id for r in store.find(Where())} == {"good", "better"}


# Addresses.


@pytest.mark.parametrize(
    "options",
    ["eidet_conections=4", "eidet_connections=many", "eidet_connections=1",
     "eidet_deadline_seconds=0", "eidet_replicas=a:1"],
)  # fmt: skip
def test_an_option_that_is_wrong_is_named(options: str) -> None:
    with pytest.raises(Misconfigured, match=options.partition("=")[0]):
        address_of(f"postgresql://u@h/d?{options}")


def test_what_is_wrong_with_an_address_is_told_without_the_password(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
    base = f"127.0.0.1:{postgres.port}"
    for url in (f"postgresql://postgres:hush@{base}/nowhere", f"postgresql://nobody:hush@{base}/postgres",
                f"postgresql://guest:hush@{base}/template1", "postgresql://:hush@[/x"):  # fmt: skip
        with pytest.raises(Misconfigured) as told:
            PostgresStore(url, retry_policy=QUICK)
        assert "hush" not in str(told.value)


def test_a_database_that_cannot_hold_all_texts_is_refused(postgres: Postgres) -> None:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0")
    with pytest.raises(Misconfigured, match="UTF8"):
        PostgresStore(postgres.url("ascii"))


def test_a_server_without_a_free_connection_says_so(postgres: Postgres, postgres_emptied: str) -> None:
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS few")
        connection.execute("CREATE ROLE few LOGIN SUPERUSER CONNECTION LIMIT 1")
        connection.execute("ALTER ROLE few NOSUPERUSER")
        connection.execute("GRANT pg_read_all_data, pg_write_all_data TO few")
    url = postgres_emptied.replace("postgres@", "few@")
    first = PostgresStore(url, retry_policy=QUICK)
    with pytest.raises(Unavailable, match="eidet_connections"):
        PostgresStore(url, retry_policy=QUICK)
    first.close()
    PostgresStore(url, retry_policy=QUICK).close()


def test_who_finds_all_connections_in_use_is_told_in_time(postgres_emptied: str) -> None:
    store = PostgresStore(f"{postgres_emptied}?eidet_connections=2", retry_policy=QUICK)
    taken, done = threading.Barrier(3), threading.Event()

    def hold(connection: object) -> None:
        taken.wait(60)
        done.wait(60)

    with ThreadPoolExecutor(2) as pool:
        holding = [pool.submit(store.ask, hold) for _ in range(2)]
        taken.wait(60)
        with pytest.raises(Unavailable, match="all 2 are in use"):
            verbs.count(store, Where())
        done.set()
        for one in holding:
            one.result(60)
    assert verbs.count(store, Where()) == 0
    store.close()


def test_closing_leaves_no_connection_behind(postgres: Postgres, postgres_emptied: str) -> None:
    store = PostgresStore(postgres_emptied)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: verbs.count(store, Where()), range(20)))
    store.close()
    store.close()
    with pytest.raises(Misconfigured, match="closed"):
        verbs.count(store, Where())
    asked = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'eidet' AND datname = 'eidet_common'"
    )
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        deadline = time.monotonic() + 60
        while connection.execute(asked).fetchone() != (0,) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert connection.execute(asked).fetchone() == (0,)


# The order of letters.


@pytest.fixture
def american(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database that orders letters as people do: 'a/b' after 'a0'."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/en_US").exists():
        pytest.skip("needs localedef and the sources of locales: apt install locales")
    folder = tmp_path / "locales"
    folder.mkdir()
    subprocess.run(["localedef", "-i", "en_US", "-f", "UTF-8", folder / "en_US.UTF-8"], check=True)
    monkeypatch.setenv("LOCPATH", str(folder))
    server = Postgres(tmp_path / "server").create().start()
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE american LOCALE 'en_US.UTF-8' TEMPLATE template0")
        assert connection.execute("SELECT 1").fetchone() == (1,)
    yield server.url("american")
    server.stop()


def test_scopes_are_found_in_a_database_with_another_order_of_letters(american: str) -> None:
    with psycopg.connect(american) as connection:
        assert connection.execute("SELECT 'a-b' < 'a.a', 'B' < 'a'").fetchone() == (False, False)
    store = PostgresStore(american)
    scopes = ["a", "a/b", "a/B/c", "a-b", "a.a", "A", "A/b", "a0", "a b", "ä", "a/ä", "aa"]
    verbs.put(store, [fact("x", scope=scope) for scope in scopes], now=NOW)
    found = {r.scope for r in store.find(Where(scope=Scope("a", below=True)))}
    assert found == {"a", "a/b", "a/B/c", "a/ä"}
    assert list(verbs.count_scopes(store)) == sorted(scopes)
    store.close()
