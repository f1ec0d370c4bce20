"""Numbers that are given once: across threads, processes and restarts, whatever is forgotten meanwhile.

A series may be named after a session, and settings are readable even in a sealed file. So the store
keeps a keyed hash of the name, as it does of keys.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from ..core.errors import Unavailable
from ..memory import Memory
from ..store import SETTINGS, Store, verbs

HELD_SECONDS: Final = 10.0  # a process that dies between reading and writing keeps others waiting so long
PAUSE_SECONDS: Final = 0.002
_here = threading.Lock()  # threads of one process need not wait for each other by asking the store


def next_number(memory: Memory, series: str, *, least: int = 0) -> int:
    """The next number of a series, `least` or more, and never the same again on this store."""
    store = memory.parts.store  # no verb gives numbers, and a record would be found
    key_ids, name = memory.parts.key_ids, series.encode()
    setting = f"number of {key_ids.mark(name)}"
    with _here, _hold_lease(store, setting):
        given = store.values(SETTINGS, [f"number of {mark}" for mark in key_ids.list_marks(name)])
        number = max(least, *map(int, given.values()), 0)
        verbs.set_settings(store, {setting: str(number + 1)})
    return number


@contextmanager
def _hold_lease(store: Store, name: str) -> Iterator[None]:
    owner, deadline = uuid.uuid4().hex, time.monotonic() + 2 * HELD_SECONDS
    while not verbs.take_lease(store, name, owner, now=time.time(), until=time.time() + HELD_SECONDS):
        if time.monotonic() > deadline:
            raise Unavailable(f"another process has held the {name} for too long", retry_after=HELD_SECONDS)
        time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        verbs.take_lease(store, name, owner, now=time.time(), until=0.0)
