"""The plugin of `llm`, run by llm's own command with `llm-echo`, the model its authors test plugins with."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.integrations.needs import need

need("llm_echo", "llm")

import llm  # noqa: E402
from click.testing import CliRunner  # noqa: E402
from llm.cli import cli, sqlite_utils  # noqa: E402
from llm.plugins import load_plugins, pm  # noqa: E402

import eidet.integrations.llm as plugin  # noqa: E402
from eidet import Memory, Unavailable  # noqa: E402

load_plugins()


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "llm"
    monkeypatch.setenv("LLM_USER_PATH", str(folder))
    monkeypatch.setenv("LOGNAME", "ann")
    monkeypatch.delenv(plugin.SCOPE, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(plugin.MEMORY, raising=False)
    return folder


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, user: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where the memory is: in llm's folder unless EIDET_MEMORY names another place."""
    if request.param == "sqlite":
        return str(user / "eidet.db")
    address = str(request.getfixturevalue("postgres_emptied"))
    monkeypatch.setenv(plugin.MEMORY, address)
    return address


def run(*arguments: str) -> str:
    """What llm prints; an error fails the test."""
    done = CliRunner().invoke(cli, list(arguments), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return str(done.output)


def say(prompt: str, answer: str = "Noted.", *options: str) -> None:
    run("-m", "echo", *options, json.dumps({"raw": answer, "prompt": prompt, "said": prompt}))


def tell(text: str, *options: str) -> dict[str, Any]:
    """What the model saw."""
    return dict(json.loads(run("-m", "echo", "--no-stream", *options, text)))


def call(tool: str, *options: str, **arguments: Any) -> str:
    """What a tool answered when the model called it."""
    asked = {"prompt": "", "raw": "calling", "tool_calls": [{"name": tool, "arguments": arguments}]}
    printed = run("-m", "echo", "--no-stream", "--no-log", *options, json.dumps(asked))
    return str(json.loads(printed[printed.index("{") :])["tool_results"][0]["output"])


def test_llm_finds_the_plugin_by_its_entry_point() -> None:
    assert pm.get_plugin("eidet") is plugin
    (about,) = [one for one in llm.get_plugins() if one["name"] == "eidet"]
    assert set(about["hooks"]) == {
        "register_commands",
        "register_fragment_loaders",
        "register_template_loaders",
        "register_tools",
    }


def test_the_plugin_loads_nothing_heavy_when_llm_starts() -> None:
    code = (
        "import sys, llm.cli; before = set(sys.modules); import eidet.integrations.llm; "
        "print(sorted({'numpy', 'sqlalchemy', 'eidet.memory'} & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_one_run_was_told_the_next_one_is_reminded_of(place: str) -> None:
    tell("My gate code is 7731.")
    seen = tell("What is it?", "-f", "eidet:gate code")
    assert "My gate code is 7731." in seen["prompt"]
    assert json.loads(call("Eidet_recall", "-T", "Eidet", query="gate code", limit=1))[0]["who"] == "user"
    with Memory(place) as memory:
        said = memory.find(scope="llm/ann", order="occurred")
        assert [(record.who, record.text) for record in said if record.who == "user"] == [
            ("user", "My gate code is 7731."),
            ("user", "What is it?"),  # without the memories that came as a fragment
        ]
        assert len({record.session for record in said}) == 2


def test_an_async_model_has_the_same_tools(place: str) -> None:
    say("My gate code is 7731.", "Noted.", "--async")
    asked = {
        "prompt": "",
        "raw": "calling",
        "tool_calls": [{"name": "Eidet_recall", "arguments": {"query": "gate"}}],
    }
    printed = run("-m", "echo", "--no-stream", "--async", "-T", "Eidet", json.dumps(asked))
    assert "7731" in printed[printed.index("tool_results") :]


def test_two_users_do_not_see_each_other(place: str, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On one memory, each with an account and a log."""
    monkeypatch.setenv(plugin.MEMORY, place)
    tell("My gate code is 7731.")
    assert "7731" in call("Eidet_recall", "-T", "Eidet", query="gate code")
    with monkeypatch.context() as bob:
        bob.setenv("LOGNAME", "bob")
        bob.setenv("LLM_USER_PATH", str(user / "bob"))
        assert "Nothing is remembered" in tell("?", "-f", "eidet:gate code")["prompt"]
        assert "7731" not in call("Eidet_recall", "-T", "Eidet", query="gate code")
    with Memory(place) as memory:
        assert {"llm/ann", "llm/bob"} <= set(memory.scopes())


def test_another_scope_is_a_notebook_without_the_log() -> None:
    tell("My gate code is 7731.")
    call("Eidet_remember", "-T", 'Eidet("work")', text="The office is in Oslo.")
    assert "7731" not in call("Eidet_recall", "-T", 'Eidet("work")', query="gate code")
    assert "Oslo" in call("Eidet_recall", "-T", 'Eidet("work")', query="Where is the office?")
    assert "Oslo" not in call("Eidet_recall", "-T", "Eidet", query="Where is the office?")


def test_a_tool_remembers_and_forgets_for_good(user: Path) -> None:
    told = call("Eidet_remember", "-T", "Eidet", text="Ann is allergic to peanuts.")
    id = told.rpartition(" ")[2]
    assert "peanuts" in call("Eidet_recall", "-T", "Eidet", query="allergies of Ann")
    assert call("Eidet_forget", "-T", "Eidet", id=id) == "forgot 1"
    assert "peanuts" not in call("Eidet_recall", "-T", "Eidet", query="allergies of Ann")


def test_what_was_forgotten_does_not_come_back_from_the_log(user: Path) -> None:
    tell("My gate code is 7731.")
    told = json.loads(call("Eidet_recall", "-T", "Eidet", query="gate code"))
    (entry,) = [one for one in told if one["who"] == "user"]
    call("Eidet_forget", "-T", "Eidet", id=entry["id"])
    with Memory(user / "eidet.db") as memory:
        memory.forget(
            everything=True, scope="llm/ann/cursor"
        )  # the cursor: the log is read from its beginning
    run("eidet", "sync")
    with Memory(user / "eidet.db") as memory:
        assert memory.get(entry["id"], scope="llm/ann") is None


def test_a_memory_out_of_reach_loses_and_doubles_nothing(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise Unavailable("the disk is away")

    tell("My gate code is 7731.")
    with Memory(user / "eidet.db") as memory:
        store = type(memory.parts.store)
    with monkeypatch.context() as broken:
        broken.setattr(store, "write", refuse)
        done = CliRunner().invoke(cli, ["eidet", "sync"])
        assert (done.exit_code, done.output) == (1, "Error: the disk is away\n")
    assert run("eidet", "sync").startswith("2 new")
    assert run("eidet", "sync").startswith("0 new")
    with Memory(user / "eidet.db") as memory:
        assert memory.count(scope="llm/ann") == 2


def test_a_run_that_logs_late_is_not_missed(user: Path) -> None:
    """Ids are made when a run begins, and rows are logged when it ends."""
    tell("first")
    run("eidet", "sync")
    late = llm.get_model("echo").prompt('{"raw": "done", "x": "begun earlier"}')
    late.text()
    late.id = plugin.make_id(time.time() - 600)
    late.log_to_db(sqlite_utils.Database(user / "logs.db"))
    assert run("eidet", "sync").startswith("2 new")
    assert run("eidet", "sync").startswith("0 new")


def test_the_cursor_moves_on() -> None:
    def row(at: float) -> dict[str, str]:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(at))
        return {"id": plugin.make_id(at)[:-1] + "1", "datetime_utc": stamp}

    rows = [row(at) for at in (1_000_000, 1_003_000, 1_007_000)]
    assert plugin.move_cursor("", rows) == {"after": plugin.make_id(1_003_400), "seen": [rows[2]["id"]]}


def test_the_template_tells_the_model_to_use_its_memory() -> None:
    tell("My gate code is 7731.")
    asked = {"prompt": "", "tool_calls": [{"name": "Eidet_recall", "arguments": {"query": "gate"}}]}
    printed = run("-m", "echo", "--no-stream", "-t", "eidet:", json.dumps(asked))
    assert "long-term memory" in printed
    assert "7731" in printed[printed.index("tool_results") :]
    assert plugin.load_template("work").tools == ['Eidet("work")']


def test_a_conversation_keeps_its_turns_together(user: Path) -> None:
    say("My gate code is 7731.")
    say("And my name is Ann.", "Hello Ann.", "-c")
    run("eidet", "sync")
    with Memory(user / "eidet.db") as memory:
        sessions = {record.session for record in memory.find(scope="llm/ann")}
        assert len(sessions) == 1
        assert [
            one.text for one in memory.find(scope="llm/ann", order="occurred") if one.who == "assistant"
        ] == [
            "Noted.",
            "Hello Ann.",
        ]
