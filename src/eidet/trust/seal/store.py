"""A store around a store that keeps what records say sealed, see docs/encryption.md.

The store inside never sees a text, and neither does the disk. Keys are read anew whenever the epoch
of the store inside has changed, and every write is bound to the epoch its keys were read in: so no
process ever writes under a key that another one is about to destroy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeVar

from ...core.actor import acting_as, acts
from ...core.errors import Corrupt
from ...core.event import Event
from ...core.record import Record
from ...core.scope import Scope
from ...core.where import Where
from ...quality import Tally
from ...store import Changes, Derived, Erased, Erasure, Head, Look, Store, Watch, verbs
from ...store.legacy import LegacyStore
from ...store.passthrough import Around
from ...store.rules import StaleEpoch
from . import KeyService, Shredded
from .boxes import OtherKey, ScopeKeys, number_of
from .codec import blank, entry_opened, opened, readable, shut
from .filter_split import NOTHING, Asked, asked_of
from .history import story
from .keyring import Keyring, Noted, begin, is_sealed
from .plan_reader import OpenLook

T = TypeVar("T")
TRIES: Final = 100
_BOXES: Final = ("id", "sealed", "vector", "terms", "original")
_CARRIED: Final = ("version", "seq", "created", "occurred", "uses", "last_used")
FIRST_PAGE: Final = 64
ACTORS: Final = "\0actors"  # no scope can be called so: the key for the names of who acted


class SealedStore(Around, LegacyStore):
    """Seals what the store inside keeps. `service` holds the master key; `noted` is told of key use."""

    sealed = True

    def __init__(self, inner: Store, service: KeyService, noted: Noted | None = None) -> None:
        if not is_sealed(inner):
            begin(inner, service)
        self.inner = inner
        self.identity = inner.identity
        self.writable = inner.writable
        self.ring = Keyring(inner, service, noted)
        if (path := getattr(inner, "path", None)) is not None:
            self.path = path

    def audited_by(self, log: Any) -> None:
        """From now on the use of keys is noted in an audit log."""
        self.ring.noted = lambda what, scope: log.note(f"key {what}", scope=scope or None)

    # Keys.

    def fresh(self) -> int:
        """Makes sure that keys are those of this moment; the epoch they belong to."""
        epoch = self.inner.head().epoch
        self.ring.as_of(epoch)
        return epoch

    def keys(self, scope: str) -> ScopeKeys:
        """For reading what a scope holds."""
        keys = self.ring.of(scope)
        if keys is None:
            raise Corrupt(f"scope {scope!r} holds records but has no key: restore a copy or an export")
        return keys

    def shut(self, record: Record) -> Record:
        """A record as the store inside keeps it."""
        try:
            keys = self.ring.of(record.scope)
        except Shredded:
            keys = None
        if keys is None:
            keys = self.ring.begun(
                record.scope, again=not verbs.count_scopes(self.inner, Scope(record.scope))
            )
        return shut(record, keys)

    def opened(self, form: Record, how: Callable[[Record, ScopeKeys], Record] = opened) -> Record:
        try:
            return how(form, self.keys(form.scope))
        except OtherKey:  # made by another process after ours were read
            self.ring.renew()
            return how(form, self.keys(form.scope))

    def actor(self, by: str | None) -> str | None:
        """Who acts, as a token; the same in every scope, because one act may be in several."""
        return None if by is None else self.ring.begun(ACTORS, again=False).label("by", by)

    def _writing(self, epoch: int | None, write: Callable[[int], T]) -> T:
        """Runs a write in the epoch that its keys are of; again, if that has passed meanwhile."""
        for _ in range(TRIES):
            if self.ring.epoch < 0 or (epoch is not None and epoch != self.ring.epoch):
                self.fresh()
            try:
                return write(self.ring.epoch if epoch is None else epoch)
            except StaleEpoch:
                self.fresh()
                if epoch is not None:
                    raise
        raise StaleEpoch(f"the keys of this store kept changing; gave up after {TRIES} attempts")

    # Writing.

    def put(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = True,
        expect: int | None = None,
        epoch: int | None = None,
        by: str | None = None,
        watch: Watch | None = None,
    ) -> list[Record]:
        def write(epoch: int) -> list[Record]:
            forms, actor = [self.shut(record) for record in records], self.actor(by)
            stored = verbs.put(
                self.inner, forms, now=now, unique=unique, expect=expect, epoch=epoch, by=actor, watch=watch
            )
            return [self._stored(*trio) for trio in zip(records, forms, stored, strict=True)]

        return self._writing(epoch, write) if records else []

    def _stored(self, record: Record, form: Record, stored: Record) -> Record:
        """What is now stored: mostly what was given, which need not be opened."""
        if any(getattr(form, name) != getattr(stored, name) for name in _BOXES):
            return self.opened(stored)
        return record.but(**{name: getattr(stored, name) for name in _CARRIED})

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        def write(epoch: int) -> list[Record | None]:
            shut = [(self._named(old), self.shut(new)) for old, new in forms]
            return verbs.rewrite_form(self.inner, shut, now=now, epoch=epoch, by=self.actor(by))

        made = self._writing(epoch, write) if forms else []
        return [None if form is None else self.opened(form) for form in made]

    def _named(self, record: Record) -> Record:
        """Enough of a record for the store inside to know which it is, and whose."""
        keys = None if record.agent is None else self.ring.of(record.scope)
        return record.but(agent=None if keys is None else keys.label("agent", record.agent or ""))

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        return verbs.delete_unchanged(self.inner, records, now=now, by=self.actor(by))

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        asked = self.asked(where)
        if asked.exact:
            return verbs.delete_where(self.inner, asked.where, now=now, by=self.actor(by))
        return [id for _, id in self.erase(lambda _: Erasure(where=where), now=now, by=by).gone]

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        actor = self.actor(by)  # before the write: it may have to make a key
        asker = acts()

        def planned(look: Look) -> Erasure:
            with acting_as(asker):  # the thread of another writer may run this, and keys are noted
                return self._planned(plan, look)

        return verbs.erase(self.inner, planned, now=now, by=actor)

    def _planned(self, plan: Callable[[Look], Erasure], look: Look) -> Erasure:
        """What was planned, in the terms of the store inside. Nobody else writes now: keys are right."""
        self.fresh()
        wanted = plan(OpenLook(self, look))
        where, gone = None, list(map(self._named, wanted.gone))
        if wanted.where is not None:
            asked = self.asked(wanted.where)
            where = asked.where if asked.exact else None
            gone += [] if asked.exact else self._forms_of(wanted.where, look.scan(asked.where))
        anew = [(self._named(old), self.shut(new)) for old, new in wanted.anew]
        return wanted._replace(gone=gone, where=where, anew=anew)

    def _forms_of(self, where: Where, forms: Iterable[Record]) -> list[Record]:
        return [form for form in forms if where.matches(self._for_filter(form))]

    # Reading.

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        self.fresh()
        return [form and self.opened(form) for form in self.inner.read(scope, ids)]

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        self.fresh()
        return [form and self.opened(form) for form in self.inner.read(scope, seqs)]

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0, after: int = 0
    ) -> list[Record]:
        asked = self.asked(where)
        if asked.exact and not self.ring.shredded():
            return list(
                map(
                    self.opened,
                    self.inner.find(asked.where, order=order, limit=limit, offset=offset, after=after),
                )
            )
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
        return self.scanned(where, partial(partial(verbs.scan, self.inner), after=after, batch=batch))

    def scanned(self, where: Where, scan: Callable[[Where], Iterator[Record]]) -> Iterator[Record]:
        asked = self.asked(where)
        yield from self._passing(where, asked, scan(asked.where))

    def _passing(self, where: Where, asked: Asked, forms: Iterable[Record]) -> Iterator[Record]:
        """The records that match. What was shredded is passed over where more than its scope is meant."""
        one = asked.exact and where.scope is not None and not where.scope.below
        for form in forms:
            if form.scope in self.ring.shredded() and not one:
                continue
            record = self.opened(form)
            if asked.exact or where.matches(record):
                yield record

    def asked(self, where: Where) -> Asked:
        """What of a filter the store inside can answer."""
        self.fresh()
        return asked_of(where, self._token)

    def has_keys(self, scope: str) -> bool:
        try:
            return self.ring.of(scope) is not None
        except Shredded:
            return False

    def _token(self, scope: str, name: str, label: str) -> str:
        return self.keys(scope).label(name, label) if self.has_keys(scope) else NOTHING

    def _for_filter(self, form: Record) -> Record:
        """As far as it can be read: what was shredded says nothing."""
        try:
            return self.opened(form, readable)
        except Shredded:
            return blank(form)

    def _matching(self, where: Where, asked: Asked) -> Iterator[Record]:
        return (form for form in verbs.scan(self.inner, asked.where) if where.matches(self._for_filter(form)))

    def match(self, where: Where) -> list[int]:
        asked = self.asked(where)
        if asked.exact:
            return self.inner.match(asked.where)
        return [form.seq for form in self._matching(where, asked)]

    def count(self, where: Where) -> int:
        asked = self.asked(where)
        return (
            verbs.count(self.inner, asked.where)
            if asked.exact
            else sum(1 for _ in self._matching(where, asked))
        )

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        asked = self.asked(where)
        if asked.exact:
            return verbs.count_kinds(self.inner, asked.where)
        return dict(Counter((str(form.kind), str(form.tier)) for form in self._matching(where, asked)))

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        """Those that can be read: a shredded scope is left out, though its rows may be there."""
        self.fresh()
        found = verbs.count_scopes(self.inner, scope, alive_at=alive_at)
        return {path: count for path, count in found.items() if path not in self.ring.shredded()}

    def history(self, scope: str, id: str) -> list[Event]:
        """Notes and record are read apart: again, until the newest note is about this record."""
        for _ in range(TRIES):
            self.fresh()
            told, form = self.inner.history(scope, id), self.inner.read(scope, [id])[0]
            newest = next((event.version for event in reversed(told) if event.before is not None), None)
            if newest is None or (form is not None and form.version == newest):
                break
        return self.told(told, form)

    def told(self, events: Sequence[Event], form: Record | None) -> list[Event]:
        """A history in plain words; `form` is the record as it is kept now."""
        return story(events, form, self.ring.of(events[0].scope), self._acted) if events else []

    # Tallies: who judged is a name, too.

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        verbs.add_counts(
            self.inner, [row._replace(what=self._what(row.what, self.actor)) for row in rows], since=since
        )

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        rows = verbs.read_counts(self.inner, scope, since)
        told = [row._replace(what=self._what(row.what, self._acted)) for row in rows]
        return sorted(told, key=lambda row: row[:3])

    def _what(self, what: str, named: Callable[[str], str | None]) -> str:
        thing, slash, name = what.partition("/")
        return f"{thing}/{named(name)}" if slash else what

    def _acted(self, token: str) -> str:
        return self.keys(ACTORS).labelled("by", token)

    # Following.

    def head(self) -> Head:
        head = self.inner.head()
        self.ring.as_of(head.epoch)
        return head

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        told = self.inner.changes(scope, since, limit)
        self.ring.as_of(told.head.epoch)
        if not told.entries:
            return told
        keys = self.keys(scope)
        if any(number_of(entry.terms) not in keys.numbers for entry in told.entries):
            self.ring.renew()  # another process has just made a key
            keys = self.keys(scope)
        return told._replace(entries=[entry_opened(entry, keys) for entry in told.entries])

    # Derived bytes.

    def rewrite(self, derived: Iterable[Derived]) -> None:
        rows = {row.seq: row for row in derived}
        for _ in range(TRIES):
            epoch = self.fresh()
            verbs.replace_derived(
                self.inner, [self._boxed(form, rows[form.seq]) for form in self._forms(rows)]
            )
            if self.inner.head().epoch == epoch + 1:
                return

    def _boxed(self, form: Record, row: Derived) -> Derived:
        keys = self.keys(form.scope)
        owner = keys.owner(form.id)
        vector = None if row.vector is None else keys.seal("vector", owner, row.vector)
        return Derived(form.seq, vector, keys.seal("terms", owner, row.terms))

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Again if keys were changed meanwhile: what is staged must not be under one that goes."""
        given = dict(vectors)
        for _ in range(TRIES):
            epoch = self.fresh()
            boxed = [
                self._boxed(form, Derived(form.seq, given[form.seq], b"")) for form in self._forms(given)
            ]
            verbs.stage_vectors(self.inner, name, [(row.seq, row.vector or b"") for row in boxed])
            if self.inner.head().epoch == epoch:
                return

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        """Vectors of shredded scopes, which nobody can read or make anew, are no hindrance."""
        self.fresh()
        for scope in self.ring.shredded() if verbs.staged_up_to(self.inner, name) else ():
            lost = self.inner.match(Where(scope=Scope(scope)))
            verbs.stage_vectors(self.inner, name, [(seq, b"\0") for seq in lost])
        return verbs.switch_vectors(self.inner, name, settings)

    def _forms(self, seqs: Iterable[int]) -> Iterator[Record]:
        """The records with these seqs that are there, of whatever scope."""
        wanted = set(seqs)
        if not wanted:
            return
        first, last = min(wanted), max(wanted)
        for form in verbs.scan(self.inner, Where(), after=first - 1, batch=len(wanted)):
            if form.seq > last:
                return
            if form.seq in wanted and form.scope not in self.ring.shredded():
                yield form
