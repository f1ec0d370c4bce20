"""Encodes transactions as JSON, for stores that answer from RAM and keep a log of what was written.

Such a store runs each job in a `RamStore`, with a `LoggedTransaction` around the transaction that the job
would get. It saves the steps that were noted, and when opened it replays all of them into a new `RamStore`.
How steps are saved is all that is left to write: `examples/plugin` shows it for a file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, ClassVar, Final

from ..core.record import Event, Record
from ..core.record_table import encode_fields
from ..core.validate import Json
from ..core.where import Where
from . import Store, Transaction
from .export_file import from_json
from .model import Derived, K, Table, Use, V
from .passthrough import PassthroughTransaction

Step = Sequence[Any]  # a writing method of `Transaction` and its arguments: JSON, or text of Python literals

_STUB: Final = ("id", "scope", "kind", "agent", "created", "version")  # what the log keeps of a record gone


class LoggedTransaction(PassthroughTransaction):
    """A transaction that passes every call on, and notes those that write, in order."""

    passes: ClassVar[str] = "read same find history values find_held"
    lacks: ClassVar[str] = "leap"

    def __init__(self, inner: Transaction) -> None:
        super().__init__(inner)
        self.steps: list[Step] = []

    def insert(self, records: Sequence[Record]) -> list[Record]:
        stored = self.inner.insert(records)
        self.steps.append(("insert", [(record.seq, encode_fields(record)) for record in stored]))
        return stored

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        self.inner.remove(records, events)
        gone = [(record.scope, record.id, record.seq) for record in records]
        self.steps.append(("remove", gone, [asdict(event) for event in events]))

    def update(self, changes: Iterable[Use | Derived]) -> None:
        written = list(changes)
        self.inner.update(written)
        self.steps.append(("update", repr([tuple(change) for change in written])))

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        self.steps.append(("edit_history", repr(dict(edits))))
        return self.inner.edit_history(edits)

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        self.inner.set_values(table, values, clear=clear)
        self.steps.append(("set_values", table.name, repr(dict(values)), clear))


def replay_steps(steps: Iterable[Step], to: Transaction) -> None:
    """Replays the noted steps. Seqs come out the same if all earlier steps were replayed."""
    for step in steps:
        match step:
            case "insert", rows:
                to.insert([from_json(row) for _, row in rows])
            case "remove", gone, events:
                records = [Record(id=id, scope=scope, text="", seq=seq) for scope, id, seq in gone]
                to.remove(records, [Event(**row) for row in events])
            case "update", changes:
                to.update(map(_read_change, ast.literal_eval(changes)))
            case "edit_history", edits:
                to.edit_history(ast.literal_eval(edits))
            case "set_values", table, values, clear:
                to.set_values(Table(table), ast.literal_eval(values), clear=clear)
            case _:
                raise ValueError(f"a log has no step {step[0]!r}")


def _read_change(values: tuple[Any, ...]) -> Use | Derived:
    return Use(*values) if len(values) == len(Use._fields) else Derived(*values)


def drop_past(steps: Iterable[Step], store: Store) -> Iterator[Step]:
    """Yields the steps that lead to what a store holds now, without anything that it no longer holds.

    `steps` are all those of its log. Of a deleted record, only its id and its place in the order of changes
    stay, so that seqs and histories come out the same.
    """
    living = {record.seq: encode_fields(record) for record in store.find(Where())}
    tables: dict[str, None] = {}
    for step in steps:
        match step:
            case "insert", rows:
                yield "insert", [(seq, living.get(seq) or _cut_record(row)) for seq, row in rows]
            case "remove", gone, events:
                yield "remove", gone, [_find_current(Event(**row), store) for row in events]
            case "set_values", name, _, _:
                tables[name] = None
    for name in tables:
        yield "set_values", name, repr(store.values(Table(name))), True


def _cut_record(said: dict[str, Any]) -> dict[str, Any]:
    return {"text": "", **{name: said[name] for name in _STUB if name in said}}


def _find_current(event: Event, store: Store) -> dict[str, Any]:
    """Returns an event as history has it now; earlier content may have been edited or removed."""
    silent = replace(event, before=None)
    for known in store.history(event.scope, event.id):
        if replace(known, before=None) == silent:
            return asdict(known)
    return asdict(silent)
