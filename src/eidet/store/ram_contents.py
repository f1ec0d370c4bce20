"""Facts and documents of a scope by what they say, for a store that keeps them as Python values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.record import Record, record_digest
from .rules import UNIQUE_KINDS
from .verbs.statement_keys import FEW, list_statements, statement_of

Group = dict[int, None]  # seqs, in no order that counts


class Contents:
    """Seqs by digest; where many records say the same, also by statement."""

    __slots__ = ("_by_statement", "_groups")

    def __init__(self) -> None:
        self._groups: dict[bytes, int | Group] = {}  # most contents have one record
        self._by_statement: dict[bytes, dict[bytes, Group]] = {}

    def add(self, record: Record, rows: Mapping[int, Record]) -> None:
        """Adds a record, which is one of the scope's rows by now."""
        if record.kind not in UNIQUE_KINDS:
            return
        digest = record_digest(record)
        group = self._groups.get(digest)
        if group is None:
            self._groups[digest] = record.seq
            return
        if isinstance(group, int):
            group = self._groups[digest] = {group: None}
        group[record.seq] = None
        if digest in self._by_statement:
            self._note(digest, record)
        elif len(group) > FEW:
            self._by_statement[digest] = {}
            for seq in group:
                self._note(digest, rows[seq])

    def _note(self, digest: bytes, record: Record) -> None:
        self._by_statement[digest].setdefault(statement_of(record), {})[record.seq] = None

    def drop(self, record: Record) -> None:
        if record.kind not in UNIQUE_KINDS:
            return
        digest = record_digest(record)
        group = self._groups[digest]
        if isinstance(group, int):
            del self._groups[digest]
            return
        del group[record.seq]
        if not group:
            del self._groups[digest]
            self._by_statement.pop(digest, None)
        elif digest in self._by_statement:
            self._forget(digest, record)

    def _forget(self, digest: bytes, record: Record) -> None:
        statements, statement = self._by_statement[digest], statement_of(record)
        del statements[statement][record.seq]
        if not statements[statement]:
            del statements[statement]

    def list_same(self, digests: Iterable[bytes]) -> list[int]:
        """The seqs of all records of these contents, in order."""
        seqs: list[int] = []
        for digest in digests:
            group = self._groups.get(digest)
            if isinstance(group, int):
                seqs.append(group)
            elif group is not None:
                seqs += group
        return sorted(seqs)

    def list_twins(self, record: Record, digest: bytes) -> list[int]:
        """As `FindsTwins`, by seqs."""
        if digest not in self._by_statement:
            return self.list_same([digest])
        seqs: list[int] = []
        for statement in list_statements(record):
            seqs += self._by_statement[digest].get(statement, ())
        return sorted(seqs)
