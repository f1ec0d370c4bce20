"""What only some stores can do. Each is a protocol of its own; `isinstance` tells whether a store has it.

The verbs ask for these where a store can do better than the port alone, or where only it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

from ..core.record import Record
from ..core.scope import Scope
from ..core.where import Where
from . import Transaction
from .model import Entry, Head, NewRecord, Scrubbed

if TYPE_CHECKING:
    from ..quality import Survey


@runtime_checkable
class LivesInFile(Protocol):
    """A store that is a file of this machine."""

    @property
    def path(self) -> Path: ...


@runtime_checkable
class LivesInFiles(Protocol):
    """A store that is several files of this machine, or may be."""

    def list_files(self) -> list[Path]:
        """The files of the stores inside, as far as they are files."""


@runtime_checkable
class TellsHome(Protocol):
    """A store on a server, or one that is made of such."""

    def tell_home(self) -> str:
        """Where it is: the same whenever it is opened, another for a copy that was restored elsewhere."""


@runtime_checkable
class ScrubsFiles(Protocol):
    def scrub(self, said: Sequence[bytes] | None) -> Scrubbed:
        """Leaves nothing of what was deleted in the files of the store.

        `said` are bytes that must not be found there any more; None where nobody knows.
        """


@runtime_checkable
class Compacts(Protocol):
    def trim(self, most: int) -> int:
        """Gives up to `most` unused bytes back to the disk, and overwrites the rest.

        How many were given back; 0 means there are no more.
        """


@runtime_checkable
class MeasuresSize(Protocol):
    def size(self) -> int:
        """Bytes the store takes where it lives."""


@runtime_checkable
class PrunesHistory(Protocol):
    def prune(self, before: float, *, dead: bool, most: int) -> int:
        """Removes up to `most` events of moves that are older than `before`; how many.

        With `dead`, all that is told of records that are no more, too.
        """


@runtime_checkable
class CountsQuality(Protocol):
    def survey(self, scope: Scope | None, *, now: float, fresh: float, ripe: float, stale: float) -> Survey:
        """As `verbs.quality_counts`, without reading each record."""


@runtime_checkable
class PutsNew(Protocol):
    def put_new(self, new: NewRecord, job: Callable[[Transaction], list[Record]]) -> list[Record]:
        """Inserts a record in fewer steps than a transaction takes, if nothing stands against it.

        Nothing does if its id is free, the epoch is the one given, none of `new.marks()` is a tombstone,
        and no living fact or document of its scope has one of the keys `new.repeats`. Else it runs `job`, as
        `write` does. Either way it gives what is now stored.
        """


@runtime_checkable
class Fingerprints(Protocol):
    def fingerprint(self, seq: int) -> str | None:
        """As `verbs.fingerprint`, also of a write that removed something."""


@runtime_checkable
class SwitchesVectors(Protocol):
    def switch_vectors(self, name: str, settings: Mapping[str, str]) -> int:
        """As `verbs.switch_vectors`, without reading each vector."""


@runtime_checkable
class FindsDerived(Protocol):
    """A store or a transaction."""

    def list_derived(self, scope: Scope) -> list[Record]:
        """The records of a scope that were derived from others, by rising seq."""


@runtime_checkable
class FindsHeld(Protocol):
    """A transaction whose bare records cannot tell whether they are under a legal hold."""

    def find_held(self, records: Sequence[Record]) -> list[Record]:
        """Those of these records, bare or not, that are."""


@runtime_checkable
class ListsRevised(Protocol):
    def list_revised(self, scope: Scope, most: int) -> list[tuple[str, str]] | None:
        """The (scope, id) of records whose history tells what they said before; None if there are more."""


@runtime_checkable
class ListsTelling(Protocol):
    def list_telling(self, scope: str, head: Head) -> list[Entry] | None:
        """The entries of a scope up to a head that state or decide something, by rising seq, without vectors.

        None where the database that was asked has not come so far yet.
        """


@runtime_checkable
class ScansAll(Protocol):
    def scan(self, where: Where, *, after: int = 0, batch: int = 1000) -> Iterator[Record]:
        """As `verbs.scan`; for a store whose `find` may answer from a part of what it keeps."""


@runtime_checkable
class Leaps(Protocol):
    """A store or a transaction."""

    def leap(self, seq: int) -> None:
        """No write gets a seq up to this one any more: for whoever counts over several stores."""


@runtime_checkable
class GivesSeqsLate(Protocol):
    def latest_seq(self) -> int:
        """No write under way is given a seq above this one when it is committed."""


@runtime_checkable
class ReportsHealth(Protocol):
    def health(self) -> dict[str, Any]: ...


@runtime_checkable
class KeepsSecrets(Protocol):
    def secret(self, name: str) -> bytes:
        """The store's own secret for one use."""


@runtime_checkable
class IsSealed(Protocol):
    @property
    def sealed(self) -> bool:
        """Whether what the store holds must not lie about in the open."""


@runtime_checkable
class OffersIndex(Protocol):
    def name_own_index(self) -> str | None:
        """The setting `index` that names the server's own index; None where the server has none."""


@runtime_checkable
class LivesOnServer(Protocol):
    @property
    def address(self) -> Any:
        """Where the server is, for an index on the same one."""


@runtime_checkable
class MadeOfSeveral(Protocol):
    @property
    def missing(self) -> tuple[str, ...]:
        """Which of the stores inside are down, in words."""


@runtime_checkable
class NamesArchive(Protocol):
    @property
    def archive(self) -> str | None:
        """Where upkeep puts what it forgets, as its setting of that name."""


@runtime_checkable
class TakesAuditLog(Protocol):
    def note_in(self, log: Any) -> None:
        """Takes the audit log, to note what this store alone sees, such as the use of keys."""


ABILITIES: Final[tuple[type, ...]] = (
    LivesInFile,
    LivesInFiles,
    ScrubsFiles,
    Compacts,
    MeasuresSize,
    PrunesHistory,
    CountsQuality,
    PutsNew,
    Fingerprints,
    SwitchesVectors,
    FindsDerived,
    ListsRevised,
    ListsTelling,
    TellsHome,
    ScansAll,
    Leaps,
    GivesSeqsLate,
    ReportsHealth,
    KeepsSecrets,
    IsSealed,
    OffersIndex,
    LivesOnServer,
    MadeOfSeveral,
    NamesArchive,
    TakesAuditLog,
)
OF_TRANSACTIONS: Final[tuple[type, ...]] = (FindsHeld,)  # alone; some of the others are of both
