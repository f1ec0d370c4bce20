"""`memory.watch`: yields the changes of a scope in order and misses none.

`read_changes` reads one page from the store; `watch` and `follow` get pages from `memory.admin.changes`, so
that they also work for a memory on a server.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final

from ..core.errors import BadInput
from ..core.record import Record, Trust
from ..core.scope import Scope
from ..core.validate import check_whole
from ..parts import Parts
from ..store import Store, verbs

if TYPE_CHECKING:
    from . import Memory

_PAUSE: Final = 0.25  # seconds between two reads when nothing is new
_WEBHOOK: Final = "webhook:"  # prefix of the settings that hold the progress of webhooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change in a scope. Resume after it with `watch(since=change.cursor)`.

    `put`: a record is new, or has its next version. `gone`: the record that had this `seq` was deleted, is no
    longer shown, or its next version follows. `reset`: the cursor is too old to know the deletions since, so
    drop all you hold; every record follows.
    """

    what: str
    cursor: int
    seq: int = 0
    record: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """Changes in order, where to go on, and whether more are there already."""

    changes: tuple[Change, ...] = ()
    cursor: int
    more: bool = False


def read_changes(parts: Parts, scope: str, since: int | None, limit: int) -> ChangePage:
    """Reads the changes after a cursor, as of one moment; None means from now.

    Deletions come first and carry the old cursor, so that a caller that stops among them gets them again and
    misses none. Quarantined and expired records are left out, as in `find`.
    """
    head = parts.store.head()
    if since is None or since == head.seq:
        return ChangePage(cursor=head.seq)
    found = None if since > head.seq else parts.store.changes(scope, since, limit)
    if found is None or found.pruned > since > 0:
        return ChangePage(changes=(Change(what="reset", cursor=0),), cursor=0, more=True)
    gone = [Change(what="gone", cursor=since, seq=seq) for seq in found.gone]
    seqs = [entry.seq for entry in found.entries]
    records = parts.store.read(scope, seqs) if seqs else []
    put = [
        Change(what="put", cursor=seq, seq=seq, record=record)
        for seq, record in zip(seqs, records, strict=True)
        if record is not None and record.trust is not Trust.QUARANTINED and record.is_alive(parts.clock())
    ]
    changes = [*gone, *put]
    if changes:
        changes[-1] = replace(changes[-1], cursor=found.head.seq)
    return ChangePage(changes=tuple(changes), cursor=found.head.seq, more=found.head.seq < head.seq)


def check_cursor(since: int | None) -> int | None:
    """Checks the cursor of a change or a page; 0 means everything, None from now."""
    return None if since is None else check_whole(since, 0, inf, "since")


class _Pace:
    """Decides how long to wait for the next change."""

    def __init__(self, wait: float | None) -> None:
        if wait is not None and (type(wait) not in (int, float) or not wait >= 0):
            raise BadInput(f"wait must be a number of seconds from 0 up, or None, not {wait!r:.80}")
        self._wait, self._heard = wait, time.monotonic()

    def pause(self, page: ChangePage) -> float | None:
        """Returns the seconds until the next read, or None if it is time to end."""
        now = time.monotonic()
        if page.changes or page.more:
            self._heard = now
            return 0.0
        left = _PAUSE if self._wait is None else self._heard + self._wait - now
        return min(left, _PAUSE) if left > 0 else None


def watch(
    self: Memory,
    *,
    scope: str | Scope = "default",
    since: int | None = None,
    wait: float | None = None,
) -> Iterator[Change]:
    """Yields the changes of a scope from now on, or after a change's `cursor` (0: all), missing none.

    Continues until you leave the loop, or until nothing has changed for `wait` seconds; with 0, it ends after
    the changes already stored. Skips quarantined records. After a break, a change may come twice.
    """
    pace, start = _Pace(wait), check_cursor(since)
    if start is None:
        start = self.admin.changes(scope=scope).cursor
    return _watch(partial(self.admin.changes, scope=scope), start, pace)


def _watch(changes: Callable[..., ChangePage], since: int, pace: _Pace) -> Iterator[Change]:
    while True:
        page = changes(since=since)
        yield from page.changes
        since, pause = page.cursor, pace.pause(page)
        if pause is None:
            return
        time.sleep(pause)


async def follow(
    changes: Callable[..., Awaitable[ChangePage]], since: int | None, wait: float | None
) -> AsyncIterator[Change]:
    """Works like `watch` for asyncio; without a cursor, it starts when the first change is awaited."""
    from asyncio import sleep

    pace, since = _Pace(wait), check_cursor(since)
    while True:
        page = await changes(since=since)
        for change in page.changes:
            yield change
        since, pause = page.cursor, pace.pause(page)
        if pause is None:
            return
        await sleep(pause)


@dataclass(slots=True, kw_only=True)
class Progress:
    """The progress of a webhook: the cursor of each scope, and `start` for scopes without one."""

    start: int
    cursors: dict[str, int] = field(default_factory=dict)
    failures: int = 0  # in a row
    last_error: str | None = None


def tell_webhooks(store: Store) -> dict[str, dict[str, Any]]:
    """Returns the health of each webhook by name, in the same form as that of a memory's servers."""
    return {
        name: {"name": name, "state": "down" if one.failures else "up"}
        | {"failures": one.failures, "last_error": one.last_error}
        for name, one in list_progress(store).items()
    }


def list_progress(store: Store) -> dict[str, Progress]:
    """Returns the progress of each webhook by name."""
    found = verbs.get_settings(store, _WEBHOOK)
    return {name.removeprefix(_WEBHOOK): Progress(**json.loads(text)) for name, text in found.items()}


def save_progress(store: Store, name: str, progress: Progress, *, fresh: bool = False) -> None:
    """Saves the progress of a webhook; with `fresh`, only if the store has none for it."""
    verbs.set_settings(store, {_WEBHOOK + name: json.dumps(asdict(progress))}, fresh=fresh)
