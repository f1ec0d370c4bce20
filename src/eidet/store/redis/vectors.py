"""Derived bytes: replaced in place, or kept aside until all of the next embedder are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from ...core.record import Record
from ...core.where import Where
from .. import Derived
from .client import Wire
from .codec import record_bytes
from .keys import Keys
from .operations import alone
from .reading import Key, Reading
from .transaction import Desk
from .writing import Writing

BULK: Final = 5000  # records that are replaced at once; of more, the epoch rises at the first and the last
PAGE: Final = 500

Change = Callable[[Record], Record]


class Vectors:
    """The verbs for derived bytes."""

    def __init__(self, wire: Wire, keys: Keys, reading: Reading, writing: Writing) -> None:
        self._wire, self._keys = wire, keys
        self._reading, self._writing = reading, writing

    def rewrite(self, derived: Iterable[Derived]) -> None:
        wanted = {row.seq: row for row in derived}
        keys = [key for key in self._reading.seqs(Where()) if key[1] in wanted] if wanted else []
        for start in range(0, max(len(keys) - BULK, 0), BULK):
            self._replace(keys[start : start + BULK], _with(wanted), raises=start == 0)
        rest = len(keys) - len(keys) % BULK if len(keys) % BULK else max(len(keys) - BULK, 0)
        self._replace(keys[rest:], _with(wanted), raises=True)

    def _replace(self, keys: Sequence[Key], change: Change, *, raises: bool) -> None:
        def run(desk: Desk) -> None:
            self._swap(desk, keys, change)
            if raises:
                desk.do_after("HINCRBY", "h", "epoch", 1)

        self._writing.run(alone(run))

    def _swap(self, desk: Desk, keys: Sequence[Key], change: Change) -> None:
        for record in self._reading.fetch_all(keys):
            if record is not None:
                desk.swap(record.scope, record.seq, record_bytes(change(record)))

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        def run(desk: Desk) -> None:
            kept, upto = self._staged()
            if kept != name:
                desk.do_after("DEL", "v")
                upto = 0
            desk.guard(self._keys.store + "h", "staged", kept.encode())
            flat: list[Any] = [part for seq, vector in vectors for part in (seq, vector)]
            for start in range(0, len(flat), PAGE):
                desk.do_after("HSET", "v", *flat[start : start + PAGE])
            last = max((seq for seq, _ in vectors), default=0)
            desk.do_after("HSET", "h", "staged", name, "staged_to", max(upto, last))

        self._writing.run(alone(run))

    def staged(self, name: str) -> int:
        kept, upto = self._staged()
        return upto if kept == name else 0

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        """More than a few thousand follow one another; whoever dies on the way does it again."""
        versions: dict[str, bytes] = {}
        rows = self._reading.lights(Where(), versions)
        keys = sorted((row.record.scope, row.record.seq) for row in rows if row.vector)
        kept, _ = self._staged()
        vectors = self._vectors([seq for _, seq in keys]) if kept == name else {}
        lacking = sum(seq not in vectors for _, seq in keys)
        if lacking:
            return lacking

        def change(record: Record) -> Record:
            return record.but(vector=vectors[record.seq])

        many = range(0, max(len(keys) - BULK, 0), BULK)
        for start in many:
            self._replace(keys[start : start + BULK], change, raises=start == 0)
        rest = keys[len(many) * BULK :]
        done: bool = self._writing.run(
            alone(lambda desk: self._adopt(desk, rest, change, settings, versions))
        )
        return 0 if done else self.adopt(name, settings)

    def _adopt(
        self,
        desk: Desk,
        keys: Sequence[Key],
        change: Change,
        settings: Mapping[str, str],
        versions: Mapping[str, bytes],
    ) -> bool:
        """False if something was written since it was counted."""
        if any(self._version(scope) != version for scope, version in versions.items()):
            return False
        for scope, version in versions.items():
            desk.expect(scope, version)
        self._swap(desk, keys, change)
        desk.do_after("HINCRBY", "h", "epoch", 1)
        desk.do_after("HDEL", "h", "staged", "staged_to")
        desk.do_after("DEL", "v")
        for name, value in settings.items():
            desk.do_after("HSET", "s", name, value)
        return True

    def _version(self, scope: str) -> bytes:
        base = self._keys.base(scope)
        return self._wire.ask(base, ("HGET", base + "m", "v")) or b""

    def _staged(self) -> tuple[str, int]:
        key = self._keys.store
        name, upto = self._wire.ask(key, ("HMGET", key + "h", "staged", "staged_to"))
        return (name or b"").decode(), int(upto or 0)

    def _vectors(self, seqs: Sequence[int]) -> dict[int, bytes]:
        key = self._keys.store
        pages = [seqs[start : start + PAGE] for start in range(0, len(seqs), PAGE)]
        answers = self._wire.read((key, ("HMGET", key + "v", *page)) for page in pages)
        found = [vector for answer in answers for vector in answer]
        return {seq: vector for seq, vector in zip(seqs, found, strict=True) if vector is not None}


def _with(wanted: Mapping[int, Derived]) -> Change:
    def change(record: Record) -> Record:
        row = wanted[record.seq]
        return record.but(vector=row.vector, terms=row.terms)

    return change
