"""Programs that copy, slowly enough to be stopped on the way; see `test_copy_faults.py`."""

from __future__ import annotations

import sys
import time

from tests.faults.children import tell

from eidet.cli import app
from eidet.copy import Mark, copy

_write = Mark.write


def _slow_write(mark: Mark, seq: int) -> None:
    time.sleep(0.02)
    _write(mark, seq)


def slowly(source: str, target: str) -> None:
    """Copies with a pause between what was written and the note of it, told batch by batch."""
    setattr(sys.modules["eidet.copy"], "HELD_SECONDS", 0.5)  # noqa: B010 - mypy knows no such attribute
    Mark.write = _slow_write  # type: ignore[method-assign, assignment]
    tell("begun")
    copied = copy(source, target, progress=lambda done, total: tell([done, total]))
    tell([copied.ok, copied.created])


def together(source: str, target: str) -> None:
    """As fast as it goes, beside another one."""
    copied = copy(source, target)
    tell([copied.ok, copied.created])


def command(source: str, target: str) -> None:
    """The same by the command line, which is told of every write."""
    Mark.write = _told_write  # type: ignore[method-assign, assignment]
    sys.argv = ["eidet", "copy", source, target]
    app(prog_name="eidet")


def _told_write(mark: Mark, seq: int) -> None:
    _write(mark, seq)
    tell(seq)
    time.sleep(0.05)
