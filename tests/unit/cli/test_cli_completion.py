"""Shells complete commands and options: by the protocol of each shell, and in those that are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

COMPLETING = "_EIDET_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


def ask(shell: str, line: str) -> dict[str, str]:
    """The variables with which the script of a shell asks for completions of a line."""
    own = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(max(1, len(line.split(" ")) - 1))},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    return own[shell] | {COMPLETING: f"complete_{shell}"}


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("line", "there", "absent"),
    [
        ("eidet rem", "remember", "recall"),
        ("eidet recall --li", "--limit", "--explain"),
        ("eidet keys ma", "master", "api"),
    ],
)
def test_a_shell_is_told_what_fits(eidet: Shell, shell: str, line: str, there: str, absent: str) -> None:
    said = eidet.process(**ask(shell, line))
    assert there in said.out
    assert absent not in said.out
    assert said.err == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_can_be_shown(eidet: Shell, shell: str) -> None:
    assert f"{COMPLETING}=complete_{shell}" in show_script(eidet, shell)


IN_BASH = """
source "$SCRIPT"
COMP_WORDS=(eidet recall --li); COMP_CWORD=2
_eidet_completion "$COMMAND"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_an_option(eidet: Shell) -> None:
    script, command = eidet.folder / "complete.sh", eidet.folder / "eidet"
    script.write_text(show_script(eidet, "bash"))
    write_command(command)
    more = {"SCRIPT": str(script), "COMMAND": str(command)}
    said = run_shell(["bash", "-c", IN_BASH], eidet.environment(**more), eidet.folder)
    assert said.split() == ["--limit"]


@pytest.mark.parametrize(("shell", "flag"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_script_is_one_that_the_shell_understands(eidet: Shell, shell: str, flag: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = eidet.folder / "complete"
    script.write_text(show_script(eidet, shell))
    assert run_shell([shell, flag, str(script)], eidet.environment(), eidet.folder) == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes_an_option(eidet: Shell) -> None:
    (eidet.folder / "complete.fish").write_text(show_script(eidet, "fish"))
    write_command(eidet.folder / "eidet")
    environment = eidet.environment(PATH=f"{eidet.folder}:{os.environ['PATH']}")
    line = 'source complete.fish; complete -C "eidet recall --li"'
    said = run_shell(["fish", "--no-config", "-c", line], environment, eidet.folder)
    assert said.split()[0] == "--limit"


def show_script(eidet: Shell, shell: str) -> str:
    """What somebody adds to the configuration of a shell."""
    said = eidet.process(**{COMPLETING: f"source_{shell}"})
    assert (said.code, said.err) == (0, "")
    return said.out


def write_command(path: Path) -> None:
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m eidet.cli "$@"\n')
    path.chmod(0o700)


def run_shell(command: list[str], environment: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout
