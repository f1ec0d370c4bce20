"""A user with a home, a project and coding agents that run hooks, for tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.nursery import Forked
from tests.forked import run_program
from tests.making import IS_FULL
from tests.timing import until

from eidet import Memory, Record
from eidet.coding.hook import main
from eidet.coding.recalling import scope_of

HASHING = "hashing:256"
LONG_WAIT = "30"  # seconds that a hook may take where a test is not about time


@dataclass
class Said:
    """What a hook answered."""

    code: int
    out: str
    err: str

    @property
    def context(self) -> str:
        """The text for the agent, from whichever form it has."""
        answer = json.loads(self.out)
        inner = answer.get("hookSpecificOutput", answer)
        return str(inner.get("additionalContext") or inner.get("additional_context"))


@dataclass
class User:
    """Somebody's home and project."""

    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def at(self) -> Path:
        return self.home / ".eidet" / "memory.db"

    @property
    def scope(self) -> str:
        return scope_of(str(self.project))

    @property
    def log(self) -> str:
        file = self.home / ".eidet" / "hooks.log"
        return file.read_text() if file.exists() else ""

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.home), "USERPROFILE": str(self.home), "EIDET_EMBEDDER": HASHING}
        waits = {"EIDET_HOOKS_WAIT_SECONDS": LONG_WAIT, "EIDET_HOOKS_IDLE_SECONDS": "20"}
        return {**os.environ, **own, **waits, **self.env}

    def run(self, *words: str, given: str = "", cwd: Path | None = None) -> Said:
        ran = subprocess.run(
            [sys.executable, "-P", "-m", *words],
            input=given,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=cwd or self.project,
            timeout=60,
            check=False,
        )
        return Said(ran.returncode, ran.stdout, ran.stderr)

    def hook(self, tool: str, event: str, given: dict[str, Any] | str, *more: str) -> Said:
        text = given if isinstance(given, str) else json.dumps(given)
        return self.run("eidet.coding.hook", tool, event, *more, given=text)

    def check(self) -> str:
        """Starts the resident process, and waits until it answers."""
        if not IS_FULL:
            self._start_resident()
        return self.run("eidet.coding.hook", "claude", "check").out.strip()

    def _start_resident(self) -> None:
        """Starts it as a hook does, but from a process that has imported all of it."""
        words = json.dumps([dict(self.environment), str(self.at)])
        process = Forked([__name__, live_as_resident.__name__, words])
        process.stdin.close()
        process.stdout.close()
        until(lambda: any((self.home / ".eidet").glob("hooks-*/socket")), 60)

    def eidet(self, *words: str) -> Said:
        ended = run_program(["-m", "eidet.cli", *words], folder=self.project, environment=self.environment)
        return Said(ended.code, ended.out, ended.err)

    def remember(self, *texts: str, scope: str | None = None, **details: Any) -> None:
        self.at.parent.mkdir(mode=0o700, exist_ok=True)
        with Memory(self.at, embedder=HASHING) as memory:
            memory.remember(list(texts), scope=scope or self.scope, **details)

    def records(self, **options: Any) -> list[Record]:
        if not self.at.exists():
            return []
        with Memory(self.at, embedder=HASHING) as memory:
            return list(memory.find(scope=self.scope, order="occurred", **options))

    def texts(self, **options: Any) -> list[str]:
        return [record.text for record in self.records(**options)]

    def wait_for(self, text: str, **options: Any) -> None:
        until(lambda: any(text in one for one in self.texts(**options)), 60)


def live_as_resident(told: str) -> None:
    """In the forked process: becomes what a hook starts."""
    environment, at = json.loads(told)
    os.environ.clear()
    os.environ.update(environment)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    sys.argv = ["hook", "resident", at]
    main()
