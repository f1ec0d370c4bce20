"""Every example runs as a newcomer would run it, prints what its page says, and stays short."""

from __future__ import annotations

import ast
import importlib.util
import io
import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.forked import Ended, run_anew, run_program
from tests.servers.scripted import Handler, ScriptedServer

from eidet import Memory, Unavailable
from eidet.models.contract import EmbedderContract
from eidet.models.embed import Embedder, embedder_of
from eidet.store import Store
from eidet.store.abilities import MaintainsStorage
from eidet.store.contract import StoreContract

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PROGRAMS = sorted((ROOT / "examples" / "programs").glob("*.py"))
PAGE = ROOT / "examples" / "README.md"
SHOWN = re.compile(
    r"^```sh\npython (examples/programs/[^\n]*)\n```\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL
)
COMMANDS = dict(SHOWN.findall(PAGE.read_text(encoding="utf-8")))
NEEDS = {
    "fastapi_users": ("fastapi", "pip install 'eidet[server]'"),
    "mcp_desktop": ("mcp", "pip install 'eidet[mcp]'"),
    "langgraph_agent": ("langgraph.graph", "`.ci/integrations langgraph` installs and runs it"),
    "papers": ("pypdf", "pip install 'eidet[pdf]'"),
}
WITH_PROCESSES = ("postgres_workers", "mcp_desktop", "coding_agent")  # they start Python anew themselves


def _need(command: str) -> None:
    for word, (module, install) in NEEDS.items():
        if word in command and not _is_there(module):
            pytest.skip(f"needs {module.partition('.')[0]}: {install}")


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is part of
        return False


def _run(command: str, folder: Path) -> Ended:
    words: list[str] = []
    for word in shlex.split(command):
        words.append(str(ROOT / word) if word.startswith("examples/") else word)
    run: Callable[..., Ended] = run_program
    if any(name in command for name in WITH_PROCESSES):
        run = run_anew
    return run(words, folder=folder, environment=os.environ)


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / f"examples/programs/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_and_says_something(path: Path, tmp_path: Path) -> None:
    done = run_program([str(path)], folder=tmp_path, environment=os.environ)
    assert done.code == 0, done.err
    assert done.out.strip()
    assert not any(tmp_path.iterdir()), "an example leaves nothing behind"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_at_most_60_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 60


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.removeprefix("examples/programs/"))
def test_a_program_prints_what_its_page_says(command: str, tmp_path: Path) -> None:
    _need(command)
    done = _run(command, tmp_path)
    assert done.code == 0, done.err
    assert done.out == COMMANDS[command]
    assert not any(tmp_path.iterdir()), "a program leaves nothing behind"


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_a_program_is_short_and_says_how_to_run_and_what_to_change(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    assert 40 <= len(text.splitlines()) <= 150
    assert f"python examples/programs/{path.name}" in said
    assert "For your own use:" in said
    assert any(path.name in command for command in COMMANDS), "examples/README.md shows what it prints"


def test_three_workers_share_a_postgresql_database(tmp_path: Path, postgres_url: str) -> None:
    program = "examples/programs/postgres_workers.py"
    done = _run(f"{program} {postgres_url}", tmp_path)
    assert done.code == 0, done.err
    assert done.out == COMMANDS[program]


def test_the_chat_loop_talks_to_any_model_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server of the tests stands for the model; what the second run sends shows what was remembered."""
    chat = _load("chat_loop")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    at = str(tmp_path / "chat.db")
    with ScriptedServer(_reply).running() as server:
        words = ["chat_loop.py", "--url", server.url, "--model", "tiny", "--at", at]
        monkeypatch.setattr(sys, "argv", words)
        for line in ("My cat is called Tofu.", "What is my cat called?"):
            monkeypatch.setattr(sys, "stdin", io.StringIO(f"{line}\n"))
            chat.main()
    first, second = server.asked
    path, headers = server.seen[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer sk-test")
    assert (first["model"], first["messages"][1]["content"]) == ("tiny", "My cat is called Tofu.")
    assert "Tofu" not in first["messages"][0]["content"]
    assert "user: My cat is called Tofu." in second["messages"][0]["content"]
    with Memory(at) as memory:
        assert memory.count(scope="ann", kinds="message") == 4


def _reply(handler: Handler, body: object) -> None:
    del body
    handler.give_json(200, {"choices": [{"message": {"role": "assistant", "content": "Meow."}}]})


class TestBucketStore(StoreContract):
    """The custom store keeps the laws of stores; it is open once at a time, so it has no `reopen`."""

    lacks = (MaintainsStorage,)

    def make(self) -> Store:
        return _open_bucket(self.folder)


def _open_bucket(folder: Path) -> Store:
    module = _load("custom_store")
    store: Store = module.BucketStore(module.Bucket(folder))
    return store


def test_a_bucket_is_replayed_also_after_it_was_scrubbed(tmp_path: Path) -> None:
    with Memory(_open_bucket(tmp_path), embedder="hashing") as memory:
        kept = memory.remember("Ann lives in Lisbon", meta={"floor": 3})
        memory.revise(kept.id, text="Ann lives in Porto")
        memory.forget(memory.remember("a slip of the tongue").id)
        before = (memory.find(), memory.history(kept.id))
        identity = memory.parts.store.identity
    with Memory(_open_bucket(tmp_path), embedder="hashing") as memory:
        assert (memory.find(), memory.history(kept.id)) == before
        assert memory.parts.store.identity == identity


def test_a_second_writer_of_a_bucket_is_refused(tmp_path: Path) -> None:
    first = Memory(_open_bucket(tmp_path), embedder="hashing")
    second = Memory(_open_bucket(tmp_path), embedder="hashing")
    first.remember("one")
    with pytest.raises(Unavailable, match="another process"):
        second.remember("two")
    first.close()
    assert second.count() == 0, "what was refused is undone"
    with Memory(_open_bucket(tmp_path), embedder="hashing") as memory:
        assert [record.text for record in memory.find()] == ["one"]


class TestHouseEmbedder(EmbedderContract):
    """The custom embedder keeps the laws of embedders."""

    def make(self) -> Embedder:
        module = _load("custom_embedder")
        made: Embedder = module.HouseEmbedder(embedder_of("hashing:64"), module.GLOSSARY, module.VERSION)
        return made
