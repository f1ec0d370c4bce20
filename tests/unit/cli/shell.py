"""The command line as tests use it: in this process, or as a process of its own."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
import typer.testing
from tests.forked import run_anew, run_program
from tests.making import IS_FULL
from typer.testing import CliRunner

from eidet.cli import app

# Most of the time of a command goes into making the sixty others: they are made once for all tests.
if not IS_FULL:
    typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def ids(self) -> list[str]:
        return self.out.split()


def list_commands(group: Any = None, *before: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with its words, groups before those below them."""
    within: Any = group or typer.main.get_command(app)
    for name, one in within.commands.items():
        yield (*before, name), one
        if hasattr(one, "commands"):
            yield from list_commands(one, *before, name)


SET_BY_SERVE = ("eidet", "uvicorn", "uvicorn.access")  # `eidet serve` decides how these log


@contextmanager
def _kept_handlers() -> Iterator[None]:
    """As in a process of its own: no handler of another test, and none of the command stays behind."""
    before = list(logging.root.handlers)
    logging.root.handlers[:] = [one for one in before if type(one).__module__.startswith("_pytest")]
    own = [logging.getLogger(name) for name in SET_BY_SERVE]
    states = [(log, list(log.handlers), log.propagate, log.level) for log in own]
    try:
        yield
    finally:
        logging.root.handlers[:] = before
        for log, handlers, propagate, level in states:
            log.handlers[:], log.propagate = handlers, propagate
            log.setLevel(level)


@dataclass(frozen=True)
class Shell:
    """Runs `eidet` in a folder, on its `eidet.db`, with the hashing embedder."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "eidet.db"

    def environment(self, **more: str) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("EIDET_", "NO_COL"))
        }
        own = {"EIDET_MEMORY": str(self.file), "EIDET_EMBEDDER": "hashing", "TZ": "UTC", "COLUMNS": "90"}
        return kept | own | more

    def __call__(self, *words: str, input: str | None = None, **more: str) -> Said:
        with _kept_handlers():
            result = CliRunner(env=self.environment(**more)).invoke(app, list(words), input=input)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Said(result.exit_code, result.stdout, result.stderr)

    def process(self, *words: str, **more: str) -> Said:
        program = ["-m", "eidet.cli", *words]
        done = run_program(program, folder=self.folder, environment=self.environment(**more))
        return Said(done.code, done.out, done.err)

    def process_anew(self, *words: str, **more: str) -> Said:
        """In a new interpreter, which has nothing of Eidet yet."""
        program = ["-m", "eidet.cli", *words]
        done = run_anew(program, folder=self.folder, environment=self.environment(**more))
        return Said(done.code, done.out, done.err)
