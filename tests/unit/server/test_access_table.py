"""The table of rights: every route, tool and page, with every set of rights, in the own scope and in others.

Whoever may not read learns ids and versions, whatever else the key may do. Nobody learns anything of the
scopes of others: not whether they exist, nor which ids they have.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx
import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from mcp import Client
from mcp.shared.exceptions import MCPError
from tests.servers.served import Running, serve_in_thread
from tests.unit.server.access_rows import (
    ADMIN,
    BESIDE,
    FORGET,
    ID,
    OWN,
    READ,
    RESOURCES,
    ROWS,
    TOOLS,
    WRITE,
    Row,
    ToolRow,
    name_id,
)
from tests.unit.server.mcp.agents import call, text_of

from eidet import AsyncMemory, Memory
from eidet.server.access import LOCAL, Caller, Right, add_key
from eidet.server.mcp import create_mcp
from eidet.store import Head

T = TypeVar("T")
OTHER = "OtherCanary"
FOREIGN = "foreign"  # an id that only the scope of others has
SETS = [rights for size in range(5) for rights in combinations((READ, WRITE, FORGET, ADMIN), size)]
FULL = SETS[-1]
SCOPE = "acme/ann"
STORED = ("acme", SCOPE, "acme/ann/notes", "default", "other", "other/ann/notes")
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path} {row.body}"[:90])
each_tool = pytest.mark.parametrize("row", TOOLS, ids=lambda row: row.tool)


def fill(memory: Memory) -> None:
    """The same records in every scope, those of others with other words; as if nothing had happened."""
    memory.forget(everything=True, scope="acme/team", for_good=False)
    for scope in STORED:
        canary = OWN if scope.startswith("acme") else OTHER
        for id in (ID, FOREIGN):
            if memory.get(id, scope=scope) is not None:
                memory.upkeep.release(id, scope=scope)
            memory.forget(id, scope=scope, for_good=False)
        ids = [ID]
        if not scope.startswith("acme"):
            ids.append(FOREIGN)
        for id in ids:
            memory.remember(
                f"Ann lives in {canary}",
                id=id,
                scope=scope,
                who=f"{canary} who",
                session="s1",
                source=f"{canary} source",
                meta={"label": f"{canary} meta"},
                data={"note": f"{canary} data"},
                keep_duplicates=True,
                again=True,
            )


class Keyed(NamedTuple):
    server: Running
    keys: dict[tuple[Right, ...], str]
    root: str
    http: httpx.Client

    @property
    def memory(self) -> Memory:
        return self.server.memory.core

    def head(self) -> Head:
        """Rises with every write."""
        return self.memory.parts.store.head()

    def ask(
        self,
        row: Row,
        key: str | None,
        scope: str | list[str] | None = SCOPE,
        id: str | None = None,
        **headers: str,
    ) -> httpx.Response:
        id = id or ID
        body = row.body_of(id)
        content, more = (body, None) if isinstance(body, bytes) else (None, body)
        params = {**name_id(row.params, id), **({} if scope is None else {"scope": scope})}
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        return self.http.request(
            row.method, row.path_of(id), params=params, json=more, content=content, headers=headers
        )


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    """A server with a key for every set of rights in acme, and one for everything."""
    folder = tmp_path_factory.mktemp("keys")
    file = folder / "keys.toml"
    keys = {rights: add_key(file, "+".join(rights), ["acme"], rights) for rights in SETS[1:]}
    root = add_key(file, "root", ["**"], list(Right))
    text = file.read_text().replace("[[key]]\n", "[[key]]\nrequests_per_second = 100000\n")
    file.write_text(text)
    with serve_in_thread(folder / "agent.db", keys=file) as server, server.http() as http:
        yield Keyed(server, keys, root, http)


def read_types(answer: httpx.Response) -> tuple[int, str | None]:
    told = answer.json() if answer.headers.get("content-type") == "application/json" else None
    return answer.status_code, told.get("type") if isinstance(told, dict) else None


def test_every_route_has_a_row(keyed: Keyed) -> None:
    there = set()
    for route in keyed.server.app.routes:
        path: str = getattr(route, "path", "")
        if path not in BESIDE:
            there |= {(method, path) for method in getattr(route, "methods", None) or ("GET",)}
    assert {one for one in there if one[0] != "HEAD"} == {(row.method, row.path) for row in ROWS}


@each_row
def test_a_route_gives_each_right_what_the_table_says(keyed: Keyed, row: Row) -> None:
    changed = True
    for rights, key in keyed.keys.items():
        if changed:
            fill(keyed.memory)
        answer = keyed.ask(row, key)
        changed = answer.status_code < 400 and row.rights != (READ,)
        told = f"{rights}: {answer.status_code} {answer.text} {answer.headers}"
        if not set(row.rights) <= set(rights):
            assert read_types(answer) == (403, "no_right"), told
        elif row.whole:
            assert answer.status_code == 404, told
        else:
            assert answer.status_code not in (401, 403, 500), told
        assert OTHER not in told
        if READ not in rights:
            assert OWN not in told


@each_row
def test_a_key_is_needed_where_the_table_says_so(keyed: Keyed, row: Row) -> None:
    for said in (None, "eidet_wrong"):
        answer = keyed.ask(row, said)
        if row.keyed or said is not None:
            assert read_types(answer) == (401, "unauthorized")
        else:
            assert answer.status_code in (200, 307)
    assert keyed.ask(row, keyed.root).status_code not in (401, 403, 500)


@each_row
def test_a_scope_of_others_is_as_one_that_is_not_there(keyed: Keyed, row: Row) -> None:
    if not row.scoped:
        return
    before, absent = keyed.head(), keyed.ask(row, keyed.keys[FULL], "nowhere")
    assert read_types(absent) == (404, "not_found")
    for scope in ("other", "default", "acmes", "other/**", "**"):
        answer = keyed.ask(row, keyed.keys[FULL], scope)
        assert OTHER not in answer.text
        if not scope.endswith("**") or answer.status_code != 422:  # where only one scope can be meant
            assert (answer.status_code, answer.json()) == (404, absent.json())
    for scopes in ([SCOPE, "other"], ["other", SCOPE], [SCOPE, "nowhere"], ["acme/**", "other/**"]):
        answer = keyed.ask(row, keyed.keys[FULL], scopes)
        assert OTHER not in answer.text
        if answer.status_code != 422:  # where a list can be meant
            assert (answer.status_code, answer.json()) == (404, absent.json())
    assert keyed.head() == before


@each_row
def test_an_id_of_others_is_as_one_that_is_not_there(keyed: Keyed, row: Row) -> None:
    fill(keyed.memory)
    first = keyed.ask(row, keyed.keys[FULL], id="absent1")
    fill(keyed.memory)
    second = keyed.ask(row, keyed.keys[FULL], id=FOREIGN)
    assert first.status_code == second.status_code
    assert OTHER not in second.text
    if first.status_code >= 400:
        assert first.json() == json.loads(second.text.replace(FOREIGN, "absent1"))


@pytest.mark.parametrize("at", ["other", "nowhere"])
def test_why_not_tells_no_ids_of_other_scopes(keyed: Keyed, at: str) -> None:
    """The scope of the record may be named apart from the question."""
    fill(keyed.memory)
    answers = []
    for id in (FOREIGN, "absent1"):
        row = Row("POST", "/v1/debug/why-not", body={"query": "Ann", "id": id, "at": at})
        for scope in (SCOPE, "acme/**"):
            answers.append(keyed.ask(row, keyed.keys[FULL], scope))
    assert {answer.text for answer in answers} == {answers[0].text}
    assert read_types(answers[0]) == (404, "not_found")


@each_row
def test_an_empty_scope_is_an_error(keyed: Keyed, row: Row) -> None:
    if not row.scoped:
        return
    before = keyed.head()
    for key in (keyed.keys[FULL], keyed.root):
        answer = keyed.ask(row, key, "")
        assert read_types(answer) == (422, "bad_input"), answer.text
        assert "scope" in answer.json()["message"]
    assert keyed.head() == before


def test_other_names_of_scopes_cannot_be_empty_either(keyed: Keyed) -> None:
    for row in (
        Row("GET", "/v1/scopes", params={"under": ""}, scoped=False),
        Row("POST", "/v1/debug/why-not", body={"query": "Ann", "id": ID, "at": ""}),
    ):
        assert keyed.ask(row, keyed.keys[FULL]).status_code == 422


@each_row
def test_without_a_scope_a_key_works_in_its_first_one(keyed: Keyed, row: Row) -> None:
    fill(keyed.memory)
    before = [keyed.memory.find(scope=scope) for scope in STORED[3:]]
    answer = keyed.ask(row, keyed.keys[FULL], None)
    assert answer.status_code not in (401, 403, 500)
    assert OTHER not in answer.text
    assert [keyed.memory.find(scope=scope) for scope in STORED[3:]] == before


def test_a_writer_is_not_told_what_is_known_already(keyed: Keyed) -> None:
    """Else it could guess a secret, statement by statement."""
    fill(keyed.memory)
    for text in ("The safe opens with 4711", "The safe opens with 4712"):
        row = Row("POST", "/v1/memories", body={"memories": [{"text": text}]})
        if text.endswith("1"):
            known = keyed.memory.remember(text, scope=SCOPE)
        (told,) = keyed.ask(row, keyed.keys[WRITE,]).json()["memories"]
        assert (told["text"], told["uses"], told["version"]) == ("", 0, 1)
        assert told["id"] != known.id
        keyed.memory.forget([known.id, told["id"]], scope=SCOPE, for_good=False)


def test_the_evaluation_set_tells_one_tenant_nothing_of_another(keyed: Keyed, tmp_path: Path) -> None:
    fill(keyed.memory)
    row = Row("POST", "/v1/debug/evaluation", body={"query": "where?", "gold": [ID]})
    whole = keyed.ask(row, keyed.root, "other").json()
    assert set(whole) == {"questions", "file", "command"}
    assert whole["file"].endswith("agent.db.eval.jsonl")
    asked = {"query": "who?", "gold": [ID]}
    keyed.ask(Row("POST", "/v1/debug/evaluation", body=asked), keyed.root, "other")
    row = Row("POST", "/v1/debug/evaluation", body={"query": "where?", "gold": [ID]})
    assert keyed.ask(row, keyed.keys[FULL], STORED[2]).json() == {"questions": 1}


def test_a_key_of_some_scopes_learns_nothing_of_the_server(keyed: Keyed) -> None:
    fill(keyed.memory)
    health, quality = Row("GET", "/v1/health"), Row("GET", "/v1/quality")
    start = Row("GET", "/v1/dashboard/start")
    assert set(keyed.ask(health, keyed.keys[FULL]).json()) == {"state"}
    own = keyed.ask(quality, keyed.keys[FULL]).json()
    assert (own["place"], set(own["health"])) == (None, {"state"})
    assert "store_bytes" not in own["stats"]
    assert "agent.db" not in json.dumps(own)
    assert keyed.ask(quality, keyed.root).json()["stats"]["store_bytes"] > 0
    assert set(keyed.ask(start, keyed.keys[FULL]).json()["scopes"]) == set(STORED[:3])
    assert keyed.ask(start, keyed.keys[WRITE,]).json()["scopes"] == {}


class Local:
    """One memory in RAM, and a server of tools over it for every set of rights."""

    def __init__(self) -> None:
        self.memory = AsyncMemory(embedder="hashing:64")
        self.servers = {rights: self._serve(rights) for rights in SETS}

    def _serve(self, rights: tuple[Right, ...]) -> Any:
        caller = Caller(name="ann", scopes=("acme",), rights=frozenset(rights), limits=LOCAL.limits)
        return create_mcp(self.memory, local=caller, home=SCOPE)

    def run(self, rights: tuple[Right, ...], ask: Callable[[Client], Awaitable[T]]) -> T:
        async def go() -> T:
            async with Client(self.servers[rights], mode="2026-07-28") as agent:
                return await ask(agent)

        return asyncio.run(go())

    def call(self, row: ToolRow, rights: tuple[Right, ...], scope: str = SCOPE) -> tuple[str, bool]:
        """What a tool tells a caller, and whether it failed."""
        fill(self.memory.core)
        answer = self.run(rights, lambda agent: call(agent, row.tool, **row.arguments, scope=scope))
        return f"{text_of(answer)} {answer.structured_content}", answer.is_error

    def read(self, rights: tuple[Right, ...], ask: Callable[[Client], Awaitable[object]]) -> tuple[str, bool]:
        """What a resource or a prompt tells a caller, and whether it failed."""

        async def tell(agent: Client) -> tuple[str, bool]:
            try:
                return str(await ask(agent)), False
            except MCPError as error:
                return str(error), True

        return self.run(rights, tell)


@pytest.fixture(scope="module")
def local() -> Iterator[Local]:
    made = Local()
    fill(made.memory.core)
    yield made
    made.memory.core.close()


@each_tool
def test_a_tool_gives_each_right_what_the_table_says(local: Local, row: ToolRow) -> None:
    for rights in SETS:
        said, failed = local.call(row, rights)
        assert ("this needs the right" in said) == (not set(row.rights) <= set(rights)), (rights, said)
        assert OTHER not in said
        if READ not in rights:
            assert OWN not in said
        if failed and set(row.rights) <= set(rights):
            assert "the memory failed" not in said


@each_tool
@pytest.mark.parametrize("scope", ["other", ""])
def test_a_tool_enters_no_other_scope(local: Local, row: ToolRow, scope: str) -> None:
    said, failed = local.call(row, FULL, scope)
    assert failed
    assert OTHER not in said
    assert said.replace("other", "nowhere") == local.call(row, FULL, scope and "nowhere")[0]


@pytest.mark.parametrize("uri", RESOURCES)
def test_a_resource_is_for_readers(local: Local, uri: str) -> None:
    fill(local.memory.core)
    for rights in SETS:
        said, failed = local.read(rights, lambda agent: agent.read_resource(uri))
        assert failed == (READ not in rights), said
        assert OTHER not in said
        if READ not in rights:
            assert OWN not in said


def test_every_tool_and_resource_has_a_row(local: Local) -> None:
    async def list_names(agent: Client) -> tuple[set[str], set[str], list[str]]:
        tools = {tool.name for tool in (await agent.list_tools()).tools}
        resources = {str(one.uri) for one in (await agent.list_resources()).resources}
        templates = (await agent.list_resource_templates()).resource_templates
        prompts = [one.name for one in (await agent.list_prompts()).prompts]
        return tools, resources | {one.uri_template.replace("{+scope}", SCOPE) for one in templates}, prompts

    tools, resources, prompts = local.run(FULL, list_names)
    assert tools == {row.tool for row in TOOLS}
    assert resources == set(RESOURCES)
    assert prompts == ["briefing"]


def test_a_tool_that_a_key_may_not_call_is_not_listed(local: Local) -> None:
    for rights in SETS:
        listed = {tool.name for tool in local.run(rights, lambda agent: agent.list_tools()).tools}
        assert listed == {row.tool for row in TOOLS if row.rights[0] in rights}


def test_the_prompt_is_for_readers(local: Local) -> None:
    fill(local.memory.core)
    said, _ = local.read((READ,), brief)
    assert OWN in said
    said, failed = local.read((WRITE, FORGET, ADMIN), brief)
    assert failed
    assert "the right 'read'" in said
    assert OWN not in said


async def brief(agent: Client) -> object:
    return await agent.get_prompt("briefing", {"topic": "where does Ann live?"})
