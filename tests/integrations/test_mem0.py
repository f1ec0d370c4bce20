"""mem0's own package as the judge: its classes' signatures, its filters, and its clients, unmodified."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integrations.needs import need
from tests.making import rounds
from tests.servers.served import Running, ServerProcess, serve_in_thread

need("mem0", "mem0")

_FOLDER = tempfile.TemporaryDirectory(prefix="eidet-mem0-")
os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": _FOLDER.name}  # read when mem0 is imported

import mem0  # noqa: E402
from mem0.client.types import AddMemoryOptions, DeleteAllMemoryOptions, SearchMemoryOptions  # noqa: E402
from mem0.exceptions import AuthenticationError, MemoryNotFoundError, ValidationError  # noqa: E402

from eidet import Memory as EidetMemory  # noqa: E402
from eidet.integrations.mem0 import AsyncMemory, Memory  # noqa: E402
from eidet.integrations.mem0.mem0_verbs import UNSET  # noqa: E402
from eidet.server.access import add_key  # noqa: E402


def list_methods(of: type) -> list[str]:
    return [
        name
        for name, method in inspect.getmembers(of, callable)
        if not name.startswith("_") and inspect.isroutine(method)
    ]


@pytest.mark.parametrize(
    ("theirs", "ours", "name"),
    [
        *((mem0.Memory, Memory, name) for name in list_methods(mem0.Memory)),
        *((mem0.AsyncMemory, AsyncMemory, name) for name in list_methods(mem0.AsyncMemory)),
    ],
)
def test_every_public_method_has_the_signature_that_mem0_has(theirs: type, ours: type, name: str) -> None:
    """Names, order, kinds and defaults of parameters, and whether it is awaited."""
    wanted, got = inspect.signature(getattr(theirs, name)), inspect.signature(getattr(ours, name))
    assert describe(got) == describe(wanted)
    assert inspect.iscoroutinefunction(getattr(ours, name)) == inspect.iscoroutinefunction(
        getattr(theirs, name)
    )


def describe(signature: inspect.Signature) -> list[tuple[str, Any, Any]]:
    told = []
    for one in signature.parameters.values():
        default = one.default
        if default is UNSET or type(default) is object:  # each has an object of its own for "not given"
            default = "unset"
        told.append((one.name, one.kind, default))
    return told


class HashedVectors:
    """An embedder for mem0 that needs no network."""

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        digest = hashlib.sha256(text.encode()).digest()
        return [byte / 255 + 0.01 for byte in digest[:8]]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """mem0's own class, on its default store, with an embedder that is offline."""
    folder = tmp_path_factory.mktemp("original")
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": 8, "on_disk": True}
    config = {
        "vector_store": {"provider": "qdrant", "config": store},
        "llm": {"provider": "openai", "config": {"api_key": "none"}},
        "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": 8}},
        "history_db_path": str(folder / "history.db"),
    }
    memory = mem0.Memory.from_config(config)
    memory.embedding_model = HashedVectors()
    yield memory
    memory.vector_store.client.close()
    memory.close()


@pytest.fixture(scope="module")
def ours() -> Iterator[Memory]:
    with EidetMemory(embedder="hashing:64") as eidet:
        yield Memory(eidet)


def both(original: Any, ours: Memory, call: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What each says, an error by its kind."""
    told = []
    for memory in (original, ours):
        try:
            told.append(call(memory))
        except ValueError:
            told.append(ValueError)
    return told[0], told[1]


ADDED: list[tuple[Any, dict[str, Any]]] = [
    ("a", {"user_id": "ann", "metadata": {"n": 1, "tag": "blue one"}}),
    ("b", {"user_id": "ann", "agent_id": "x", "metadata": {"n": 2, "tag": "blue two"}}),
    ("c", {"user_id": "ann", "run_id": "r", "metadata": {"n": 3, "flag": True}}),
    (
        [{"role": "assistant", "content": "d", "name": "bot"}],
        {"user_id": "ann", "expiration_date": "2020-01-01"},
    ),
    ("e", {"user_id": "bob", "agent_id": "x", "metadata": {"n": 1}}),
    ("f", {"agent_id": "x", "metadata": {"n": 5}}),
    ([{"role": "system", "content": "g"}, {"role": "user", "content": "h"}], {"run_id": "r"}),
]
ASKED: list[dict[str, Any]] = [
    {"user_id": "ann"},
    {"user_id": "bob"},
    {"user_id": "eve"},
    {"agent_id": "x"},
    {"run_id": "r"},
    {"user_id": "ann", "agent_id": "x"},
    {"user_id": "ann", "n": 1},
    {"user_id": "ann", "n": {"gte": 2}},
    {"user_id": "ann", "n": {"gt": 1, "lt": 3}},
    {"user_id": "ann", "n": {"in": [1, 3]}},
    {"user_id": "ann", "n": {"nin": [1, 3]}},
    {"user_id": "ann", "n": {"ne": 1}},
    {"user_id": "ann", "n": {"eq": 2}},
    {"user_id": "ann", "flag": True},
    {"user_id": "ann", "role": "assistant"},
    {"user_id": "ann", "AND": [{"n": {"gte": 1}}, {"tag": "blue one"}]},
    {"user_id": "ann", "OR": [{"n": 1}, {"n": 3}]},
    {"user_id": "ann", "NOT": [{"n": 1}]},
    {"agent_id": "x", "OR": [{"user_id": "bob"}, {"n": 5}]},
    {"user_id": "ann", "n": {"near": 1}},
    {"user_id": "ann", "OR": []},
    {"user_id": "ann", "AND": 1},
    {"n": 1},
    {},
    {"user_id": " "},
    {"user_id": "a b"},
]


@pytest.fixture(scope="module")
def ids(original: Any, ours: Memory) -> list[tuple[str, str]]:
    """The same memories in both, and what each calls them."""
    made = []
    for messages, more in ADDED:
        theirs, mine = both(original, ours, lambda memory: memory.add(messages, infer=False, **more))  # noqa: B023
        for one, other in zip(theirs["results"], mine["results"], strict=True):
            made.append((one.pop("id"), other.pop("id")))
        assert theirs == mine
    return made


@pytest.mark.parametrize("filters", ASKED, ids=str)
@pytest.mark.parametrize("expired", [False, True])
def test_filters_find_what_they_find_in_mem0(
    original: Any, ours: Memory, ids: list[tuple[str, str]], filters: dict[str, Any], expired: bool
) -> None:
    names = {mine: theirs for theirs, mine in ids}

    def search(memory: Any) -> Any:
        found = memory.search("a b", filters=filters, threshold=0.0, top_k=50, show_expired=expired)
        return sorted(names.get(one["id"], one["id"]) for one in found["results"])

    theirs, mine = both(original, ours, search)
    if theirs is ValueError:
        assert mine is ValueError
        return
    listed = ours.get_all(filters=filters, show_expired=expired)["results"]
    assert sorted(names[one["id"]] for one in listed) == theirs
    assert set(mine) <= set(theirs)


NUMBERS = st.integers(0, 5)
TESTS: dict[str, st.SearchStrategy[Any]] = {
    "n": NUMBERS
    | st.fixed_dictionaries({"gte": NUMBERS})
    | st.fixed_dictionaries({"lt": NUMBERS})
    | st.fixed_dictionaries({"gt": NUMBERS, "lte": NUMBERS})
    | st.fixed_dictionaries({"in": st.lists(NUMBERS, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"nin": st.lists(NUMBERS, min_size=1, max_size=3)})
    | st.fixed_dictionaries({"ne": NUMBERS}),
    "tag": st.sampled_from(["blue one", {"eq": "blue two"}, {"ne": "blue one"}, {"in": ["blue one", "x"]}]),
    "flag": st.sampled_from([True, False, {"eq": True}]),
    "role": st.sampled_from(["user", "assistant", {"ne": "user"}]),
    "run_id": st.sampled_from(["r", "other"]),
}


@st.composite
def filters_of_mem0(draw: st.DrawFn) -> dict[str, Any]:
    """Each key once: mem0 lets a second test of a key replace the first one."""
    filters: dict[str, Any] = {"user_id": draw(st.sampled_from(["ann", "bob"]))}
    for key in draw(st.lists(st.sampled_from(sorted(TESTS)), unique=True)):
        test, place = draw(TESTS[key]), draw(st.sampled_from(["", "AND", "OR", "NOT"]))
        if place:
            filters.setdefault(place, []).append({key: test})
        else:
            filters[key] = test
    return filters


@settings(max_examples=rounds(150, 1500), deadline=None)
@given(filters=filters_of_mem0())
def test_random_filters_find_what_they_find_in_mem0(
    original: Any, ours: Memory, ids: list[tuple[str, str]], filters: dict[str, Any]
) -> None:
    names = {mine: theirs for theirs, mine in ids}
    found = original.search("a b", filters=filters, threshold=0.0, top_k=50, show_expired=True)
    mine = ours.get_all(filters=filters, show_expired=True)
    assert sorted(names[one["id"]] for one in mine["results"]) == sorted(
        one["id"] for one in found["results"]
    )


def test_memories_and_histories_have_the_same_fields(
    original: Any, ours: Memory, ids: list[tuple[str, str]]
) -> None:
    for theirs, mine in ids:
        wanted, got = original.get(theirs), ours.get(mine)
        assert got is not None
        assert {**wanted, "id": 0, "created_at": 0, "updated_at": 0, "score": None} == {
            **got, "id": 0, "created_at": 0, "updated_at": 0, "score": None
        }  # fmt: skip
    theirs, mine = ids[0]
    for change in ({"text": "a, changed"}, {"metadata": {"m": 1}}, {"expiration_date": "2030-01-01"}, {}):
        one, other = both(
            original,
            ours,
            lambda memory: memory.update(theirs if memory is original else mine, **change),  # noqa: B023
        )
        assert one == other
    said = [
        [(one["event"], one["old_memory"], one["new_memory"], one["is_deleted"]) for one in history]
        for history in (original.history(theirs), ours.history(mine))
    ]
    assert sorted(original.history(theirs)[0]) == sorted(ours.history(mine)[0])
    assert said[0] == said[1]
    for unknown in ("3f2504e0-4f89-11d3-9a0c-0305e82c3301",):
        for call in ("get", "delete", "history"):
            one, other = both(original, ours, lambda memory: getattr(memory, call)(unknown))  # noqa: B023
            assert one == other


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_emptied"))
    return str(tmp_path / "memory.db")


USER = "ann / smith & söhne"
Connect = Callable[..., Any]


@pytest.fixture
def connect() -> Iterator[Connect]:
    """Makes clients; all their connections are closed at the end."""
    with contextlib.ExitStack() as stack:

        def make(url: str, key: str = "any") -> Any:
            http = stack.enter_context(httpx.Client(timeout=30))
            return mem0.MemoryClient(api_key=key, host=f"{url}/mem0", client=http)

        yield make


def texts(answer: dict[str, Any]) -> list[str]:
    return sorted(one["memory"] for one in answer["results"])


def test_the_client_works_against_a_server_that_is_started_again(
    place: str, tmp_path: Path, connect: Connect
) -> None:
    """`eidet serve` as a process: what one run was told, the next one knows, and no other user."""
    keys = tmp_path / "keys.toml"
    key = add_key(keys, "app", ["**"], ["read", "write", "forget"])
    for run in (1, 2):
        server = ServerProcess(place, tmp_path, "--keys", str(keys))
        server.start()
        try:
            with pytest.raises(ValueError, match="needs a key"):
                connect(server.url, "eidet_wrong")
            client = connect(server.url, key)
            if run == 1:
                client.add("My gate code is 7731.", user_id=USER)
                client.add("My gate code is 1234.", user_id="bob")
            found = client.search("What is the gate code?", filters={"user_id": USER})
            assert texts(found) == ["My gate code is 7731."]
            assert texts(client.get_all(filters={"user_id": "bob"})) == ["My gate code is 1234."]
            assert texts(client.get_all(filters={"user_id": "ann"})) == []
        finally:
            server.stop()


@pytest.fixture
def server(place: str) -> Iterator[Running]:
    with serve_in_thread(place) as running:
        yield running


def test_the_client_goes_through_the_life_of_memories(server: Running, connect: Connect) -> None:
    client = connect(server.url)
    assert (client.org_id, client.project_id) == ("eidet", "mem0")
    turn = [{"role": "user", "content": "I love pizza"}, {"role": "assistant", "content": "Noted"}]
    added = client.add(turn, user_id=USER, run_id="r/1", metadata={"n": 1, "topic": "Food"})
    assert [one["event"] for one in added["results"]] == ["ADD", "ADD"]
    id = added["results"][0]["id"]
    options = AddMemoryOptions(filters={"user_id": "bob", "agent_id": "x"}, metadata={"n": 2})
    client.add("I love cars", options, app_id="shop")
    found = client.get(id)
    assert (found["memory"], found["user_id"], found["run_id"]) == ("I love pizza", USER, "r/1")
    assert found["metadata"] == {"n": 1, "topic": "Food"}
    changed = client.update(id, text="I love pasta", metadata={"n": 3})
    assert (changed["memory"], changed["metadata"]["n"]) == ("I love pasta", 3)
    assert [one["event"] for one in client.history(id)] == ["ADD", "UPDATE"]
    assert client.history(id)[1]["old_memory"] == "I love pizza"
    assert texts(client.search("pasta", filters={"AND": [{"user_id": USER}, {"n": {"gte": 3}}]})) == [
        "I love pasta"
    ]
    some = SearchMemoryOptions(filters={"user_id": "bob"}, top_k=1, threshold=0, fields=["metadata"])
    (hit,) = client.search("cars", some)["results"]
    assert sorted(hit) == ["id", "memory", "metadata", "score"]
    names = [(one["type"], one["name"], one["total_memories"]) for one in client.users()["results"]]
    assert names == [
        ("user", USER, 2),
        ("user", "bob", 1),
        ("agent", "x", 1),
        ("app", "shop", 1),
        ("run", "r/1", 2),
    ]
    assert client.feedback(id, "POSITIVE")["feedback"] == "POSITIVE"
    assert client.feedback(id)["feedback"] is None
    assert server.memory.core.get(id, scope="mem0/user/ann %2F smith %26 söhne") is not None
    client.delete(id)
    for ask in (client.get, client.delete, client.history):
        with pytest.raises(MemoryNotFoundError, match="not found"):
            ask(id)
    client.delete_users(agent_id="x")
    assert texts(client.get_all(filters={"user_id": "*"})) == ["Noted"]
    client.delete_all(DeleteAllMemoryOptions(filters={"run_id": "r/1"}))
    assert client.users()["results"] == []


def test_pages_dates_and_expiry(server: Running, connect: Connect) -> None:
    client = connect(server.url)
    for number in range(5):
        client.add(f"note {number}", user_id="ann", timestamp=1_700_000_000 + number * 86_400)
    client.add("old offer", user_id="ann", expiration_date="2020-01-01")
    ann = {"user_id": "ann"}
    seen, page = [], client.get_all(filters=ann, page=1, page_size=2)
    while True:
        seen += [one["memory"] for one in page["results"]]
        assert page["count"] == 5
        if page["next"] is None:
            break
        page = client.client.post(page["next"], json={"filters": ann}).json()
    assert seen == [f"note {number}" for number in reversed(range(5))]
    assert page["previous"].endswith("page=2&page_size=2")
    some = client.get_all(filters=ann, start_date="2023-11-15", end_date="2023-11-17")
    assert texts(some) == ["note 1", "note 2"]
    assert texts(client.get_all(filters=ann, show_expired=True))[-1] == "old offer"
    expired = client.search("old offer", filters=ann, show_expired=True)["results"][0]
    assert expired["expiration_date"] == "2020-01-01"
    assert "old offer" not in texts(client.search("old offer", filters=ann))
    assert client.update(expired["id"], expiration_date=None)["expiration_date"] is None
    assert "old offer" in texts(client.search("old offer", filters=ann))


def test_batches_are_for_memories_that_are_all_there(server: Running, connect: Connect) -> None:
    client = connect(server.url)
    ids = [client.add(f"note {number}", user_id=f"u{number}")["results"][0]["id"] for number in range(3)]
    client.batch_update([{"memory_id": id, "text": f"changed {id}"} for id in ids[:2]])
    assert client.get(ids[0])["memory"] == f"changed {ids[0]}"
    for batch in (client.batch_update, client.batch_delete):
        with pytest.raises(MemoryNotFoundError):
            batch([{"memory_id": ids[2], "text": "x"}, {"memory_id": "nope", "text": "x"}])
    assert client.get(ids[2])["memory"] == "note 2"
    assert "2" in client.batch_delete([{"memory_id": id} for id in ids[:2]])["message"]
    assert texts(client.get_all(filters={"user_id": "*"})) == ["note 2"]


def test_reset_deletes_everything_however_names_share_memories(server: Running, connect: Connect) -> None:
    client = connect(server.url)
    server.memory.core.remember("not mem0's")
    client.add("one", user_id="ann", agent_id="x", run_id="r")
    client.add("two", user_id="bob", agent_id="x", app_id="shop")
    client.add("three", agent_id="x")
    client.reset()
    assert client.users()["results"] == []
    assert server.memory.core.scopes() == {"default": 1}
    with pytest.raises(ValueError, match="No entities"):
        client.reset()


def test_errors_are_those_that_the_client_knows(server: Running, connect: Connect) -> None:
    client = connect(server.url)
    with pytest.raises(ValidationError, match="At least one of 'user_id'"):
        client.add("x")
    with pytest.raises(ValidationError, match="at least one of: user_id"):
        client.search("x", filters={"n": 1})
    with pytest.raises(ValidationError, match="Unsupported metadata filter operator"):
        client.get_all(filters={"user_id": "ann", "n": {"like": 1}})
    with pytest.raises(MemoryNotFoundError, match="no user 'eve'"):
        client.delete_users(user_id="eve")
    for ask in (
        client.get_summary,
        lambda: client.create_memory_export("{}"),
        lambda: client.get_profile("ann"),
    ):
        with pytest.raises(mem0.exceptions.MemoryError, match="does not offer"):
            ask()
    assert client.project.get()["id"] == "mem0"


def test_keys_divide_users_and_tenants(tmp_path: Path, connect: Connect) -> None:
    keys = tmp_path / "keys.toml"
    every = ["read", "write", "forget"]
    wide = add_key(keys, "wide", ["**"], [*every, "agents"])
    ann = add_key(keys, "ann", ["mem0/user/ann"], every)
    both = add_key(keys, "both", ["mem0/user/ann", "mem0/user/bob"], ["read"])
    tenant = add_key(keys, "tenant", ["acme"], every)
    with serve_in_thread(keys=keys) as server:
        root = connect(server.url, wide)
        id = root.add("I am Eve", user_id="eve")["results"][0]["id"]
        for user in ("ann", "bob"):
            root.add(f"I am {user}", user_id=user, agent_id="x")
        mine = connect(server.url, ann)
        assert texts(mine.get_all(filters={"user_id": "ann"})) == ["I am ann"]
        assert texts(mine.get_all(filters={"user_id": "*"})) == ["I am ann"]
        assert texts(mine.search("I am", filters={"agent_id": "x"}, threshold=0)) == ["I am ann"]
        assert [one["name"] for one in mine.users()["results"]] == ["ann", "x"]
        refused: list[Callable[[], Any]] = [
            lambda: mine.get(id),
            lambda: mine.delete(id),
            lambda: mine.update(id, text="x"),
            lambda: mine.get_all(filters={"user_id": "eve"}),
            lambda: mine.get_all(filters={"OR": [{"user_id": "ann"}, {"user_id": "eve"}]}),
            lambda: mine.add("x", user_id="eve"),
            lambda: mine.add("x", agent_id="x"),
            lambda: mine.delete_all(user_id="eve"),
        ]
        for ask in refused:
            with pytest.raises(MemoryNotFoundError):
                ask()
        two = connect(server.url, both)
        assert texts(two.get_all(filters={"agent_id": "x"})) == ["I am ann", "I am bob"]
        assert texts(two.search("I am", filters={"user_id": "*"}, threshold=0)) == ["I am ann", "I am bob"]
        with pytest.raises(AuthenticationError, match="right 'write'"):
            two.add("x", user_id="ann")
        acme = connect(server.url, tenant)
        assert acme.project_id == "acme/mem0"
        acme.add("I am Ann of Acme", user_id="ann")
        assert texts(acme.get_all(filters={"user_id": "ann"})) == ["I am Ann of Acme"]
        assert texts(root.get_all(filters={"user_id": "ann"})) == ["I am ann"]
        mine.delete_all(agent_id="x")
        assert texts(root.get_all(filters={"agent_id": "x"})) == ["I am bob"]
        root.update(id, text="I am still Eve")
        assert server.memory.core.history(id, scope="mem0/user/eve")[-1].by == "wide"


def test_the_asynchronous_client_does_the_same(server: Running) -> None:
    async def talk() -> None:
        async with mem0.AsyncMemoryClient(api_key="any", host=f"{server.url}/mem0") as client:
            id = (await client.add("I love pizza", user_id=USER))["results"][0]["id"]
            await asyncio.gather(*(client.add(f"note {number}", user_id="bob") for number in range(5)))
            assert texts(await client.search("pizza", filters={"user_id": USER})) == ["I love pizza"]
            assert len((await client.get_all(filters={"user_id": "bob"}))["results"]) == 5
            await client.update(id, text="I love pasta")
            assert (await client.get(id))["memory"] == "I love pasta"
            assert [one["event"] for one in await client.history(id)] == ["ADD", "UPDATE"]
            assert len((await client.users())["results"]) == 2
            await client.batch_update([{"memory_id": id, "metadata": {"k": 1}}])
            await client.feedback(id, "NEGATIVE", "wrong")
            await client.delete(id)
            with pytest.raises(MemoryNotFoundError):
                await client.get(id)
            await client.delete_all(user_id="bob")
            await client.add("I love pizza", user_id=USER)
            await client.reset()
            assert (await client.users())["results"] == []

    asyncio.run(talk())
