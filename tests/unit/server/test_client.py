"""The verbs over HTTP: what a memory of one's own answers, a client answers too."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.servers.served import Running, serve_in_thread

import eidet
from eidet import (
    AsyncClient,
    BadInput,
    Client,
    Conflict,
    Corrupt,
    Draft,
    Memory,
    Message,
    Misconfigured,
    NotFound,
    Refused,
    Unavailable,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture
def client(running: Running) -> Any:
    with eidet.connect(running.url) as client:
        yield client


def tell(memory: Any) -> None:
    """A small world: the same through whatever has the verbs."""
    memory.remember("Ann lives in Lisbon", id="home", who="ann", importance=0.9, meta={"floor": 3})
    memory.remember({"health": 0.8, "place": "dock"}, id="state", occurred=NOON, step=4, place=(1, 2))
    memory.remember(
        [
            Message(role="user", content="I moved to Porto", name="ann", timestamp=NOON),
            {"role": "assistant", "content": "Noted: Porto", "timestamp": NOON + timedelta(minutes=1)},
            Draft(text="Bob likes green tea", id="tea", trust="web", source="https://example.org"),
        ],
        session="s1",
    )
    memory.remember("a secret of acme", scope="acme/ann", id="other")


@pytest.fixture(scope="module")
def told() -> Iterator[tuple[Client, Memory]]:
    """A client and a memory that were told the same."""
    with serve_in_thread() as server, Client(server.url) as client, Memory(embedder="hashing:64") as memory:
        tell(memory)
        tell(client)
        yield client, memory


def test_a_client_changes_what_a_memory_changes(client: Client, tmp_path: Path) -> None:
    first = client.remember("Ann lives in Lisbon", id="home", ttl=timedelta(days=1), pinned=True)
    assert isinstance(first, eidet.Record)
    assert first.state.ttl == 86400.0
    second = client.revise("home", text="Ann lives in Porto", importance=0.7, version=first.version)
    assert (second.version, second.text, second.importance) == (2, "Ann lives in Porto", 0.7)
    with pytest.raises(Conflict):
        client.revise("home", text="Ann lives in Rome", version=first.version)
    with pytest.raises(Conflict):
        client.revise("home", text="Ann lives in Rome", digest=first.digest)
    assert client.revise("home", clear=["importance"], digest=second.digest).importance == 0.5
    client.feedback("home", useful=True, by="ann")
    client.feedback(client.recall("Ann"), useful=False)
    client.feedback(client.recall("Ann")[0], useful=True)
    judged = client.admin.stats()["retrieval"]["judged_by"]
    assert judged.keys() == {"ann"}  # what nobody signed counts for nobody
    file = tmp_path / "all.jsonl"
    assert client.export(file) == 1
    preview = client.trust.preview_forget("home")
    assert [one.id for one in preview.asked] == ["home"]
    gone = client.forget("home", why="she asked for it")
    assert (gone, gone.receipt and gone.receipt.why) == (1, "she asked for it")
    with pytest.raises(Refused):
        client.remember("Ann lives in Porto")
    assert client.load(file) == 0
    assert client.get("home") is None
    assert client.remember("Ann lives in Porto", again=True).text == "Ann lives in Porto"


def test_marks_are_set_and_ended(client: Client) -> None:
    client.remember("Ann lives in Lisbon", id="a/home", scope="acme/ann")
    assert client.upkeep.pin("a/home", scope="acme/ann").state.pinned
    assert client.upkeep.pin("a/home", scope="acme/ann").state.pinned
    assert not client.upkeep.unpin("a/home", scope="acme/ann").state.pinned
    assert client.upkeep.hold("a/home", scope="acme/ann").state.hold
    for change in (
        lambda: client.revise("a/home", text="x", scope="acme/ann"),
        lambda: client.forget("a/home", scope="acme/ann"),
    ):
        with pytest.raises(Refused, match="hold"):
            change()
    assert client.upkeep.release("a/home", scope="acme/ann").state.hold is None
    assert client.forget("a/home", scope="acme/ann") == 1
    for mark in (client.upkeep.pin, client.upkeep.release):
        with pytest.raises(NotFound):
            mark("a/home", scope="acme/ann")


def test_a_list_says_what_was_rejected(client: Client) -> None:
    client.forget(client.remember("the code is 1234").id)
    stored = client.remember(["the code is 1234", "tea is green"])
    assert isinstance(stored, eidet.RememberedList)
    assert [one.text for one in stored] == ["tea is green"]
    assert [one.index for one in stored.rejected] == [0]
    assert client.remember([]) == []


def test_any_id_can_be_named(client: Client) -> None:
    for id in ("a/b", "a/history", "ü ?#%2F", "..", ".", "history", "%2e"):
        client.remember(f"about {id}", id=id)
        found = client.get(id)
        assert isinstance(found, eidet.Record)
        assert found.id == id
        assert client.revise(id, importance=0.1).importance == 0.1
        assert [event.what for event in client.history(id)] == ["created", "revised"]
        assert client.forget(id, for_good=False) == 1


def test_a_long_answer_comes_in_pages(client: Client) -> None:
    texts = [f"note {number}" for number in range(1201)]
    for start in range(0, len(texts), 500):
        client.remember(texts[start : start + 500], occurred=NOON)
    assert len(client.find(limit=5000)) == 1201
    assert len({one.id for one in client.find(limit=1100, order="created", offset=50)}) == 1100
    assert len(client.get([one.id for one in client.find(limit=1201)])) == 1201


def test_an_export_goes_round(client: Client, tmp_path: Path) -> None:
    tell(client)
    file = tmp_path / "all.jsonl"
    assert client.export(file) == 6
    assert client.export(tmp_path / "acme.jsonl", scope="acme/**") == 1
    with Memory(embedder="hashing:64") as memory:
        assert memory.load(file) == 6
        assert memory.get("other", scope="acme/ann") is not None
    client.forget(everything=True, scope="default", for_good=False)
    assert client.load(file, scope="default") == 5
    assert file.stat().st_mode & 0o077 == 0
    (tmp_path / "broken.jsonl").write_text(file.read_text()[:-20])
    with pytest.raises(Corrupt):
        client.load(tmp_path / "broken.jsonl")


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda c: c.revise("nothing", text="x"), NotFound),
        (lambda c: c.remember(""), BadInput),
        (lambda c: c.remember("x", kind="nonsense"), BadInput),
        (lambda c: c.remember("x", user_id="ann"), BadInput),
        (lambda c: c.recall("x", limit=0), BadInput),
        (lambda c: c.recall("x", rerank="http://evil"), BadInput),
        (lambda c: c.recall("x", recipe=eidet.FACTS), BadInput),
        (lambda c: c.find({"nonsense": 1}), BadInput),
        (lambda c: c.find(scope="a//b"), BadInput),
        (lambda c: c.forget(), Refused),
        (lambda c: c.forget(everything=True), Refused),
        (lambda c: c.feedback("nothing", useful=True), NotFound),
        (lambda c: c.feedback(7, useful=True), BadInput),
    ],
)
def test_errors_are_those_of_a_memory(
    told: tuple[Client, Memory], ask: Callable[[Any], Any], error: type[Exception]
) -> None:
    client, memory = told
    with pytest.raises(error):
        ask(client)
    if error is not BadInput:
        with pytest.raises(error):
            ask(memory)


def test_what_a_server_is_not() -> None:
    with pytest.raises(Misconfigured, match="begins with http"):
        Client("agent.db")
    with (
        Client("http://127.0.0.1:1", timeout=0.2) as client,
        pytest.raises(Unavailable, match="cannot be reached"),
    ):
        client.count()


def test_the_verbs_for_asyncio(running: Running, tmp_path: Path) -> None:
    async def use() -> None:
        async with AsyncClient(running.url) as client:
            record = await client.remember("Ann lives in Lisbon", id="home")
            assert isinstance(record, eidet.Record)
            await asyncio.gather(*(client.remember(f"note {number}") for number in range(20)))
            assert await client.count() == 21
            assert (await client.recall("Ann"))[0].id == "home"
            assert (await client.context("Ann")).text
            assert len(await client.find(limit=5)) == 5
            assert (await client.revise("home", who="ann", version=1)).version == 2
            assert await client.scopes() == {"default": 21}
            assert await client.export(tmp_path / "a.jsonl") == 21
            assert (await client.trust.preview_forget("home")).count == 1
            assert (await client.upkeep.pin("home")).state.pinned
            assert await client.forget("home") == 1
            assert await client.load(tmp_path / "a.jsonl") == 20
            assert (await client.admin.stats())["records"] == 20
            await client.feedback(await client.recall("note"), useful=True)
            with pytest.raises(NotFound):
                await client.revise("home", text="x")
            assert re.match(r"AsyncClient\(http", repr(client))

    asyncio.run(use())
