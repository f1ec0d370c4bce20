"""What a write is made of: what was read, what was assumed, and what is to be done if it still holds.

Writers decide in Python, by the rules that all stores share, and send one script. It checks every
assumption (a guard) and then does everything, or answers that something changed, and they begin anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final

from ...core.event import Event
from ...core.record import Record, record_digest
from .. import Claim, Watch
from ..rules import UNIQUE_KINDS, check_entombed, check_epoch, ends_of
from .codec import creation, events_bytes, events_of, record_bytes
from .keys import Keys
from .scope_view import Need, Seen, Sheet

LONGEST: Final = 2000


class Desk:
    """The state as it would be after the jobs that ran here. Without `seen`, it is blind: it takes for
    granted that nothing is there, which is how most writes are."""

    def __init__(self, keys: Keys, linger: float, seen: Seen | None) -> None:
        self._keys, self._linger, self._seen = keys, linger, seen
        self.guards: dict[tuple[str, Any], Any] = {}
        self.sheets: dict[str, Sheet] = {}
        self.after: list[Any] = []  # words that belong to no scope
        self.words: list[tuple[str, list[Any]]] = []  # for the script: in which scope, what
        self.added: list[str] = []  # the scope of each record that was
        self.seqs = 0
        self.entombs = False
        self.landed: list[str] = []  # scopes that a cluster has written already

    # What is there.

    def at(self, scope: str, id: str) -> Record | None:
        sheet = self._sheet(scope, id)
        return sheet.records.get(id)

    def events(self, record: Record) -> list[Event]:
        """What is told of a record that is there, or was."""
        sheet = self._sheet(record.scope, record.id)
        kept = sheet.told.get(record.id, b"")
        return events_of(kept, record.scope, record.id) if kept else [creation(record)]

    def twin(self, record: Record, now: float) -> Record | None:
        """A living fact or document that says the same."""
        if record.kind not in UNIQUE_KINDS:
            return None
        sheet, digest = self._sheet(record.scope), record_digest(record)
        listed, found = self._said(sheet, record.scope, digest)
        self._guard(sheet.base + "d", digest, listed)
        living = (twin for twin in reversed(found) if twin.expires is None or twin.expires > now)
        return next(living, None)

    def check_epoch(self, epoch: int | None) -> None:
        if epoch is not None:
            if self._seen is not None:
                check_epoch(epoch, self._seen.epoch)
            self._guard(self._keys.store + "h", "epoch", str(epoch).encode())

    def mind(self, records: Sequence[Record], watch: Watch) -> None:
        """`Entombed` if one of them may not be written; what is said again is exhumed."""
        tombs = 0 if self._seen is None else self._seen.tombs
        self._guard(self._keys.store + "h", "tombs", str(tombs).encode())
        if not tombs:
            return
        claims = watch.claims()
        since = self._marks(records, claims, watch)
        check_entombed(
            records,
            claims,
            watch,
            lambda scope, mark: since.get((scope, mark)),
            lambda scope, name: self.at(scope, name) is not None,
        )
        if watch.again:
            for record, claim in zip(records, claims, strict=True):
                found = [mark for mark in claim.says if (record.scope, mark) in since]
                self.do(record.scope, "HDEL", "b", *found) if found else None

    # What is to be done.

    def add(self, record: Record, event: Event | None, now: float, *, carry: bool = False) -> Record:
        """A record that is new, or takes the place of one that was removed here."""
        sheet = self._sheet(record.scope, record.id)
        self.added.append(record.scope)
        self.seqs += 1
        added = record.but(seq=-len(self.added))
        sheet.added[added.seq] = len(sheet.added) + 1
        unique = record.kind in UNIQUE_KINDS
        digest = record_digest(record)
        bytes_, places = record_bytes(record, digest.hex()), self._places(record, now)
        self._say(record.scope, "+", record.id, digest if unique else b"", bytes_, *places, int(carry))
        sheet.records[record.id] = added
        if unique:
            listed, found = sheet.said.get(digest, (b"", []))
            sheet.said[digest] = (listed, [*found, added])
        sheet.registers = sheet.sweeps = sheet.changed = True
        sheet.now = max(sheet.now, now)
        if event is not None and sheet.told.get(record.id):
            self.tell(
                record.scope, record.id, [*events_of(sheet.told[record.id], record.scope, record.id), event]
            )
        return added

    def suppose(self, record: Record, told: bytes) -> None:
        """What somebody else read: this record is there, and this is told of it."""
        sheet = self._sheet(record.scope)
        seen = {record.id: told} if told else {}
        seq = str(record.seq).encode()
        self._learn(sheet, Sheet(sheet.base, {record.id: record}, {record.id: seq}, seen))

    def remove(self, record: Record, events: Sequence[Event], digest: bytes | None = None) -> None:
        """A record that is there, and what is told of it from now on."""
        sheet = self._sheet(record.scope, record.id)
        self.seqs += 1
        if record.kind not in UNIQUE_KINDS:
            digest = b""
        elif digest is None:
            digest = record_digest(record)
        seq = record.seq if record.seq > 0 else -sheet.added[record.seq]
        self._say(record.scope, "-", seq, record.id, digest)
        sheet.records[record.id] = None
        if digest in sheet.said:
            listed, found = sheet.said[digest]
            sheet.said[digest] = (listed, [one for one in found if one.id != record.id])
        sheet.changed = True
        self.tell(record.scope, record.id, events)

    def use(self, record: Record, count: int, when: float) -> Record:
        sheet = self._sheet(record.scope, record.id)
        self._say(record.scope, "U", record.id, count, repr(float(when)))
        last = when if record.last_used is None else max(when, record.last_used)
        used = record.but(uses=record.uses + count, last_used=last)
        sheet.records[record.id] = used
        for digest, (listed, found) in sheet.said.items():
            sheet.said[digest] = (listed, [used if one.id == used.id else one for one in found])
        return used

    def note(self, scope: str, id: str, count: int, when: float) -> None:
        """Counts uses, if there is such a record."""
        self._say(scope, "U", id, count, repr(float(when)))

    def entomb(self, scope: str, mark: bytes, now: float) -> None:
        self.do(scope, "HSET", "b", mark, repr(float(now)))
        self._sheet(scope).changed = True
        if not self.entombs:
            self.do_after("HINCRBY", "h", "tombs", 1)
        self.entombs = True

    def name(self, scope: str) -> None:
        """Makes a scope known that may have no records."""
        self._sheet(scope).registers = True

    def tell(self, scope: str, id: str, events: Sequence[Event]) -> None:
        sheet = self._sheet(scope, id)
        sheet.told[id] = events_bytes(events)
        self.do(scope, "HSET", "e", id, sheet.told[id])

    def swap(self, scope: str, seq: int, bytes: bytes) -> None:
        """Other derived bytes: what the record says, and so the version of its scope, stays."""
        self._say(scope, "W", seq, bytes)

    def do(self, scope: str, command: str, key: str, *arguments: Any) -> None:
        """Any command on a key of the scope. Long lists are cut: Lua passes some thousands at most."""
        base = self._sheet(scope).base
        for start in range(0, max(len(arguments), 1), LONGEST):
            some = arguments[start : start + LONGEST]
            self._say(scope, "R", len(some) + 2, command, base + key, *some)

    def do_after(self, command: str, key: str, *arguments: Any) -> None:
        """Any command on a key of the store."""
        self.after += ["R", len(arguments) + 2, command, self._keys.store + key, *arguments]

    def expect(self, scope: str, version: bytes) -> None:
        """That nothing of the scope was written since it had this version."""
        self._guard(self._keys.base(scope) + "m", "v", version)

    def guard(self, key: str, field: Any, value: bytes) -> None:
        self._guard(key, field, value)

    # How it is told to the script.

    def told(self, only: str | None = None) -> list[Any]:
        """All words in the order they were said, those of one scope if it is named."""
        scopes = [scope for scope in dict.fromkeys(scope for scope, _ in self.words) if only in (None, scope)]
        told = [word for scope in scopes for word in self._names(scope)]
        for scope, said in groupby(self.words, key=lambda pair: pair[0]):
            if only in (None, scope):
                told += ["S", self.sheets[scope].base, *(word for _, words in said for word in words)]
        return told + [word for scope in scopes for word in self._ends(scope)]

    def _names(self, scope: str) -> list[Any]:
        sheet = self.sheets[scope]
        return ["S", sheet.base, "N", scope] if sheet.registers else []

    def _ends(self, scope: str) -> list[Any]:
        sheet = self.sheets[scope]
        swept = ["X", repr(sheet.now - self._linger)] if sheet.sweeps else []
        version = ["R", 4, "HINCRBY", sheet.base + "m", "v", 1] if sheet.changed else []
        return ["S", sheet.base, *swept, *version] if sheet.changed else []

    # Within.

    def _say(self, scope: str, *words: Any) -> None:
        self._sheet(scope)
        self.words.append((scope, list(words)))

    def _sheet(self, scope: str, id: str | None = None) -> Sheet:
        sheet = self.sheets.get(scope)
        if sheet is None:
            sheet = self.sheets[scope] = self._begin(scope)
        if id is not None and id not in sheet.records:
            self._know(sheet, scope, id)
        return sheet

    def _begin(self, scope: str) -> Sheet:
        known = None if self._seen is None else self._seen.sheets.get(scope)
        if known is None:
            return Sheet(self._keys.base(scope))
        sheet = Sheet(known.base)
        self._learn(sheet, known)
        return sheet

    def _know(self, sheet: Sheet, scope: str, id: str) -> None:
        if self._seen is None:
            sheet.records[id] = None
            self._assume(sheet, id)
        else:
            self._learn(sheet, self._seen.look(scope, Need(frozenset((id,)))))

    def _learn(self, sheet: Sheet, more: Sheet) -> None:
        sheet.records |= more.records
        sheet.seqs |= more.seqs
        sheet.told |= more.told
        sheet.said |= more.said
        for id in more.records:
            self._assume(sheet, id)

    def _assume(self, sheet: Sheet, id: str) -> None:
        self._guard(sheet.base + "i", id, sheet.seqs.get(id, b""))
        self._guard(sheet.base + "e", id, sheet.told.get(id, b""))

    def _said(self, sheet: Sheet, scope: str, digest: bytes) -> tuple[bytes, list[Record]]:
        if digest not in sheet.said:
            sheet.said[digest] = (b"", [])
            if self._seen is not None:
                sheet.said |= self._seen.look(scope, Need(digests=frozenset((digest,)))).said
        return sheet.said[digest]

    def _guard(self, key: str, field: Any, value: Any) -> None:
        self.guards.setdefault((key, field), value)  # the first is what was read; later ones are our own

    def _marks(
        self, records: Sequence[Record], claims: Sequence[Claim], watch: Watch
    ) -> dict[tuple[str, bytes], float]:
        assert self._seen is not None
        since: dict[tuple[str, bytes], float] = {}
        for scope, marks in _asked(records, claims, watch).items():
            found = self._seen.entombed(scope, marks)
            since.update(((scope, mark), moment) for mark, moment in found.items())
            for mark in marks:
                told = repr(found[mark]).encode() if mark in found else b""
                self._guard(self._keys.base(scope) + "b", mark, told)
        return since

    def _places(self, record: Record, now: float) -> Iterable[Any]:
        ttl = "" if record.expires is None else _millis(max(record.expires - now, 0.0) + self._linger)
        return (
            *(repr(float(record.occurred)), repr(float(record.created)), repr(float(record.importance))),
            "" if record.step is None else repr(float(record.step)),
            *("" if record.expires is None else repr(float(record.expires)), ttl),
        )


def _millis(seconds: float) -> int:
    return min(max(int(seconds * 1000), 1), 10**14)


def _asked(records: Sequence[Record], claims: Sequence[Claim], watch: Watch) -> dict[str, list[bytes]]:
    """Which marks decide about the records, by scope."""
    asked: dict[str, dict[bytes, None]] = {}
    for record, claim in zip(records, claims, strict=True):
        own = asked.setdefault(record.scope, {})
        own.update(dict.fromkeys((*claim.says, *(mark for _, mark in claim.made_of))))
        if claim.id is not None:
            own[claim.id] = None
        for scope, mark in ends_of(record.scope) if watch.returning else ():
            asked.setdefault(scope, {})[mark] = None
    return {scope: list(marks) for scope, marks in asked.items()}
