"""Idempotency keys: a retried POST stores nothing twice, across workers and after kill -9.

The first request with a key takes a lease on it in the store. The lease holds a keyed hash of the request and
its time. Ids and times of the records are derived from the lease, so that a second attempt writes the same
records, which the store leaves unchanged. When a record stored under the key is forgotten, the hash is
removed and the lease stays, so that no retry brings the record back. Each new key may clear old ones.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from typing import Annotated, Any, Final

from fastapi import Header

from ...core.draft import Draft
from ...core.hit import Rejected
from ...core.record import Record, key_id
from ...parts import Parts
from ...store import verbs
from ...store.verbs.values import ONCE, ONCE_SECONDS
from ...text.speakers import says_when
from ..errors import Problem
from ..serving import Grant

DAY: Final = ONCE_SECONDS  # seconds for which a key is remembered
PREFIX: Final = ONCE
_CLEARS: Final = "0"  # a key whose name has this as its third digit clears those that begin as it does

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="Any text of yours: the same key with the same body within a day is done once.",
    ),
]


@dataclass(frozen=True, slots=True)
class KeyedAttempt:
    """One attempt of a request with a key; `at` is the time of the first attempt."""

    name: str
    at: float
    first: bool

    def place(self, drafts: Sequence[Draft]) -> list[Draft]:
        """Returns the drafts with the ids and times of the first attempt."""
        placed = []
        for number, draft in enumerate(drafts):
            changes: dict[str, Any] = {}
            if draft.occurred is None and not says_when(draft):
                changes["occurred"] = self.at
            if (lives := _lifetime(draft)) is not None:
                changes["expires"] = self.at + lives
            if draft.id is None and draft.key is None:
                changes["id"] = self._id(number)
            placed.append(replace(draft, **changes))
        return placed

    def _id(self, number: int) -> str:
        """Derives an id in the form of `new_id`, the same for every attempt."""
        tail = blake2b(f"{self.name}\0{number}".encode(), digest_size=6).hexdigest()
        return f"{int(self.at * 1e6):014x}{tail}"


def _lifetime(draft: Draft) -> float | None:
    """Returns the relative lifetime of a draft in seconds, or None; `place` makes it an expiry time."""
    if draft.expires is not None:
        return draft.expires.total_seconds() if isinstance(draft.expires, timedelta) else None
    return draft.ttl.total_seconds() if isinstance(draft.ttl, timedelta) else draft.ttl


async def begin(grant: Grant, key: str, asked: bytes) -> KeyedAttempt:
    """Takes the key, or joins the attempt that took it; raises 422 if that was another request."""
    caller = grant.caller.name or ""
    memory = grant.memory
    wanted = (f"{caller}\0{key}".encode(), f"{grant.scope}\0".encode() + asked)
    taken = await memory.threads.run(lambda: _take(memory.parts, *wanted))
    if taken is None:
        raise Problem(
            422,
            "key_reused",
            "this idempotency key was used for another request",
            hint="make a new key for each request, and send it again only with the same body",
            field="header.Idempotency-Key",
        )
    return taken


def _take(parts: Parts, key: bytes, asked: bytes) -> KeyedAttempt | None:
    """Takes the lease of a key, or joins its holder; returns None if that was another request."""
    store, now = parts.store, parts.clock()
    name, mark = parts.key_ids.mark(key), parts.key_ids.mark(asked)
    until = now + DAY
    mine = f"{mark}.{secrets.token_hex(8)}"
    if verbs.take_lease(store, PREFIX + name, mine, now=now, until=until):
        if name[2] == _CLEARS:
            verbs.clear_leases(store, PREFIX + name[:2], now=now)
        return KeyedAttempt(name, until - DAY, first=True)
    held = verbs.read_lease(store, PREFIX + name)
    if held is None or held[0].partition(".")[0] not in (mark, ""):
        return None
    return KeyedAttempt(name, held[1] - DAY, first=False)


async def find_earlier(
    grant: Grant, drafts: Sequence[Draft], attempt: KeyedAttempt
) -> dict[int, Record | Rejected]:
    """Finds what earlier attempts stored, by the position of each draft; `Rejected` is forgotten since.

    Every record that was written since the first attempt began counts.
    """
    earlier: dict[int, Record | Rejected] = {}
    for place, draft in enumerate([] if attempt.first else drafts):
        id = draft.id or key_id(draft.key or "")
        events = await grant.memory.history(id, scope=grant.single)
        if events and events[-1].at >= attempt.at:
            record = await grant.memory.get(id, scope=grant.single)  # after its history: None means forgotten
            earlier[place] = record or Rejected(place, events[-1].at)
    return earlier
