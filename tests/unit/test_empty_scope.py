"""An empty scope names nothing: every verb, in the process, over HTTP and in a shell, says so.

The routes of the server are in `tests/unit/server/test_access_table.py`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell

from eidet import BadInput, Memory

NAMESPACES = ("facts", "upkeep", "trust", "admin")
GIVEN: dict[str, Any] = {"ids": ["x"], "sources": ["x"], "useful": True, "trust": "user", "llm": lambda _: ""}
ELSEWHERE = {"load"}  # reads its file first


def list_verbs() -> Iterator[tuple[str, str]]:
    """Every verb that takes a scope, and the namespace that has it."""
    with Memory(embedder="hashing:16") as memory:
        for space in ("", *NAMESPACES):
            holder = getattr(memory, space) if space else memory
            for name, verb in inspect.getmembers(holder, inspect.ismethod):
                takes = inspect.signature(verb).parameters
                if not name.startswith("_") and ("scope" in takes or name == "remember"):
                    yield space, name


VERBS = [verb for verb in list_verbs() if verb[1] not in ELSEWHERE]
each_verb = pytest.mark.parametrize(
    ("space", "name"), VERBS, ids=[f"{space}.{name}" for space, name in VERBS]
)


def call_with_empty_scope(verb: Callable[..., Any]) -> None:
    """Gives every argument that is needed, and an empty scope."""
    given, named = [], {"scope": ""}
    for one in inspect.signature(verb).parameters.values():
        if one.default is one.empty and one.name != "scope":
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
                given.append(GIVEN.get(one.name, "x"))
            elif one.kind is one.KEYWORD_ONLY:
                named[one.name] = GIVEN.get(one.name, "x")
    with pytest.raises(BadInput, match="scope ''"):
        verb(*given, **named)


@each_verb
def test_a_verb_refuses_an_empty_scope(space: str, name: str) -> None:
    with Memory(embedder="hashing:16") as memory:
        memory.remember("Ann likes tea", id="x")
        call_with_empty_scope(getattr(getattr(memory, space) if space else memory, name))
        assert memory.scopes() == {"default": 1}


def test_a_server_is_not_asked_with_an_empty_scope() -> None:
    served = pytest.importorskip("tests.servers.served")
    from eidet import Client

    with served.serve_in_thread() as server, Client(server.url) as client:
        server.memory.core.remember("Ann likes tea", id="x")
        hits = client.recall("tea")
        for ask in (
            lambda: client.remember("x", scope=""),
            lambda: client.recall("x", scope=""),
            lambda: client.context("x", scope=""),
            lambda: client.find(scope=""),
            lambda: client.count(scope=""),
            lambda: client.get("x", scope=""),
            lambda: client.history("x", scope=""),
            lambda: client.revise("x", text="y", scope=""),
            lambda: client.forget("x", scope=""),
            lambda: client.feedback(hits, useful=True, scope=""),
            lambda: client.feedback(hits[0], useful=True, scope=""),
            lambda: client.scopes(""),
            lambda: client.facts.about("Ann", scope=""),
            lambda: client.admin.stats(""),
        ):
            with pytest.raises(BadInput, match="scope ''"):
                ask()
        assert client.scopes() == {"default": 1}


@pytest.mark.parametrize("words", [["remember", "x"], ["recall", "x"], ["find"], ["forget", "x"], ["stats"]])
def test_a_command_refuses_an_empty_scope(words: list[str], tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell("remember", "Ann likes tea")
    said = shell(*words, "--scope", "")
    assert said.code != 0
    assert "scope ''" in said.err
