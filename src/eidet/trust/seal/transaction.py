"""A job's transaction on a sealed store: records are sealed when they go in and opened when they come out.

Nobody else writes meanwhile, so keys that are read here are right until the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final, Generic, Protocol, TypeVar, runtime_checkable

from ...core.actor import acting_as, acts
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
from .keyring import ACTORS, Noted
from .opener import Forms, Opener, open_values, seal_keys, seal_values

T = TypeVar("T")

CHECKS_EPOCH: Final = (Put, RewriteForms)  # jobs that refuse to write in another epoch than theirs


class SealedTransaction(PassthroughTransaction):
    """A transaction over sealed records. Shredded ones are blank, but can be deleted."""

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = "leap"  # whoever counts over several stores asks the store itself then

    def __init__(
        self,
        inner: Transaction,
        known: Opener,
        forms: Forms,
        *,
        epoch: int | None = None,
        fixed: bool = False,
    ) -> None:
        """`known` is the store's own opener, `forms` asks the store for records by their seqs.

        With `epoch`, the job itself checks that this is the epoch, before it writes anything. If they are
        `fixed`, the keys of `known` are right as they are, and none are made.
        """
        super().__init__(inner)
        self._known = known
        self._epoch = epoch
        self._opener = known if fixed else None
        self._ask_forms = forms
        self._made: list[tuple[str, str]] = []  # what happened to keys, and of which scopes they are
        self._inserted: dict[int, Record] = {}

    # Keys.

    @property
    def opener(self) -> Opener:
        """An opener with the present keys; made only if the job needs it.

        What the store does not hold is read here: nowhere else is it surely new. An earlier job may have
        made it just now: jobs of a group commit share a transaction.
        """
        if self._opener is None:
            if self._epoch is None:
                self._epoch = epoch_of(self.inner)
            ring = self._known.ring
            noted = partial(_note_key, ring.noted, self._made)
            self._opener = Opener(ring.inside(self.inner, noted, self._epoch))
        return self._opener

    def hand_keys_over(self) -> None:
        """The keys that were read or made here are those of the store, now that this is committed."""
        if self._opener is None or self._epoch is None:
            return
        ring = self._opener.ring
        if ring.held.keys:
            self._known.ring.learn(ring, self._epoch)
        for what, scope in self._made:
            self._known.ring.noted(what, scope)

    def _keys_for(self, scope: str) -> ScopeKeys:
        """Returns the keys for writing to a scope; creates them if absent."""
        return self.opener.find_keys(scope) or self._make_keys(scope)

    def _make_keys(self, scope: str) -> ScopeKeys:
        """Creates keys as part of the transaction: if it is undone, they never existed.

        A scope that was shredded begins anew once nothing is left in it.
        """
        left = False
        if scope in self.opener.ring.list_shredded():
            left = bool(list(self.inner.find(Where(scope=Scope(scope)), bare=True)))
        return self.opener.ring.open_scope(scope, again=not left)

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
        """The state of a record is sealed: each is read and opened."""
        return look_for_held(self, records)

    def history(self, scope: str, id: str) -> list[Event]:
        events = self.inner.history(scope, id)
        if not self.opener.has_keys(scope):
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
        forms = [seal_record(record, self._keys_for(record.scope)) for record in records]
        stored = self.inner.insert(forms)
        self._inserted.update((form.seq, form) for form in stored)
        return [record.but(seq=form.seq) for record, form in zip(records, stored, strict=True)]

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        actors = self._keys_for(ACTORS)
        named = list(map(self._name, records))
        pairs = zip(named, events, strict=True)
        sealed = [seal_event(event, record, actors, self._keys_for) for record, event in pairs]
        self.inner.remove(named, sealed)

    def _name(self, record: Record) -> Record:
        """Returns just enough of a record for the inner store to identify it and its owner."""
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
        """Reads stored forms by seq, from the store for what this job did not write."""
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
        kept = seal_values(table, values, self._forms, self._keys_for)
        self.inner.set_values(table, kept, clear=clear)


def open_actors(transaction: Transaction) -> None:
    """A job on a sealed store that makes sure of the key for the names of who acted."""
    if isinstance(transaction, SealedTransaction):
        transaction.opener.ring.open_scope(ACTORS, again=False)


def _note_key(noted: Noted, made: list[tuple[str, str]], what: str, scope: str) -> None:
    """A key that was read is noted at once, one that was made when its transaction is committed."""
    if what == "unwrap":
        noted(what, scope)
    else:
        made.append((what, scope))


class SealedJob(Generic[T]):
    """A job, run in a transaction that seals: `transaction` is that of its last run."""

    def __init__(self, known: Opener, forms: Forms, job: Callable[[Transaction], T]) -> None:
        self.transaction: SealedTransaction | None = None
        self._known, self._forms, self._job = known, forms, job
        self._asker = acts()
        self._epoch = job.epoch if isinstance(job, CHECKS_EPOCH) else None

    def __call__(self, transaction: Transaction) -> T:
        """Runs the job as its requester: another writer's thread may run it, and key use is noted."""
        sealed = SealedTransaction(transaction, self._known, self._forms, epoch=self._epoch)
        self.transaction = sealed
        if acts() is self._asker:
            return self._job(sealed)
        with acting_as(self._asker):
            return self._job(sealed)

    def hand_keys_over(self) -> None:
        """Hands new keys over once the job is committed."""
        if self.transaction is not None:
            self.transaction.hand_keys_over()


# Records that a store around several writes from one of them to another by itself.


@runtime_checkable
class CarriesOver(Protocol):
    """A store that writes records from one place to another, as next versions."""

    def carry_by(self, carry: Carry) -> None:
        """Sets how such records are written from now on."""


def carry_sealed(
    opener: Opener, forms: Forms, transaction: Transaction, lives: Sequence[Life], now: float
) -> None:
    """Writes records with their histories; each version is sealed for what it becomes there."""
    plain = [(opener.open(form), opener.open_history(story)) for form, story in lives]
    job = Put(records=list_versions(plain), now=now, unique=False, follows=True)
    job(SealedTransaction(transaction, opener, forms, fixed=True))
