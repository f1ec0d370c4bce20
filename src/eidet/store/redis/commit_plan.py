"""What one script is to do: what it checks first, and then what it writes, scope by scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...core.record import Record, record_digest
from ..model import PROVISIONAL, Use
from ..rules import UNIQUE_KINDS
from .codec import record_bytes
from .key_names import Keys, Place

LONGEST: Final = 2000  # arguments of one command: Lua passes some thousands at most
SWEPT: Final = 10  # seqs that clearing away may take in a scope


@dataclass(slots=True)
class _Part:
    """A scope that is written, or with an empty name, the store itself."""

    number: int
    words: list[tuple[int | None, tuple[Any, ...]]] = field(default_factory=list)  # with the seq's number
    added: int = 0
    registers: bool = False  # its name is to be known
    changed: bool = False
    latest: float = 0.0  # the latest moment that writers named


class CommitPlan:
    """Words for the script `commit`: of each scope, in the order in which jobs said them."""

    def __init__(self, keys: Keys, linger: float) -> None:
        self._keys, self._linger = keys, linger
        self.guards: dict[Place, bytes] = {}
        self.parts: dict[str, _Part] = {}
        self.added: list[str] = []  # the scope of each record
        self.seqs: int = 0
        self.entombs: bool = False
        # By scope and seq: the vector, and the terms if they change.
        self.derived: dict[tuple[str, int], tuple[bytes | None, bytes | None]] = {}
        self._places: dict[int, int] = {}  # provisional seq -> how many its scope had then

    def guard(self, place: Place, value: bytes) -> None:
        """That a field is as it was read: the first answer counts, later ones may be our own writes."""
        self.guards.setdefault(place, value)

    def raise_guard(self, counter: Place) -> None:
        """Of a counter that this write itself has just raised."""
        if counter in self.guards:
            self.guards[counter] = b"%d" % (int(self.guards[counter] or 0) + 1)

    def guard_words(self, scope: str | None) -> list[Any]:
        """What the script checks first, of one scope or of all."""
        words: list[Any] = []
        for (owner, letter, name), value in self.guards.items():
            if scope is None or owner == scope:
                words += (self._keys.base(owner) + letter, name, value)
        return words

    @property
    def writes(self) -> bool:
        return bool(self.parts or self.derived)

    # What is to be done.

    def add(self, record: Record, digest: bytes, moment: float, *, carry: bool) -> Record:
        """Adds a record, with a provisional seq. With `carry`, it keeps the uses of the one before it."""
        part = self._number(record.scope, ("+", record, digest, moment, carry))
        part.added += 1
        added = record.but(seq=PROVISIONAL + len(self.added))
        self.added.append(record.scope)
        self._places[added.seq] = part.added
        part.registers = True
        part.latest = max(part.latest, moment)
        return added

    def remove(self, record: Record, digest: bytes | None) -> None:
        """Removes a record, whose digest is told where the record does not say all."""
        if record.kind not in UNIQUE_KINDS:
            digest = b""
        elif digest is None:
            digest = record_digest(record)
        seq = record.seq if record.seq < PROVISIONAL else -self._places[record.seq]
        self._number(record.scope, ("-", seq, record.id, digest))

    def add_use(self, use: Use) -> None:
        self._part(use.scope).words.append((None, ("U", use.id, use.times, repr(float(use.when)))))

    def run(self, scope: str, command: str, letter: str, *arguments: Any) -> None:
        """Any command on a key of a scope or of the store; long lists are cut."""
        part, key = self._part(scope), self._keys.base(scope) + letter
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            part.words.append((None, ("R", len(some) + 2, command, key, *some)))

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

    def words(self, scopes: Iterable[str]) -> list[Any]:
        """What is done in these scopes. Seqs are numbered, so that they rise in the order of the jobs."""
        told: list[Any] = []
        for scope in scopes:
            part, following = self.parts[scope], -1
            told += ("S", self._keys.base(scope))
            if part.registers:
                told += ("N", scope)
            for number, words in part.words:
                if number is not None:
                    if number != following:
                        told += ("Q", number)
                    following = number + 1
                told += self._spell(words)
            told += self._ends(scope, part)
        return told

    @property
    def seqs_reserved(self) -> int:
        """In a cluster: those of records, and for each scope some for what is cleared away."""
        return self.seqs + SWEPT * len(self.parts)

    def replace_words(self, places: Iterable[tuple[str, int]]) -> list[Any]:
        """Words that replace derived bytes in place."""
        told: list[Any] = []
        for scope, seq in places:
            vector, terms = self.derived[scope, seq]
            told += ("S", self._keys.base(scope), "D", seq, _maybe(vector), _maybe(terms))
        return told

    def derive(self, record: Record) -> Record:
        """The record with the derived bytes that it will have."""
        vector, terms = self.derived[record.scope, record.seq]
        return record.but(vector=vector, terms=record.terms if terms is None else terms)

    def _ends(self, scope: str, part: _Part) -> Sequence[Any]:
        """Clears away what expired, and raises the scope's version."""
        if not part.changed:
            return ()
        swept: Sequence[Any] = ()
        if part.added:
            swept = ("Q", self.seqs + SWEPT * part.number, "X", repr(part.latest), repr(self._linger))
        return (*swept, "R", 4, "HINCRBY", self._keys.base(scope) + "m", "v", 1)

    def _spell(self, words: tuple[Any, ...]) -> Sequence[Any]:
        """Records are encoded at last: many transactions are only tried."""
        if words[0] != "+":
            return words
        _, record, digest, moment, carry = words
        listed = digest if record.kind in UNIQUE_KINDS else b""
        step = "" if record.step is None else repr(float(record.step))
        expires, ttl = "", ""
        if record.expires is not None:
            expires = repr(float(record.expires))
            ttl = str(_millis(max(record.expires - moment, 0.0) + self._linger))
        scores = [repr(float(score)) for score in (record.occurred, record.created, record.importance)]
        bytes_ = record_bytes(record, digest.hex())
        return ("+", record.id, listed, bytes_, *scores, step, expires, ttl, int(carry))

    def _number(self, scope: str, words: tuple[Any, ...]) -> _Part:
        """Notes what takes a seq, and so changes the scope."""
        part = self._part(scope)
        part.words.append((self.seqs, words))
        part.changed = True
        self.seqs += 1
        return part

    def _part(self, scope: str) -> _Part:
        part = self.parts.get(scope)
        if part is None:
            part = self.parts[scope] = _Part(len(self.parts))
        return part


def _maybe(part: bytes | None) -> bytes:
    """Bytes that may be absent, which differs from none."""
    return b"" if part is None else b"1" + part


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)
