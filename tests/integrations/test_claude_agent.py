"""Transcripts of the Claude Agent SDK, judged by the SDK's own contracts."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach

need("claude_agent_sdk", "claude_agent")

from claude_agent_sdk.testing import run_session_store_conformance  # noqa: E402

from eidet import Memory, Unavailable  # noqa: E402
from eidet.integrations.claude_agent import EidetSessionStore  # noqa: E402

KEY = {"project_key": "/home/ann/my project", "session_id": "s1"}


def entry(number: int, text: str = "hello") -> dict[str, Any]:
    return {"type": "user", "uuid": f"u{number}", "message": {"role": "user", "content": text}}


@pytest.mark.parametrize("place", ["ram", "file"])
def test_the_contracts_of_the_sdk_hold(place: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    opened: list[Memory] = []

    def make() -> EidetSessionStore:
        where = None if place == "ram" else tmp_path_factory.mktemp("claude") / "memory.db"
        opened.append(Memory(where))
        return EidetSessionStore(opened[-1])

    asyncio.run(run_session_store_conformance(make))
    for memory in opened:
        memory.close()


def test_a_transcript_is_there_after_a_restart_and_only_in_its_project(reopen: Reopen) -> None:
    told = [entry(1, "My gate code is 7731."), {"type": "title", "title": "codes"}]
    with reopen() as memory:
        asyncio.run(EidetSessionStore(memory).append(KEY, told))
    with reopen() as memory:
        store = EidetSessionStore(memory)
        assert asyncio.run(store.load(KEY)) == told
        assert asyncio.run(store.load({**KEY, "project_key": "/home/bob"})) is None
        assert memory.recall("gate code", scope="claude/**")[0].text == "My gate code is 7731."


def test_a_batch_that_is_sent_again_is_stored_once(reopen: Reopen) -> None:
    async def send(store: EidetSessionStore) -> Any:
        await store.append(KEY, [entry(1), entry(2)])
        await store.append(KEY, [entry(1), entry(2), entry(3)])
        await store.append(KEY, [entry(3), entry(3)])
        return await store.load(KEY)

    with reopen() as memory:
        assert asyncio.run(send(EidetSessionStore(memory))) == [entry(1), entry(2), entry(3)]


def test_a_failed_batch_is_whole_after_the_retry() -> None:
    async def fail(store: EidetSessionStore) -> Any:
        with out_of_reach(store.memory), pytest.raises(Unavailable):
            await store.append(KEY, [entry(1), entry(2)])
        assert await store.load(KEY) is None
        await store.append(KEY, [entry(1), entry(2)])
        return await store.load(KEY)

    with Memory() as memory:
        assert asyncio.run(fail(EidetSessionStore(memory))) == [entry(1), entry(2)]


def test_a_cancelled_append_is_finished() -> None:
    async def cancel(store: EidetSessionStore) -> Any:
        await cancel_at_once(store.append(KEY, [entry(1)]))
        return await store.load(KEY)

    with Memory() as memory:
        assert asyncio.run(cancel(EidetSessionStore(memory))) == [entry(1)]
