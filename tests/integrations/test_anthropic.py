"""Claude's memory tool, judged by the SDK's own tests and by its tool for the file system, word for word."""

from __future__ import annotations

import asyncio
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.integrations.conftest import Reopen
from tests.integrations.needs import need
from tests.integrations.promises import cancel_at_once
from tests.integrations.upstream import Upstream, judge
from tests.servers.scripted import Handler, ScriptedServer

need("anthropic.lib", "anthropic")

from anthropic.lib.tools import ToolError  # noqa: E402
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool  # noqa: E402

from eidet import Memory  # noqa: E402
from eidet.compat.agents import AgentWithMemory  # noqa: E402
from eidet.core.record import key_id  # noqa: E402
from eidet.integrations.anthropic import AsyncEidetMemoryTool, EidetMemoryTool  # noqa: E402

SHIM = """
from eidet import Memory
from eidet.integrations.anthropic import AsyncEidetMemoryTool, EidetMemoryTool

tools = {}

class File:
    def __init__(self, files, path):
        self.files, self.path = files, path

    def __truediv__(self, name):
        return File(self.files, self.path + "/" + name)

    def write_bytes(self, content):
        self.files.write(self.path, content.decode())

    def read_bytes(self):
        return self.files.read(self.path).encode()

    def is_dir(self):
        return self.files.is_folder(self.path)

class AsyncFile(File):
    async def is_dir(self):
        return self.files.is_folder(self.path)

class BetaLocalFilesystemMemoryTool(EidetMemoryTool):
    def __init__(self, base_path="./memory"):
        super().__init__(Memory())
        self.base_path, self.memory_root = base_path, File(self.files, "/memories")
        tools[str(base_path)] = self

class BetaAsyncLocalFilesystemMemoryTool(AsyncEidetMemoryTool):
    def __init__(self, base_path="./memory"):
        super().__init__(Memory())
        self.base_path, self.memory_root = base_path, AsyncFile(self.commands.files, "/memories")
        tools[str(base_path)] = self

def get_directory_snapshot(base_path):
    tool = tools[str(base_path)]
    files = tool.files if isinstance(tool, EidetMemoryTool) else tool.commands.files
    found = {}
    for path in files.list_below("/memories"):
        text = files.read(path)
        if text is not None:
            found[path.removeprefix("/")] = text
    return found
"""
FILESYSTEM = Upstream(
    requirement="anthropic==2.8.0",
    sha256="d34e389ba0544cd64e033eb7475f46cc1ac6f2a388cdcd472b33ad4ac29ef40c",
    files=["tests/lib/tools/memory_tools/test_filesystem.py"],
    copied=["tests/lib/tools/memory_tools"],
    changes={
        "tests/lib/tools/memory_tools/test_filesystem.py": [
            ("from anthropic.lib.tools._beta_builtin_memory_tool import (", "from eidet_shim import ("),
            ("def get_directory_snapshot(", "def _snapshot_of_a_folder("),
            (
                "@pytest.fixture\ndef temp_directory",
                "from eidet_shim import get_directory_snapshot\n\n\n@pytest.fixture\ndef temp_directory",
            ),
        ]
    },
    shim=SHIM,
)


def test_the_sdk_judges(tmp_path: Path) -> None:
    verdict = judge(FILESYSTEM, tmp_path)
    assert verdict.failed == set(OF_A_DISK), verdict.said
    assert len(verdict.passed) >= 69


SYNC, ASYNC = "TestBetaLocalFilesystemMemoryTool", "TestBetaAsyncLocalFilesystemMemoryTool"
OF_A_DISK = {
    f"{SYNC}::test_mkdir_parents_not_world_writable_under_permissive_umask": "rights of folders",
    f"{ASYNC}::test_mkdir_parents_not_world_writable_under_permissive_umask": "rights of folders",
    f"{SYNC}::test_view_error_for_files_with_too_many_lines": "a record has at most a million characters",
    f"{ASYNC}::test_view_error_for_files_with_too_many_lines": "a record has at most a million characters",
    f"{ASYNC}::test_view_preserves_crlf_line_endings": "writes to the disk; the same test passes in sync",
    f"{ASYNC}::test_str_replace_preserves_crlf_line_endings": "writes to the disk, as above",
    f"{ASYNC}::test_insert_preserves_crlf_line_endings": "writes to the disk, as above",
    f"{ASYNC}::test_validate_path_returns_resolved_path_not_symlink_target": "links of a disk",
    f"{SYNC}::test_symlink_validation_reject_symlink_pointing_outside_memories": "links of a disk",
    f"{ASYNC}::test_symlink_validation_reject_symlink_pointing_outside_memories": "links of a disk",
    f"{SYNC}::test_symlink_validation_reject_creating_files_through_symlink_pointing_outside": "links",
    f"{ASYNC}::test_symlink_validation_reject_creating_files_through_symlink_pointing_outside": "links",
    f"{SYNC}::test_symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside": "links",
    f"{ASYNC}::test_symlink_validation_reject_parent_directory_that_is_symlink_pointing_outside": "links",
}

PATHS = st.sampled_from(
    [
        "/memories",
        "/memories/",
        "/memories/a.txt",
        "/memories/b",
        "/memories/b/c.txt",
        "/memories/b/d/e.txt",
        "/memories/b/d/",
        "/memories/b/../a.txt",
        "/memories/./a.txt",
        "/memories/.hidden",
        "/memories/a.txt/x",
        "/memoriesa.txt",
        "/memories/../x",
        "/etc",
    ]
)
TEXTS = st.sampled_from(
    ["", " ", "x", "a\nb\n", "a\nb", "a\r\nb\r\n", "aa", "\n", "a\na", "héé\n\n", "x" * 1500]
)
LINES = st.integers(-1, 4)
VIEW = st.fixed_dictionaries(
    {"command": st.just("view"), "path": PATHS},
    optional={"view_range": st.one_of(st.none(), st.lists(LINES, min_size=2, max_size=2))},
)
COMMANDS = st.one_of(
    VIEW,
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {"command": st.just("str_replace"), "path": PATHS, "old_str": TEXTS, "new_str": TEXTS}
    ),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": PATHS, "insert_line": LINES, "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("rename"), "old_path": PATHS, "new_path": PATHS}),
)


FOLDER = re.compile(r"(?<=hidden items:\n)[\d.]+[BKMG]\t|^[\d.]+[BKMG]\t(?=.*/$)", re.MULTILINE)


def run(tool: Any, command: dict[str, Any]) -> tuple[str, str]:
    try:
        return "done", FOLDER.sub("-\t", tool.call(dict(command)))  # a disk says how large folders are
    except ToolError as error:
        return "refused", str(error)
    except OSError:
        return "refused", ""


@given(st.lists(COMMANDS, max_size=14))
def test_it_answers_as_the_tool_for_the_file_system_does(commands: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory() as memory:
        theirs, ours = BetaLocalFilesystemMemoryTool(base_path=folder), EidetMemoryTool(memory)
        for command in [*commands, {"command": "view", "path": "/memories"}]:
            expected, given = run(theirs, command), run(ours, command)
            if expected == ("refused", ""):  # an error of the disk; ours tells the model what was wrong
                assert given[0] == "refused", command
            else:
                assert given == expected, command


def test_a_file_is_created_once_and_no_edit_is_lost(reopen: Reopen) -> None:
    paths = [f"/memories/{number}.txt" for number in range(5)]
    with reopen() as memory:
        tools = [EidetMemoryTool(memory) for _ in range(8)]
        EidetMemoryTool(memory).call({"command": "create", "path": "/memories/log.txt", "file_text": "0\n"})

        def work(number: int) -> int:
            log = {
                "command": "insert",
                "path": "/memories/log.txt",
                "insert_line": 1,
                "insert_text": str(number),
            }
            tools[number].call(log)
            made = [
                run(tools[number], {"command": "create", "path": path, "file_text": f"{number}"})
                for path in paths
            ]
            return sum(answer == "done" for answer, _ in made)

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(work, range(8))) == len(paths)
        log = memory.get(key_id("/memories/log.txt"))
        assert log is not None
        assert sorted(log.text.split()) == sorted(["0", *map(str, range(8))])


def test_a_rename_of_nothing_into_a_file_says_what_is_missing() -> None:
    with tempfile.TemporaryDirectory() as folder, Memory() as memory:
        theirs, ours = BetaLocalFilesystemMemoryTool(base_path=folder), EidetMemoryTool(memory)
        commands = [
            {"command": "create", "path": "/memories/a.txt", "file_text": "x"},
            {"command": "rename", "old_path": "/memories/none/x", "new_path": "/memories/a.txt/x"},
        ]
        assert [run(ours, command) for command in commands] == [run(theirs, command) for command in commands]


@pytest.mark.parametrize("command", ["view", "create", "str_replace", "insert", "delete", "rename"])
def test_a_path_holds_no_nul(command: str) -> None:
    path = "/memories/a\0b"
    arguments: dict[str, dict[str, Any]] = {
        "view": {"path": path},
        "create": {"path": path, "file_text": "x"},
        "str_replace": {"path": path, "old_str": "a", "new_str": "b"},
        "insert": {"path": path, "insert_line": 0, "insert_text": "x"},
        "delete": {"path": path},
        "rename": {"old_path": "/memories/a", "new_path": path},
    }
    with Memory() as memory, pytest.raises(ToolError, match="NUL"):
        EidetMemoryTool(memory).call({"command": command, **arguments[command]})


def test_a_note_is_there_after_a_restart_and_only_in_its_scope(reopen: Reopen) -> None:
    note = {"command": "create", "path": "/memories/ann.md", "file_text": "Ann prefers aisle seats.\n"}
    with reopen() as memory:
        EidetMemoryTool(memory, scope="ann").call(note)
    with reopen() as memory:
        shown = EidetMemoryTool(memory, scope="ann").call({"command": "view", "path": "/memories/ann.md"})
        assert "aisle" in str(shown)
        assert "aisle" in memory.recall("Which seat does Ann want?", scope="ann")[0].text
        with pytest.raises(ToolError, match="does not exist"):
            EidetMemoryTool(memory, scope="bob").call({"command": "view", "path": "/memories/ann.md"})


def test_the_async_tool_finishes_what_it_began(reopen: Reopen) -> None:
    async def cancel(tool: AsyncEidetMemoryTool) -> str:
        note = {"command": "create", "path": "/memories/a.md", "file_text": "one"}
        await cancel_at_once(tool.call(note))
        return str(await tool.call({"command": "view", "path": "/memories/a.md"}))

    with reopen() as memory:
        assert "one" in asyncio.run(cancel(AsyncEidetMemoryTool(memory)))


def test_an_agent_without_a_client_speaks_through_the_sdk() -> None:
    def answer(handler: Handler, body: Any) -> None:
        head = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        usage = {"input_tokens": 1, "output_tokens": 1}
        content = [{"type": "text", "text": "hello"}]
        handler.give_json(200, head | {"content": content, "stop_reason": "end_turn", "usage": usage})

    with ScriptedServer(answer).running() as server:
        agent = AgentWithMemory(model="a-model", api_key="mine", base_url=server.url.removesuffix("/v1"))
        assert asyncio.run(agent.run("hi")) == "hello"
        agent.client.close()
    path, headers = server.seen[0]
    assert path == "/v1/messages"
    assert "mine" in " ".join(headers.values())
