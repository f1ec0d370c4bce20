"""Starts functions as processes of their own, hears what they tell, and leaves none behind."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
READY = "tests.faults.ready"
FORKS = get_context("forkserver")
RUN = "import importlib, sys; getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(*sys.argv[3:])"
DEADLINE_SECONDS = 90.0  # a child that hangs is killed, and its test fails instead of waiting


class Forked:
    """A process as those of `subprocess`, born of one that has imported all it needs: in no time.

    Its environment is the one that the first of them found.
    """

    def __init__(self, words: Sequence[str]) -> None:
        FORKS.set_forkserver_preload([READY])
        with contextlib.chdir(ROOT):
            forkserver.ensure_running()
            hears, says = FORKS.Pipe(duplex=False), FORKS.Pipe(duplex=False)
            self._process = FORKS.Process(target=_live, args=(words, hears[0], says[1]), daemon=True)
            self._process.start()
        self.stdin = os.fdopen(os.dup(hears[1].fileno()), "w", encoding="utf-8")
        self.stdout = os.fdopen(os.dup(says[0].fileno()), encoding="utf-8")
        for end in (*hears, *says):
            end.close()

    def send_signal(self, signal: int) -> None:
        if self._process.is_alive():
            os.kill(self._process.pid or 0, signal)

    def kill(self) -> None:
        if self._process.is_alive():  # its number may be somebody else's by now
            self._process.kill()

    def wait(self) -> int:
        self._process.join()
        return self._process.exitcode or 0


class Child:
    """A running function: what it tells, line by line, and how it ended."""

    def __init__(
        self, program: Callable[..., None], *arguments: object, within: tuple[str, ...] = ()
    ) -> None:
        words = [str(word) for word in (program.__module__, program.__name__, *arguments)]
        self.process = _started(words, within) if within else Forked(words)
        self._deadline = threading.Timer(DEADLINE_SECONDS, self.process.kill)
        self._deadline.daemon = True
        self._deadline.start()

    def hear(self) -> Any:
        """The next thing it tells; fails if it has ended instead."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the child ended with code {self.process.wait()}"
        return json.loads(line)

    def hear_rest(self) -> list[Any]:
        """Everything it still told before it ended; a line cut off by its death is not a word."""
        assert self.process.stdout is not None
        return [json.loads(line) for line in self.process.stdout if line.endswith("\n")]

    def say(self, *words: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def result(self) -> Any:
        """The one thing it tells before it ends well."""
        told = self.hear_rest()
        assert self.process.wait() == 0
        return told[-1]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def discard(self) -> None:
        self._deadline.cancel()
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                _close(pipe)


class Nursery:
    """Starts children and ends those that are left."""

    def __init__(self) -> None:
        self._children: list[Child] = []

    def __call__(
        self, program: Callable[..., None], *arguments: object, within: tuple[str, ...] = ()
    ) -> Child:
        self._children.append(Child(program, *arguments, within=within))
        return self._children[-1]

    def close(self) -> None:
        for child in self._children:
            child.discard()


def _live(words: Sequence[str], stdin: Connection, stdout: Connection) -> None:
    """The life of a forked child, with pipes of its own."""
    warnings.simplefilter("error")
    for number, end in enumerate((stdin, stdout)):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    home, program, *arguments = words
    getattr(importlib.import_module(home), program)(*arguments)


def _started(words: Sequence[str], within: Sequence[str]) -> subprocess.Popen[str]:
    """A process that another program starts."""
    command = [*within, sys.executable, "-W", "error", "-c", RUN, *words]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # the last words to a killed child
        return
