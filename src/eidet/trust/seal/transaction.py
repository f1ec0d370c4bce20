"""A job's transaction on a sealed store: records are sealed when they go in and opened when they come out.

Nobody else writes meanwhile, so keys that are read here are right until the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from ...core.actor import acting_as, acts
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Where
from ...store import SETTINGS, STAGED, TALLIES, Derived, Table, Transaction, Use
from ...store.model import K, V
from ...store.passthrough import PassthroughTransaction
from ...store.verbs.changing import look_for_held
from ...store.verbs.duplicates import find_twins
from ...store.verbs.writing import Put, RewriteForms, epoch_of
from .boxes import ScopeKeys
from .codec import open_bare, open_record, seal_derived, seal_labels, seal_record
from .history import seal_event, seal_note
from .keyring import ACTORS, TransactionShelf
from .opener import Opener
from .small_values import is_secret, read_values, seal_setting, seal_staged, seal_tallies

T = TypeVar("T")


class Sealer(Protocol):
    """What a transaction asks of its sealed store."""

    @property
    def identity(self) -> str: ...
    @property
    def opener(self) -> Opener: ...
    def forms(self, seqs: Iterable[int]) -> Iterator[Record]: ...


class SealedTransaction(PassthroughTransaction):
    """What was shredded says nothing here, but can be deleted.

    `is_ahead` says that it had to read or make keys that the store does not know; `noted` tells of them.
    """

    passes: ClassVar[str] = ""
    lacks: ClassVar[str] = "leap"  # whoever counts over several stores asks the store itself then

    def __init__(
        self, inner: Transaction, store: Sealer, epoch: int | None = None, opener: Opener | None = None
    ) -> None:
        """With `epoch`, the job itself checks that this is the epoch, before it writes anything.

        With `opener`, its keys are right as they are, and none are made.
        """
        super().__init__(inner)
        self.is_ahead: bool = False
        self.noted: list[tuple[str, str]] = []
        self._store = store
        self._epoch = epoch
        self._opener = opener
        self._is_given = opener is not None
        self._inserted: dict[int, Record] = {}

    # Keys.

    @property
    def opener(self) -> Opener:
        """Its keys are those of this epoch; a job that needs none does not ask.

        If the epoch has passed that the store knows, keys are read here: nowhere else are they surely new.
        """
        if self._opener is None:
            epoch = epoch_of(self.inner) if self._epoch is None else self._epoch
            known = self._store.opener
            self._opener = known if known.ring.epoch == epoch else self._open_here()
        return self._opener

    def _opener_of(self, scope: str) -> Opener:
        """One that has the keys of a scope, if there are any: an earlier job may have made them just now.

        Jobs of a group commit share a transaction, and the store knows its keys only once it is done.
        """
        if not (self.is_ahead or self._is_given or self.opener.has_keys(scope)):
            self._opener = self._open_here()
        return self.opener

    def _open_here(self) -> Opener:
        """Has the keys as the transaction has them, and can make some."""
        self.is_ahead = True
        shelf = TransactionShelf(self._store.identity, self.inner)
        return Opener(self._store.opener.ring.on(shelf, self._note_key))

    def _keys_for(self, scope: str) -> ScopeKeys:
        """For writing into a scope; they are made if there are none."""
        opener = self.opener
        return opener.keys(scope) if opener.has_keys(scope) else self._make_keys(scope)

    def _make_keys(self, scope: str) -> ScopeKeys:
        """Makes keys as part of the transaction: if it is undone, nobody has ever seen them.

        A scope that was shredded begins anew once nothing is left in it.
        """
        if not self.is_ahead:
            self._opener = self._open_here()
        left = False
        if scope in self.opener.ring.list_shredded():
            left = bool(list(self.inner.find(Where(scope=Scope(scope)), bare=True)))
        return self.opener.ring.open_scope(scope, again=not left)

    def _note_key(self, what: str, scope: str) -> None:
        self.noted.append((what, scope))

    # Reading.

    def _open(self, form: Record, bare: bool) -> Record:
        return self._opener_of(form.scope).open_or_blank(form, open_bare if bare else open_record)

    def read(self, scope: str, ids: Sequence[str], *, bare: bool = False) -> list[Record | None]:
        return [form and self._open(form, bare) for form in self.inner.read(scope, ids)]

    def same(self, scope: str, digests: Sequence[bytes], *, every_kind: bool = False) -> list[Record]:
        opener = self._opener_of(scope)
        if not opener.has_keys(scope):
            return []
        marks = list(map(opener.keys(scope).mark, digests))
        return opener.open_same(self.inner.same(scope, marks, every_kind=every_kind), marks)

    def find_twins(self, record: Record, digest: bytes) -> Iterator[Sequence[Record]]:
        opener = self._opener_of(record.scope)
        if not opener.has_keys(record.scope):
            return
        keys = opener.keys(record.scope)
        mark = keys.mark(digest)
        for forms in find_twins(self.inner, seal_labels(record, keys).but(sealed=mark), mark):
            yield opener.open_same(forms, [mark])

    def find(self, where: Where, *, bare: bool = False) -> Iterator[Record]:
        asked = self.opener.split_filter(where)
        for form in self.inner.find(asked.where, bare=bare and asked.exact):
            if asked.exact or where.matches(self._opener_of(form.scope).open_or_blank(form)):
                yield self._open(form, bare)

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        """The state of a record is sealed: each is read and opened."""
        return look_for_held(self, records)

    def list_derived(self, scope: Scope) -> list[Record]:
        return [self._open(form, False) for form in super().list_derived(scope)]

    def history(self, scope: str, id: str) -> list[Event]:
        events = self.inner.history(scope, id)
        opener = self._opener_of(scope)
        if not opener.has_keys(scope):
            return [replace(event, before=None, by=None) for event in events]
        return opener.open_history(events)

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        opener = partial(self._opener_of, ACTORS)
        return read_values(
            self.inner, opener, self._forms, table, keys, within=within, prefix=prefix, limit=limit
        )

    # Writing.

    def insert(self, records: Sequence[Record]) -> list[Record]:
        forms = [seal_record(record, self._keys_for(record.scope)) for record in records]
        stored = []
        for record, form in zip(records, self.inner.insert(forms), strict=True):
            self._inserted[form.seq] = form
            stored.append(record.but(seq=form.seq))
        return stored

    def remove(self, records: Sequence[Record], events: Sequence[Event]) -> None:
        actors = self._keys_for(ACTORS)
        named = list(map(self._name, records))
        sealed = []
        for record, event in zip(named, events, strict=True):
            sealed.append(seal_event(event, record, actors, self._keys_for))
        self.inner.remove(named, sealed)

    def _name(self, record: Record) -> Record:
        """Enough of a record for the store inside to know which it is, and whose."""
        if record.agent is None or not self.opener.has_keys(record.scope):
            return record
        return record.but(agent=self.opener.keys(record.scope).label("agent", record.agent))

    def update(self, changes: Iterable[Use | Derived]) -> None:
        rows = list(changes)
        derived = {row.seq: row for row in rows if isinstance(row, Derived)}
        sealed: list[Use | Derived] = [row for row in rows if isinstance(row, Use)]
        for form in self._forms(derived):
            if self.opener.has_keys(form.scope):
                sealed.append(seal_derived(derived[form.seq], form, self.opener.keys(form.scope)))
        self.inner.update(sealed)

    def _forms(self, seqs: Iterable[int]) -> Iterator[Record]:
        """By seq, which the port cannot ask for here: what is not of this job is there in the store."""
        others = []
        for seq in seqs:
            if seq in self._inserted:
                yield self._inserted[seq]
            else:
                others.append(seq)
        yield from self._store.forms(others)

    def edit_history(self, edits: Mapping[tuple[str, str], Mapping[int, Mapping[str, Json]] | None]) -> int:
        sealed: dict[tuple[str, str], Mapping[int, Mapping[str, Json]] | None] = {}
        for (scope, id), notes in edits.items():
            sealed[scope, id] = notes if notes is None else self._seal_notes(scope, id, notes)
        return self.inner.edit_history(sealed)

    def _seal_notes(
        self, scope: str, id: str, notes: Mapping[int, Mapping[str, Json]]
    ) -> dict[int, Mapping[str, Json]]:
        """Each is bound to its event, so only those that there is an event for."""
        sealed, born = {}, 0.0
        for event in self.inner.history(scope, id):
            if event.what == "created":
                born = event.at
            elif event.before is not None and event.version in notes:
                note = notes[event.version]
                sealed[event.version] = seal_note(note, event, born, self._keys_for(scope))
        return sealed

    def set_values(self, table: Table[K, V], values: Mapping[K, V | None], *, clear: bool = False) -> None:
        kept: Mapping[Any, Any] = values
        if table.name == TALLIES.name:
            kept = seal_tallies(values, lambda name: self._keys_for(ACTORS).label("by", name))
        if table.name == STAGED.name:
            kept = seal_staged(values, self._forms, self._keys_for)
        if table.name == SETTINGS.name:
            kept = self._seal_secrets(values)
        self.inner.set_values(table, kept, clear=clear)

    def _seal_secrets(self, settings: Mapping[Any, Any]) -> Mapping[Any, Any]:
        secret = [name for name in settings if is_secret(name) and settings[name] is not None]
        if not secret:
            return settings
        actors = self._keys_for(ACTORS)
        return {**settings, **{name: seal_setting(name, settings[name], actors) for name in secret}}


class SealedJob(Generic[T]):
    """A job, run in a transaction that seals: `transaction` is that of its last run."""

    def __init__(self, store: Sealer, job: Callable[[Transaction], T]) -> None:
        self.transaction: SealedTransaction | None = None
        self._store, self._job = store, job
        self._asker = acts()
        self._epoch = job.epoch if isinstance(job, Put | RewriteForms) else None

    def __call__(self, transaction: Transaction) -> T:
        with acting_as(self._asker):  # the thread of another writer may run this, and keys are noted
            self.transaction = SealedTransaction(transaction, self._store, self._epoch)
            return self._job(self.transaction)
