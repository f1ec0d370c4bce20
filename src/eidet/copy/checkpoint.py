"""The progress of a copy, and the lease of whoever is copying: both are kept in the target."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from typing import Final, Self

from ..core.errors import Conflict
from ..core.scope import Scope
from ..core.validate import dump_json
from ..store import Store, verbs

HELD_SECONDS = 10.0
_PAUSE_SECONDS: Final = 0.1


class Mark:
    """The seq of a source up to which a scope has been copied."""

    def __init__(self, source: Store, target: Store, scope: Scope | None) -> None:
        self._source, self._target = source, target
        self._all = f"copied:{source.identity}:"
        self._name = self._all + ("" if scope is None else str(scope))

    def since(self) -> int:
        """The seq to go on from; 0 to begin anew, also if the source was restored from an older copy."""
        return max(self._read_seq(name) for name in {self._name, self._all})

    def _read_seq(self, name: str) -> int:
        text = verbs.get_setting(self._target, name)
        if text is None:
            return 0
        seq, witness = json.loads(text)
        there = verbs.fingerprint(self._source, seq)
        other = witness is not None and there is not None and there != witness
        return 0 if other or seq > self._source.head().seq else int(seq)

    def write(self, seq: int) -> None:
        text = dump_json([seq, verbs.fingerprint(self._source, seq)])
        if verbs.get_setting(self._target, self._name) != text:
            verbs.set_settings(self._target, {self._name: text})


class CopyLease:
    """One copy at a time from a source into a target, in whatever process; renewed batch by batch.

    Whoever is killed keeps the next one waiting for `HELD_SECONDS`.
    """

    def __init__(self, source: Store, target: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = target, clock
        self._name, self._owner = f"copy:{source.identity}", uuid.uuid4().hex

    def renew(self) -> bool:
        now = self._clock()
        return verbs.take_lease(self._store, self._name, self._owner, now=now, until=now + HELD_SECONDS)

    def __enter__(self) -> Self:
        deadline = time.monotonic() + 2 * HELD_SECONDS
        while not self.renew():
            if time.monotonic() > deadline:
                raise Conflict("another copy from this source into this target is running: wait for it")
            time.sleep(_PAUSE_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        verbs.take_lease(self._store, self._name, self._owner, now=self._clock(), until=0.0)
