"""What a store knows of its audit log: which one it is, and how far it had come.

The mark is a small value of the store. It is written when a log is attached, after every thousand entries
and when the memory is closed. With it, a log that is gone, replaced or cut off together with its head is
noticed, and so is a memory that was opened without its log.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from ...core.errors import BadInput, Corrupt, Misconfigured
from ...core.validate import Json, dump_json
from ...store import SETTINGS, Store, Transaction, verbs
from ...store.traits import path_of
from .chain import AuditHead, is_ours

SETTING: Final = "audit"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMark:
    """`log` is the identity in the first entry; `path` is where it was, for messages.

    `without`: since when, and from which seq on, the store was opened without its log.
    """

    log: str
    path: str
    head: AuditHead
    without: tuple[float, int] | None = None

    def to_json(self) -> str:
        fields: dict[str, Json] = {"log": self.log, "path": self.path, "head": str(self.head)}
        if self.without is not None:
            fields["without"] = list(self.without)
        return dump_json(fields)

    @staticmethod
    def from_json(text: str) -> LogMark:
        """Corrupt if somebody else wrote it."""
        try:
            fields: Any = json.loads(text)
            since = fields.get("without")
            return LogMark(
                log=str(fields["log"]),
                path=str(fields["path"]),
                head=AuditHead.of(fields["head"]),
                without=None if since is None else (float(since[0]), int(since[1])),
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, BadInput) as error:
            raise Corrupt(f"what this memory knows of its audit log is damaged: {error}") from error


def read_mark(store: Store) -> LogMark | None:
    """None if the store was never audited."""
    text = verbs.get_setting(store, SETTING)
    return LogMark.from_json(text) if text else None


@dataclass(frozen=True, slots=True)
class SetMark:
    """The job of writing a mark. One of the same log that has come further stays."""

    mark: LogMark

    def __call__(self, transaction: Transaction) -> None:
        text = transaction.values(SETTINGS, (SETTING,)).get(SETTING)
        there = LogMark.from_json(text) if text else None
        ahead = there is not None and there.log == self.mark.log and there.head.count > self.mark.head.count
        if not ahead or (there is not None and there.without != self.mark.without):
            transaction.set_values(SETTINGS, {SETTING: self.mark.to_json()})


def describe_attachment(store: str, seq: int, *, known: bool) -> dict[str, Any] | None:
    """The entry for a memory that knows of no log; None for a new one.

    A log that is attached to a memory with records says how much it does not know of. If the memory is
    `known` to the log, somebody took away what the memory knew.
    """
    if not seq:
        return None
    if known:
        gone = "the memory no longer knew this log: its note of it was removed"
        return {"verb": "lost", "store": store, "changes": seq, "note": gone}
    return {"verb": "attach", "store": store, "changes": seq}


def describe_gap(mark: LogMark, log: str, head: AuditHead, key: bytes | None) -> dict[str, Any] | None:
    """The entry that says what a log lacks of what the store knows; None if it lacks nothing."""
    known = {"told": mark.head.count, "head": mark.head.hash}
    if mark.log != log:
        return {"verb": "restarted", "log": mark.log, "path": mark.path, **known}
    if not is_ours(mark.head, key):
        return {"verb": "lost", "there": head.count, "note": "the memory's own note of it was altered"}
    if head.count < mark.head.count or (head.count == mark.head.count and head.hash != mark.head.hash):
        return {"verb": "lost", "there": head.count, **known}
    return None


def describe_absence(mark: LogMark | None, seq: int) -> dict[str, Any] | None:
    """The entry about changes that were made while the memory was open without its log, if any were."""
    if mark is None or mark.without is None or seq <= mark.without[1]:
        return None
    since = datetime.fromtimestamp(mark.without[0], UTC).isoformat()
    return {"verb": "unaudited", "since": since, "changes": seq - mark.without[1]}


def check_unaudited(store: Store, *, allowed: bool, clock: Callable[[], float]) -> None:
    """For a store that is opened without a log: Misconfigured if it has one, unless that is `allowed`.

    If it is, the store remembers it, and the next opening with the log says so there.
    """
    mark = read_mark(store)
    if mark is None:
        return
    if not allowed:
        raise Misconfigured(
            f"{path_of(store) or 'this memory'} keeps an audit log, {mark.path}: open it with audit=… "
            "(EIDET_AUDIT, or audit in the settings file), or with audit=False (EIDET_AUDIT=off) to go on "
            "without it, which the log will tell"
        )
    if mark.without is None and store.writable:
        without = (clock(), store.head().seq)
        store.write(SetMark(LogMark(log=mark.log, path=mark.path, head=mark.head, without=without)))
