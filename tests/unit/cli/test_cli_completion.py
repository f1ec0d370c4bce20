"""Shells complete commands and options: by the protocol of each shell, and in those that are installed."""

from __future__ import annotations

import shutil
import subprocess
import sys

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
def test_a_shell_is_told_what_fits(eidet: Shell, shell: str) -> None:
    said = eidet.process(**ask(shell, "eidet keys ma"))
    assert "master" in said.out
    assert "api" not in said.out
    assert said.err == ""


IN_BASH = """
source "$SCRIPT"
COMP_WORDS=(eidet recall --li); COMP_CWORD=2
_eidet_completion "$COMMAND"
echo "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_an_option(eidet: Shell) -> None:
    script, command = eidet.folder / "complete.sh", eidet.folder / "eidet"
    shown = eidet.process(**{COMPLETING: "source_bash"})
    assert (shown.code, shown.err) == (0, "")
    script.write_text(shown.out)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m eidet.cli "$@"\n')
    command.chmod(0o700)
    environment = eidet.environment(SCRIPT=str(script), COMMAND=str(command))
    said = subprocess.check_output(
        ["bash", "-c", IN_BASH], env=environment, cwd=eidet.folder, text=True, timeout=60
    )
    assert said.split() == ["--limit"]
