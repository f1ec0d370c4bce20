"""The parts of an open memory, and the checks that keep them consistent.

`memory.parts` is public: views, hooks, adapters, the command line and your programs may read the
store, the index, the embedder, the analyzer, the settings and the clock from it.
Write records with verbs (or `eidet.write`), which keep these parts consistent.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

from .core.errors import EidetError, Misconfigured, NotFound, Unavailable
from .core.foreground import Foreground
from .core.record import Record
from .core.scope import Scope
from .core.settings import Settings
from .graph import Graphs
from .index import Index
from .models.embed import Embedder, describe_choice, is_costly
from .store import Store, TombstoneGuard, verbs
from .store.key_ids import KeyIds
from .store.tombstones import Marker, secret_of
from .store.traits import missing_of, path_of
from .store.usage import Usage
from .text import Analyzer, analyzer_of

if TYPE_CHECKING:
    from .index.scope_worker import ScopeWorker

MANY: Final = 500  # a write of at least so many records makes the index catch up in a thread


# Opens the index: width, `renewed` (called before an answer from replaced vectors), embedder, analyzer.
_OpenIndex = Callable[[int, Callable[[], None], Embedder, Analyzer], Index]


class _Binding:
    """Ties a store to the embedder and the language that made its vectors and terms.

    The store records both names and refuses to open with others. A process that holds vectors of an
    earlier epoch checks the names again before it writes.
    """

    def __init__(self, store: Store, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._chosen = settings.language
        self._opened_as = self.language
        self._epoch: int | None = None
        self._settled = False
        self._fits = False  # whether the widths of the embedder and of the store's vectors agree
        self.embedder: Embedder = embedder
        self.analyzer: Analyzer = analyzer_of(self._opened_as)
        self.check()

    @property
    def language(self) -> str:
        """The language of this memory: that of the settings, else of the store, else English."""
        return self._chosen or verbs.get_setting(self._store, "language") or "en"

    @property
    def names(self) -> dict[str, str]:
        """The names of embedder and analyzer, as the store records them."""
        return {
            "embedder": self.embedder.name,
            "width": str(self.embedder.width),
            "language": self.language,
            "analyzer": self.analyzer.name,
        }

    @property
    def epoch(self) -> int:
        """The present epoch of the store; checks the names again if it has changed."""
        if self._epoch is None:
            self.claim()
        elif self._epoch != self._store.head().epoch:  # another embedder, or only other keys
            self.renew()
        return self._epoch or 0

    def claim_epoch(self) -> int:
        """Returns the known epoch for a write, without asking the store again."""
        if self._epoch is None:
            self.claim()
        return self._epoch or 0

    def claim(self) -> None:
        """Records the embedder and analyzer in the store before its first write."""
        with self._lock:
            if verbs.get_setting(self._store, "embedder") is None:
                verbs.set_settings(self._store, self.names, fresh=True)
            self.renew()

    def renew(self) -> int:
        """Checks the names again and returns the store's present epoch."""
        self.check()
        self._fits = False
        self.check_width()
        self._epoch = self._store.head().epoch
        return self._epoch

    def check(self) -> None:
        """Raises `Misconfigured` if another embedder or language made the store's vectors and terms."""
        name = verbs.get_setting(self._store, "embedder")
        language = verbs.get_setting(self._store, "language")
        if name is not None and name != self.embedder.name:
            raise Misconfigured(
                f"this memory was written with the embedder {name!r}, not {self.embedder.name!r}: open it "
                f"with {describe_choice(name)}, or change it for good with `eidet rebuild --reembed`"
            )
        if language and analyzer_of(language) is not self.analyzer:
            raise Misconfigured(
                f"this memory was analysed as {language!r}, not {self._opened_as!r}: open it without "
                "a language, or change it for good with `eidet rebuild --language`"
            )

    def check_width(self) -> None:
        """Raises `Misconfigured` if an embedder of the same name made vectors of another width.

        Called only before vectors are computed, because asking an embedder for its width may call a model.
        """
        if self._fits:
            return
        width = verbs.get_setting(self._store, "width")
        if width is None:
            return
        if int(width) != self.embedder.width:
            self.check()  # another name is the better error
            name = self.embedder.name
            raise Misconfigured(
                f"this memory was written with vectors of {int(width):,} numbers; the embedder given makes "
                f"{self.embedder.width:,}, but has the same name {name!r}. Open the memory with the embedder "
                "of before, or give this one a name of its own (`adapt(…, name=…)`, or its attribute `name`) "
                "and change the memory for good with `memory.admin.reembed(…)`"
            )
        self._fits = True

    def settle(self) -> None:
        """Checks the names each time until the store has some, because another process may write first."""
        if not self._settled:
            self.check()
            self._settled = verbs.get_setting(self._store, "embedder") is not None

    def switch_embedder(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._fits = False
        self._epoch = self._store.head().epoch

    def switch_language(self, language: str) -> None:
        self._chosen = self._opened_as = language
        self.analyzer = analyzer_of(language)


class _TombstoneWatch:
    """Builds the guard of each write against content that was forgotten for good."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def over_said(self, records: Sequence[Record], *, again: bool = False) -> TombstoneGuard:
        """Guards new writes by a caller: refuses forgotten content unless the caller passes `again`."""
        return TombstoneGuard(lambda: [self._marker.claim_said(record) for record in records], again=again)

    def over_returning(self, records: Sequence[Record]) -> TombstoneGuard:
        """Guards records that are loaded from a file or made by upkeep."""
        return TombstoneGuard(
            lambda: [self._marker.claim_return(record) for record in records], returning=True
        )

    @cached_property
    def _marker(self) -> Marker:
        """The marker. Used within a write to a store with tombstones, which has the secret."""
        return Marker(secret_of(self._store, "marks", make=False))


class Parts:
    """The parts of an open memory. The index is opened when it is first needed."""

    def __reduce__(self) -> NoReturn:
        raise Misconfigured("an open memory cannot be pickled: open it anew where it is needed")

    def __init__(
        self,
        *,
        store: Store,
        embedder: Embedder,
        settings: Settings,
        clock: Callable[[], float],
        open_index: _OpenIndex,
        has_embedded_index: bool,
    ) -> None:
        self._store = store
        self._new_index = open_index
        self.has_embedded_index: bool = has_embedded_index  # in RAM and in files beside the store
        self._index: Index | None = None
        self._lock = threading.RLock()
        self.closed: bool = False
        self.settings: Settings = settings
        self.clock = clock
        self.binding: _Binding = _Binding(store, embedder, settings)
        self.tombstones: _TombstoneWatch = _TombstoneWatch(store)
        self.key_ids: KeyIds = KeyIds(store)
        self.usage: Usage = Usage(store, settings)
        self.foreground: Foreground = Foreground()
        self._graphs = Graphs(store, memory_mb=max(settings.index_memory_mb // 4, 1))
        self._follower: ScopeWorker | None = None

    @property
    def graphs(self) -> Graphs:
        """The fact graphs of all scopes: see `memory.facts`."""
        self.check_open()
        return self._graphs

    @property
    def waits(self) -> bool:
        """Whether a verb may wait for a disk or a server; False for a closed memory."""
        from .store.ram import RamStore

        in_ram = self.closed or isinstance(self.store, RamStore)
        return not in_ram or is_costly(self.embedder)

    @property
    def store(self) -> Store:
        """The store, with its wrappers if the memory is sealed or audited."""
        self.check_open()
        return self._store

    @property
    def place(self) -> str:
        """A short name of the store: the path of its file, or else its class."""
        return str(path_of(self._store) or type(self._store).__name__)

    @property
    def embedder(self) -> Embedder:
        return self.binding.embedder

    @property
    def analyzer(self) -> Analyzer:
        return self.binding.analyzer

    @property
    def index(self) -> Index:
        """The index; see `ready_index`."""
        return self.ready_index()

    def ready_index(self) -> Index:
        """Opens the index if needed, and checks that the store's names fit this embedder and language."""
        self.check_open()
        index = self._index
        if index is None:
            with self._lock:
                index = self._index = self._index or self._open_index()
        self.binding.settle()
        return index

    @property
    def open_index(self) -> Index | None:
        """The index, if it has been opened yet."""
        return self._index

    def _open_index(self) -> Index:
        width = verbs.get_setting(self.store, "width")
        return self._new_index(
            int(width) if width else self.embedder.width, self.binding.check, self.embedder, self.analyzer
        )

    def follow(self, scope: str) -> None:
        """Updates an open index and graph after upkeep, so that no recall has to."""
        if self._index is not None:
            self._index.follow(scope)
            self._graphs.follow(scope)

    def note_written(self, records: Sequence[Record]) -> None:
        """Updates index and graph in the background if many records were written."""
        if len(records) < MANY or self._index is None or not self.has_embedded_index:
            return
        from .index.scope_worker import ScopeWorker

        with self._lock:
            self._follower = self._follower or ScopeWorker("eidet-follower", self._take_in)
        for scope in {record.scope for record in records}:
            self._follower.ask(scope)

    def _take_in(self, scope: str) -> None:
        index = self._index
        if index is None or self.closed:
            return
        with suppress(EidetError):  # the next recall reads the rest, or raises the error
            index.voices(Scope.of(scope))  # makes the index catch up
            if self.settings.facts:
                self._graphs.ask(scope, lambda _graph: None)  # any question makes the graph catch up

    def cleanse(self, scope: str) -> list[str]:
        """Removes erased records from graph and index everywhere. Returns what failed, in words."""
        self._graphs.follow(scope)
        if self._index is None and self.has_embedded_index:
            return []
        return self.index.cleanse(scope)

    @contextmanager
    def reopen_index(self) -> Iterator[None]:
        """Wraps a change after which index and graphs are opened again."""
        with self._lock:
            yield
            self._index = None
            self._graphs.close()

    def choose_language(self, language: str) -> None:
        self.binding.switch_language(language)
        self.settings = replace(self.settings, language=language)

    def manifest(self, now: float) -> dict[str, Any]:
        """Describes the store and the origin of its vectors and terms, for an export or an archive."""
        return {
            "embedder": self.embedder.name,
            "width": self.embedder.width,
            "analyzer": self.analyzer.name,
            "exported": now,
            "store": self.store.identity,
            "ends": verbs.count_ends(self.store),
        }

    def flush(self) -> None:
        """Writes use counts and tallies to the store; keeps them if that fails."""
        self.check_open()
        self.usage.flush()

    def absence_error(self, what: str) -> EidetError:
        """Builds the error for a missing record; absence is uncertain while a part of the store is down."""
        missing = missing_of(self.store)
        if missing:
            return Unavailable(f"whether there is {what} is not known: {missing[0]}", retry_after=1.0)
        return NotFound(f"there is no {what}")

    def check_open(self) -> None:
        if self.closed:
            place = path_of(self._store) or "RAM"
            raise Misconfigured(f"the memory on {place} was closed; open it again")

    def close(self) -> None:
        """Flushes pending writes and releases index and store. Closing twice is harmless."""
        with self._lock:
            if self.closed:
                return
            self.usage.flush_if_possible()
            if self._follower is not None:
                self._follower.close()
            if self._index is not None:
                self._index.close()
            self._graphs.close()
            self.closed = True
            self._store.close()
