"""Whoever types another library's verb is told ours, and nothing else changes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from eidet import AsyncMemory, Memory, connect
from eidet.client import AsyncClient, Client
from eidet.memory.addresses import FOREIGN, PAGES

OWNERS: dict[str, Callable[[], Any]] = {
    "Memory": lambda: Memory(embedder="hashing:16"),
    "AsyncMemory": lambda: AsyncMemory(embedder="hashing:16"),
    "Client": lambda: connect("http://127.0.0.1:9"),
    "AsyncClient": lambda: AsyncClient("http://127.0.0.1:9"),
}
CASES = {
    "add": "remember(text)",
    "search": "recall(question)",
    "query": "recall(question)",
    "get_all": "find(scope=…)",
    "delete": "forget(id)",
    "delete_all": "forget(scope=…, everything=True)",
    "reset": "forget(scope=…, everything=True)",
    "put": "remember(text)",
    "save": "remember(text)",
    "update": "revise(id, text=…)",
    "stats": "admin.stats()",
}


@pytest.fixture(params=OWNERS)
def owner(request: pytest.FixtureRequest) -> Iterator[Any]:
    made = OWNERS[request.param]()
    yield made
    if isinstance(made, Memory | Client):
        made.close()


@pytest.mark.parametrize(("verb", "ours"), CASES.items())
def test_a_foreign_verb_names_ours(owner: Any, verb: str, ours: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(owner, verb)
    said = str(raised.value)
    assert f"{type(owner).__name__!r} has no {verb!r}: use {ours}" in said
    assert PAGES in said


def test_none_of_them_is_there(owner: Any) -> None:
    for verb in FOREIGN:
        assert not hasattr(owner, verb)
    assert not set(FOREIGN) & set(dir(owner))


def test_each_of_ours_is_there(owner: Any) -> None:
    for ours in set(FOREIGN.values()):
        found = owner
        for name in ours.partition("(")[0].split("."):
            if type(owner).__name__.endswith("Client") and name == "maintain":
                continue  # the server keeps its memory in order
            found = getattr(found, name)
        assert found is not None


def test_other_names_are_refused_as_python_does(owner: Any) -> None:
    with pytest.raises(
        AttributeError, match=f"'{type(owner).__name__}' object has no attribute 'frobnicate'"
    ):
        owner.frobnicate  # noqa: B018
    with pytest.raises(AttributeError, match="durable"):
        owner.commit  # noqa: B018
    assert not hasattr(owner, "__fspath__")


def test_copying_half_made_objects_does_not_recurse() -> None:
    bare = Memory.__new__(Memory)
    with pytest.raises(AttributeError):
        bare._parts  # noqa: B018
    assert copy.copy(bare) is not bare
    assert isinstance(pickle.loads(pickle.dumps(bare)), Memory)
