"""What adapters share: errors for missing frameworks, writes that outlive a cancellation, rising times,
keys of what may be sent twice, and the cosine of a record."""

from __future__ import annotations

import asyncio
import math
import operator
import re
import threading
from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final, TypeVar

from ..core.draft import Draft
from ..core.errors import MissingExtra
from ..core.record import Record, key_id
from ..core.where import Where
from ..memory import Memory
from ..models.embed.quantise import dequantise

T = TypeVar("T")

_UNSAFE: Final = re.compile(r"[^\w .,:;@+=~!'()-]|^\s|\s$|\n")  # in a label of a scope
MOST: Final = 1_000_000  # records of one `find`
PAGE: Final = 10_000  # records that are read at once
STEP: Final = 1e-6  # seconds between two things that are stored at once


def make_missing(framework: str, extra: str) -> MissingExtra:
    """The error to raise when a framework cannot be imported; it names the command that installs it."""
    return MissingExtra(f"the adapter to {framework}", extra=extra)


def quote_label(label: str) -> str:
    """Any text as a label of a scope, in percent signs where needed; `urllib.parse.unquote` reads it back."""
    return _UNSAFE.sub(_percent, label)


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode())


async def finish(work: Callable[[], T]) -> T:
    """Runs work in a thread and waits for its end, even if the caller is cancelled meanwhile.

    So whoever is cancelled knows that a write was made or failed. The cancellation is raised afterwards.
    """
    task = asyncio.ensure_future(asyncio.to_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        task.exception()  # mark it as seen: the cancellation is what is raised
        raise cancelled
    return task.result()


class RisingTimes:
    """Times that rise by at least a microsecond, so that what is stored at once keeps its order."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last = 0.0

    def take(self, count: int) -> list[float]:
        with self._lock:
            start = max(self._clock(), self._last + STEP)
            times = [start + number * STEP for number in range(count)]
            if times:
                self._last = times[-1]
            return times


def drop_known(memory: Memory, drafts: Sequence[Draft], scope: str) -> list[Draft]:
    """The drafts whose keys are not stored yet, each key once; for whoever may send a thing twice."""
    fresh: dict[str, Draft] = {}
    for draft in drafts:
        fresh.setdefault(key_id(draft.key or ""), draft)
    for record in memory.get(list(fresh), scope=scope):
        if record is not None:
            del fresh[record.id]
    return list(fresh.values())


def read_all(
    memory: Memory, where: Where, scope: str, *, session: str | None = None, newest: int | None = None
) -> list[Record]:
    """Whole records that match, oldest first; only so many of the newest, if that is said."""
    if newest is not None:
        found = memory.find(where, scope=scope, session=session, order="-occurred", limit=min(newest, MOST))
        return [record.whole for record in reversed(found)]
    records: list[Record] = []
    while True:
        page = memory.find(
            where, scope=scope, session=session, order="occurred", limit=PAGE, offset=len(records)
        )
        records += [record.whole for record in page]
        if len(page) < PAGE:
            return records


def join_key(*parts: str) -> str:
    """One key made of several parts."""
    return "\x1f".join(parts)


def digest_text(text: str) -> str:
    """A short hash, for keys of things that have no name."""
    return blake2b(text.encode(), digest_size=12).hexdigest()


def read_vectors(record: Record, width: int) -> list[Sequence[float]]:
    """Its vectors, one for each part of its text, also where a lower tier keeps fewer bits of them."""
    if record.vector is None:
        return []
    numbers = array("f", dequantise(record.vector, record.level, width))
    return [numbers[start : start + width] for start in range(0, len(numbers), width)]


def find_cosine(record: Record, asked: Sequence[float]) -> float:
    """The cosine of the nearest part of its text, at least 0; 0 without vectors."""
    best, size = 0.0, math.hypot(*asked)
    for vector in read_vectors(record, len(asked)):
        length = size * math.hypot(*vector)
        if length > 0:
            best = max(best, sum(map(operator.mul, asked, vector)) / length)
    return best
