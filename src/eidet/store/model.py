"""The values that stores take and return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar

from ..core.record import Event, Record, record_digest
from ..core.where import Where

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")
Uses = Mapping[tuple[str, str], tuple[int, float]]  # (scope, id) -> (how often, when last)
SCOPE_MARK: Final = b""  # entombs all that a scope held until then …
BELOW_MARK: Final = b"/"  # … and all that the scopes below it held
ORDERS = ("seq", "occurred", "created", "importance", "step", "uses")


PROVISIONAL: Final = 1 << 62  # inside a job, these stand for the seqs that the commit assigns


class Head(NamedTuple):
    """The head of a store. `epoch` rises when stored vectors or terms are rewritten in place."""

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

    A reader that last read before seq `pruned` may miss deletions, and must start over.
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
    """The marks that decide whether a new record is forgotten content: see `eidet.store.tombstones`.

    `says` are those of its content. `id` is that of its id, which counts for records created before the id
    was forgotten. `made_of` are those of the ids it was derived from, which count if no such record exists.
    """

    says: Sequence[bytes] = ()
    id: bytes | None = None
    made_of: Sequence[tuple[str, bytes]] = ()


class TombstoneGuard(NamedTuple):
    """The way a write treats content that was forgotten for good.

    `claims` returns one claim per record; it is called only for a store that has tombstones. With `again`,
    the tombstones of the content are lifted; without, such records raise `Entombed`. With `returning`,
    records may not be older than the end of their scope, either.
    """

    claims: Callable[[], Sequence[Claims]]
    again: bool = False
    returning: bool = False


class Tombstone(NamedTuple):
    """A tombstone to write: `mark` must not come back to `scope`."""

    scope: str
    mark: bytes


class Erasure(NamedTuple):
    """The changes made at once when memories are forgotten for good.

    `gone` are deleted as `delete_where` does, and so is all that matches `where`. `anew` are derived records:
    (as it is, as it shall be); they become the next version, and history keeps nothing of what they said
    before.
    """

    gone: Sequence[Record] = ()
    where: Where | None = None
    anew: Sequence[tuple[Record, Record]] = ()
    stones: Sequence[Tombstone] = ()
    settings: Mapping[str, str] = {}


class Erased(NamedTuple):
    """The (scope, id) of each deleted record, and how many history events lost their content.

    `staged` counts the deleted vectors that were staged for the next embedder.
    """

    gone: list[tuple[str, str]]
    histories: int
    staged: int = 0


class Scrubbed(NamedTuple):
    """The bytes freed, and descriptions of what is not clean yet, and why."""

    freed: int = 0
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader for the plan of an erasure: of its transaction, or of a store for a dry run."""

    scan: Callable[[Where], Iterator[Record]]  # yields matching records by ascending seq
    same: Callable[
        [str, Sequence[bytes]], Iterable[Record]
    ]  # finds those of a scope with one of these digests
    history: Callable[[str, str], list[Event]]
    setting: Callable[[str], str | None]

    def twins(self, records: Sequence[Record]) -> list[Record]:
        """Returns all other records of their scopes with the same text as one of these."""
        known = {record.seq for record in records}
        digests: dict[str, dict[bytes, None]] = {}
        for record in records:
            digests.setdefault(record.scope, {})[record_digest(record)] = None
        found = (record for scope, some in digests.items() for record in self.same(scope, list(some)))
        return [record for record in found if record.seq not in known]


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
    """A record to be stored alone, most likely a new one; see `PutsNew`. All else is as in `verbs.put`."""

    record: Record
    now: float
    repeats: Sequence[bytes]  # exact keys that no living fact or document may have
    epoch: int | None
    watch: TombstoneGuard | None


class Use(NamedTuple):
    """An addition to the use count of a record: how often, and when last."""

    scope: str
    id: str
    times: int
    when: float


_read_before: Final = attrgetter(*Entry._fields[: Entry._fields.index("x")])
_read_after: Final = attrgetter(*Entry._fields[Entry._fields.index("z") + 1 :])


def entry_of(record: Record) -> Entry:
    place = (*(record.place or ()), None, None, None)[:3]
    return Entry._make((*_read_before(record), *place, *_read_after(record)))
