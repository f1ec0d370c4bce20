"""What one script is to do: what it checks first, and then what it writes, scope by scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from ...core.record import Record, record_digest
from ..model import EPOCH, PROVISIONAL
from ..rules import UNIQUE_KINDS
from .codec import record_bytes
from .key_names import Keys
from .tables import Place

LONGEST: Final = 2000  # arguments of one command: Lua passes some thousands at most
SWEPT: Final = 10  # seqs that clearing away may take in a scope


@dataclass(slots=True)
class _Part:
    """A scope that is written, or with an empty name, the store itself."""

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
        self.parts: dict[str, _Part] = {}
        self.added: list[str] = []  # the scope of each record
        self.seqs: int = 0
        self.entombs: bool = False
        self.epoch: int | None = None  # the next one, if it rises
        # By scope and seq: the vector, and the terms if they change.
        self.derived: dict[tuple[str, int], tuple[bytes | None, bytes | None]] = {}
        self._words: list[tuple[str, tuple[Any, ...]]] = []
        self._places: dict[int, int] = {}  # provisional seq -> how many its scope had then

    def guard(self, place: Place, value: bytes) -> None:
        """That a field is as it was read: the first answer counts, later ones may be our own writes."""
        self.guards.setdefault(place, value)

    def guard_words(self, scope: str | None) -> list[Any]:
        """What the script checks first, of one scope or of all."""
        words: list[Any] = []
        for (name, letter, field), value in self.guards.items():
            if scope is None or name == scope:
                words += (self._keys.base(name) + letter, field, value)
        return words

    @property
    def writes(self) -> bool:
        return bool(self.parts or self.derived or self.epoch is not None)

    # What is to be done.

    def add(self, record: Record, digest: bytes, moment: float, *, carry: bool) -> Record:
        """Adds a record, with a provisional seq. With `carry`, it keeps the uses of the one before it."""
        part = self._part(record.scope)
        self.seqs += 1
        part.added += 1
        added = record.but(seq=PROVISIONAL + len(self.added))
        self.added.append(record.scope)
        self._places[added.seq] = part.added
        self._words.append((record.scope, ("+", record, digest, moment, carry)))
        part.registers = part.sweeps = part.changed = True
        part.latest = max(part.latest, moment)
        return added

    def remove(self, record: Record, digest: bytes | None) -> None:
        """Removes a record, whose digest is told where the record does not say all."""
        self.seqs += 1
        if record.kind not in UNIQUE_KINDS:
            digest = b""
        elif digest is None:
            digest = record_digest(record)
        seq = record.seq if record.seq < PROVISIONAL else -self._places[record.seq]
        self._part(record.scope).changed = True
        self._words.append((record.scope, ("-", seq, record.id, digest)))

    def add_use(self, scope: str, id: str, times: int, when: float) -> None:
        self._part(scope)
        self._words.append((scope, ("U", id, times, repr(float(when)))))

    def run(self, scope: str, command: str, letter: str, *arguments: Any) -> None:
        """Any command on a key of a scope or of the store; long lists are cut."""
        self._part(scope)
        key = self._keys.base(scope) + letter
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._words.append((scope, ("R", len(some) + 2, command, key, *some)))

    def entomb(self, scope: str) -> None:
        """Tombstones are set in a scope: whoever took for granted that there are none begins anew."""
        self._part(scope).changed = True
        if not self.entombs:
            self.run("", "HINCRBY", "h", "tombs", 1)
        self.entombs = True

    def register(self, scope: str) -> None:
        """Makes a scope known that may have no records."""
        self._part(scope).registers = True

    # How it is told to the script.

    def words(self) -> list[Any]:
        """All words, for one server."""
        told: list[Any] = []
        for scope, part in self.parts.items():
            if part.registers:
                told += ["S", self._keys.base(scope), "N", scope]
        for scope, said in groupby(self._words, key=_scope_of):
            told += ["S", self._keys.base(scope)]
            for _, words in said:
                told += self._spell(words)
        for scope in self.parts:
            told += self._ends(scope)
        return [*told, *self.replace_words(self.derived), *self.epoch_words()]

    def words_of(self, only: str) -> list[Any]:
        """Those of one scope, for its node: seqs are told, so that they rise in the order of the jobs."""
        told: list[Any] = ["S", self._keys.base(only)]
        seqs = 0
        for scope, words in self._words:
            numbered = words[0] in ("+", "-")
            if scope == only:
                told += ["Q", seqs] if numbered else []
                told += self._spell(words)
            seqs += numbered
        if self.seqs and only:
            told += ["Q", self.seqs + SWEPT * list(self.parts).index(only)]
        return [*told, *self._ends(only)]

    @property
    def seqs_reserved(self) -> int:
        """In a cluster: those of records, and for each scope some for what is cleared away."""
        return self.seqs + SWEPT * len(self.parts)

    def epoch_words(self) -> list[Any]:
        if self.epoch is None:
            return []
        return ["R", 4, "HSET", self._keys.store + "h", EPOCH, self.epoch]

    def raise_epoch(self) -> None:
        """After an epoch was written that is not the last of this plan."""
        if self.epoch is not None:
            self.guards["", "h", EPOCH] = b"%d" % self.epoch
            self.epoch += 1

    def replace_words(self, places: Iterable[tuple[str, int]]) -> list[Any]:
        """Words that replace derived bytes in place."""
        told: list[Any] = []
        for scope, seq in places:
            vector, terms = self.derived[scope, seq]
            told += ["S", self._keys.base(scope), "D", seq, _maybe(vector), _maybe(terms)]
        return told

    def derive(self, record: Record) -> Record:
        """The record with the derived bytes that it will have."""
        vector, terms = self.derived[record.scope, record.seq]
        return record.but(vector=vector, terms=record.terms if terms is None else terms)

    def _ends(self, scope: str) -> list[Any]:
        part, base = self.parts[scope], self._keys.base(scope)
        if not part.changed:
            return []
        swept = ["X", repr(part.latest), repr(self._linger)] if part.sweeps else []
        return ["S", base, *swept, "R", 4, "HINCRBY", base + "m", "v", 1]

    def _spell(self, words: tuple[Any, ...]) -> Sequence[Any]:
        """Records are encoded at last: many transactions are only tried."""
        if words[0] != "+":
            return words
        _, record, digest, moment, carry = words
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

    def _part(self, scope: str) -> _Part:
        part = self.parts.get(scope)
        if part is None:
            part = self.parts[scope] = _Part()
        return part


def _scope_of(said: tuple[str, Any]) -> str:
    return said[0]


def _maybe(part: bytes | None) -> bytes:
    """Bytes that may be absent, which differs from none."""
    return b"" if part is None else b"1" + part


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)
