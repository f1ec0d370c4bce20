"""Wraps a store and seals the content of its records, see docs/operate/encryption.md.

Neither the inner store nor the disk ever sees a text. Keys are read again whenever the epoch of the
inner store has changed, and every write checks the epoch first, so that no process ever writes with
a key that another process has destroyed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Final, TypeVar

from ...core.errors import Corrupt, Misconfigured
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import SETTINGS, Changes, Head, Store, Table, Transaction, verbs
from ...store.abilities import PutsNew, TakesAuditLog
from ...store.answers import count_records
from ...store.model import K, NewRecord, V
from ...store.passthrough import PassthroughStore
from ...store.traits import StoreTraits, traits_of
from . import KeyService, check_unsealed
from .codec import open_content, open_entry, seal_record
from .inner import Asked, is_secret, open_values, seal_keys, split_filter
from .keyring import ACTORS, Keyring, begin, is_sealed
from .transaction import CarriesOver, SealedJob, carry_sealed

T = TypeVar("T")
FIRST_PAGE: Final = 64


class SealedStore(PassthroughStore):
    """Seals the records of the inner store. `service` holds the master key."""

    passes: ClassVar[str] = "close survey prune scrub trim size leap latest_seq"
    lacks: ClassVar[str] = "list_telling condition ask changes_here"  # which read what a sealed store hides

    def __init__(self, inner: Store, service: KeyService) -> None:
        super().__init__(inner)
        if not is_sealed(inner):
            check_unsealed(inner)
            begin(inner, service)
        self.ring: Keyring = Keyring(inner, service)
        if inner.writable:
            _clear_shredded(inner)
        self._puts_new: PutsNew | None = inner if isinstance(inner, PutsNew) else None
        if isinstance(inner, CarriesOver):
            self.ring.keys(ACTORS)  # cached now, as a member may be down later
            inner.carry_by(partial(carry_sealed, self.ring, self.forms))

    def describe(self) -> StoreTraits:
        return replace(traits_of(self.inner), sealed=True, audited=self.ring.audited)

    def note_in(self, log: Any) -> None:
        """Logs key use in an audit log from now on, and marks the store as audited."""
        self.ring.noted = lambda what, scope: log.note(f"key {what}", scope=scope or None)
        self.ring.note_audited()
        if isinstance(self.inner, TakesAuditLog):
            self.inner.note_in(log)

    # Keys.

    def fresh(self) -> None:
        """Drops cached keys if the epoch of the store has changed."""
        self.ring.as_of(self.inner.head().epoch)

    def forms(self, seqs: Iterable[int]) -> Iterator[Record]:
        """Yields the sealed records with these seqs, from all scopes; skips absent ones."""
        wanted = set(seqs)
        if not wanted:
            return
        first, last = min(wanted), max(wanted)
        for form in verbs.scan(self.inner, Where(), after=first - 1, batch=len(wanted)):
            if form.seq > last:
                return
            if form.seq in wanted:
                yield form

    # Writing.

    def write(self, job: Callable[[Transaction], T]) -> T:
        sealing = SealedJob(self.ring, self.forms, job)
        answer = self.inner.write(sealing)
        sealing.keep_keys()
        return answer

    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        """Inserts with cached keys if the inner store confirms that their epoch is current."""
        epoch, keys = self.ring.epoch, self.ring.of(new.record.scope)
        if self._puts_new is None or keys is None or new.epoch not in (None, epoch):
            return self.write(job)
        form, repeats = seal_record(new.record, keys), list(map(keys.mark, new.repeats))
        sealed = new._replace(record=form, repeats=repeats, epoch=epoch)
        (stored,) = self._puts_new.put_new(sealed, SealedJob(self.ring, self.forms, job))
        return [new.record.but(seq=stored.seq) if stored.sealed else stored]

    # Reading.

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        self.fresh()
        return [form and self.ring.open(form) for form in self.inner.read(scope, keys)]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        asked = self._split_filter(where)
        if asked.exact:
            forms = self.inner.find(asked.where, order=order, limit=limit, offset=offset, after=after)
            return list(map(self.ring.open, forms))
        end = None if limit is None else offset + limit
        if end is not None:
            page = FIRST_PAGE + 4 * end
            forms = self.inner.find(asked.where, order=order, limit=page, after=after)
            found = list(islice(self._passing(where, asked, forms), end))
            if len(found) == end or len(forms) < page:
                return found[offset:]
        forms = self.inner.find(asked.where, order=order, after=after)
        return list(islice(self._passing(where, asked, forms), offset, end))

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        asked = self._split_filter(where)
        yield from self._passing(where, asked, verbs.scan(self.inner, asked.where, after=after, batch=batch))

    def _passing(self, where: Where, asked: Asked, forms: Iterable[Record]) -> Iterator[Record]:
        """Yields the records that match."""
        records = map(self.ring.open, forms)
        return records if asked.exact else filter(where.matches, records)

    def _split_filter(self, where: Where) -> Asked:
        self.fresh()
        return split_filter(where, self.ring.of)

    def _matching(self, where: Where, asked: Asked) -> Iterator[Record]:
        for form in verbs.scan(self.inner, asked.where):
            if where.matches(self.ring.open(form, open_content)):
                yield form

    def match(self, where: Where) -> list[int]:
        asked = self._split_filter(where)
        if asked.exact:
            return self.inner.match(asked.where)
        return [form.seq for form in self._matching(where, asked)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        asked = self._split_filter(where)
        if asked.exact:
            return self.inner.count_by(asked.where, columns)
        return count_records(self._matching(where, asked), columns)

    def history(self, scope: str, id: str) -> list[Event]:
        self.fresh()
        return self.ring.open_history(self.inner.history(scope, id))

    def values(
        self,
        table: Table[K, V],
        keys: Iterable[K] | None = None,
        *,
        within: Scope | None = None,
        prefix: str = "",
        limit: int | None = None,
    ) -> dict[K, V]:
        kept = seal_keys(table, keys, self.ring)
        found = self.inner.values(table, kept, within=within, prefix=prefix, limit=limit)
        return open_values(table, found, self.ring, self.forms)

    def fingerprint(self, seq: int) -> str | None:
        return verbs.fingerprint(self.inner, seq)

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        return verbs.switch_vectors(self.inner, name, settings)

    # Following.

    def head(self) -> Head:
        head = self.inner.head()
        self.ring.as_of(head.epoch)
        return head

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        changes = self.inner.changes(scope, since, limit)
        self.ring.as_of(changes.head.epoch)
        if not changes.entries:
            return changes
        keys = self.ring.keys(scope)
        return changes._replace(entries=[open_entry(entry, keys) for entry in changes.entries])


def _clear_shredded(store: Store) -> None:
    """Deletes the records that format 0.3 left behind when it destroyed the key of their scope."""
    if shredded := store.values(SETTINGS, prefix="seal:shredded:"):
        for scope in shredded.values():
            verbs.delete_where(store, Where(scope=Scope(scope)), now=0.0)
        store.write(lambda transaction: transaction.set_values(SETTINGS, dict.fromkeys(shredded)))


def find_sealed(store: Store) -> SealedStore | None:
    """Returns the sealed store that a store is or wraps; None if there is none."""
    if isinstance(store, SealedStore):
        return store
    return find_sealed(store.inner) if isinstance(store, PassthroughStore) else None


# Finding what was changed outside of Eidet.


def list_damage(store: Store) -> list[str]:
    """Lists each record, history, scope and setting of a sealed store that does not open.

    Empty for a store that is not sealed. Cannot detect deletions from outside, which leave no trace.
    """
    sealed = find_sealed(store)
    if sealed is None:
        return []
    sealed.fresh()
    faults: list[str] = []
    for name in filter(is_secret, sealed.inner.values(SETTINGS)):
        try:
            sealed.values(SETTINGS, (name,))
        except Corrupt as error:
            faults.append(str(error))
    for scope in verbs.count_scopes(sealed):
        faults += _check_scope(sealed, scope)
    return faults


def _check_scope(store: SealedStore, scope: str) -> Iterator[str]:
    try:
        store.ring.keys(scope)
    except (Corrupt, Misconfigured) as error:
        yield f"scope {scope}: {error}"
        return
    for seq in store.inner.match(Where(scope=Scope(scope))):
        name = f"record with seq {seq}"
        try:
            for form in filter(None, store.inner.read(scope, [seq])):
                name = f"record {form.id!r}"
                store.ring.open(form)
                store.ring.open_history(store.inner.history(scope, form.id))
        except Corrupt as error:
            yield f"scope {scope}, {name}: {error}"
