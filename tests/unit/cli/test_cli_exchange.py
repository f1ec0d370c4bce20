"""`eidet import` and `eidet export --format`, and every command that docs/guides/importing.md shows."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from tests.reference import ROOT
from tests.unit.cli.shell import Shell
from tests.unit.exchange.sources import FOREIGN

from eidet import Memory

PAGE = (ROOT / "docs" / "guides" / "importing.md").read_text(encoding="utf-8")


@pytest.fixture
def foreign(eidet: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A folder with the files that the page names."""
    for path in FOREIGN.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            shutil.copytree(path, eidet.folder / path.name)
    monkeypatch.chdir(eidet.folder)
    return eidet


def list_commands() -> list[tuple[str, list[str]]]:
    """The commands of the page, each with the lines that it prints there."""
    commands: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ eidet "):
                commands.append((line.removeprefix("$ eidet "), []))
            else:
                commands[-1][1].append(line)
    return commands


def test_every_command_of_the_page_runs_and_prints_what_it_shows(foreign: Shell) -> None:
    commands = list_commands()
    assert len(commands) >= 15
    for command, shown in commands:
        said = foreign(*shlex.split(command))
        assert said.code == 0, (command, said)
        if shown:
            assert said.out.splitlines() == shown


def test_a_dry_run_makes_no_memory(foreign: Shell) -> None:
    said = foreign("import", "jsonl", "tables/notes.jsonl", "--dry-run", "--json")
    assert said.code == 0
    assert (said.json["created"], said.json["dry_run"]) == (6, True)
    assert not foreign.file.exists()


def test_a_dry_run_compares_with_the_memory_there_is(foreign: Shell) -> None:
    foreign("import", "jsonl", "tables/notes.jsonl")
    said = foreign("import", "jsonl", "tables/notes.jsonl", "--dry-run", "--json").json
    assert (said["created"], said["same"]) == (0, 6)


def test_bad_input_makes_no_memory(foreign: Shell) -> None:
    for words in (("jsonl", "mem0/get_all.json"), ("csv", "nowhere.csv"), ("nope", "x"), ("mcp", "mem0")):
        said = foreign("import", *words)
        assert said.code in (2, 3)
        assert said.err.startswith("error: ")
        assert not foreign.file.exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"role": "user", "content": 5}', "text needs a string"),
        ('{"role": "user", "content": ""', "is not JSON"),
        ('{"role": "user", "content": "x", "timestamp": "noon"}', "noon"),
        ('{"role": "user", "content": "x", "metadata": 5}', "meta is not a JSON object"),
        ('{"role": null, "content": "x"}', "role needs a string"),
        ('{"role": "", "content": "x"}', "who must have"),
        ("5", "is neither a JSON object nor a text"),
        ("[" * 100_000, "is not JSON"),
    ],
)
@pytest.mark.parametrize("piped", [False, True])
def test_a_bad_message_is_named_by_file_and_line(eidet: Shell, line: str, why: str, piped: bool) -> None:
    lines = '{"role": "user", "content": "fine"}\n\n' + line + "\n"
    file = eidet.folder / "chat.jsonl"
    file.write_text(lines)
    said = eidet("import", "jsonl", "-", input=lines) if piped else eidet("import", "jsonl", str(file))
    assert said.code == 2
    assert f"error: {'-' if piped else file.name}, line 3: " in said.err
    assert why in said.err
    assert not eidet.file.exists()


def test_messages_of_standard_input_keep_their_role_and_what_else_they_say(eidet: Shell) -> None:
    parts = [{"type": "text", "text": "Where is the kiln?"}, {"type": "image_url", "image_url": {"url": "x"}}]
    chat = [
        {"role": "user", "content": parts, "timestamp": "2026-03-02T10:00:00+00:00", "session": "s1"},
        {"role": "assistant", "content": "In the shed.", "model": "m1", "metadata": {"cost": 2}},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "tool", "content": "done", "tool_call_id": "1"},
    ]
    lines = "\n\n".join(map(json.dumps, chat))
    said = eidet("import", "jsonl", "-", "--json", input=lines).json
    assert (said["created"], said["source"]) == (4, "-")
    assert eidet("import", "jsonl", "-", "--json", input=lines).json["same"] == 4
    user, assistant, call, tool = eidet("find", "--order", "seq", "--json").lines
    assert (user["kind"], user["who"], user["occurred"]) == ("message", "user", "2026-03-02T10:00:00+00:00")
    assert (user["text"], user["session"], user["data"]["content"]) == ("Where is the kiln?", "s1", parts)
    assert assistant["meta"] == {"model": "m1", "cost": 2}
    assert call["data"]["tool_calls"] == [{"id": "1"}]
    assert (tool["text"], tool["trust"]) == ("done", "tool")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_read_once_and_imported_whole(eidet: Shell) -> None:
    pipe = eidet.folder / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_text, args=('{"role": "user", "content": "fine"}\n',), daemon=True)
    writer.start()
    assert eidet("import", "jsonl", str(pipe), "--json").json["created"] == 1
    writer.join()


def test_the_report_says_what_had_no_place(foreign: Shell) -> None:
    said = foreign("import", "chatgpt", "chatgpt/conversations.json", "--scope", "me/{session}")
    assert said.out.splitlines()[2].split() == ["me/conv-1", "5"]
    assert "skipped 1: is on a branch that was left" in said.out.splitlines()
    assert "message a1: is on a branch that was left" in said.err


def test_conflicts_end_with_code_1_and_say_what_to_do(foreign: Shell) -> None:
    foreign("import", "jsonl", "tables/notes.jsonl")
    with Memory(foreign.file) as memory:
        memory.revise("j1", scope="ann", text="Ann lives in Faro")
    said = foreign("import", "jsonl", "tables/notes.jsonl")
    assert said.code == 1
    assert "1 that differ, unchanged" in said.out
    assert "notes.jsonl, line 1: its id is taken" in said.err
    assert "`--overwrite` takes what the source says" in said.err
    assert foreign("import", "jsonl", "tables/notes.jsonl", "--overwrite", "--json").json["changed"] == 1


def test_columns_are_checked(foreign: Shell) -> None:
    said = foreign("import", "csv", "tables/notes.csv", "--column", "text")
    assert (said.code, said.err) == (2, "error: --column takes field=column, not 'text'\n")


KILLED = """
import os, signal, threading
from eidet import Memory
from eidet.exchange import import_memories

def kill(done, total):
    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()

import_memories(Memory("eidet.db", embedder="hashing"), "jsonl", "many.jsonl", progress=kill)
"""


def test_a_killed_import_goes_on(foreign: Shell) -> None:
    """Killed in the middle of a batch, it loses no batch that it had stored, and doubles none."""
    lines = [f'{{"id": "n{number}", "text": "note {number}"}}' for number in range(2500)]
    Path("many.jsonl").write_text("\n".join(lines))
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], env=foreign.environment(), cwd=foreign.folder, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    with Memory(foreign.file) as memory:
        there = memory.count()
    assert 500 <= there < 2500
    assert there % 500 == 0
    again = foreign("import", "jsonl", "many.jsonl", "--json")
    assert again.code == 0, again
    assert (again.json["created"], again.json["same"]) == (2500 - there, there)


def test_exports_are_told(foreign: Shell) -> None:
    foreign("remember", "Ann lives in Lisbon")
    said = foreign("export", "out.jsonl", "--format", "jsonl", "--json")
    assert said.json == {"exported": 1, "file": "out.jsonl", "left_out": {}}
    said = foreign("export", "out.mcp", "--format", "mcp")
    assert said.out == "exported 3 lines of every scope to out.mcp\n"
    assert foreign("export", "out", "--format", "nope").code == 2


def test_the_default_export_is_the_lossless_one(foreign: Shell) -> None:
    foreign("remember", "Ann lives in Lisbon")
    foreign("export", "out.jsonl")
    said = foreign("import", "jsonl", "out.jsonl")
    assert said.code == 2
    assert "`eidet load` reads it" in said.err
    assert foreign("load", "out.jsonl", "--at", "other.db").code == 0


@pytest.fixture
def handbook(eidet: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A folder with two documents and a file that cannot be read."""
    monkeypatch.chdir(eidet.folder)
    Path("handbook").mkdir()
    Path("handbook/leave.md").write_text("# Leave\n\nTwo weeks ahead.\n\n# Pay\n\nMonthly.\n")
    Path("handbook/note.txt").write_text("Milk")
    Path("handbook/bad.txt").write_bytes(b"\0")
    return eidet


def test_a_folder_is_synced_as_its_dry_run_says(handbook: Shell) -> None:
    words = ("sync", "handbook", "--as", "kb", "--scope", "team")
    told = handbook(*words, "--dry-run")
    listed = ["kb/leave.md: 2 added", "kb/note.txt: 1 added"]
    counts = "3 passages of 2 files: 3 added, 0 updated, 0 removed"
    assert told.out.splitlines() == [*listed, f"would sync {counts}"]
    assert not handbook.file.exists()
    done = handbook(*words)
    assert (done.code, done.out) == (0, f"synced {counts}\n")
    assert "skipped kb/bad.txt: it is a binary file" in done.err
    Path("handbook/note.txt").unlink()
    again = handbook(*words, "--json").json
    assert again["changes"] == [{"file": "kb/note.txt", "added": 0, "updated": 0, "removed": 1}]
    assert "leave.md › Pay" in handbook("recall", "paid monthly", "--scope", "team").out


@pytest.mark.parametrize(("path", "code"), [("nowhere", 3), ("handbook/bad.txt", 2)])
def test_a_sync_of_what_cannot_be_read_is_refused(handbook: Shell, path: str, code: int) -> None:
    said = handbook("sync", path)
    assert said.code == code
    assert said.err.startswith("error: ")
    assert not handbook.file.exists() or Memory(handbook.file).count() == 0
