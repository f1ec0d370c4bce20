"""A program as a process of its own, forked from one that has imported Eidet: no time goes into imports.

With full rounds it is a new interpreter instead, as it is for users.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.nursery import Forked
from tests.making import IS_FULL

LIMIT_SECONDS = 60


@dataclass(frozen=True)
class Ended:
    """How a program ended, and what it wrote."""

    code: int
    out: str
    err: str


def run_program(words: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> Ended:
    """Runs `python -W error WORDS`, where WORDS are a path or `-m` and a module, and then arguments."""
    return (run_anew if IS_FULL else _run_forked)(words, folder=folder, environment=environment)


def run_anew(words: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> Ended:
    done = subprocess.run(
        [sys.executable, "-W", "error", *words],
        env=dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def _run_forked(words: Sequence[str], *, folder: Path, environment: Mapping[str, str]) -> Ended:
    with tempfile.TemporaryDirectory() as written:
        told = json.dumps([list(words), str(folder), dict(environment), written])
        process = Forked([__name__, live_as.__name__, told])
        process.stdin.close()
        process.stdout.read()
        process.stdout.close()
        code = process.wait()
        return Ended(code, *(Path(written, name).read_text() for name in ("out", "err")))


def live_as(told: str) -> None:
    """In the forked process: becomes the program."""
    words, folder, environment, written = json.loads(told)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, name in ((1, "out"), (2, "err")):
        with Path(written, name).open("w") as file:
            os.dup2(file.fileno(), number)
    name, *arguments = words if words[0] != "-m" else words[1:]
    sys.argv = [name, *arguments]
    if words[0] == "-m":
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(name, run_name="__main__")
