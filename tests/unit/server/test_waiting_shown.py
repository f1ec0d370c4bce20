"""What waits for review is hidden, or shown with a mark: by every verb that answers, through every door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from tests.servers.served import Running, serve_in_thread
from tests.unit.cli.shell import Shell
from tests.unit.server.mcp.agents import call, connect, text_of

from eidet import Memory, Settings

MARKS = ("waits for review", '"quarantined"')  # for people, and for programs
Ask = Callable[[Running, Path], str]


def python(verb: str, *asked: str, **how: Any) -> Ask:
    def ask(server: Running, _: Path) -> str:
        return tell(getattr(server.memory.core, verb)(*asked, **how))

    return ask


def client(verb: str, *asked: str, **how: Any) -> Ask:
    def ask(server: Running, _: Path) -> str:
        with Memory(server.url) as memory:
            return tell(getattr(memory, verb)(*asked, **how))

    return ask


def tell(answer: Any) -> str:
    if hasattr(answer, "tokens"):
        return str(answer.text)
    if isinstance(answer, int):
        return f"Porto waits for review {answer}" if answer > 1 else ""
    hits = getattr(answer, "hits", answer)
    told = [one.to_dict() if hasattr(one, "to_dict") else asdict(one) for one in hits]
    return json.dumps(told, default=str)


def rest(path: str, **body: Any) -> Ask:
    return lambda server, _: str(server.shared.post(f"/v1/{path}", json=body).text)


def shell(*words: str) -> Ask:
    return lambda server, folder: str(Shell(folder)(*words, "--at", server.url).out)


def mcp(tool: str, **arguments: Any) -> Ask:
    async def go(server: Running) -> str:
        async with connect(server.url) as agent:
            return text_of(await call(agent, tool, **arguments))

    return lambda server, _: asyncio.run(go(server))


ASK = "where does Ann move?"
WAYS: dict[str, Ask] = {
    **{f"Python {verb}": python(verb, ASK) for verb in ("recall", "recall_all", "context")},
    "Python context without quotation": python("context", ASK, fence=False),
    **{f"Python {verb}": python(verb) for verb in ("find", "count")},
    **{f"client {verb}": client(verb, ASK) for verb in ("recall", "recall_all", "context")},
    **{f"client {verb}": client(verb) for verb in ("find", "count")},
    **{f"REST {path}": rest(path, query=ASK) for path in ("recall", "recall_all", "context")},
    "REST find": rest("find"),
    "command recall": shell("recall", ASK),
    "command recall as JSON": shell("recall", ASK, "--json"),
    "command context": shell("context", ASK),
    "command find": shell("find"),
    "MCP recall": mcp("recall", query=ASK),
    "MCP recall_all": mcp("recall_all", query=ASK),
    "MCP context": mcp("context", query=ASK),
}


@pytest.fixture(scope="module", params=["hidden", "marked"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = Settings(review="untrusted", waiting=request.param)
    with serve_in_thread(tmp_path_factory.mktemp("w") / "m.db", memory_settings=settings) as server:
        memory = server.memory.core
        memory.remember("Ann lives in Lisbon")
        memory.remember("Ann moves to Porto in May", trust="web")
        aside = memory.remember("Ann moves to Tokyo in June")
        memory.trust.quarantine(aside.id, because="odd")
        yield request.param, server


@pytest.mark.parametrize("way", WAYS)
def test_what_waits_is_hidden_or_marked(served: tuple[str, Running], way: str, tmp_path: Path) -> None:
    waiting, server = served
    shown = WAYS[way](server, tmp_path)
    assert ("Porto" in shown) == (waiting == "marked")
    if waiting == "marked":
        assert any(mark in shown for mark in MARKS)
    assert "Tokyo" not in shown  # somebody set it aside by hand


def test_what_was_approved_has_no_mark(tmp_path: Path) -> None:
    with Memory(embedder="hashing:64", settings=Settings(review="all", waiting="marked")) as memory:
        note = memory.remember("Ann moves to Porto in May")
        assert "waits for review" in memory.context(ASK).text
        memory.trust.approve(note.id)
        assert "waits for review" not in memory.context(ASK).text + memory.recall(ASK)[0].why()
