"""mem0's own package as the judge: the signatures of its classes, and what its filters find."""

from __future__ import annotations

import hashlib
import inspect
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integrations.needs import need
from tests.making import rounds

need("mem0", "mem0")

_FOLDER = tempfile.TemporaryDirectory(prefix="eidet-mem0-")
os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": _FOLDER.name}  # read when mem0 is imported

import mem0  # noqa: E402

from eidet import Memory as EidetMemory  # noqa: E402
from eidet.integrations.mem0 import AsyncMemory, Memory  # noqa: E402


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
        if type(default) is object:  # each has an object of its own for "not given"
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
