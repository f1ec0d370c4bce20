"""The command line as a process: exit codes, streams, colours, terminals."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys

import pytest
from tests.timing import within
from tests.unit.cli.shell import Shell

from eidet import __version__

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def in_terminal(eidet: Shell, *words: str, typed: str = "", **more: str) -> tuple[int, str]:
    """Runs a command on a terminal of its own; exit code and all that appeared."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "eidet.cli", *words]
        environment = eidet.environment(TERM="xterm-256color", **more)
        with subprocess.Popen(
            command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.write(ours, typed.encode())
            return process.wait(60), _seen(ours)
    finally:
        os.close(ours)
        os.close(theirs)


def _seen(terminal: int) -> str:
    seen = b""
    while select.select([terminal], [], [], 0.2)[0]:
        seen += os.read(terminal, 65536)
    return seen.decode().replace("\r\n", "\n")


def test_the_version_is_told(eidet: Shell) -> None:
    assert eidet.process_anew("--version").out == f"eidet {__version__}\n"


def test_help_is_quick_and_names_every_command(eidet: Shell) -> None:
    said = within(5, lambda: eidet.process_anew("--help"))
    names = "demo remember recall context find show forget stats export load rebuild doctor eval"
    assert all(name in said.out for name in [*names.split(), "scopes", "--install-completion"])


def test_help_imports_nothing_heavy(eidet: Shell) -> None:
    code = (
        "import sys, eidet.cli; print([m for m in ('numpy', 'sqlalchemy', 'rich.table') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("recall",), 2),
        (("nonsense",), 2),
        (("remember", "x", "--step", "soon"), 2),
        (("recall", "x", "--limit", "many"), 2),
        (("recall", "x", "--config", "no-such.toml"), 7),
        (("stats",), 3),
        (("remember", "x", "--at", "no-folder/x.db"), 7),
        (("remember", "x", "--embedder", "nonsense"), 7),
        (("stats", "--at", "broken.db"), 6),
        (("stats", "--at", "nowhere://x"), 7),
    ],
)
def test_exit_codes_and_streams(eidet: Shell, words: tuple[str, ...], code: int) -> None:
    (eidet.folder / "broken.db").write_text("this is no database")
    said = eidet.process(*words)
    assert (said.code, said.out) == (code, "")
    assert said.err
    assert "Traceback" not in said.err


def test_a_traceback_appears_when_asked_for(eidet: Shell) -> None:
    said = eidet.process("stats", EIDET_TRACEBACK="1")
    assert said.code != 0
    assert "Traceback" in said.err


def test_piped_output_has_no_colours_and_no_progress(eidet: Shell) -> None:
    notes = eidet.folder / "notes.txt"
    notes.write_text("\n".join(f"note {n}" for n in range(1500)))
    for words in (("remember", "--file", str(notes)), ("recall", "note 7"), ("stats",), ("doctor",)):
        said = eidet.process(*words)
        assert said.code == 0
        assert said.err == ""
        assert "\x1b" not in said.out


def test_a_terminal_gets_colours_unless_it_wants_none(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Lisbon")
    _, coloured = in_terminal(eidet, "recall", "Lisbon")
    _, plain = in_terminal(eidet, "recall", "Lisbon", NO_COLOR="1")
    colours = re.compile(r"\x1b\[(?:\d+;)*3[0-7]m")
    assert colours.search(coloured)
    assert not colours.search(plain)
    assert "Ann lives in Lisbon" in COLOUR.sub("", plain)


def test_json_is_the_same_on_a_terminal(eidet: Shell) -> None:
    eidet("remember", "Ann lives in Lisbon", "--id", "ann")
    _, seen = in_terminal(eidet, "find", "--json")
    assert "\x1b" not in seen
    assert seen.startswith('{"id":"ann"')


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1)])
def test_forget_asks_on_a_terminal(eidet: Shell, answer: str, code: int, left: int) -> None:
    eidet("remember", "Ann lives in Lisbon", "--id", "ann")
    ended, seen = in_terminal(eidet, "forget", "ann", typed=answer)
    assert "Forget 1 of scope default for good?" in seen
    assert ended == code
    assert eidet("stats", "--json").json["records"] == left


def test_a_reader_that_leaves_early_sees_no_traceback(eidet: Shell) -> None:
    eidet("remember", "--file", "-", input="\n".join(f"note {n}" for n in range(900)))
    find = [sys.executable, "-m", "eidet.cli", "find", "--limit", "900", "--json"]
    with subprocess.Popen(
        find, env=eidet.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
