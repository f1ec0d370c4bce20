"""The values that stores take and give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from ..core.record import Event, Record
from ..core.where import Where

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
Uses = Mapping[tuple[str, str], tuple[int, float]]  # (scope, id) -> (how often, when last)
SCOPE_MARK: Final = b""  # entombs all that a scope held until then …
BELOW_MARK: Final = b"/"  # … and all that the scopes below it held
ORDERS = ("seq", "occurred", "created", "importance", "step", "uses")


PROVISIONAL: Final = 1 << 62  # seqs from here on stand, inside of a job, for those that the commit will give


class Head(NamedTuple):
    """How far a store has come. `epoch` rises when stored vectors or terms are rewritten in place."""

    epoch: int
    seq: int


class Entry(NamedTuple):
    """The parts of a record that an index needs."""

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
    """The changes of a scope up to `head`: new entries by ascending seq, and deleted seqs.

    Whoever was here last before seq `pruned` is not told everything that is gone, and begins anew.
    """

    head: Head
    entries: Sequence[Entry]
    gone: Sequence[int]
    pruned: int = 0


class Derived(NamedTuple):
    """A record's derived bytes, which replace those stored for that seq."""

    seq: int
    vector: bytes | None
    terms: bytes


class Claims(NamedTuple):
    """The marks of forgotten content that a new record may not have: see `marks`.

    `says` are those of its content. `id` is that of its id, which counts for what was created before
    the id was forgotten. `made_of` are those of the ids it was derived from, which count where no
    such record is there.
    """

    says: Sequence[bytes] = ()
    id: bytes | None = None
    made_of: Sequence[tuple[str, bytes]] = ()


class TombstoneGuard(NamedTuple):
    """How a write treats content that was forgotten for good.

    `claims` gives one claim per record; it is only asked in a store that has tombstones. With
    `again`, the tombstones of what is said are lifted; without, such records are `Entombed`.
    `returning` records also may not be older than the end of their scope.
    """

    claims: Callable[[], Sequence[Claims]]
    again: bool = False
    returning: bool = False


class Tombstone(NamedTuple):
    """A tombstone to be: `mark` must not come back to `scope`."""

    scope: str
    mark: bytes


class Erasure(NamedTuple):
    """What must happen at once when memories are forgotten for good.

    `gone` are deleted as `drop` does, and so is all that matches `where`. `anew` are derived records:
    (as it is, as it shall be); they become the next version, and history keeps nothing of what they
    said before.
    """

    gone: Sequence[Record] = ()
    where: Where | None = None
    anew: Sequence[tuple[Record, Record]] = ()
    stones: Sequence[Tombstone] = ()
    settings: Mapping[str, str] = {}


class Erased(NamedTuple):
    """The (scope, id) of each deleted record, and how many history events lost their content.

    `staged` counts the vectors that went which the next embedder had made already.
    """

    gone: list[tuple[str, str]]
    histories: int
    staged: int = 0


class Scrubbed(NamedTuple):
    """The bytes freed, and in words what is not clean yet, and why."""

    freed: int = 0
    pending: tuple[str, ...] = ()


class Reader(Protocol):
    """Reads for the plan of an erasure: from its transaction, or from a store for a dry run."""

    def scan(self, where: Where) -> Iterator[Record]:
        """Matching records by rising seq."""

    def twins(self, records: Sequence[Record]) -> list[Record]:
        """Returns all other records of their scopes with the same text as one of these."""

    def history(self, scope: str, id: str) -> list[Event]: ...

    def setting(self, name: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Table(Generic[K, V]):
    """A table of small values. If its keys are tuples, they begin with the scope that they belong to."""

    name: str


SETTINGS: Final[Table[str, str]] = Table("settings")  # of the store as a whole; also leases and the epoch
STAGED: Final[Table[int, bytes]] = Table("staged")  # the next embedder's vectors, by seq
TOMBSTONES: Final[Table[tuple[str, bytes], float]] = Table(
    "tombstones"
)  # since when (scope, mark) is forgotten
TALLIES: Final[Table[tuple[str, int, str], Mapping[str, int]]] = Table(
    "tallies"
)  # counts by (scope, day, thing)
EPOCH: Final = "epoch"  # the setting behind `Head.epoch`
STAGED_NAME: Final = "staged"  # the setting that names the embedder whose vectors are staged …
STAGED_UP_TO: Final = "staged_up_to"  # … and the one that says up to which seq they are


class NewRecord(NamedTuple):
    """A record to be stored alone, most likely a new one; see `PutsNew`. The rest is as in `verbs.put`."""

    record: Record
    now: float
    repeats: Sequence[bytes]  # exact keys of which no living fact or document may be there
    epoch: int | None
    watch: TombstoneGuard | None

    def marks(self) -> list[tuple[str, bytes]]:
        """The keys of all tombstones that could forbid the record. Asks the watch for its claim."""
        if self.watch is None:
            return []
        (claim,) = self.watch.claims()
        marks = [*claim.says, *(mark for _, mark in claim.made_of)]
        if claim.id is not None:
            marks.append(claim.id)
        return [(self.record.scope, mark) for mark in marks]


class Use(NamedTuple):
    """An addition to a record's use count."""

    scope: str
    id: str
    times: int
    when: float


def entry_of(record: Record) -> Entry:
    x, y, z = (*(record.place or ()), None, None, None)[:3]
    return Entry(
        record.seq,
        record.kind,
        record.tier,
        record.trust,
        record.agent,
        record.session,
        record.who,
        record.source,
        record.occurred,
        record.created,
        record.step,
        x,
        y,
        z,
        record.importance,
        record.expires,
        record.level,
        record.vector,
        record.terms,
    )
