"""Transactions on a sealed store: seal the records that a job writes and open those that it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, Generic, Protocol, TypeVar, runtime_checkable

from ...core.actor import acting_as, acts
from ...core.errors import EidetError
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
from .codec import open_bare, open_record, seal_derived, seal_event, seal_note, seal_record
from .keyring import ACTORS
from .opener import Forms, Opener, open_values, seal_keys, seal_values

T = TypeVar("T")

CHECKS_EPOCH: Final = (Put, RewriteForms)  # jobs that refuse to write in another epoch than theirs


class KeysMissing(EidetError):
    """A job writes to scopes without keys. The store creates them and runs the job again."""

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = frozenset(scopes)
        super().__init__(f"no keys yet: {', '.join(sorted(self.scopes))}")


class SealedTransaction(PassthroughTransaction):
    """A transaction over sealed records. Shredded ones are blank, but can be deleted."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = "leap"  # a caller that counts over several stores uses the store itself

    def __init__(self, inner: Transaction, opener: Opener, forms: Forms, epoch: int | None = None) -> None:
        """`forms` reads sealed records by seq; `epoch` is the store's, if known."""
        super().__init__(inner)
        self._opener = opener
        self._epoch = epoch
        self._is_fresh = False
        self._ask_forms = forms
        self._inserted: dict[int, Record] = {}

    # Keys.

    @property
    def opener(self) -> Opener:
        """The store's opener, with keys of the epoch that the transaction sees."""
        if not self._is_fresh:
            self._opener.ring.as_of(epoch_of(self.inner) if self._epoch is None else self._epoch)
            self._is_fresh = True
        return self._opener

    def _keys_of(self, scopes: Iterable[str]) -> dict[str, ScopeKeys]:
        """Returns the keys of scopes to write to; raises `KeysMissing` if some have none."""
        found = {scope: self.opener.find_keys(scope) for scope in scopes}
        keys = {scope: own for scope, own in found.items() if own is not None}
        if len(keys) < len(found):
            raise KeysMissing(found.keys() - keys)
        return keys

    # Reading.

    def _open(self, form: Record, bare: bool) -> Record:
        return self.opener.open_or_blank(form, open_bare if bare else open_record)

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        return [form and self._open(form, bare) for form in self.inner.read(scope, ids)]

    def same(self, scope: str, keys: Sequence[bytes]) -> list[Record]:
        own = self.opener.find_keys(scope)
        if own is None:
            return []
        marks = list(map(own.mark, keys))
        return self.opener.open_same(self.inner.same(scope, marks), marks)

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        asked = self.opener.split_filter(where)
        for form in self.inner.find(asked.where, bare=bare and asked.exact):
            if asked.exact or where.matches(self.opener.open_or_blank(form)):
                yield self._open(form, bare)

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        """Finds records under a legal hold by opening each, because their state is sealed."""
        return look_for_held(self, records)

    def history(self, scope: str, id: str) -> list[Event]:
        events = self.inner.history(scope, id)
        if self.opener.find_keys(scope) is None:
            return [replace(event, before=None, by=None) for event in events]
        return self.opener.open_history(events)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        kept = seal_keys(table, keys, self._ask_opener)
        found = self.inner.values(table, kept, within=within, prefix=prefix, limit=limit)
        return open_values(table, found, self._ask_opener, self._forms)

    def _ask_opener(self) -> Opener:
        return self.opener

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        keys = self._keys_of({record.scope for record in records})
        forms = [seal_record(record, keys[record.scope]) for record in records]
        stored = self.inner.insert(forms)
        self._inserted.update((form.seq, form) for form in stored)
        return [record.but(seq=form.seq) for record, form in zip(records, stored, strict=True)]

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        actors = self.opener.keys(ACTORS)
        named = list(map(self._name, records))
        pairs = zip(named, events, strict=True)
        keys = self._keys_of({event.scope for event in events if event.before is not None})
        sealed = [seal_event(event, record, actors, keys.get(event.scope)) for record, event in pairs]
        self.inner.remove(named, sealed)

    def _name(self, record: Record) -> Record:
        """Replaces the agent of a record by its token, as the inner store has it."""
        keys = self.opener.find_keys(record.scope)
        if record.agent is None or keys is None:
            return record
        return record.but(agent=keys.label("agent", record.agent))

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        derived = {row.seq: row for row in rows if isinstance(row, Derived)}
        sealed: list[Use | Derived] = [row for row in rows if isinstance(row, Use)]
        for form in self._forms(derived):
            keys = self.opener.find_keys(form.scope)
            if keys is not None:
                sealed.append(seal_derived(derived[form.seq], form, keys))
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
                sealed[event.version] = seal_note(note, event, born, self.opener.keys(scope))
        return sealed

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        kept = seal_values(table, values, self._ask_opener, self._forms)
        self.inner.set_values(table, kept, clear=clear)


class SealedJob(Generic[T]):
    """Runs a job in a sealing transaction, as its requester, because another writer's thread may run it."""

    def __init__(self, opener: Opener, forms: Forms, job: Callable[[Transaction], T]) -> None:
        self._opener, self._forms, self._job = opener, forms, job
        self._asker = acts()
        self._epoch = job.epoch if isinstance(job, CHECKS_EPOCH) else None

    def __call__(self, transaction: Transaction) -> T:
        sealed = SealedTransaction(transaction, self._opener, self._forms, self._epoch)
        if acts() is self._asker:
            return self._job(sealed)
        with acting_as(self._asker):
            return self._job(sealed)


# Records that a tiered store moves between its members by itself.


@runtime_checkable
class CarriesOver(Protocol):
    """A store that moves records between its members, as next versions."""

    def carry_by(self, carry: Carry) -> None:
        """Sets the function that writes such records from now on."""


def carry_sealed(
    opener: Opener, forms: Forms, transaction: Transaction, lives: Sequence[Life], now: float
) -> None:
    """Writes records with their histories to another member, with each version sealed again."""
    plain = [(opener.open(form), opener.open_history(story)) for form, story in lives]
    job = Put(records=list_versions(plain), now=now, unique=False, follows=True)
    job(SealedTransaction(transaction, opener, forms, opener.ring.held.epoch))
