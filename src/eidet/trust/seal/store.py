"""Wraps a store and seals the content of its records, see docs/operate/encryption.md.

Neither the inner store nor the disk ever sees a text. Keys are read again whenever the epoch of the
inner store has changed, and every write checks the epoch first, so that no process ever writes with
a key that another process is about to destroy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Final, TypeVar

from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.where import Where
from ...store import Changes, Head, Store, Table, Transaction, verbs
from ...store.abilities import PutsNew
from ...store.answers import count_records
from ...store.model import K, NewRecord, V
from ...store.passthrough import PassthroughStore
from ...store.traits import StoreTraits
from ...store.verbs.writing import Put
from . import KeyService, check_unsealed
from .boxes import ScopeKeys, number_of
from .codec import open_entry, seal_record
from .keyring import ACTORS, Keyring, Noted, begin, is_sealed
from .opener import Asked, Opener, open_values, seal_keys
from .transaction import CarriesOver, KeysMissing, SealedJob, carry_sealed

T = TypeVar("T")
FIRST_PAGE: Final = 64


class SealedStore(PassthroughStore):
    """Seals the records of the inner store. `service` holds the master key; `noted` is called on key use."""

    passes: ClassVar[str] = "identity writable close survey prune scrub trim size leap latest_seq fingerprint"
    lacks: ClassVar[str] = "list_telling"  # the inner store cannot read the analysis in entries

    def __init__(self, inner: Store, service: KeyService, noted: Noted | None = None) -> None:
        super().__init__(inner)
        if not is_sealed(inner):
            check_unsealed(inner)
            begin(inner, service)
        self.ring: Keyring = Keyring(inner, service, noted)
        self.opener: Opener = Opener(self.ring)
        self._puts_new: PutsNew | None = inner if isinstance(inner, PutsNew) else None
        if isinstance(inner, CarriesOver):
            self.opener.keys(ACTORS)  # cached now, as a member may be down later
            inner.carry_by(partial(carry_sealed, self.opener, self.forms))

    def describe(self) -> StoreTraits:
        return replace(super().describe(), sealed=True, audited=self.ring.audited)

    def note_in(self, log: Any) -> None:
        """Logs key use in an audit log from now on, and marks the store as audited."""
        self.ring.noted = lambda what, scope: log.note(f"key {what}", scope=scope or None)
        self.ring.note_audited()
        super().note_in(log)

    # Keys.

    def fresh(self) -> None:
        """Drops cached keys if the epoch of the store has changed."""
        self.ring.as_of(self.inner.head().epoch)

    def _ask_opener(self) -> Opener:
        """Returns an opener with the present keys."""
        self.fresh()
        return self.opener

    def keys(self, scope: str) -> ScopeKeys:
        """Returns the keys of a scope with records."""
        return self.opener.keys(scope)

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
        if isinstance(job, Put):  # its scopes are known; other jobs run again if a key is missing
            self._make_keys({record.scope for record in job.records})
        return self._with_keys(partial(self.inner.write, SealedJob(self.opener, self.forms, job)))

    def _with_keys(self, write: Callable[[], T]) -> T:
        while True:
            try:
                return write()
            except KeysMissing as missing:
                self._make_keys(missing.scopes)

    def _make_keys(self, scopes: Iterable[str]) -> None:
        for scope in scopes:
            if self.opener.find_keys(scope) is None:
                self.ring.make(scope)

    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        """Inserts with cached keys if the inner store confirms that their epoch is current."""
        epoch, keys = self.ring.held.epoch, self.opener.find_keys(new.record.scope)
        if self._puts_new is None or keys is None or new.epoch not in (None, epoch):
            return self.write(job)
        form, repeats = seal_record(new.record, keys), list(map(keys.mark, new.repeats))
        sealed = new._replace(record=form, repeats=repeats, epoch=epoch)
        run = SealedJob(self.opener, self.forms, job)
        (stored,) = self._with_keys(partial(self._puts_new.put_new, sealed, run))
        return [new.record.but(seq=stored.seq) if stored.sealed else stored]

    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        """Switches vectors; ignores those of shredded scopes, which can be neither read nor recomputed."""
        self.fresh()
        for scope in self.ring.list_shredded() if verbs.read_staged(self.inner, name) else ():
            lost = self.inner.match(Where(scope=Scope(scope)))
            verbs.stage_vectors(self.inner, name, [(seq, b"\0") for seq in lost])
        return super().switch_vectors(name, settings)

    # Reading.

    def read(self, scope: str, keys: Sequence[str] | Sequence[int]) -> list[Record | None]:
        self.fresh()
        return [form and self.opener.open(form) for form in self.inner.read(scope, keys)]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        asked = self._split_filter(where)
        if asked.exact and not self.ring.list_shredded():
            forms = self.inner.find(asked.where, order=order, limit=limit, offset=offset, after=after)
            return list(map(self.opener.open, forms))
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
        yield from self._passing(where, asked, super().scan(asked.where, after=after, batch=batch))

    def _passing(self, where: Where, asked: Asked, forms: Iterable[Record]) -> Iterator[Record]:
        """Yields the records that match; skips shredded scopes unless the filter names only that scope."""
        one = asked.exact and where.scope is not None and where.scope.is_one
        for form in forms:
            if form.scope in self.ring.list_shredded() and not one:
                continue
            record = self.opener.open(form)
            if asked.exact or where.matches(record):
                yield record

    def _split_filter(self, where: Where) -> Asked:
        self.fresh()
        return self.opener.split_filter(where)

    def _matching(self, where: Where, asked: Asked) -> Iterator[Record]:
        for form in verbs.scan(self.inner, asked.where):
            if where.matches(self.opener.open_or_blank(form)):
                yield form

    def match(self, where: Where) -> list[int]:
        asked = self._split_filter(where)
        if asked.exact:
            return self.inner.match(asked.where)
        return [form.seq for form in self._matching(where, asked)]

    def count_by(self, where: Where, columns: Sequence[str] = ()) -> dict[tuple[str, ...], int]:
        """Counts records; by scope, leaves out shredded ones, whose rows may still exist."""
        asked = self._split_filter(where)
        if asked.exact:
            counts = self.inner.count_by(asked.where, columns)
        else:
            counts = count_records(self._matching(where, asked), columns)
        if "scope" not in columns:
            return counts
        at, shredded = columns.index("scope"), self.ring.list_shredded()
        return {key: count for key, count in counts.items() if key[at] not in shredded}

    def history(self, scope: str, id: str) -> list[Event]:
        self.fresh()
        return self.opener.open_history(self.inner.history(scope, id))

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
        return open_values(table, found, self._ask_opener, self.forms)

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
        keys = self.keys(scope)
        if any(number_of(entry.terms) not in keys.numbers for entry in changes.entries):
            self.ring.renew()  # another process has just created a key
            keys = self.keys(scope)
        return changes._replace(entries=[open_entry(entry, keys) for entry in changes.entries])
