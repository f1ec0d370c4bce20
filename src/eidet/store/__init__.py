"""The store port: where records are kept. The store is the truth; every index follows it.

A backend is one file with a class that has these methods, and a test class of four lines that
inherits `eidet.store.contract.StoreContract`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from ..core.event import Event
from ..core.record import Record
from ..core.scope import Scope
from ..core.validate import Json
from ..core.where import Where
from ..quality import Survey, Tally

Uses = Mapping[tuple[str, str], tuple[int, float]]  # (scope, id) -> (how often, when last)
SCOPE_MARK: Final = b""  # entombs all that a scope held until then …
BELOW_MARK: Final = b"/"  # … and all that the scopes below it held
ORDERS = ("seq", "occurred", "created", "importance", "step", "uses")


class Head(NamedTuple):
    """How far a store has come. `epoch` rises when stored vectors or terms were rewritten in place."""

    epoch: int
    seq: int


class Entry(NamedTuple):
    """What an index needs of a record."""

    seq: int
    kind: str
    tier: str
    trust: str
    agent: str | None
    session: str | None
    who: str | None
    source: str | None
    occurred: float
    created: float
    step: int | None
    x: float | None
    y: float | None
    z: float | None
    importance: float
    expires: float | None
    level: int
    vector: bytes | None
    terms: bytes


class Changes(NamedTuple):
    """What changed in a scope up to `head`: new entries by rising seq, and seqs that are gone.

    Whoever was here last before seq `pruned` is not told everything that is gone, and begins anew.
    """

    head: Head
    entries: Sequence[Entry]
    gone: Sequence[int]
    pruned: int = 0


class Derived(NamedTuple):
    """A record's derived bytes, to be written in place of what is stored for that seq."""

    seq: int
    vector: bytes | None
    terms: bytes


class Claim(NamedTuple):
    """What a record that is to be written may not be, as marks of what was forgotten: see `marks`.

    `says` are those of its content. `id` is that of its id, which counts for what was created before
    the id was forgotten. `made_of` are those of the ids it was derived from, which count where no
    such record is there.
    """

    says: Sequence[bytes] = ()
    id: bytes | None = None
    made_of: Sequence[tuple[str, bytes]] = ()


class Watch(NamedTuple):
    """What a write does about what was forgotten for good.

    `claims` gives one claim per record; it is only asked in a store that has tombstones. With
    `again`, the tombstones of what is said are lifted; without, such records are `Entombed`.
    `returning` records also may not be older than the end of their scope.
    """

    claims: Callable[[], Sequence[Claim]]
    again: bool = False
    returning: bool = False


class Stone(NamedTuple):
    """A tombstone to be: `mark` must not come back to `scope`."""

    scope: str
    mark: bytes


class Erasure(NamedTuple):
    """What is to happen at once when memories are forgotten for good.

    `gone` are deleted as `drop` does, and so is all that matches `where`. `anew` are derived records:
    (as it is, as it shall be); they become the next version, and history keeps nothing of what they
    said before.
    """

    gone: Sequence[Record] = ()
    where: Where | None = None
    anew: Sequence[tuple[Record, Record]] = ()
    stones: Sequence[Stone] = ()
    settings: Mapping[str, str] = {}


class Erased(NamedTuple):
    """The (scope, id) of what was deleted, and how many notes of the history lost what they told."""

    gone: list[tuple[str, str]]
    histories: int


class Scrubbed(NamedTuple):
    """Bytes that were given back, and in words what is not clean yet, and why."""

    freed: int = 0
    pending: tuple[str, ...] = ()


class Look(Protocol):
    """Reading inside of a write: nobody else can write meanwhile."""

    def scan(self, where: Where) -> Iterator[Record]:
        """Matching records by rising seq."""

    def twins(self, records: Sequence[Record]) -> list[Record]:
        """All other records of their scopes that say word for word what one of these says."""

    def derived(self, scope: Scope) -> list[Record]:
        """Those of a scope that were derived from others."""

    def history(self, scope: str, id: str) -> list[Event]: ...

    def setting(self, name: str) -> str | None: ...


class Store(Protocol):
    """Keeps records. Every method is safe from many threads; what returned is durable.

    Every write is all or nothing. `seq` rises with every write in the store and is never reused,
    and a reader that has seen seq n has seen everything below it.
    """

    @property
    def identity(self) -> str:
        """Differs between any two stores; the same each time this one is opened."""

    @property
    def writable(self) -> bool: ...

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
        """Writes all records or none; one answer per record, in order, as it is now stored.

        A record whose (scope, id) exists becomes its next version; one that says the same is left
        alone. With `unique`, a fact or document whose content its scope already has under another
        id is not stored again: the one that is there is answered, with a use counted. With
        `expect`, each record must exist in that version, else Conflict; with `epoch`, the store
        must still be in that epoch, else Conflict. With `watch`, what was forgotten for good is
        `Entombed`, and nothing is written.
        """

    def recast(
        self,
        forms: Sequence[tuple[Record, Record]],
        *,
        now: float,
        epoch: int | None = None,
        by: str | None = None,
    ) -> list[Record | None]:
        """Keeps records in another form: (as it was read, as it shall be kept). All at once.

        One answer per pair: the record as it is now stored, or None where it was changed or deleted
        since it was read (its seq differs). The version stays and so do uses counted meanwhile: what
        a record says is the same. History tells that it was moved. `epoch` as in `put`.
        """

    def bury(self, records: Sequence[Record], *, now: float, by: str | None = None) -> list[str]:
        """Deletes those records that are as they were read (by seq), as `drop` does; the ids deleted."""

    def get(self, scope: str, ids: Sequence[str]) -> list[Record | None]:
        """One answer per id, in the order asked; None where absent."""

    def fetch(self, scope: str, seqs: Sequence[int]) -> list[Record | None]:
        """The same by seq."""

    def find(
        self, where: Where, *, order: str = "seq", limit: int | None = None, offset: int = 0
    ) -> list[Record]:
        """Matching records; `order` is one of ORDERS, a leading '-' reverses, absent values last.

        Equal values are ordered by seq (in the same direction).
        """

    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """Matching records above a seq, by rising seq; holds no lock, and never all of them in memory."""

    def match(self, where: Where) -> list[int]:
        """The seqs of matching records, rising."""

    def count(self, where: Where) -> int: ...

    def census(self, where: Where) -> dict[tuple[str, str], int]:
        """How many records match, by (kind, tier)."""

    def drop(self, where: Where, *, now: float, by: str | None = None) -> list[str]:
        """Deletes what matches and what its history says of its content; the ids deleted.

        A filter that asks for nothing but a scope means all of it: its tallies go too.
        """

    def erase(self, plan: Callable[[Look], Erasure], *, now: float, by: str | None = None) -> Erased:
        """Deletes, writes anew and entombs what `plan` says, all at once.

        The plan is made inside of the write: what it saw is as it is. Its errors undo everything.
        """

    def entombed(self, scope: str, marks: Sequence[bytes]) -> dict[bytes, float]:
        """Which of the marks are entombed in a scope, and since when."""

    def exhume(self, scope: str, marks: Sequence[bytes]) -> int:
        """Lifts tombstones; how many there were."""

    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Leaves nothing of what was deleted in the files of the store.

        `said` are bytes that must not be found there any more; None where nobody knows.
        """

    def note(self, uses: Uses) -> None:
        """Adds to use counts; records that are gone are passed over. Changes no version or seq."""

    def tally(self, rows: Sequence[Tally], *, since: int) -> None:
        """Adds counts to those of the same scope, day and thing; all rows or none.

        Nothing is lost when several processes add at once. The scopes named have no days before
        `since` after it. Changes no seq.
        """

    def tallies(self, scope: Scope | None, since: int) -> list[Tally]:
        """The tallies of a scope (None: of all) from a day on, by scope, day and thing."""

    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """Counts living records as of one moment; may have to look at each of them.

        Fresh ones were created at `fresh` or later, ripe ones before `ripe`; stale ones were
        created before `stale` and not used since. Duplicates are facts and documents that say what
        another one of their scope says; the first one is none.
        """

    def history(self, scope: str, id: str) -> list[Event]:
        """What happened to a record, oldest first; also after it was forgotten.

        A creation is by the record's agent; what follows is by whoever the call named.
        """

    def retell(self, scope: str, id: str, before: Mapping[int, Mapping[str, Json]]) -> int:
        """Puts what the history tells of a record's content in other words, by version; how many notes.

        Only notes that still tell something: what was forgotten stays so. Changes no seq.
        """

    def scopes(self, scope: Scope | None = None, *, alive_at: float | None = None) -> dict[str, int]:
        """Scopes that hold records, with their counts, by name; all of them or those in `scope`.

        With `alive_at`, records that have expired by then do not count.
        """

    def head(self) -> Head:
        """How far the store has come, other processes' writes included. Must be cheap."""

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        """What happened in a scope after seq `since`, as of one moment: at most `limit` entries.

        `head` says up to where this tells all; ask again from there until it is the store's head.
        `gone` names only seqs up to `since`; what came and went in between is left out.
        """

    def witness(self, seq: int) -> str | None:
        """What tells the write with this seq from any other, if it still knows; the same each time."""

    def setting(self, name: str) -> str | None: ...

    def settings(self, prefix: str) -> dict[str, str]:
        """Those whose names begin so, by name."""

    def configure(self, settings: Mapping[str, str], *, fresh: bool = False) -> None:
        """Writes settings, all or none; with `fresh`, those that are set already are left alone."""

    def lease(self, name: str, owner: str, *, now: float, until: float) -> bool:
        """Whether the owner may do what is named until then: nobody else may meanwhile, in any process.

        Whoever has it may have it again; `until` in the past gives it back.
        """

    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Removes up to `most` notes of moves from the history that are older than `before`; how many.

        With `dead`, all that is told of records that are no more, too. Never the last note there is.
        """

    def trim(self, most: int) -> int:
        """Gives up to `most` bytes that nothing is kept in back to the disk, and overwrites the rest.

        How many were given back; 0 means there are no more, or that the store cannot.
        """

    def rewrite(self, derived: Iterable[Derived]) -> None:
        """Replaces derived bytes in place and raises the epoch. Rows that are gone are passed over."""

    def stage(self, name: str, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Keeps vectors (by seq) of the next embedder aside, across restarts; another name starts anew."""

    def staged(self, name: str) -> int:
        """Up to which seq vectors of this embedder are kept aside; 0 if none."""

    def adopt(self, name: str, settings: Mapping[str, str]) -> int:
        """Makes the staged vectors those of the records, and writes settings, at once.

        Only if every record with a vector has one staged; else nothing happens. The number that lack
        one is answered, so 0 means done.
        """

    def size(self) -> int:
        """Bytes the store takes where it lives."""

    def close(self) -> None:
        """Releases everything; closing twice is fine."""
