"""Transactions on a sealed store: seal the records that a job writes and open those that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, Generic, Protocol, TypeVar, runtime_checkable

from ...core.errors import Corrupt
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...store import Derived, Table, Transaction, Use
from ...store.model import K, V
from ...store.passthrough import PassthroughTransaction
from ...store.rules import Carry, Life, list_versions
from ...store.verbs.changing import look_for_held
from ...store.verbs.writing import Put, RewriteForms, epoch_of
from .boxes import ScopeKeys
from .codec import (
    open_bare,
    open_content,
    open_history,
    open_record,
    seal_derived,
    seal_event,
    seal_note,
    seal_record,
)
from .inner import Forms, open_values, seal_keys, seal_values, split_filter
from .keyring import ACTORS, Keyring

T = TypeVar("T")

CHECKS_EPOCH: Final = (Put, RewriteForms)  # jobs that refuse to write in another epoch than theirs


class SealedTransaction(PassthroughTransaction):
    """A transaction over sealed records."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = "leap"  # a caller that counts over several stores uses the store itself

    def __init__(self, inner: Transaction, ring: Keyring, forms: Forms, epoch: int | None = None) -> None:
        """`forms` reads sealed records by seq; `epoch` is the store's, if known."""
        super().__init__(inner)
        self._ring = ring
        self.epoch = epoch
        self._is_fresh = False
        self._ask_forms = forms
        self._inserted: dict[int, Record] = {}
        self.made: dict[str, ScopeKeys] = {}  # keys that are not committed yet

    # Keys.

    @property
    def ring(self) -> Keyring:
        """The store's keyring, with keys of the epoch that the transaction sees."""
        if not self._is_fresh:
            if self.epoch is None:
                self.epoch = epoch_of(self.inner)
            self._ring.as_of(self.epoch)
            self._is_fresh = True
        return self._ring

    def keys_of(self, scope: str) -> ScopeKeys | None:
        """Returns the keys of a scope, also if they are not committed yet; None if it has none."""
        keys = self.made.get(scope) or self.ring.of(scope)
        if keys is None and (keys := self.ring.read(self.inner, scope)) is not None:
            self.made[scope] = keys
        return keys

    def _keys_for(self, scope: str) -> ScopeKeys:
        """Returns the keys of a scope to write to; makes them if it has none."""
        keys = self.keys_of(scope)
        if keys is None:
            keys = self.made[scope] = self.ring.make(self.inner, scope)
        return keys

    # Reading.

    def _open(self, form: Record, how: Callable[[Record, ScopeKeys], Record] = open_record) -> Record:
        return how(form, self.keys_of(form.scope) or self.ring.keys(form.scope))

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        how = open_bare if bare else open_record
        return [form and self._open(form, how) for form in self.inner.read(scope, ids)]

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        own = self.keys_of(scope)
        if own is None:
            return []
        marks = tuple(map(own.mark, keys))
        found = self.inner.same(scope, marks)
        for form in found:
            if not (form.sealed or b"").startswith(marks):
                raise Corrupt(
                    f"the store found record {form.id!r} of scope {form.scope!r} by a key that is not its "
                    "own: it was changed outside of Eidet"
                )
        return [open_record(form, own) for form in found]

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        asked = split_filter(where, self.keys_of)
        how = open_bare if bare else open_record
        for form in self.inner.find(asked.where, bare=bare and asked.exact):
            if asked.exact or where.matches(self._open(form, open_content)):
                yield self._open(form, how)

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        """Finds records under a legal hold by opening each, because their state is sealed."""
        return look_for_held(self, records)

    def history(self, scope: str, id: str) -> list[Event]:
        return open_history(self.inner.history(scope, id), self.keys_of(scope), self.ring.keys(ACTORS))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        kept = seal_keys(table, keys, self._ring)
        found = self.inner.values(table, kept, within=within, prefix=prefix, limit=limit)
        return open_values(table, found, self._ring, self._forms)

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        forms = [seal_record(record, self._keys_for(record.scope)) for record in records]
        stored = self.inner.insert(forms)
        self._inserted.update((form.seq, form) for form in stored)
        return [record.but(seq=form.seq) for record, form in zip(records, stored, strict=True)]

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        actors = self.ring.keys(ACTORS)
        named = list(map(self._name, records))
        pairs = zip(named, events, strict=True)
        sealed = [seal_event(event, record, actors, self.keys_of(event.scope)) for record, event in pairs]
        self.inner.remove(named, sealed)

    def _name(self, record: Record) -> Record:
        """Replaces the agent of a record by its token, as the inner store has it."""
        if record.agent is None:
            return record
        return record.but(agent=self._keys_for(record.scope).label("agent", record.agent))

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        derived = {row.seq: row for row in rows if isinstance(row, Derived)}
        sealed: list[Use | Derived] = [row for row in rows if isinstance(row, Use)]
        for form in self._forms(derived):
            sealed.append(seal_derived(derived[form.seq], form, self._keys_for(form.scope)))
        self.inner.update(sealed)

    def _forms(self, seqs: Iterable[int]) -> Iterator[Record]:
        """Yields sealed records by seq; those that this job did not insert come from the store."""
        others = []
        for seq in seqs:
            if seq in self._inserted:
                yield self._inserted[seq]
            else:
                others.append(seq)
        yield from self._ask_forms(others)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        sealed = {
            key: None if notes is None else self._seal_notes(*key, notes) for key, notes in edits.items()
        }
        return self.inner.edit_history(sealed)

    def _seal_notes(
        self, scope: str, id: str, notes: Mapping[int, Mapping[str, Json]]
    ) -> dict[int, Mapping[str, Json]]:
        """Seals the notes that have an event, because each is bound to its event."""
        sealed, born = {}, 0.0
        for event in self.inner.history(scope, id):
            if event.what == "created":
                born = event.at
            elif event.before is not None and event.version in notes:
                note = notes[event.version]
                sealed[event.version] = seal_note(note, event, born, self._keys_for(scope))
        return sealed

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        kept = seal_values(table, values, self.ring, self._forms)
        self.inner.set_values(table, kept, clear=clear)


class SealedJob(Generic[T]):
    """Runs a job in a sealing transaction."""

    def __init__(self, ring: Keyring, forms: Forms, job: Callable[[Transaction], T]) -> None:
        self._ring, self._forms, self._job = ring, forms, job
        self._epoch = job.epoch if isinstance(job, CHECKS_EPOCH) else None
        self._last: SealedTransaction | None = None

    def __call__(self, transaction: Transaction) -> T:
        self._last = SealedTransaction(transaction, self._ring, self._forms, self._epoch)
        return self._job(self._last)

    def keep_keys(self) -> None:
        """Keeps the keys that the last run made, once it is committed."""
        if self._last is not None and self._last.made:
            self._ring.adopt(self._last.made, self._last.epoch)


# Records that a tiered store moves between its members by itself.


@runtime_checkable
class CarriesOver(Protocol):
    """A store that moves records between its members, as next versions."""

    def carry_by(self, carry: Carry) -> None:
        """Sets the function that writes such records from now on."""


def carry_sealed(
    ring: Keyring, forms: Forms, transaction: Transaction, lives: Sequence[Life], now: float
) -> None:
    """Writes records with their histories to another member, with each version sealed again."""
    plain = [(ring.open(form), ring.open_history(story)) for form, story in lives]
    job = Put(records=list_versions(plain), now=now, unique=False, follows=True)
    job(SealedTransaction(transaction, ring, forms, ring.epoch))
