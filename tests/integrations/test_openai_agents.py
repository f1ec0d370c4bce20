"""The session of the OpenAI Agents SDK, judged by the SDK's own tests and by real runs of an agent."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once, out_of_reach
from tests.integrations.upstream import Upstream, judge

need("agents.memory", "openai_agents")

from agents import Agent, RunConfig, Runner  # noqa: E402
from agents.testing import ScriptedModel, assistant_message  # noqa: E402

from eidet import BadInput, Memory, Unavailable  # noqa: E402
from eidet.integrations.openai_agents import EidetSession  # noqa: E402

SHIM = """
from eidet import Memory
from eidet.integrations.openai_agents import EidetSession

memories = {}

class SQLiteSession(EidetSession):
    def __init__(self, session_id, db_path=":memory:", _sessions="", _messages="", session_settings=None):
        memory = Memory()
        if str(db_path) != ":memory:":
            place = f"{db_path}.eidet"
            memory = memories.setdefault(place, None) or Memory(place)
            memories[place] = memory
        super().__init__(session_id, memory, settings=session_settings)

    def close(self): ...
"""
SESSIONS = Upstream(
    requirement="openai-agents==0.24.0",
    sha256="4b4b285f4fed81fdf1b4ac426a9101658d9cd29b4fb1aaeee18f639b77e704e3",
    files=[
        "tests/memory/test_session.py",
        "tests/memory/test_session_limit.py",
        "tests/memory/test_session_context_wrapper.py",
    ],
    changes={
        "tests/memory/test_session.py": [
            ("SessionSettings, SQLiteSession, TResponseInputItem", "SessionSettings, TResponseInputItem"),
            ("from agents import Agent", "from eidet_shim import SQLiteSession\nfrom agents import Agent"),
        ],
        "tests/memory/test_session_limit.py": [
            ("import Agent, RunConfig, SQLiteSession", "import Agent, RunConfig"),
            ("from agents import Agent", "from eidet_shim import SQLiteSession\nfrom agents import Agent"),
        ],
    },
    shim=SHIM,
)
OF_SQLITE = (  # connections, locks, tables, broken rows and closing of the SQLite session
    "close_closes_worker_thread_connections",
    "reaps_connections_from_exited_worker_threads",
    "closes_retired_connections_before_the_next_allocation",
    "keeps_connections_of_live_worker_threads",
    "closed_rejects_empty_add_items",
    "pop_item_skips_corrupt_most_recent",
    "pop_item_returns_none_after_dropping_only_corrupt_rows",
    "get_items_limit_skips_corrupt_newest_rows",
    "get_items_session_settings_limit_skips_corrupt_rows",
    "file_lock_is_shared_across_instances",
    "failed_add_items_releases_write_lock",
    "failed_clear_session_rolls_back",
    "failed_pop_item_releases_write_lock",
    "rollback_failure_evicts_connection",
    "close_retries_quarantined_connection",
    "post_commit_cancellation_propagates_after_known_outcome[add]",
    "post_commit_cancellation_propagates_after_known_outcome[pop]",
    "post_commit_cancellation_propagates_after_known_outcome[clear]",
)


def test_the_sdk_judges(tmp_path: Path) -> None:
    verdict = judge(SESSIONS, tmp_path)
    assert verdict.failed == {f"test_session::test_sqlite_session_{name}" for name in OF_SQLITE}, verdict.said
    assert len(verdict.passed) >= 68


QUIET = RunConfig(tracing_disabled=True)


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_what_one_run_was_told_the_next_one_reads_after_a_restart(reopen: Reopen) -> None:
    first = ScriptedModel([[assistant_message("Noted.")]])
    with reopen() as memory:
        session = EidetSession("s", memory, scope="users/ann")
        agent = Agent(name="helper", model=first)
        asyncio.run(Runner.run(agent, "My gate code is 7731.", session=session, run_config=QUIET))
    second = ScriptedModel([[assistant_message("7731.")]])
    with reopen() as memory:
        session = EidetSession("s", memory, scope="users/ann")
        agent = Agent(name="helper", model=second)
        asyncio.run(Runner.run(agent, "What is my gate code?", session=session, run_config=QUIET))
        assert second.last_call is not None
        assert "7731" in str(second.last_call.input)
        assert memory.recall("gate code", scope="users/ann")[0].text == "My gate code is 7731."
        assert asyncio.run(EidetSession("s", memory, scope="users/bob").get_items()) == []


def test_one_session_serves_many_users_by_the_context_of_the_run() -> None:
    async def talk(session: EidetSession) -> None:
        for user in ("ann", "bob"):
            wrapper = SimpleNamespace(context=SimpleNamespace(user=user))
            await session.add_items([said(f"I am {user}")], wrapper=wrapper)
            assert await session.get_items(wrapper=wrapper) == [said(f"I am {user}")]

    with Memory() as memory:
        session = EidetSession("s", memory, scope=lambda wrapper: f"users/{wrapper.context.user}")
        asyncio.run(talk(session))
        assert sorted(memory.scopes()) == ["users/ann", "users/bob"]
        with pytest.raises(BadInput, match="wrapper"):
            asyncio.run(session.get_items())


def test_a_cancelled_call_has_written_once_when_it_ends(reopen: Reopen) -> None:
    async def cancel(session: EidetSession) -> None:
        await cancel_at_once(session.add_items([said("one"), said("two")]))
        assert await session.get_items() == [said("one"), said("two")]

    with reopen() as memory:
        asyncio.run(cancel(EidetSession("s", memory)))


def test_a_store_that_fails_keeps_no_half_of_a_turn() -> None:
    async def fail(session: EidetSession) -> None:
        await session.add_items([said("kept")])
        with out_of_reach(session.memory), pytest.raises(Unavailable):
            await session.add_items([said("lost"), said("as well")])
        assert await session.get_items() == [said("kept")]
        await session.add_items([said("lost"), said("as well")])
        assert len(await session.get_items()) == 3

    with Memory() as memory:
        asyncio.run(fail(EidetSession("s", memory)))


def test_two_that_pop_at_once_get_two_items() -> None:
    async def pop(session: EidetSession) -> list[Any]:
        await session.add_items([said(str(number)) for number in range(20)])
        return await asyncio.gather(*(session.pop_item() for _ in range(20)))

    with Memory() as memory:
        popped = asyncio.run(pop(EidetSession("s", memory)))
    assert sorted(int(item["content"]) for item in popped) == list(range(20))
