"""A coding agent with yesterday's memory: what it was told, ran and got wrong on Monday is there on Tuesday.

    python examples/programs/coding_agent.py

The project and its commands are real; a stand-in for the model reads nothing but its prompt. What holds in a
project is in the scope of that project, what holds everywhere in the scope of the user. Both are asked at
once, and nothing is told twice in a session.

For your own use: pass your LLM client as `model`, a function from a prompt to a command, and your own folder.
If you use Claude Code, Codex, Cursor, Gemini CLI or OpenCode, `eidet integrate` does all of this with hooks.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from eidet import Memory

PROJECT, USER = "projects/billing", "user"
MONDAY, DAY = 1_779_094_800.0, 86_400.0  # 18 May 2026, 9:00
TRIES = 3
CHECK = """import os
assert "LEDGER" in os.environ, "LEDGER is not set: name the ledger to check"
print("3 checks passed on", os.environ["LEDGER"])
"""
Model = Callable[[str], str]


@dataclass
class Agent:
    """Works in a folder by commands of a model; everything it remembers is in `memory`."""

    memory: Memory
    folder: Path
    model: Model
    session: str
    told: list[str] = field(default_factory=list)  # ids of what this session was told

    def listen(self, text: str, *, everywhere: bool = False) -> None:
        """What the user says, for this project or for all of them."""
        message = {"role": "user", "content": text}
        self.memory.remember([message], scope=USER if everywhere else PROJECT, session=self.session)

    def work(self, task: str) -> None:
        known = self.memory.context(task, scope=[PROJECT, USER], budget=200, seen=self.told)
        self.told += known.sources
        print(f"task: {task}")
        for line in str(known).splitlines():
            print(f"    | {line}")
        failed, output = "", ""
        for _ in range(TRIES):
            command = self.model(f"You remember:\n{known}\n\nTask: {task}\n$ {failed}\n{output}")
            works, output = run(command, self.folder)
            print(f"  $ {command}\n    {output}")
            self.memory.remember(
                {"command": command, "works": works}, kind="action", scope=PROJECT, session=self.session
            )
            if works:
                break
            failed = command
        if works and failed:
            lesson = f"{task} `{command}` works, `{failed}` does not."
            self.memory.remember(lesson, scope=PROJECT, importance=0.8)


def run(command: str, folder: Path) -> tuple[bool, str]:
    """Runs a command with this Python, and gives the last line that it prints."""
    *settings, program, file = shlex.split(command)
    assert program == "python"
    environment = {**os.environ, **dict(setting.split("=") for setting in settings)}
    done = subprocess.run(  # noqa: S603
        [sys.executable, file], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode == 0, (done.stdout + done.stderr).strip().splitlines()[-1]


def stand_in(prompt: str) -> str:
    """What a model would do: repeat what worked, obey an error, or try the obvious."""
    if known := re.search(r"`([^`]+)` works", prompt):
        return known[1]
    if missing := re.search(r"(\w+) is not set", prompt):
        ledger = re.search(r"ledger of the tests is (\w+)", prompt)
        return f"{missing[1]}={ledger[1] if ledger else 'main'} python check.py"
    return "python check.py"


def tick(first: float) -> Iterator[float]:
    while True:
        yield first
        first += 1.0


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "check.py").write_text(CHECK)
        place = Path(folder, "memory.db")
        print("--- Monday ---")
        with Memory(place, clock=tick(MONDAY).__next__) as memory:
            agent = Agent(memory, Path(folder), stand_in, "monday")
            agent.listen("The ledger of the tests is sandbox, never main.")
            agent.listen("Keep commit messages under 50 characters.", everywhere=True)
            agent.work("Run the checks of the release.")
        print("--- Tuesday, the memory is opened again ---")
        with Memory(place, clock=tick(MONDAY + DAY).__next__) as memory:
            agent = Agent(memory, Path(folder), stand_in, "tuesday")
            agent.work("Run the checks of the release again.")
            hit = memory.recall("How long may a commit message be?", scope=[PROJECT, USER], limit=1)[0]
            print(f"How long may a commit message be?\n  {hit.text} ({hit.record.scope})")


if __name__ == "__main__":
    main()
