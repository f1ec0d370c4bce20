"""Notes what a job does that says nothing about itself, each step before it is done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ...core.event import Event
from ...core.record import Record
from ...core.validate import Json
from ...store import SETTINGS, TOMBSTONES, Derived, Table, Transaction, Use
from ...store.model import K, V
from ...store.passthrough import PassthroughTransaction
from .events import flag_records, of_records, writer
from .log import AuditLog


class AuditedTransaction(PassthroughTransaction):
    """`numbers` are those of its entries, for whoever has to say that it failed."""

    passes: ClassVar[str] = "read same find history values list_derived find_held"
    lacks: ClassVar[str] = "leap"  # whoever counts over several stores asks the store itself then

    def __init__(self, inner: Transaction, log: AuditLog, numbers: list[int]) -> None:
        super().__init__(inner)
        self._log = log
        self._numbers = numbers

    def insert(self, records: Sequence[Record]) -> list[Record]:
        flags = flag_records(self._log, records, None)
        self._note(of_records(self._log, "put", records, writer(records), flags))
        return super().insert(records)

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        """Only what is forgotten: what becomes another version or form is noted when that is inserted."""
        gone: dict[str | None, list[Record]] = {}
        for record, event in zip(records, events, strict=True):
            if event.what == "forgotten":
                gone.setdefault(event.by, []).append(record)
        for by, some in gone.items():
            self._note(of_records(self._log, "bury", some, by))
        super().remove(records, events)

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        if any(isinstance(row, Derived) for row in rows):
            self._note([self._log.describe("rewrite")])
        super().update(rows)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        for (scope, id), before in edits.items():
            versions = None if before is None else sorted(before)
            self._note([self._log.describe("retell", scope=scope, ids=[id], versions=versions)])
        return super().edit_history(edits)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        if table.name == SETTINGS.name and (values or clear):
            self._note([self._log.describe("configure", settings=sorted(map(str, values)))])
        if table.name == TOMBSTONES.name:
            self._note_tombstones(values)
        super().set_values(table, values, clear=clear)

    def _note_tombstones(self, stones: Mapping[Any, Any]) -> None:
        counts = Counter((scope, since is None) for (scope, _), since in stones.items())
        for (scope, lifted), count in counts.items():
            verb = "exhume" if lifted else "entomb"
            self._note([self._log.describe(verb, scope=scope, count=count)])

    def _note(self, events: Sequence[Mapping[str, Json]]) -> None:
        self._numbers.extend(self._log.append(events))
