"""A list of scopes, `promote` and `recall_all` in every door: each answers as a memory of one's own does."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from tests.servers.served import Running, serve_in_thread
from tests.unit.cli.shell import Shell
from tests.unit.server.mcp.agents import ask, call, connect, text_of

from eidet import AsyncMemory, BadInput, Memory, NotFound
from eidet.server.access import Right, add_key

SCOPES = ["ann", "team/core"]
Answer = set[tuple[str, str]] | int  # (scope, id) of what is shown, or how many


class Door:
    """A way to reach one memory: `ask` gives what a verb shows of scopes."""

    def __init__(self, server: Running, folder: Path) -> None:
        self.server, self.folder = server, folder

    def ask(self, verb: str, scopes: list[str]) -> Answer | None:
        """None where the door has no such verb."""
        return getattr(self, verb, lambda scopes: None)(scopes)


def pairs(records: Any) -> set[tuple[str, str]]:
    told = [one if isinstance(one, dict) else {"scope": one.scope, "id": one.id} for one in records]
    return {(one["scope"], one["id"]) for one in told}


class Python(Door):
    """`Memory`: of one's own, or as a client of a server."""

    def run(self, use: Callable[[Any], Any]) -> Any:
        return use(self.server.memory.core)

    def recall(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.recall("gate", scope=scopes)))

    def recall_all(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.recall_all("gate", scope=scopes)))

    def context(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.context("gate", scope=scopes)).records)

    def find(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.find(scope=scopes)))

    def count(self, scopes: list[str]) -> Answer:
        return self.run(lambda memory: memory.count(scope=scopes))  # type: ignore[no-any-return]

    def get(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.get(["g-ann", "g-team"], scope=scopes)))

    def history(self, scopes: list[str]) -> Answer:
        return pairs(self.run(lambda memory: memory.history("g-team", scope=scopes)))

    def facts(self, scopes: list[str]) -> Answer:
        found = self.run(lambda memory: memory.facts.about("Ann", scope=scopes))
        return {(fact.scope, fact.sources[0]) for fact in found}

    def promote(self, id: str, move: bool) -> tuple[str, str | None]:
        new = self.run(lambda memory: memory.promote(id, scope="ann", to="team/core", move=move))
        return new.scope, new.state.promoted.scope


class Client(Python):
    def run(self, use: Callable[[Any], Any]) -> Any:
        with Memory(self.server.url) as memory:
            return use(memory)


class Async(Python):
    def run(self, use: Callable[[Any], Any]) -> Any:
        async def go() -> Any:
            async with AsyncMemory(self.folder / "async.db", embedder="hashing:64") as memory:
                if not await memory.count(scope=SCOPES):
                    fill(memory.core)
                return await use(memory)

        return asyncio.run(go())


class Rest(Door):
    def post(self, path: str, scopes: list[str], body: Any) -> Any:
        answer = httpx.post(f"{self.server.url}/v1/{path}", params={"scope": scopes}, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def recall(self, scopes: list[str]) -> Answer:
        return pairs(hit["record"] for hit in self.post("recall", scopes, {"query": "gate"})["hits"])

    def recall_all(self, scopes: list[str]) -> Answer:
        told = self.post("recall_all", scopes, {"query": "gate"})
        assert (told["count"], told["complete"]) == (len(told["hits"]), not told["reason"])
        return pairs(hit["record"] for hit in told["hits"])

    def find(self, scopes: list[str]) -> Answer:
        return pairs(self.post("find", scopes, {})["memories"])

    def count(self, scopes: list[str]) -> Answer:
        return self.post("count", scopes, {})["count"]  # type: ignore[no-any-return]

    def get(self, scopes: list[str]) -> Answer:
        return pairs(self.post("get", scopes, {"ids": ["g-ann", "g-team"]})["memories"])

    def history(self, scopes: list[str]) -> Answer:
        answer = httpx.get(f"{self.server.url}/v1/memories/g-team/history", params={"scope": scopes})
        return pairs(answer.json()["events"])

    def promote(self, id: str, move: bool) -> tuple[str, str | None]:
        new = self.post("promote", ["ann"], {"id": id, "to": "team/core", "move": move})
        return new["scope"], new["state"]["promoted"]["scope"]


class Mcp(Door):
    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        async def go() -> dict[str, Any]:
            async with connect(self.server.url) as agent:
                return await ask(agent, name, **arguments)

        return asyncio.run(go())

    def recall(self, scopes: list[str]) -> Answer:
        return pairs(self.tool("recall", query="gate", scope=scopes)["memories"])

    def recall_all(self, scopes: list[str]) -> Answer:
        return pairs(self.tool("recall_all", query="gate", scope=scopes)["memories"])

    def promote(self, id: str, move: bool) -> tuple[str, str | None]:
        return self.tool("promote", id=id, scope="ann", to="team/core", move=move)["memory"]["scope"], "ann"


class Cli(Door):
    def say(self, *words: str, scopes: list[str]) -> str:
        named = [word for scope in scopes for word in ("--scope", scope)]
        said = Shell(self.folder)(*words, *named, "--json", "--at", self.server.url)
        assert said.code == 0, said.err
        return said.out

    def recall(self, scopes: list[str]) -> Answer:
        return pairs(hit["record"] for hit in json.loads(self.say("recall", "gate", scopes=scopes))["hits"])

    def recall_all(self, scopes: list[str]) -> Answer:
        told = json.loads(self.say("recall", "gate", "--all", scopes=scopes))
        return pairs(hit["record"] for hit in told["hits"])

    def find(self, scopes: list[str]) -> Answer:
        return pairs(map(json.loads, self.say("find", scopes=scopes).splitlines()))

    def get(self, scopes: list[str]) -> Answer:
        return pairs([json.loads(self.say("show", id, scopes=scopes)) for id in ("g-ann", "g-team")])

    def promote(self, id: str, move: bool) -> tuple[str, str | None]:
        words = ("mark", id, "promote", "--to", "team/core", *(["--move"] if move else []))
        new = json.loads(self.say(*words, scopes=["ann"]))
        return new["scope"], new["state"]["promoted"]["scope"]


DOORS = {door.__name__: door for door in (Python, Client, Async, Rest, Mcp, Cli)}
SHOWN = {("ann", "g-ann"), ("team/core", "g-team")}
VERBS: dict[str, Answer] = {
    **dict.fromkeys(("recall", "recall_all", "context", "find", "get", "facts"), SHOWN),
    "count": 2,
    "history": {("team/core", "g-team")},
}


def fill(memory: Memory) -> None:
    for scope, id in (("ann", "g-ann"), ("team/core", "g-team"), ("other", "g-other")):
        memory.remember(f"Ann lives in Lisbon. The gate of {scope} is green.", scope=scope, id=id)
    for door in DOORS:
        for move in (False, True):
            memory.remember(f"the kiln of {door} {move}", scope="ann/made", id=f"{door} {move}")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serve_in_thread(tmp_path_factory.mktemp("doors") / "memory.db") as running:
        fill(running.memory.core)
        yield running


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_shows_the_union(server: Running, tmp_path: Path, door: str, verb: str) -> None:
    opened = DOORS[door](server, tmp_path)
    shown = opened.ask(verb, SCOPES)
    assert shown in (VERBS[verb], None)
    if shown is not None and verb in ("recall", "recall_all", "find", "facts"):
        assert opened.ask(verb, ["ann", "nobody"]) == {("ann", "g-ann")}


@pytest.mark.parametrize("move", [False, True])
@pytest.mark.parametrize("door", [name for name in DOORS if name != "Async"])
def test_every_door_promotes(server: Running, tmp_path: Path, door: str, move: bool) -> None:
    memory, id = server.memory.core, f"{door} {move}"
    memory.promote(id, scope="ann/made", to="ann", move=True)
    assert DOORS[door](server, tmp_path).promote(id, move) == ("team/core", "ann")
    assert (memory.get(id, scope="ann") is None) == move
    assert memory.get(id, scope="team/core") is not None
    memory.forget(id, scope="team/core", for_good=False)
    memory.forget(id, scope="ann", for_good=False)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("order", ["-occurred", "created", "importance", "uses"])
def test_a_page_ends_between_a_record_and_its_copy(tmp_path: Path, order: str, limit: int) -> None:
    with serve_in_thread(tmp_path / "memory.db") as server:
        memory = server.memory.core
        memory.remember(["one", "two", "three"], scope="ann", occurred=5.0)
        for record in memory.find(scope="ann"):
            memory.promote(record.id, scope="ann", to="team/core")
        found, body = [], {"limit": limit, "order": order}
        while body.get("cursor", "") is not None:
            told = Rest(server, tmp_path).post("find", SCOPES, body)
            found += [(one["scope"], one["text"]) for one in told["memories"]]
            body["cursor"] = told["cursor"]
        assert sorted(found) == sorted((scope, text) for scope in SCOPES for text in ("one", "two", "three"))


def test_the_text_of_a_tool_says_scopes_and_what_may_be_missing(server: Running) -> None:
    async def go() -> list[str]:
        async with connect(server.url) as agent:
            return [
                text_of(await call(agent, tool, scope=SCOPES, **asked))
                for tool, asked in (
                    ("facts", {"about": "Ann"}),
                    ("recall_all", {"query": "gate", "limit": 1}),
                )
            ]

    facts, records = asyncio.run(go())
    assert {line.split()[0] for line in facts.splitlines()} == {"scope=ann", "scope=team/core"}
    assert "the list may not be complete: 1 more belong" in records


def test_an_answer_through_a_server_is_that_of_the_memory(server: Running) -> None:
    with Memory(server.url) as client:
        near, far = (
            one.recall_all("how often was the gate green?", scope=SCOPES)
            for one in (server.memory.core, client)
        )
        assert [hit.text for hit in far] == [hit.text for hit in near]
        assert (far.count, far.complete, far.reason) == (near.count, near.complete, near.reason)
        assert client.recall("how often was the gate green?", scope=SCOPES).wants_all


def test_a_key_reads_a_list_only_if_every_scope_is_its_own(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    one = add_key(keys, "ann", ["ann"], [Right.READ, Right.WRITE, Right.FORGET])
    both = add_key(keys, "both", ["ann", "team"], [Right.READ])
    with serve_in_thread(tmp_path / "memory.db", keys=keys) as server:
        fill(server.memory.core)
        with Memory(server.url, key=one) as memory:
            for scopes in (SCOPES, ["team/core", "ann"], ["ann", "nowhere"], ["ann/**", "team/**"]):
                with pytest.raises(NotFound) as refused:
                    memory.recall("gate", scope=scopes)
                assert "team" not in str(refused.value)
            assert memory.count(scope=["ann", "ann/made"]) == 1 + 2 * len(DOORS)
            for to in ("team/core", "nowhere"):
                with pytest.raises(NotFound):
                    memory.promote("g-ann", scope="ann", to=to)
            assert memory.promote("g-ann", scope="ann", to="ann/made", move=True).scope == "ann/made"
        with Memory(server.url, key=both) as memory:
            assert pairs(memory.recall("gate", scope=SCOPES)) == {("team/core", "g-team")}
            with pytest.raises(Exception, match="right"):
                memory.promote("g-team", scope="team/core", to="ann")

        async def through_mcp() -> str:
            async with connect(server.url, one) as agent:
                answer = await call(agent, "recall", query="gate", scope=SCOPES)
                assert answer.is_error
                return text_of(answer)

        assert "g-team" not in asyncio.run(through_mcp())


@pytest.mark.parametrize(
    "words", [["remember", "x"], ["mark", "x", "promote", "--to", "y"], ["mark", "x", "pin"]]
)
def test_a_command_that_writes_takes_one_scope(tmp_path: Path, words: list[str]) -> None:
    eidet = Shell(tmp_path)
    eidet("remember", "a gate")
    said = eidet(*words, "-s", "ann", "-s", "team/core")
    assert said.code != 0
    assert "one scope" in said.err
    assert asdict(eidet("scopes", "--json"))["out"] == '{"default":1}\n'


def test_a_route_that_writes_takes_one_scope(server: Running) -> None:
    with Memory(server.url) as memory, pytest.raises(BadInput, match="one scope"):
        memory.remember("x", scope=SCOPES)  # type: ignore[call-overload]
