"""The plan of one commit script: what it checks first, and what it then writes, scope by scope."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from ...core.record import Event, Record
from ...core.validate import dump_json
from ..model import PROVISIONAL, Derived, Use
from ..rules import UNIQUE_KINDS
from .codec import Keys, Place, event_bytes, record_bytes

LONGEST: Final = 2000  # arguments of one command: Lua passes some thousands at most


class CommitPlan:
    """The arguments of the script `commit`, by scope, in the order in which jobs added them."""

    def __init__(self, keys: Keys, linger: float) -> None:
        self._keys, self._linger = keys, linger
        self.guards: dict[Place, bytes] = {}  # values that must still be as they were first read
        self.words: dict[str, list[Any]] = {}  # by scope; the store's own under an empty name
        self.named: set[str] = set()  # scopes that something is written to
        self.added: list[int] = []  # the number of the seq of each record
        self.seqs: int = 0
        self.latest: float = 0.0  # the latest moment that a writer named
        self.derived: dict[tuple[str, int], Derived] = {}  # by scope and seq

    def guard_version(self, scope: str, value: bytes | None) -> None:
        """Requires that a scope (or, with an empty name, the store's own values) has not changed."""
        self.guard((scope, "m" if scope else "h", "v"), value)

    def guard(self, place: Place, value: bytes | None) -> None:
        self.guards.setdefault(place, value or b"")

    @property
    def writes(self) -> bool:
        return bool(self.words or self.derived)

    # Building the plan.

    def add(self, record: Record, key: bytes, replaced: float | None) -> Record:
        """Adds a record with a provisional seq. `replaced` is when its previous version was removed."""
        moment = record.created if replaced is None else replaced
        listed = key if record.kind in UNIQUE_KINDS else b""
        expires, ttl = "", ""
        if record.expires is not None:
            expires = repr(float(record.expires))
            ttl = str(_millis(max(record.expires - moment, 0.0) + self._linger))
        created, agent = repr(float(record.created)), _agent_json(record) if replaced is None else ""
        number = self._take_number()
        details = (record_bytes(record, key), created, expires, ttl, agent)
        self._say(record.scope, "+", number, record.id, listed, *details)
        self.added.append(number)
        self.named.add(record.scope)
        self.latest = max(self.latest, moment)
        return record.but(seq=PROVISIONAL + len(self.added) - 1)

    def remove(self, record: Record, event: Event) -> None:
        seq = str(record.seq)
        if record.seq >= PROVISIONAL:
            seq = f"+{self.added[record.seq - PROVISIONAL]}"
        details = (repr(float(record.created)), _agent_json(record), event_bytes(event))
        self._say(record.scope, "-", self._take_number(), seq, record.id, *details)

    def add_use(self, use: Use) -> None:
        self._say(use.scope, "U", use.id, use.times, repr(float(use.when)))

    def run(self, scope: str, command: str, letter: str, *arguments: Any) -> None:
        """Adds a command on a key of a scope or of the store; splits long lists."""
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._say(scope, "R", len(some) + 2, command, letter, *some)

    # The arguments for the script.

    def spell_guards(self) -> list[Any]:
        guards = ((self._keys.base(at[0]) + at[1], at[2], value) for at, value in self.guards.items())
        return list(chain.from_iterable(guards))

    def spell(self) -> list[Any]:
        spelled: list[Any] = []
        for scope, words in self.words.items():
            spelled += ("S", self._keys.base(scope), scope, int(scope in self.named), *words)
        return spelled

    def spell_derived(self, places: Iterable[tuple[str, int]]) -> list[Any]:
        """Returns the arguments that replace derived bytes in place."""
        spelled: list[Any] = []
        for scope, seq in places:
            row = self.derived[scope, seq]
            vector = b"" if row.vector is None else b"1" + row.vector  # no vector differs from an empty one
            spelled += ("S", self._keys.base(scope), scope, 0, "D", seq, vector, row.terms)
        return spelled

    def _take_number(self) -> int:
        """Takes the next seq of this write. Returns its number, from 1."""
        self.seqs += 1
        return self.seqs

    def _say(self, scope: str, *words: Any) -> None:
        self.words.setdefault(scope, []).extend(words)


def _agent_json(record: Record) -> str:
    """Encodes the creator of a record, for its history."""
    return "null" if record.agent is None else dump_json(record.agent)


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)
