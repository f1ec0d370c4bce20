"""The key of a server signs what is written with it, at every door; nobody signs with another's name."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("mcp", reason="needs mcp: pip install 'eidet[server]'")

from tests.servers.served import Running, serve_in_thread
from tests.unit.server.mcp.agents import ask, connect

from eidet import Client, Record, Refused, acting
from eidet.server.access import add_key

SCOPE = "acme"


class Signing(NamedTuple):
    server: Running
    keys: dict[str, str]

    def send(self, who: str, method: str, path: str, body: Any, scope: str = SCOPE) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[who]}"}
        return self.server.shared.request(method, path, params={"scope": scope}, json=body, headers=headers)

    def read(self, id: str, scope: str = SCOPE) -> Record:
        record = self.server.memory.core.get(id, scope=scope)
        assert record is not None
        return record


@pytest.fixture(scope="module")
def signing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Signing]:
    file = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys = {name: add_key(file, name, ["acme"], ["read", "write"]) for name in ("buyer", "seller")}
    keys["gateway"] = add_key(file, "gateway", ["acme"], ["read", "write", "agents"])
    with serve_in_thread(keys=file) as server:
        yield Signing(server, keys)


DOORS: dict[str, tuple[str, dict[str, Any]]] = {
    "remember": ("/v1/memories", {"memories": [{"text": "oak is dear"}]}),
    "a message": ("/v1/memories", {"memories": [{"role": "user", "content": "oak is dear"}]}),
    "facts": ("/v1/facts/add", {"subject": "Ann", "relation": "likes", "object": "oak"}),
}


def list_ids(door: str, told: dict[str, Any]) -> list[str]:
    if door == "facts":
        return [told["id"]]
    return [one["id"] for one in told["memories"]]


def name_agent(door: str, agent: str) -> dict[str, Any]:
    body = DOORS[door][1]
    if door == "facts":
        return {**body, "object": agent, "agent": agent}
    return {"memories": [{**body["memories"][0], "agent": agent}]}


@pytest.mark.parametrize("door", DOORS)
def test_the_key_signs_what_is_written_with_it(signing: Signing, door: str) -> None:
    path, body = DOORS[door]
    for said in (body, name_agent(door, "buyer")):
        (id,) = list_ids(door, signing.send("buyer", "POST", path, said).json())
        assert signing.read(id).agent == "buyer"
        (created, *_) = signing.server.memory.core.history(id, scope=SCOPE)
        assert (created.what, created.by) == ("created", "buyer")


@pytest.mark.parametrize("door", DOORS)
def test_another_name_is_refused_unless_the_key_may_sign_for_others(signing: Signing, door: str) -> None:
    path, forged = DOORS[door][0], name_agent(door, "seller")
    before = signing.server.memory.core.parts.store.head()
    answer = signing.send("buyer", "POST", path, forged)
    assert (answer.status_code, answer.json()["type"]) == (403, "refused")
    assert "another agent" in answer.json()["message"]
    assert signing.server.memory.core.parts.store.head() == before
    (id,) = list_ids(door, signing.send("gateway", "POST", path, forged).json())
    assert signing.read(id).agent == "seller"


def test_a_change_leaves_the_signature(signing: Signing) -> None:
    (stored,) = signing.send("buyer", "POST", *DOORS["remember"]).json()["memories"]
    path = f"/v1/memories/{stored['id']}"
    for change in ({"agent": "seller"}, {"agent": None}, {"clear": ["agent"]}):
        assert signing.send("buyer", "PATCH", path, change).status_code == 403
    assert (
        signing.send("seller", "PATCH", path, {"text": "oak is cheap", "agent": "buyer"}).status_code == 200
    )
    events = signing.server.memory.core.history(stored["id"], scope=SCOPE)
    assert [(event.what, event.by) for event in events] == [("created", "buyer"), ("revised", "seller")]
    assert signing.read(stored["id"]).agent == "buyer"
    assert signing.send("gateway", "PATCH", path, {"agent": "third"}).json()["agent"] == "third"


def test_the_client_and_tools_are_signed_too(signing: Signing) -> None:
    with Client(signing.server.url, key=signing.keys["seller"]) as client:
        assert client.remember("the oak table sold", scope=SCOPE).agent == "seller"
        with pytest.raises(Refused, match="another agent"):
            client.remember("the oak table sold", scope=SCOPE, agent="buyer")

    async def talk() -> str:
        async with connect(signing.server.url, signing.keys["seller"]) as agent:
            stored = await ask(agent, "remember", text="the birch table sold")
            return str(stored["stored"][0]["id"])

    assert signing.read(asyncio.run(talk())).agent == "seller"


def test_without_keys_nobody_signs(tmp_path: Path) -> None:
    with serve_in_thread() as server:
        body = {"memories": [{"text": "oak is dear"}, {"text": "oak is cheap", "agent": "buyer"}]}
        told = server.shared.post("/v1/memories", json=body).json()["memories"]
        assert [one["agent"] for one in told] == [None, "buyer"]
        with acting(by="ann"):
            assert server.memory.core.remember("said in the process itself").agent is None
