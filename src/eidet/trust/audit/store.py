"""Wraps a store and writes each change to the audit log before applying it.

Reads, use counts, tallies, leases and staged vectors pass unlogged, because they change no content. The
store keeps a mark that names its log and the newest entry. The mark reveals a log that is missing, replaced
or cut off together with its head, and a memory that was opened without its log.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, TypeVar, cast

from ...core.errors import BadInput, Corrupt, EidetError, Misconfigured
from ...core.record import Event, Record
from ...core.validate import Json, dump_json
from ...store import (
    SETTINGS,
    TOMBSTONES,
    Derived,
    Scrubbed,
    Store,
    Table,
    Transaction,
    Use,
    verbs,
)
from ...store.abilities import TakesAuditLog
from ...store.model import STAGED_NAME, K, V
from ...store.passthrough import PassthroughStore, PassthroughTransaction
from ...store.traits import path_of, traits_of
from ...store.verbs.erasing import Erase
from ...store.verbs.values import LEASE
from ...store.verbs.writing import Put, RewriteForms, run_put
from .chain import AuditHead, is_ours
from .events import describe_records, describe_written
from .log import AuditLog

SETTING: Final = "audit"  # the mark of the log, written on attaching, every MARK_EVERY entries, and on close
UNAUDITED: Final = "unaudited"  # the time and the seq since which the store was open without its log


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMark:
    """What a store knows of its log: `log` is the id in the first entry, `path` its place, for messages."""

    log: str
    path: str
    head: AuditHead

    def to_json(self) -> str:
        return dump_json({"log": self.log, "path": self.path, "head": str(self.head)})

    @staticmethod
    def from_json(text: str) -> LogMark:
        """Parses a mark; raises `Corrupt` for foreign content."""
        try:
            fields: Any = json.loads(text)
            head = AuditHead.of(fields["head"])
            return LogMark(log=str(fields["log"]), path=str(fields["path"]), head=head)
        except (ValueError, KeyError, TypeError, BadInput) as error:
            raise Corrupt(f"what this memory knows of its audit log is damaged: {error}") from error


def read_mark(store: Store) -> LogMark | None:
    """Reads the mark; None if the store was never audited."""
    text = verbs.get_setting(store, SETTING)
    return LogMark.from_json(text) if text else None


def _list_gaps(mark: LogMark | None, log: AuditLog, store: Store) -> Iterator[tuple[str, str]]:
    """Yields verb and note of an entry for each gap between the log and what the store knows of it."""
    head, seq = log.head, store.head().seq
    if mark is None:
        if seq:
            yield "attach", f"{seq} changes"
        return
    if mark.log != log.identity:
        yield "restarted", f"before it there was {mark.path} with the head {mark.head}"
    elif not is_ours(mark.head, log.key):
        yield "lost", "the memory's own note of it was altered"
    elif head.count < mark.head.count or (head.count == mark.head.count and head.hash != mark.head.hash):
        yield "lost", f"there were {mark.head.count}, and {head.count} when writing went on"
    opened, known = _parse_unaudited(verbs.get_setting(store, UNAUDITED) or f"0 {seq}")
    if seq > known:
        yield "unaudited", f"since {opened}, {seq - known} changes are not in it"


def _parse_unaudited(text: str) -> tuple[str, int]:
    """Returns when a store was opened without its log, and its seq then."""
    since, _, known = text.partition(" ")
    try:
        return datetime.fromtimestamp(float(since), UTC).isoformat(), int(known)
    except (ValueError, OverflowError, OSError) as error:
        raise Corrupt(f"what this memory knows of its audit log is damaged: {error}") from error


def check_unaudited(store: Store, *, allowed: bool, clock: Callable[[], float]) -> None:
    """Raises `Misconfigured` if an audited store is opened without a log, unless `allowed`.

    If allowed, marks that in the store, so that the next opening with the log records it there.
    """
    mark = read_mark(store)
    if mark is None and not traits_of(store).audited:
        return
    if not allowed:
        log = "whose name was removed outside of Eidet" if mark is None else mark.path
        raise Misconfigured(
            f"{path_of(store) or 'this memory'} keeps an audit log, {log}: open it with audit=… "
            "(EIDET_AUDIT, or audit in the settings file), or with audit=False (EIDET_AUDIT=off) to go on "
            "without it, which the log will tell"
        )
    if mark is not None and store.writable:
        verbs.set_settings(store, {UNAUDITED: f"{clock()} {store.head().seq}"}, fresh=True)


T = TypeVar("T")
warner: logging.Logger = logging.getLogger("eidet")
MARK_EVERY: Final = 1000  # entries after which the store's mark is renewed
QUIET: Final = (LEASE, STAGED_NAME)  # settings that begin so change no content, and are not logged


class AuditedTransaction(PassthroughTransaction):
    """Logs each step of a job before it is done; `numbers` collects the numbers of the entries."""

    passes: ClassVar[str] = "read same find history values find_held"
    lacks: ClassVar[str] = "leap"  # a caller that counts over several stores uses the store itself

    def __init__(self, inner: Transaction, log: AuditLog, numbers: list[int], job: object) -> None:
        super().__init__(inner)
        self._log, self._numbers = log, numbers
        self._erases = isinstance(job, Erase)
        self._by = job.by if isinstance(job, Erase | RewriteForms) else None
        self._writes = "anew" if self._erases else "recast" if isinstance(job, RewriteForms) else "put"

    def insert(self, records: Sequence[Record]) -> list[Record]:
        self._note(describe_written(self._log, self._writes, records, self._by))
        return self.inner.insert(records)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Logs only forgotten records: new versions and forms are logged when inserted."""
        gone: dict[str | None, list[Record]] = {}
        for record, event in zip(records, events, strict=True):
            if event.what == "forgotten":
                gone.setdefault(event.by, []).append(record)
        for by, some in gone.items():
            self._note(describe_records(self._log, "erase" if self._erases else "drop", some, by))
        self.inner.remove(records, events)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        if any(isinstance(row, Derived) for row in rows):
            self._note([self._log.describe("rewrite")])
        self.inner.update(rows)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        """Logs edits of histories, but not removals, which the entry of the forgotten record covers."""
        for (scope, id), before in edits.items():
            if before is not None:
                self._note([self._log.describe("retell", scope=scope, ids=[id], versions=sorted(before))])
        return self.inner.edit_history(edits)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        names = sorted(map(str, values))  # never the values, which may be secret
        told = clear or any(not name.startswith(QUIET) for name in names)
        if table.name == SETTINGS.name and told and not self._erases:
            self._note([self._log.describe("configure", settings=names)])
        if table.name == TOMBSTONES.name:
            self._note_tombstones(values)
        self.inner.set_values(table, values, clear=clear)

    def _note_tombstones(self, stones: Mapping[Any, Any]) -> None:
        counts = Counter((scope, since is None) for (scope, _), since in stones.items())
        for (scope, lifted), count in counts.items():
            verb = "exhume" if lifted else "entomb"
            self._note([self._log.describe(verb, by=self._by, scope=scope, count=count)])

    def _note(self, events: Sequence[Mapping[str, Json]]) -> None:
        self._numbers.extend(self._log.append(events))


class AuditedStore(PassthroughStore):
    """Logs every write, or refuses it.

    An inner store with a method `note_in(log)` gets the log, to record what only it can see
    (the use of keys, for example).
    """

    passes: ClassVar[str] = (
        "read find match count_by head changes history values survey "
        "trim size describe note_in leap latest_seq fingerprint scan list_telling condition ask changes_here"
    )
    lacks: ClassVar[str] = "put_new"  # `put` must see its job to log it; the inner store may shorten it

    def __init__(self, store: Store, log: AuditLog) -> None:
        super().__init__(store)
        self._log = log
        self._marked: int | None = None  # entries that the store's mark covers; None without a mark
        if isinstance(store, TakesAuditLog):
            store.note_in(log)

    def attach(self) -> None:
        """Marks in the store which log it has. Logs the gaps between the log and what the store knows."""
        for verb, note in list(_list_gaps(read_mark(self.inner), self._log, self.inner)):
            self._log.note(verb, note=note)
        self._mark()

    def _mark(self) -> None:
        """Writes the mark of the log to the store; if that fails, warns, and the next mark catches up."""
        if not self.inner.writable:
            return
        head = self._log.head
        mark = LogMark(log=self._log.identity, path=str(self._log.path.absolute()), head=head)
        self._marked = head.count

        def write(transaction: Transaction) -> None:
            text = transaction.values(SETTINGS, (SETTING,)).get(SETTING)
            there = LogMark.from_json(text) if text else None
            transaction.set_values(SETTINGS, {UNAUDITED: None})
            if there is None or there.log != mark.log or there.head.count <= head.count:
                transaction.set_values(SETTINGS, {SETTING: mark.to_json()})

        try:
            self.inner.write(write)
        except EidetError as error:
            warner.warning("the memory could not note how far its audit log has come: %s", error)

    def _mark_if_due(self, numbers: Sequence[int]) -> None:
        if self._marked is not None and numbers and numbers[-1] - self._marked >= MARK_EVERY:
            self._mark()

    def write(self, job: Callable[[Transaction], T]) -> T:
        """Logs a `Put` before it runs, and each step of any other job before that step is done."""
        if isinstance(job, Put):
            return cast("T", self._put(job))
        numbers: list[int] = []

        def observe(transaction: Transaction) -> T:
            if numbers:  # a store may run a job again
                self._log.afterwards("failed", of=list(numbers), error="run again")
                numbers.clear()
            return job(AuditedTransaction(transaction, self._log, numbers, job))

        try:
            answer = self.inner.write(observe)
        except BaseException as error:
            if numbers:
                self._log.note_failure(numbers, error)
            raise
        self._mark_if_due(numbers)
        return answer

    def _put(self, job: Put) -> list[Record]:
        with self._log.about(describe_written(self._log, "put", job.records, job.by)) as numbers:
            stored = run_put(self.inner, job)
        others = {new.id: old.id for new, old in zip(job.records, stored, strict=True) if new.id != old.id}
        if others:
            self._log.afterwards("done", of=numbers, instead=others)
        self._mark_if_due(numbers)
        return stored

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        with self._log.about(
            [self._log.describe("adopt", embedder=name, settings=sorted(settings))]
        ) as numbers:
            lacking = verbs.switch_vectors(self.inner, name, settings)
        if lacking:
            self._log.afterwards("done", of=numbers, lacking=lacking, count=0)
        return lacking

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        with self._log.about([self._log.describe("scrub")]):
            return verbs.scrub_files(self.inner, said)

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Prunes history and logs it afterwards, only if something was pruned: upkeep calls this often."""
        count = verbs.prune_history(self.inner, before, dead=dead, most=most)
        if count:
            self._log.afterwards("prune", count=count, dead=dead)
        return count

    def close(self) -> None:
        """Writes the last mark and closes the store. Closing twice is harmless."""
        if self._marked is not None:
            self._mark()
            self._marked = None
        self.inner.close()
