"""What one script is to do: what it checks first, and then what it writes, scope by scope."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from ...core.record import Record, record_digest
from ..model import PROVISIONAL
from ..rules import UNIQUE_KINDS
from .codec import record_bytes
from .keys import Keys
from .tables import Place

LONGEST: Final = 2000  # arguments of one command: Lua passes some thousands at most
SWEPT: Final = 10  # seqs that clearing away may take in a scope


@dataclass(slots=True)
class _ScopePlan:
    """One scope that is written."""

    base: str
    registers: bool = False  # its name is to be known
    sweeps: bool = False
    changed: bool = False
    latest: float = 0.0  # the latest moment that writers named
    added: int = 0


class CommitPlan:
    """Words for the script `commit`, in the order in which jobs said them."""

    def __init__(self, keys: Keys, linger: float) -> None:
        self._keys, self._linger = keys, linger
        self.guards: dict[Place, bytes] = {}
        self.scopes: dict[str, _ScopePlan] = {}
        self.added: list[str] = []  # the scope of each record
        self.seqs = 0
        self.entombs = False
        self.epoch: int | None = None  # the next one, if it rises
        self.derived: dict[
            tuple[str, int], tuple[bytes | None, bytes | None]
        ] = {}  # vector, terms if they change
        self._after: list[Any] = []  # words that belong to no scope
        self._words: list[tuple[str, tuple[Any, ...]]] = []
        self._places: dict[int, int] = {}  # provisional seq -> how many its scope had then

    def guard(self, key: str, field: Any, value: bytes) -> None:
        """That a field is as it was read: the first answer counts, later ones may be our own writes."""
        self.guards.setdefault((key, field), value)

    def expect_version(self, scope: str, version: bytes) -> None:
        """That no record of the scope was written since it had this version."""
        self.guard(self._keys.base(scope) + "m", "v", version)

    def guards_of(self, base: str) -> dict[Place, bytes]:
        return {place: value for place, value in self.guards.items() if place[0].startswith(base)}

    @property
    def writes(self) -> bool:
        return bool(self._words or self.scopes or self.derived or self.words_after())

    # What is to be done.

    def add(self, record: Record, moment: float, *, carry: bool) -> Record:
        """Adds a record, with a provisional seq. With `carry`, it keeps the uses of the one before it."""
        scope = self._scope(record.scope)
        self.seqs += 1
        scope.added += 1
        added = record.but(seq=PROVISIONAL + len(self.added))
        self.added.append(record.scope)
        self._places[added.seq] = scope.added
        self._say(record.scope, "+", record, moment, carry)
        scope.registers = scope.sweeps = scope.changed = True
        scope.latest = max(scope.latest, moment)
        return added

    def remove(self, record: Record, digest: bytes | None) -> None:
        """Removes a record, whose digest is told where the record does not say all."""
        self.seqs += 1
        if record.kind not in UNIQUE_KINDS:
            digest = b""
        elif digest is None:
            digest = record_digest(record)
        seq = record.seq if record.seq < PROVISIONAL else -self._places[record.seq]
        self._say(record.scope, "-", seq, record.id, digest)
        self._scope(record.scope).changed = True

    def add_use(self, scope: str, id: str, times: int, when: float) -> None:
        self._say(scope, "U", id, times, repr(float(when)))

    def on_scope(self, scope: str, command: str, letter: str, *arguments: Any) -> None:
        """Any command on a key of a scope; long lists are cut."""
        base = self._scope(scope).base
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._say(scope, "R", len(some) + 2, command, base + letter, *some)

    def on_store(self, command: str, letter: str, *arguments: Any) -> None:
        """Any command on a key of the store."""
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._after += ["R", len(some) + 2, command, self._keys.store + letter, *some]

    def entomb(self, scope: str) -> None:
        """Tombstones are set in a scope: whoever took for granted that there are none begins anew."""
        self._scope(scope).changed = True
        if not self.entombs:
            self.on_store("HINCRBY", "h", "tombs", 1)
        self.entombs = True

    def register(self, scope: str) -> None:
        """Makes a scope known that may have no records."""
        self._scope(scope).registers = True

    # How it is told to the script.

    def words(self) -> list[Any]:
        """All words, for one server."""
        told: list[Any] = []
        for scope, plan in self.scopes.items():
            if plan.registers:
                told += ["S", plan.base, "N", scope]
        for scope, said in groupby(self._words, key=lambda pair: pair[0]):
            told += ["S", self.scopes[scope].base]
            for _, words in said:
                told += self._spell(words)
        for plan in self.scopes.values():
            told += self._ends(plan)
        return told

    def words_of(self, only: str) -> list[Any]:
        """Those of one scope, for its node: seqs are told, so that they rise in the order of the jobs."""
        told: list[Any] = ["S", self.scopes[only].base]
        seqs = 0
        for scope, words in self._words:
            numbered = words[0] in ("+", "-")
            if scope == only:
                told += ["Q", seqs] if numbered else []
                told += self._spell(words)
            seqs += numbered
        if self.seqs:
            told += ["Q", self.seqs + SWEPT * list(self.scopes).index(only)]
        return [*told, *self._ends(self.scopes[only])]

    @property
    def seqs_reserved(self) -> int:
        """In a cluster: those of records, and for each scope some for what is cleared away."""
        return self.seqs + SWEPT * len(self.scopes)

    def words_after(self) -> list[Any]:
        """Those for the store itself."""
        return self._after if self.epoch is None else [*self._after, *self.words_of_epoch()]

    def words_of_epoch(self) -> list[Any]:
        return ["R", 4, "HSET", self._keys.store + "h", "epoch", self.epoch]

    def swap(self, records: Iterable[Record]) -> list[Any]:
        """Words that write records as they are now, with other derived bytes."""
        told: list[Any] = []
        for record in records:
            new = record_bytes(self.derive(record))
            told += ["S", self._keys.base(record.scope), "W", record.seq, new]
        return told

    def derive(self, record: Record) -> Record:
        """The record with the derived bytes that it will have."""
        vector, terms = self.derived[record.scope, record.seq]
        return record.but(vector=vector, terms=record.terms if terms is None else terms)

    def _ends(self, scope: _ScopePlan) -> list[Any]:
        if not scope.changed:
            return []
        swept = ["X", repr(scope.latest), repr(self._linger)] if scope.sweeps else []
        return ["S", scope.base, *swept, "R", 4, "HINCRBY", scope.base + "m", "v", 1]

    def _spell(self, words: tuple[Any, ...]) -> Iterable[Any]:
        """Records are encoded at last: many transactions are only tried."""
        if words[0] != "+":
            return words
        _, record, moment, carry = words
        digest = record_digest(record)
        listed = digest if record.kind in UNIQUE_KINDS else b""
        bytes_ = record_bytes(record, digest.hex())
        return ("+", record.id, listed, bytes_, *self._scores(record, moment), int(carry))

    def _scores(self, record: Record, moment: float) -> Iterable[Any]:
        step = "" if record.step is None else repr(float(record.step))
        expires, ttl = "", ""
        if record.expires is not None:
            expires = repr(float(record.expires))
            ttl = str(_millis(max(record.expires - moment, 0.0) + self._linger))
        scores = (record.occurred, record.created, record.importance)
        return (*(repr(float(score)) for score in scores), step, expires, ttl)

    def _say(self, scope: str, *words: Any) -> None:
        self._scope(scope)
        self._words.append((scope, words))

    def _scope(self, scope: str) -> _ScopePlan:
        plan = self.scopes.get(scope)
        if plan is None:
            plan = self.scopes[scope] = _ScopePlan(self._keys.base(scope))
        return plan


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)
