"""What one script is to do: what it checks first, and then what it writes, scope by scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Final

from ...core.record import Event, Record
from ...core.validate import dump_json
from ..model import PROVISIONAL, Derived, Use
from ..rules import UNIQUE_KINDS
from .codec import Keys, Place, event_bytes, record_bytes

LONGEST: Final = 2000  # arguments of one command: Lua passes some thousands at most


class CommitPlan:
    """Words for the script `commit`: of each scope, in the order in which jobs said them."""

    def __init__(self, keys: Keys, linger: float) -> None:
        self._keys, self._linger = keys, linger
        self.guards: dict[Place, bytes] = {}
        self.words: dict[str, list[tuple[Any, ...]]] = {}  # by scope; of the store itself with an empty name
        self.named: set[str] = set()  # scopes whose names are to be known
        self.added: list[tuple[str, int]] = []  # of each record, its scope and the number of its seq
        self.seqs: int = 0
        self.latest: float = 0.0  # moment that writers named
        self.entombs: bool = False
        self.derived: dict[tuple[str, int], Derived] = {}  # by scope and seq

    def guard(self, place: Place, value: bytes) -> None:
        """Requires a field to be as it was first read; later reads may see our own writes."""
        self.guards.setdefault(place, value)

    def raise_guard(self, counter: Place) -> None:
        """Adjusts the guard of a counter that this write has just raised."""
        if counter in self.guards:
            self.guards[counter] = b"%d" % (int(self.guards[counter] or 0) + 1)

    @property
    def writes(self) -> bool:
        return bool(self.words or self.derived)

    # What is to be done.

    def add(self, record: Record, key: bytes, replaced: float | None) -> Record:
        """Adds a record, with a provisional seq. `replaced` is when the version before it went, if any."""
        number = self._take_number()
        self._say(record.scope, "+", number, record, key, replaced)
        self.added.append((record.scope, number))
        self.named.add(record.scope)
        self.latest = max(self.latest, record.created if replaced is None else replaced)
        return record.but(seq=PROVISIONAL + len(self.added) - 1)

    def remove(self, record: Record, event: Event) -> None:
        seq = str(record.seq)
        if record.seq >= PROVISIONAL:
            seq = f"+{self.added[record.seq - PROVISIONAL][1]}"
        details = (repr(float(record.created)), _agent_json(record), event_bytes(event))
        self._say(record.scope, "-", self._take_number(), seq, record.id, *details)

    def add_use(self, use: Use) -> None:
        self._say(use.scope, "U", use.id, use.times, repr(float(use.when)))

    def run(self, scope: str, command: str, letter: str, *arguments: Any) -> None:
        """Adds a command on a key of a scope or of the store; splits long lists."""
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._say(scope, "R", len(some) + 2, command, letter, *some)

    def entomb(self) -> None:
        """Notes new tombstones, so that writers that assumed none start over."""
        if not self.entombs:
            self.run("", "HINCRBY", "h", "tombs", 1)
        self.entombs = True

    # How it is told to the script.

    def spell_guards(self) -> list[Any]:
        guards = ((self._keys.base(at[0]) + at[1], at[2], value) for at, value in self.guards.items())
        return list(chain.from_iterable(guards))

    def spell(self) -> list[Any]:
        """Returns the plan's operations."""
        spelled: list[Any] = []
        for scope, told in self.words.items():
            spelled += ("S", self._keys.base(scope), scope if scope in self.named else "")
            for words in told:
                spelled += self._spell_record(*words[1:]) if words[0] == "+" else words
        return spelled

    def spell_derived(self, places: Iterable[tuple[str, int]]) -> list[Any]:
        """Words that replace derived bytes in place."""
        spelled: list[Any] = []
        for scope, seq in places:
            row = self.derived[scope, seq]
            vector = b"" if row.vector is None else b"1" + row.vector  # none differs from an empty one
            spelled += ("S", self._keys.base(scope), "", "D", seq, vector, row.terms)
        return spelled

    def _spell_record(self, number: int, record: Record, key: bytes, replaced: float | None) -> Sequence[Any]:
        """Records are encoded at last: many transactions are only tried."""
        listed = key if record.kind in UNIQUE_KINDS else b""
        expires, ttl = "", ""
        if record.expires is not None:
            expires = repr(float(record.expires))
            left = record.expires - (record.created if replaced is None else replaced)
            ttl = str(_millis(max(left, 0.0) + self._linger))
        created, bytes_ = repr(float(record.created)), record_bytes(record, key)
        agent = _agent_json(record) if replaced is None else ""
        return ("+", number, record.id, listed, bytes_, created, expires, ttl, agent)

    def _take_number(self) -> int:
        """Numbers a seq, counted from the one before this write's first."""
        self.seqs += 1
        return self.seqs

    def _say(self, scope: str, *words: Any) -> None:
        self.words.setdefault(scope, []).append(words)


def _agent_json(record: Record) -> str:
    """Encodes who created the record, for its history."""
    return "null" if record.agent is None else dump_json(record.agent)


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)
