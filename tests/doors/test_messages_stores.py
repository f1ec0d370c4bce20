"""Stores that search, clean up, audit, encrypt, keep apart, and those on servers."""

from __future__ import annotations

import asyncio
import sys
from asyncio import run
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from tests.doors.every_door import said as user
from tests.making import contents, history

from eidet import Memory
from eidet.compat.messages import (
    ArchiveMemoryStore,
    AuditMemoryStore,
    AutoCleanupMemory,
    BaseMemoryStore,
    EncryptedMemoryStore,
    FileMemoryStore,
    FilterableMemoryStore,
    InMemoryMemoryStore,
    Message,
    PostgresMemoryStore,
    RedisMemoryStore,
    S3MemoryStore,
    ScopedMemoryStore,
    SemanticMemoryStore,
    default_store,
)
from eidet.core.errors import BadInput, Corrupt, EidetError, Misconfigured, MissingExtra, Refused, Unavailable

DAY = 86_400


async def told(store: BaseMemoryStore, *contents: str) -> BaseMemoryStore:
    for content in contents:
        await store.add_message(user(content))
    return store


class Letters:
    """Counts vowels; says which loops it was awaited in."""

    def __init__(self) -> None:
        self.loops: set[int] = set()
        self.asked: list[str] = []

    async def embed(self, text: str) -> list[float]:
        assert isinstance(text, str)
        self.loops.add(id(asyncio.get_running_loop()))
        self.asked.append(text)
        await asyncio.sleep(0)
        return [text.count(vowel) + 0.01 for vowel in "aeiou"]


@pytest.mark.point(93)
def test_messages_are_found_by_the_cosine_of_the_model_given(place: Path | None) -> None:
    model = Letters()

    async def work() -> tuple[list[Message], int]:
        async with SemanticMemoryStore(model, memory=place) as store:
            await told(store, "aaaa", "eeee", "a e a e", "uuuu", "aaae")
            found = await store.search("aaaaaaaa", top_k=3)
            assert [len(vector) for vector in store.embeddings] == [5] * 5
            assert model.loops == {id(asyncio.get_running_loop())}, "awaited in the loop of the caller"
            return found, len(await store.search("a", top_k=50))

    found, everything = run(work())
    assert contents(found) == ["aaaa", "aaae", "a e a e"]
    assert everything == 5
    assert model.asked.count("aaaa") == 1


@pytest.mark.point(93)
def test_the_order_is_that_of_plain_cosines_among_many() -> None:
    async def work() -> tuple[list[str | None], list[str]]:
        store = SemanticMemoryStore(lambda text: [1.0, float(len(text)), 0.5])
        said = ["x" * n for n in range(1, 60)]
        await told(store, *said)
        return contents(await store.search("x" * 30, top_k=5)), said

    found, said = run(work())

    def cosine(text: str) -> float:
        a, b = (1.0, float(len(text)), 0.5), (1.0, 30.0, 0.5)
        lengths = sum(x * x for x in a) ** 0.5 * sum(x * x for x in b) ** 0.5
        return float(sum(x * y for x, y in zip(a, b, strict=True)) / lengths)

    assert found == sorted(said, key=cosine, reverse=True)[:5]


def test_without_a_model_the_memory_embeds() -> None:
    store = SemanticMemoryStore()
    run(told(store, "I love my cat", "The invoice is due in May"))
    assert contents(run(store.search("pets", top_k=1))) == ["I love my cat"]
    assert run(store.search("pets", top_k=0)) == []
    with pytest.raises(BadInput, match="top_k"):
        run(store.search("pets", top_k=-1))


def test_another_model_than_that_of_the_memory_is_refused(memory: Memory) -> None:
    with pytest.raises(Misconfigured, match="embedder"):
        run(SemanticMemoryStore(Letters(), memory=memory).add_message(user("x")))


@pytest.mark.point(94, 100)
def test_metadata_filters_must_all_hold(memory: Memory) -> None:
    store = FilterableMemoryStore(memory=memory)

    async def work() -> list[list[str | None]]:
        await store.add_message(user("Important", metadata={"priority": "high", "n": 1}))
        await store.add_message(user("Minor", metadata={"priority": "low", "n": 1}))
        await store.add_message(user("Odd", metadata={"a.b": {"c": [1]}}))
        asked: list[dict[str, Any]] = [
            {"priority": "high"},
            {"n": 1},
            {"n": 1, "priority": "low"},
            {"n": True},
            {"a.b": {"c": [1]}},
            {"n": None},
            {},
        ]
        return [contents(await store.get_messages_by_metadata(**filters)) for filters in asked]

    assert run(work()) == [
        ["Important"],
        ["Important", "Minor"],
        ["Minor"],
        [],
        ["Odd"],
        ["Odd"],
        ["Important", "Minor", "Odd"],
    ]


@pytest.mark.point(95)
def test_a_range_of_dates_includes_both_ends(memory: Memory) -> None:
    store = FilterableMemoryStore(memory=memory)
    days = [datetime.fromisoformat(f"2024-05-0{day}T12:00:00") for day in (1, 2, 3, 4)]

    async def work() -> list[Message]:
        for day in days:
            await store.add_message(user(f"{day:%d}", timestamp=day))
        return await store.get_messages_by_date_range(days[1], days[2])

    assert contents(run(work())) == ["02", "03"]


@pytest.mark.point(97)
def test_cleanup_archives_the_important_and_deletes_the_old(memory: Memory) -> None:
    store = AutoCleanupMemory(memory=memory)
    run(_aged(store))
    assert run(store.cleanup(now=_NOW)) == 2
    assert history(store) == ["new", "new and important"]
    assert history(store.archive_store) == ["old and important"]
    assert run(store.cleanup(now=_NOW)) == 0


@pytest.mark.point(97)
def test_what_cannot_be_archived_is_not_deleted(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file, not a folder")
    store = AutoCleanupMemory(archive_to=tmp_path / "taken")
    run(_aged(store))
    with pytest.raises(Unavailable, match="nothing is deleted"):
        run(store.cleanup(now=_NOW))
    assert store.current_count == 4


@pytest.mark.point(97)
def test_an_archive_of_ones_own_is_awaited_before_anything_goes() -> None:
    class Own(AutoCleanupMemory):
        async def archive(self, messages: Sequence[Message]) -> None:
            self.seen = (contents(messages), self.current_count)

    store = Own()
    run(_aged(store))
    run(store.cleanup(now=_NOW))
    assert store.seen == (["old and important"], 4)


def test_an_archive_in_a_folder_is_read_back(tmp_path: Path) -> None:
    store = AutoCleanupMemory(archive_to=tmp_path / "archive")
    run(_aged(store))
    run(store.cleanup(now=_NOW))
    again = ArchiveMemoryStore(tmp_path / "archive")
    [kept] = run(again.get_history())
    assert (kept.content, kept.metadata) == ("old and important", {"important": True})


_NOW = datetime.fromisoformat("2026-11-16T12:00:00")


async def _aged(store: BaseMemoryStore) -> None:
    long_ago = _NOW - timedelta(days=30)
    await store.add_message(user("old", timestamp=long_ago - timedelta(days=1)))
    await store.add_message(user("old and important", timestamp=long_ago, metadata={"important": True}))
    await store.add_message(user("new", timestamp=long_ago + timedelta(seconds=1)))
    await store.add_message(user("new and important", timestamp=_NOW, metadata={"important": True}))


@pytest.mark.point(101, 102)
def test_an_audit_trail_says_who_and_where_and_what_was_noticed(memory: Memory) -> None:
    store = AuditMemoryStore(current_user_id="ann", session_id="s1", request_ip="10.0.0.1", memory=memory)
    run(store.add_message(user("write to ann@example.org", metadata={"mine": 1})))
    [message] = run(store.get_history())
    assert message.metadata.keys() == {
        "mine", "timestamp", "user_id", "session_id", "ip_address", "compliance_flags",
    }  # fmt: skip
    assert message.metadata["compliance_flags"] == ["email"]
    assert (message.metadata["user_id"], message.metadata["session_id"]) == ("ann", "s1")
    assert datetime.fromisoformat(message.metadata["timestamp"])
    assert run(store.audit_store.get_history()) == [message]
    run(store.clear())
    assert run(store.get_history()) == []
    assert run(store.audit_store.get_history()) == [message], "the trail stays"
    assert memory.count(scope="default") == 0, "and is apart"


@pytest.mark.point(101, 102)
def test_a_message_that_is_not_compliant_can_be_refused() -> None:
    class Strict(AuditMemoryStore):
        async def check_compliance(self, message: Message) -> list[str]:
            if "secret" in (message.content or ""):
                raise PermissionError("not here")
            return ["ok"]

    store = Strict()
    run(store.add_message(user("fine")))
    with pytest.raises(PermissionError):
        run(store.add_message(user("a secret")))
    assert history(store) == history(store.audit_store) == ["fine"]


def test_a_store_with_the_three_documented_methods_is_enough() -> None:
    class Mine:
        def __init__(self) -> None:
            self.kept: list[Message] = []

        async def add_message(self, message: Message) -> None:
            self.kept.append(message)

        async def get_history(self, **how: Any) -> list[Message]:
            return self.kept

        async def clear(self) -> None:
            self.kept.clear()

    async def use() -> list[Message]:
        async with EncryptedMemoryStore(Fernet.generate_key(), Mine()) as store:  # type: ignore[arg-type]
            await store.add_message(user("hello"))
            return await store.get_history()

    assert contents(run(use())) == ["hello"]


def test_nothing_is_in_use_that_has_no_trail() -> None:
    class Broken(BaseMemoryStore):
        async def add_message(self, message: Message) -> None:
            raise OSError("the trail cannot be written")

    store = AuditMemoryStore(InMemoryMemoryStore(), Broken())
    with pytest.raises(OSError, match="trail"):
        run(store.add_message(user("x")))
    assert run(store.get_history()) == []
    with pytest.raises(BadInput, match="audit_store"):
        AuditMemoryStore(InMemoryMemoryStore())


@pytest.mark.point(103)
def test_what_is_encrypted_is_nowhere_in_the_file(tmp_path: Path) -> None:
    key = Fernet.generate_key()

    async def write() -> None:
        async with EncryptedMemoryStore(key, FileMemoryStore(tmp_path / "m.db")) as store:
            await store.add_message(user("the launch code is MINKA-7741", metadata={"topic": "launch"}))
            await store.add_message(Message("assistant", None, tool_calls=[{"arguments": "MINKA-7741"}]))
            assert "MINKA" not in repr(list(store.messages))

    async def read() -> list[Message]:
        async with EncryptedMemoryStore(key, FileMemoryStore(tmp_path / "m.db")) as store:
            return await store.get_history(limit=2)

    run(write())
    for file in tmp_path.iterdir():
        assert not file.is_file() or b"MINKA" not in file.read_bytes()
    first, second = run(read())
    assert (first.content, first.metadata) == ("the launch code is MINKA-7741", {"topic": "launch"})
    assert (second.content, second.tool_calls) == (None, [{"arguments": "MINKA-7741"}])


@pytest.mark.point(103)
def test_the_stored_content_is_a_fernet_token_of_the_content(memory: Memory) -> None:
    key = Fernet.generate_key()
    store = EncryptedMemoryStore(encryption_key=key, memory=memory)
    run(store.add_message(user("plain ☂")))
    [record] = memory.find(kinds="message")
    assert Fernet(key).decrypt(record.text.encode()).decode() == "plain ☂"
    assert contents(run(store.get_context_window())) == ["plain ☂"]
    assert store.current_count == 1


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.fernet", None)
    with pytest.raises(MissingExtra, match=r"eidet\[seal\]"):
        EncryptedMemoryStore(b"x")


@pytest.mark.point(103)
def test_no_way_into_an_encrypted_store_leaves_plain_text(memory: Memory) -> None:
    store = EncryptedMemoryStore(Fernet.generate_key(), memory=memory)
    run(store.add_messages([user("plain one"), user("plain two")]))
    store.append([user("plain three")])
    archive = AutoCleanupMemory(archive_to=store)
    run(archive.archive([user("plain four")]))
    assert [record.text for record in memory.find() if "plain" in record.text] == []
    assert history(store) == ["plain one", "plain two", "plain three", "plain four"]
    run(store.clear())
    assert memory.count() == 0


def test_no_way_into_an_audited_store_leaves_no_trail() -> None:
    store = AuditMemoryStore()
    run(store.add_messages([user("one"), user("two")]))
    assert history(store.audit_store) == ["one", "two"]
    with pytest.raises(Refused, match="trail"):
        store.append([user("three")])
    assert store.current_count == 2


@pytest.mark.point(103)
def test_a_key_can_be_changed_and_a_wrong_one_is_told(memory: Memory) -> None:
    old, new = Fernet.generate_key(), Fernet.generate_key()
    run(told(EncryptedMemoryStore(old, memory=memory), "first"))
    both = EncryptedMemoryStore([new, old], memory=memory)
    run(told(both, "second"))
    assert history(both) == ["first", "second"]
    with pytest.raises(Corrupt, match="another key"):
        run(EncryptedMemoryStore(new, memory=memory).get_history())
    wrongs: list[Any] = [b"short", "", 5, []]
    for wrong in wrongs:
        with pytest.raises(BadInput, match="generate_key"):
            EncryptedMemoryStore(wrong)


@pytest.mark.point(101, 103, 105)
def test_wrappers_compose(tmp_path: Path) -> None:
    key = Fernet.generate_key()

    async def work() -> tuple[list[Message], str]:
        inside = FileMemoryStore(tmp_path / "m.db", max_messages=2)
        trail = EncryptedMemoryStore(key, FileMemoryStore(tmp_path / "audit.db"))
        async with AuditMemoryStore(EncryptedMemoryStore(key, inside), trail) as store:
            await told(store, "one", "two", "three")
            assert contents(await trail.get_history()) == ["one", "two", "three"]
            return await store.get_history(), inside.messages[0].content or ""

    found, stored = run(work())
    assert contents(found) == ["two", "three"]
    assert Fernet(key).decrypt(stored.encode()) == b"two"


@pytest.mark.point(89)
def test_scopes_do_not_see_each_other(memory: Memory) -> None:
    store = ScopedMemoryStore(memory=memory)

    async def work() -> None:
        await store.add_message(user("of Ann"), scope="user_123")
        await store.add_message(Message("system", "rules"), scope="system")
        await store.add_message(user("of nobody"))

    run(work())
    assert contents(run(store.get_history(scope="user_123"))) == ["of Ann"]
    assert contents(run(store.get_scope("system").get_history())) == ["rules"]
    assert history(store) == contents(run(store.get_context_window())) == ["of nobody"]
    assert store.scopes.keys() == {"user_123", "system", "default"}
    assert memory.scopes() == {"default": 1, "system": 1, "user_123": 1}
    assert store.get_scope("system") is store.get_scope("system")
    run(store.clear("system"))
    assert memory.scopes() == {"default": 1, "user_123": 1}
    assert store.current_count == 2
    run(store.clear())
    assert memory.scopes() == {}
    with pytest.raises(BadInput, match="scope"):
        store.get_scope("")


def test_scopes_are_below_that_of_the_store(memory: Memory) -> None:
    store = ScopedMemoryStore(memory=memory, scope="acme")
    run(store.add_message(user("x"), scope="ann"))
    assert memory.scopes() == {"acme/ann": 1}
    run(store.add_messages([user("y"), user("z")]))
    store.messages.append(user("w"))
    store.messages.pop(0)
    assert contents(store.messages) == history(store) == ["z", "w"]
    assert memory.scopes() == {"acme/ann": 1, "acme/default": 2}


@pytest.mark.point(85)
def test_a_session_ends_when_nothing_is_added_for_its_time_to_live(tmp_path: Path) -> None:
    now = [1_000_000.0]
    with Memory(tmp_path / "m.db", clock=lambda: now[0]) as memory:
        store = RedisMemoryStore("redis://localhost:6379", ttl_hours=24, max_messages=3, memory=memory)
        run(told(store, "a", "b", "c", "d"))
        assert history(store) == ["b", "c", "d"]
        now[0] += DAY - 1
        run(told(store, "e"))
        now[0] += DAY - 1
        assert history(store) == ["c", "d", "e"], "every addition puts the end off"
        now[0] += 1
        assert run(store.get_history()) == []
        assert memory.count() == 0
    assert store.ttl == timedelta(hours=24)


@pytest.mark.point(84, 85, 86)
@pytest.mark.parametrize(
    "store",
    [
        PostgresMemoryStore("nosuchserver://user@127.0.0.1:1/x"),
        RedisMemoryStore("nosuchserver://127.0.0.1:1"),
        S3MemoryStore("s3://no-such-bucket?endpoint=http://127.0.0.1:1&deadline=0.4"),
    ],
    ids=lambda store: type(store).__name__,
)
def test_a_server_that_is_not_there_is_told_at_initialize(store: BaseMemoryStore) -> None:
    with pytest.raises(EidetError, match=r"name a file|archive"):
        run(store.initialize())
    with pytest.raises(EidetError):
        run(store.add_message(user("x")))


@pytest.mark.parametrize("make", [PostgresMemoryStore, RedisMemoryStore])
def test_what_is_no_url_is_refused_at_once(make: Any) -> None:
    with pytest.raises(BadInput, match="URL"):
        make("localhost")


@pytest.mark.point(84)
def test_the_names_of_the_document_are_there() -> None:
    postgres = PostgresMemoryStore("postgres://u@h/d", session_id="s1")
    assert (postgres.conn_string, postgres.pool, postgres.session_id) == ("postgres://u@h/d", None, "s1")
    redis = RedisMemoryStore("redis://h")
    assert (redis.redis_url, redis.client, redis.max_messages) == ("redis://h", None, 1000)
    assert S3MemoryStore("bucket").bucket_name == "bucket"
    with pytest.raises(BadInput, match="ttl_hours"):
        RedisMemoryStore("redis://h", ttl_hours=0)


@pytest.mark.point(86)
def test_an_archive_keeps_each_message_and_deletes_none(tmp_path: Path) -> None:
    store = S3MemoryStore("bucket", archive=tmp_path / "bucket")
    run(told(store, "a", "b"))
    other = S3MemoryStore("bucket", archive=tmp_path / "bucket", session_id="other")
    run(told(other, "c"))
    again = S3MemoryStore("bucket", archive=tmp_path / "bucket")
    assert history(again) == ["a", "b"]
    run(told(again, "d"))
    assert history(S3MemoryStore("bucket", archive=tmp_path / "bucket")) == [
        "a",
        "b",
        "d",
    ]
    with pytest.raises(Refused, match="archive is append-only"):
        run(again.clear())
    with pytest.raises(Refused):
        again.messages.pop()
    assert again.current_count == 3


def test_what_could_not_be_archived_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    store = ArchiveMemoryStore(tmp_path / "taken")
    with pytest.raises(Unavailable):
        run(store.add_message(user("x")))
    assert run(store.get_history()) == []


@pytest.mark.point(96, 208)
def test_the_store_for_an_environment(tmp_path: Path) -> None:
    variables = {"DATABASE_URL": "postgresql://h/d", "REDIS_URL": "redis://h", "S3_BUCKET": "b"}
    chosen = {
        name: type(default_store(name, variables=variables)).__name__
        for name in ("dev", "Development", "prod", "cache", "archive")
    }
    assert chosen == {
        "dev": "InMemoryMemoryStore",
        "Development": "InMemoryMemoryStore",
        "prod": "PostgresMemoryStore",
        "cache": "RedisMemoryStore",
        "archive": "S3MemoryStore",
    }
    store = default_store("file", tmp_path / "m.db", session_id="s")
    assert isinstance(store, FileMemoryStore)
    assert store.session_id == "s"
    with pytest.raises(Misconfigured, match="DATABASE_URL"):
        default_store("production", variables={})
    with pytest.raises(BadInput, match="no environment"):
        default_store("moon")
