"""`acme/**` is acme and all below it, in Python and on the command line, and is printed so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.shell import Shell

from eidet import BadInput, Memory, Scope, Where
from eidet.compat.api import AgentMemoryAPI
from eidet.copy import copy

SCOPES = ("acme", "acme/ann", "acme/bob/notes", "acmes", "other", "default")


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16") as opened:
        fill(opened)
        yield opened


def fill(memory: Memory) -> None:
    for scope in SCOPES:
        memory.remember(f"the gate of {scope} is green", scope=scope)


VERBS: dict[str, Callable[[Memory, Any], int]] = {
    "count where": lambda memory, scope: memory.count(Where(scope=scope), scope="acme/**"),
    "stats": lambda memory, scope: memory.admin.stats(scope)["records"],
    "rebuild": lambda memory, scope: memory.admin.rebuild(scope),
    "preview_forget": lambda memory, scope: memory.trust.preview_forget(everything=True, scope=scope).count,
    "forget": lambda memory, scope: int(memory.forget(everything=True, scope=scope)),
    "forget where": lambda memory, scope: int(memory.forget(kinds="fact", scope=scope)),
    "delete": lambda memory, scope: int(memory.forget(everything=True, scope=scope, for_good=False)),
}


@pytest.mark.parametrize("scope", ["acme/**", Scope.under("acme"), Scope("acme/**"), Scope.under("acme/**")])
@pytest.mark.parametrize("verb", VERBS)
def test_a_prefix_is_understood_by_every_verb(memory: Memory, verb: str, scope: str | Scope) -> None:
    assert VERBS[verb](memory, scope) == 3
    assert set(memory.scopes()) >= {"acmes", "other", "default"}


def test_a_prefix_is_printed_as_it_is_written() -> None:
    assert str(Scope.under("acme")) == str(Scope.of("acme/**")) == "acme/**"
    assert Scope.of(str(Scope.under("acme"))) == Scope.under("acme")


def test_files_and_copies_know_prefixes(memory: Memory, tmp_path: Path) -> None:
    assert memory.export(tmp_path / "some.jsonl", scope="acme/**") == 3
    with Memory(embedder="hashing:16") as other:
        copied = copy(memory, other, scope="acme/**")
        assert copied.created == 3
    assert memory.scopes("acme/**") == memory.scopes("acme") == dict.fromkeys(SCOPES[:3], 1)


@pytest.mark.parametrize("scope", [{}, {"scope": None}, {"scope": "**"}])
def test_an_export_means_everything_unless_a_scope_is_named(
    memory: Memory, tmp_path: Path, scope: dict[str, Any]
) -> None:
    assert memory.export(tmp_path / "all.jsonl", **scope) == len(SCOPES)
    with Memory(embedder="hashing:16") as other:
        other.load(tmp_path / "all.jsonl")
        assert other.scopes() == memory.scopes()


WRITES: list[Callable[[Memory], object]] = [
    lambda memory: memory.remember("x", scope="acme/**"),
    lambda memory: memory.get("x", scope="acme/**"),
    lambda memory: memory.revise("x", scope="acme/**", text="y"),
    lambda memory: memory.history("x", scope="acme/**"),
    lambda memory: memory.upkeep.pin("x", scope="acme/**"),
    lambda memory: memory.find(scope="a/**/**"),
]


@pytest.mark.parametrize("write", WRITES, ids=range(len(WRITES)))
def test_what_needs_one_scope_says_so(memory: Memory, write: Callable[[Memory], object]) -> None:
    with pytest.raises(BadInput, match=r"names several|once at the end of a scope"):
        write(memory)
    assert len(memory.scopes()) == len(SCOPES)


REACHES: list[Callable[[Memory, str], object]] = [
    lambda memory, scope: memory.find(scope=scope),
    lambda memory, scope: memory.recall("gate", scope=scope),
    lambda memory, scope: memory.context("gate", scope=scope),
    lambda memory, scope: memory.count(scope=scope),
    lambda memory, scope: memory.forget(everything=True, scope=scope),
]


@pytest.mark.parametrize("reach", REACHES, ids=range(len(REACHES)))
def test_a_pattern_that_is_none_says_what_to_write(
    memory: Memory, reach: Callable[[Memory, str], object]
) -> None:
    with pytest.raises(BadInput, match=r"not reach over every scope; .*'acme/\*\*'.* memory\.scopes\(\)"):
        reach(memory, "**")
    for scope in ("acme/*", "*", "*/ann"):
        with pytest.raises(BadInput, match=r"'\*' is no pattern; 'acme/\*\*' is acme and all below it"):
            reach(memory, scope)
    assert len(memory.scopes()) == len(SCOPES)


@pytest.mark.parametrize(
    ("command", "field"),
    [
        (("stats", "--json"), "records"),
        (("forget", "--kind", "fact", "--yes", "--json"), "forgotten"),
        (("forget", "--everything", "--dry-run", "--json"), "forget"),
    ],
)
def test_the_command_line_knows_prefixes(tmp_path: Path, command: tuple[str, ...], field: str) -> None:
    eidet = Shell(tmp_path)
    with Memory(eidet.file, embedder="hashing") as memory:
        fill(memory)
    said = eidet(*command, "--scope", "acme/**")
    assert said.code == 0, said.err
    assert json.loads(said.out)[field] == 3


def test_the_command_line_exports_everything_and_says_so(tmp_path: Path) -> None:
    eidet = Shell(tmp_path)
    with Memory(eidet.file, embedder="hashing") as memory:
        fill(memory)
    assert "6 records of every scope" in eidet("export", str(tmp_path / "all.jsonl")).out
    assert "3 records of acme/**" in eidet("export", str(tmp_path / "a.jsonl"), "-s", "acme/**").out
    assert eidet("forget", "--everything", "--yes").code == 2


def test_a_name_of_a_stranger_cannot_reach_others(memory: Memory) -> None:
    assert memory.count(scope=Scope.exactly("acme/ann")) == 1
    for name in ("**", "ann/**"):
        with pytest.raises(BadInput, match="once at the end"):
            memory.recall("gate", scope=Scope.exactly(f"acme/{name}"))


def test_a_scope_is_joined_of_labels_that_strangers_choose(memory: Memory) -> None:
    assert Scope.join("acme", "ann") == Scope.exactly("acme/ann")
    assert memory.count(scope=Scope.join("acme", "ann")) == 1
    assert Scope.join("acme", "Ann B. (*)").path == "acme/Ann B. (*)"
    for name in ("ann/b", "../acme", "..", ".", "*", "**", "ann/**", "", " ann", "a\nb", "x" * 201):
        with pytest.raises(BadInput):
            Scope.join("acme", name)
    odd: list[Any] = [(), ("acme", 5)]
    for labels in odd:
        with pytest.raises(BadInput):
            Scope.join(*labels)


@pytest.mark.parametrize("name", ["*", "**"])
def test_an_agent_of_the_api_may_be_called_by_stars(name: str) -> None:
    with Memory(embedder="hashing:16") as memory:
        api = AgentMemoryAPI(memory=memory)
        api.store_agent_state(name, {"health": 1}, 1)
        api.store_agent_state("ann", {"health": 2}, 1)
        assert len(api.retrieve_similar_states(name, {"health": 1}, 10)) == 1
        assert sorted(api.agents()) == [name, "ann"]
