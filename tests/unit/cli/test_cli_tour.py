"""`eidet tour` runs what it shows, waits only for people, and leaves nothing behind."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

from eidet.cli.tour_command import capture, open_quietly, read_body
from eidet.cli.tour_steps import STEPS, ask_server
from eidet.memory import Memory

NARROW = 78  # columns that are left for code


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_quietly(tmp_path_factory.mktemp("tour") / "tour.db") as opened:
        yield opened


def test_each_step_shows_its_idea(memory: Memory) -> None:
    said = {step.title: capture(step.run, memory) for step in STEPS}
    assert "I promised Mr. Lund a table" in said["Remember"]
    assert "opens at nine" in said["Recall, and why"]
    assert "has workshop" in said["Recall, and why"]
    assert "Lund" in said["A block for your prompt"]
    assert "ann: Her workshop" in said["Users and scopes"]
    assert "bob: Bob's workshop" in said["Users and scopes"]
    assert said["Facts that change"].split("\n") == [
        "in March: Ann lives in Lisbon",
        "now:      Ann lives in Porto",
    ]
    told = " ".join(said["Forget, with a receipt"].split())
    assert told == "records erased: 1 receipt valid: True gone everywhere: True told again: refused"


@pytest.mark.parametrize("run", [*(step.run for step in STEPS), ask_server])
def test_the_code_that_is_shown_is_whole_and_narrow(run: object) -> None:
    shown = read_body(run)  # type: ignore[arg-type]
    ast.parse(shown)
    assert max(map(len, shown.splitlines())) <= NARROW


def test_the_tour_runs_piped_without_waiting(eidet: Shell) -> None:
    said = eidet.process("tour", EIDET_GUARD="redact", EIDET_AUDIT=str(eidet.folder / "audit.jsonl"))
    assert (said.code, said.err) == (0, "")
    assert "\x1b" not in said.out
    assert "7/7  The server" in said.out
    assert said.out.count("I promised Mr. Lund a table by 12 June.") >= 2
    assert "eidet init" in said.out
    assert list(eidet.folder.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_enter_goes_on_and_q_stops(eidet: Shell) -> None:
    import pty

    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(eidet.folder)
        os.execve(sys.executable, [sys.executable, "-m", "eidet.cli", "tour"], eidet.environment())
    shown = b""
    answers = [b"\n", b"q\n"]
    try:
        while True:
            shown += os.read(terminal, 65536)
            if shown.count(b"Enter goes on") > 2 - len(answers):
                os.write(terminal, answers.pop(0))
    except OSError:  # the terminal is gone with its program
        pass
    finally:
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    text = shown.decode()
    assert ["1/7" in text, "2/7" in text, "3/7" in text] == [True, True, False]
    assert "What to try next" in text
    assert list(Path(eidet.folder).iterdir()) == []
