"""The nine tools of the reference knowledge-graph server: its rules, over records that the memory shares."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[mcp]'")

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextResourceContents
from tests.unit.server.mcp.agents import HASHING, ask, call, fail, run, text_of

from eidet import AsyncMemory
from eidet.server.mcp import create_mcp

ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "speaks Portuguese"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "Ann", "to": "Acme", "relationType": "works at"}
KNOWS = {"from": "Ann", "to": "Ben", "relationType": "knows"}
Step = tuple[str, dict[str, Any]]

SCRIPT: list[Step] = [
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, ACME]}),
    ("create_entities", {"entities": [{**ANN, "observations": ["other"]}]}),
    ("create_relations", {"relations": [WORKS, KNOWS]}),
    ("create_relations", {"relations": [WORKS]}),
    (
        "add_observations",
        {"observations": [{"entityName": "Ann", "contents": ["likes tea", "has a boat", "is 30"]}]},
    ),
    ("add_observations", {"observations": [{"entityName": "Zoe", "contents": ["new"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "BOAT"}),
    ("search_nodes", {"query": "compan"}),
    ("search_nodes", {"query": "nothing like it"}),
    ("open_nodes", {"names": ["Acme", "Nobody"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["likes tea", "none"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Nobody", "observations": ["x"]}]}),
    ("open_nodes", {"names": ["Ann"]}),
    ("delete_relations", {"relations": [KNOWS, {**KNOWS, "relationType": "hates"}]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Ann", "Nobody"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN]}),
    ("read_graph", {}),
]


async def play(agent: Client) -> list[dict[str, Any] | None]:
    """What each step of the script answers as values; None where it fails."""
    answers: list[dict[str, Any] | None] = []
    for tool, arguments in SCRIPT:
        answer = await call(agent, tool, **arguments)
        answers.append(None if answer.is_error else answer.structured_content)
    return answers


def test_the_graph_follows_the_rules_of_the_reference_server() -> None:
    answers = run(play, graph_tools=True)
    graph = {"entities": [ANN, ACME], "relations": [WORKS, KNOWS]}
    more = {**ANN, "observations": [*ANN["observations"], "has a boat", "is 30"]}
    less = {**ANN, "observations": ["speaks Portuguese", "has a boat", "is 30"]}
    done = {
        word: {"success": True, "message": f"{word} deleted successfully"}
        for word in ("Entities", "Observations", "Relations")
    }
    assert answers == [
        {"entities": [], "relations": []},
        {"entities": [ANN, ACME]},
        {"entities": []},
        {"relations": [WORKS, KNOWS]},
        {"relations": []},
        {"results": [{"entityName": "Ann", "addedObservations": ["has a boat", "is 30"]}]},
        None,
        {**graph, "entities": [more, ACME]},
        {"entities": [more], "relations": [WORKS, KNOWS]},
        {"entities": [ACME], "relations": [WORKS]},
        {"entities": [], "relations": []},
        {"entities": [ACME], "relations": [WORKS]},
        done["Observations"],
        done["Observations"],
        {"entities": [less], "relations": [WORKS, KNOWS]},
        done["Relations"],
        {"entities": [less, ACME], "relations": [WORKS]},
        done["Entities"],
        {"entities": [ACME], "relations": []},
        {"entities": [ANN]},
        {"entities": [ACME, ANN], "relations": []},
    ]


def reference_server() -> str:
    """The reference server, if it is installed: `npm install @modelcontextprotocol/server-memory`."""
    folder = os.environ.get("EIDET_TEST_MCP_NODE")
    found = None
    if folder is not None:
        found = shutil.which("mcp-server-memory", path=str(Path(folder, "node_modules", ".bin")))
    if found is None:
        pytest.skip("needs the reference server: .ci/mcp installs it and sets EIDET_TEST_MCP_NODE")
    return found


def test_the_reference_server_answers_the_same(tmp_path: Path) -> None:
    command = reference_server()
    bin_folder = str(Path(command).parent)
    server = StdioServerParameters(
        command=command,
        env={
            "MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl"),
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
        },
    )

    async def play_there() -> list[dict[str, Any] | None]:
        with (tmp_path / "errors.txt").open("w") as errors:
            async with Client(stdio_client(server, errlog=errors), mode="legacy") as agent:
                return await play(agent)

    assert run(play, graph_tools=True) == asyncio.run(play_there())


def test_recall_finds_what_the_graph_holds_and_the_graph_what_is_stated() -> None:
    async def go() -> None:
        memory = AsyncMemory(embedder=HASHING)
        async with memory, Client(create_mcp(memory, graph_tools=True)) as agent:
            await ask(agent, "create_entities", entities=[ANN])
            found = await ask(agent, "recall", query="likes tea")
            assert found["memories"][0]["text"] == "Ann: likes tea"
            stated = {
                "subject": "Ann",
                "relation": "lives_in",
                "object": {"name": "Porto", "kind": "place"},
            }
            await memory.remember("Ann lives in Porto", kind="triple", data=stated)
            graph = await ask(agent, "read_graph")
            assert graph["relations"] == [{"from": "Ann", "to": "Porto", "relationType": "lives_in"}]
            await ask(agent, "delete_relations", relations=graph["relations"])
            assert (await ask(agent, "read_graph"))["relations"] == []

    asyncio.run(go())


def test_upkeep_leaves_the_graph_alone() -> None:
    async def go() -> None:
        memory = AsyncMemory(embedder=HASHING)
        async with memory, Client(create_mcp(memory, graph_tools=True)) as agent:
            twins = {**ANN, "observations": ["likes tea", "likes tea.", "Likes tea", "likes green tea"]}
            await ask(agent, "create_entities", entities=[twins])
            before = await ask(agent, "read_graph")
            await memory.upkeep.maintain()
            assert await ask(agent, "read_graph") == before

    asyncio.run(go())


def test_the_graph_is_a_resource_too() -> None:
    async def talk(agent: Client) -> None:
        await ask(agent, "create_entities", entities=[ACME])
        (content,) = (await agent.read_resource("memory://knowledge-graph")).contents
        assert isinstance(content, TextResourceContents)
        assert json.loads(content.text) == {"entities": [ACME], "relations": []}
        assert json.loads(text_of(await call(agent, "read_graph"))) == json.loads(content.text)

    run(talk, graph_tools=True)


def test_nothing_is_added_if_one_entity_is_missing() -> None:
    async def talk(agent: Client) -> None:
        await ask(agent, "create_entities", entities=[ACME])
        wanted = [{"entityName": "Acme", "contents": ["new"]}, {"entityName": "Zoe", "contents": ["new"]}]
        said = await fail(agent, "add_observations", observations=wanted)
        assert "there is no entity 'Zoe'; create_entities makes one" in said
        assert (await ask(agent, "read_graph"))["entities"] == [ACME]

    run(talk, graph_tools=True)
