"""Starts functions as processes of their own, hears what they tell, and leaves none behind."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RUN = "import importlib, sys; getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(*sys.argv[3:])"
DEADLINE_SECONDS = 90.0  # a child that hangs is killed, and its test fails instead of waiting


class Child:
    """A running function: what it tells, line by line, and how it ended."""

    def __init__(
        self, program: Callable[..., None], *arguments: object, within: tuple[str, ...] = ()
    ) -> None:
        home = program.__module__
        words = [*within, sys.executable, "-W", "error", "-c", RUN, home, program.__name__, *arguments]
        self.process = subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
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


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except BrokenPipeError:  # the last words to a killed child
        return
