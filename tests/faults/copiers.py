"""Programs that copy, slowly enough to be stopped on the way; see `test_copy_faults.py`."""

from __future__ import annotations

import sys
import time

from tests.faults.children import tell

from eidet.cli import app
from eidet.copy import copy
from eidet.copy.arriving import Arrivals

_take_in = Arrivals.take_in


def slowly(source: str, target: str) -> None:
    """Copies with a pause after each batch, told batch by batch."""

    def told(done: int, total: int) -> None:
        time.sleep(0.02)
        tell([done, total])

    tell("begun")
    copied = copy(source, target, progress=told)
    tell([copied.ok, copied.created])


def together(source: str, target: str) -> None:
    """As fast as it goes, beside another one."""
    copied = copy(source, target)
    tell([copied.ok, copied.created])


def command(source: str, target: str) -> None:
    """The same by the command line, which is told of every batch."""
    Arrivals.take_in = _told_take_in  # type: ignore[method-assign, assignment]
    sys.argv = ["eidet", "copy", source, target]
    app(prog_name="eidet")


def _told_take_in(arrivals: Arrivals, batch: list[object]) -> None:
    _take_in(arrivals, batch)  # type: ignore[arg-type]
    tell(len(batch))
    time.sleep(0.05)
