"""What stands behind the verbs: one store, its index, the embedder, and the rules that keep them together."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .core.actor import acts
from .core.errors import EidetError, Misconfigured, NotFound, Unavailable
from .core.hit import Hits
from .core.record import Record, Trust
from .core.scope import Scope
from .core.settings import Settings
from .core.where import Where
from .index import Index
from .models.embed import Embedder, embedder_named, embedder_of
from .open import audited, is_embedded, open_index, open_store, sealed
from .quality import DAY, KEPT_DAYS, Quality, Survey, Tally, Windows, day_of, quality_of
from .quality.drift import Drift, drift, split
from .quality.health import health_of, health_told
from .quality.metrics import metrics_of
from .recall import Recall
from .store import Store, Watch, verbs
from .store.export_file import read_export
from .store.rules import Entombed, StaleEpoch
from .store.tallies import TallyBuffer
from .store.tombstones import Marker, secret_of
from .store.uses import Refreshes, UseBuffer, log_uses, refreshed
from .text import Analyzer, analyzer_of
from .write import Ingest
from .write.reembed import Progress, batches, reanalyse, reembed

if TYPE_CHECKING:
    from .trust.audit import Audit
    from .trust.audit.log import AuditLog
    from .trust.seal.service import Key
    from .trust.seal.store import SealedStore

log = logging.getLogger("eidet")

UNFINISHED: Final = "an analysis that was interrupted"


class Engine:
    """The parts of an open memory. Index and embedder are made when first needed."""

    def __init__(self, store: Store, embedder: Embedder, settings: Settings) -> None:
        self._store = store
        self._closed = False
        self.settings = settings
        self.embedder = embedder
        self._uses = UseBuffer()
        self._tallies = TallyBuffer()
        self._refreshes = Refreshes()
        self.askers = 0
        self._asking_lock = threading.Lock()
        self._lock = threading.RLock()
        self._parts: tuple[Ingest, Recall, Index] | None = None
        self._epoch: int | None = None
        self._settled = False
        self._mark: Marker | None = None
        self._opened_as = self._language()
        self.analyzer: Analyzer = analyzer_of(self._opened_as)
        self._check_names()

    @classmethod
    def start(
        cls,
        place: str | Path | Store | None,
        embedder: object,
        language: str | None,
        durability: str | None,
        settings: Settings,
        audit: str | Path | Audit | AuditLog | None = None,
        clock: Callable[[], float] = time.time,
        key: Key | None = None,
    ) -> Engine:
        if language is not None:
            settings = replace(settings, language=language)
        if durability is not None:
            settings = replace(settings, durability=durability)
        store = open_store(place, settings)
        if settings.upkeep.archive is None and (archive := getattr(store, "archive", None)):
            settings = replace(settings, upkeep=replace(settings.upkeep, archive=archive))
        try:
            store = audited(sealed(store, key, settings), audit, settings, clock)
            name = verbs.get_setting(store, "embedder") if embedder is None else None
            chosen = (
                embedder_named(name, int(verbs.get_setting(store, "width") or 0))
                if name
                else embedder_of(embedder)
            )
            return cls(store, chosen, settings)
        except BaseException:
            store.close()
            raise

    @property
    def store(self) -> Store:
        self._check_open()
        return self._store

    @property
    def audit(self) -> AuditLog | None:
        """Where it is noted what is done, if anywhere."""
        return getattr(self._store, "audit", None)

    @property
    def closed(self) -> bool:
        return self._closed

    def _check_open(self) -> None:
        if self._closed:
            place = getattr(self._store, "path", "RAM")
            raise Misconfigured(f"the memory on {place} was closed; open it again")

    def absent(self, what: str) -> EidetError:
        """The error for something that is not found: while a part of the store is down, nobody knows."""
        if missing := getattr(self.store, "missing", ()):
            return Unavailable(f"whether there is {what} is not known: {missing[0]}", retry_after=1.0)
        return NotFound(f"there is no {what}")

    # The three paths.

    @property
    def ingest(self) -> Ingest:
        return self._ready()[0]

    @property
    def recall(self) -> Recall:
        return self._ready()[1]

    @property
    def index(self) -> Index:
        return self._ready()[2]

    def watch(self, records: Sequence[Record], *, again: bool = False) -> Watch:
        """For what somebody says: what was forgotten for good is refused, unless they say it `again`."""
        return Watch(lambda: [self._marker().said(record) for record in records], again=again)

    def watch_returning(self, records: Sequence[Record]) -> Watch:
        """For what comes without being said: read from a file, or made by upkeep."""
        return Watch(lambda: [self._marker().returned(record) for record in records], returning=True)

    def _marker(self) -> Marker:
        """Asked for inside of a write to a store that has tombstones, and so has its secret.

        The secret in the settings of a store never changes; one of its own may.
        """
        if self._mark is None or hasattr(self._store, "secret"):
            self._mark = Marker(secret_of(self._store, "marks", make=False))
        return self._mark

    def put_back(self, records: Sequence[Record], *, now: float, **how: Any) -> list[Record]:
        """Writes what comes without being said, but for what was forgotten for good; the log says so."""
        rest = list(records)
        while True:
            try:
                stored = self.put(rest, now=now, watch=self.watch_returning(rest), **how) if rest else []
            except Entombed as error:
                rest = [record for at, record in enumerate(rest) if at not in error.found]
                continue
            if left := len(records) - len(rest):
                log.info("%d records were forgotten for good and are left out", left)
            return stored

    def put(self, records: list[Record], *, now: float, **how: Any) -> list[Record]:
        """Writes records whose vectors are of this memory's embedder, and takes pending uses along."""
        if how.get("watch", True) is None:
            del how["watch"]
        if self._epoch is None:
            self._claim()
        how["by"] = how.get("by") or acts().by
        try:
            stored = verbs.put(self.store, records, now=now, epoch=self._epoch, **how)
        except StaleEpoch:
            self._check_names()
            self._epoch = self.store.head().epoch
            stored = verbs.put(self.store, records, now=now, epoch=self._epoch, **how)
        if max(len(self._uses), len(self._tallies)) >= self.settings.flush_uses:
            self._flush_if_possible()
        return stored

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While somebody waits for an answer: upkeep lets them go first."""
        with self._asking_lock:
            self.askers += 1
        try:
            yield
        finally:
            with self._asking_lock:
                self.askers -= 1

    def follow(self, scope: str) -> None:
        """Lets the index learn what upkeep changed, if there is one."""
        if self._parts is not None:
            self._parts[2].follow(scope)

    def cleanse(self, scope: str) -> list[str]:
        """Takes what is gone out of the index, wherever that keeps it; what was not possible, in words."""
        if self._parts is None and is_embedded(self.store, self.settings):
            return []
        return self.index.cleanse(scope)

    @property
    def epoch(self) -> int:
        """That of the vectors which this memory's embedder makes."""
        if self._epoch is None:
            self._claim()
        elif self._epoch != (current := self.store.head().epoch):  # another's, or only other keys
            self._check_names()
            self._epoch = current
        return self._epoch or 0

    def used(self, records: Iterable[Record], now: float) -> None:
        if self.store.writable:
            self._uses.add(records, now)

    def read(self, records: Iterable[Record], now: float) -> None:
        """Memories with a time to live begin it anew when they are read: see `eidet.store.uses.Refreshes`."""
        if self.store.writable and self._refreshes.add(records, now):
            self._flush_if_possible()

    def recalled(self, hits: Hits, now: float, seconds: float, *, ranked: bool) -> None:
        """Counts a recall and the uses it made; without a ranking, scores say nothing."""
        if self.store.writable:
            score = hits[0].score if ranked and hits else None
            what = "recall" if ranked else "list"
            self._tallies.recalled(
                hits.scope, day_of(now), what, hits=len(hits), score=score, seconds=seconds
            )
            self._uses.add((hit.record for hit in hits), now)
            self.read((hit.record for hit in hits), now)

    def tally(self, scope: str, what: str, counts: dict[str, int], now: float) -> None:
        if self.store.writable:
            self._tallies.add(scope, day_of(now), what, counts)

    def flush(self) -> None:
        """Writes use counts and tallies down; they are kept if that fails."""
        if self.store.writable:
            self._flush_uses()
            self._flush_tallies()
            self._flush_refreshes()

    def _flush_uses(self) -> None:
        if uses := self._uses.take():
            try:
                verbs.add_uses(self.store, uses)
            except EidetError:
                self._uses.give_back(uses)
                raise
            if self.settings.access_log is not None:
                log_uses(Path(self.settings.access_log), uses)

    def _flush_tallies(self) -> None:
        if rows := self._tallies.take():
            try:
                verbs.add_counts(self.store, rows, since=min(row.day for row in rows) - KEPT_DAYS)
            except EidetError:
                self._tallies.give_back(rows)
                raise

    def _flush_refreshes(self) -> None:
        for scope, read in self._refreshes.take().items():
            there = filter(None, self.store.read(scope, list(read)))
            forms = [(record, refreshed(record, read[record.id])) for record in there]
            verbs.rewrite_form(self.store, [pair for pair in forms if pair[1].expires != pair[0].expires],
                              now=max(read.values()))  # fmt: skip

    def _flush_if_possible(self) -> None:
        """For verbs whose own work is done: counts that must wait are no reason to fail."""
        try:
            self.flush()
        except EidetError as error:
            log.warning("use counts and tallies were not written: %s", error)

    # Looking after what is stored.

    def load(self, records: Iterator[Record], manifest: dict[str, Any], *, now: float) -> int:
        embedded = manifest.get("embedder") == self.embedder.name
        analysed = manifest.get("analyzer") == self.analyzer.name
        count = 0
        for batch in batches(records, 1000):
            ready = batch if embedded and analysed else self.ingest.fitted(batch, embedded)
            count += len(self.put_back(ready, now=now, unique=False))
        return count

    def leaving(self, where: Where, *, plain: bool) -> tuple[Iterator[Record], dict[str, Any]]:
        """Records for an export, sealed as they are kept, and what its manifest says of that."""
        from .trust.seal.exports import sealed_export, sealed_in

        kept = None if plain else sealed_in(self.store)
        return (verbs.scan(self.store, where), {}) if kept is None else sealed_export(kept, where)

    def arriving(self, path: Path, manifest: dict[str, Any]) -> Iterator[Record]:
        """The records of an export. Sealed ones are all opened once before the first is given."""
        from .trust.seal.exports import SEALED, opened_export

        if SEALED in manifest:
            for _ in opened_export(read_export(path), manifest, self.store):
                pass
        return opened_export(read_export(path), manifest, self.store)

    @property
    def sealed(self) -> SealedStore:
        from .trust.seal.exports import sealed_in

        if (found := sealed_in(self.store)) is None:
            raise Misconfigured("this memory is not sealed: it has no keys; `eidet seal FILE` seals it")
        return found

    def rotate(
        self, scope: Scope | None, key: Key | None, clock: Callable[[], float], progress: Progress | None
    ) -> int:
        from .trust.seal.key_rotation import rewrap, rotate
        from .trust.seal.service import service_of

        if key is not None:
            return rewrap(self.sealed, service_of(key), clock)
        scopes = list(self.sealed.scopes(scope))
        return sum(rotate(self.sealed, path, clock, progress).records for path in scopes)

    def shred(self, scope: str, clock: Callable[[], float]) -> int:
        """Destroys the keys of a scope, and what this process holds of it."""
        from .trust.seal.key_rotation import shred

        with self._lock:
            lost = shred(self.sealed, scope, clock)
            self._parts = None
        return lost

    def manifest(self, now: float) -> dict[str, Any]:
        return {"embedder": self.embedder.name, "analyzer": self.analyzer.name, "exported": now}

    def rebuild(self, scope: Scope | None, language: str | None, progress: Progress | None) -> int:
        with self._lock:
            chosen = language or self._language()
            if language is not None or verbs.get_setting(self.store, "analyzer") != self.analyzer.name:
                self.analyzer = analyzer_of(chosen)
                verbs.set_settings(self.store, {"language": chosen, "analyzer": UNFINISHED})
                reanalyse(self.store, self.analyzer, self.embedder.width, progress)
                verbs.set_settings(self.store, {"analyzer": self.analyzer.name})
                self._parts, self._opened_as = None, chosen
                self.settings = replace(self.settings, language=chosen)
        scopes = list(verbs.count_scopes(self.store, scope))
        return sum(self.index.rebuild(path) for path in scopes)

    def reembed(self, embedder: object, progress: Progress | None) -> int:
        chosen = embedder_of(embedder)
        count = reembed(self.store, chosen, progress)
        with self._lock:
            self.embedder, self._parts = chosen, None
            self._epoch = self.store.head().epoch
        return count

    def check(self) -> list[str]:
        analyzer = verbs.get_setting(self.store, "analyzer")
        faults = [fault for scope in verbs.count_scopes(self.store) for fault in self.index.check(scope)]
        if analyzer is not None and analyzer != self.analyzer.name:
            faults.append(f"words were analysed by {analyzer}, not {self.analyzer.name}: `eidet rebuild`")
        return faults

    def stats(self, scope: Scope | None, now: float) -> dict[str, Any]:
        census = verbs.count_kinds(self.store, Where(scope=scope, alive_at=now))
        kinds: dict[str, int] = {}
        tiers: dict[str, int] = {}
        for (kind, tier), count in census.items():
            kinds[kind] = kinds.get(kind, 0) + count
            tiers[tier] = tiers.get(tier, 0) + count
        return {
            "records": sum(census.values()),
            "scopes": len(verbs.count_scopes(self.store, scope, alive_at=now)),
            "kinds": kinds,
            "tiers": tiers,
            "quarantined": verbs.count(
                self.store, Where(scope=scope, trust=(Trust.QUARANTINED,), alive_at=now)
            ),
            "store_bytes": verbs.measure_size(self.store),
            "embedder": verbs.get_setting(self.store, "embedder") or self.embedder.name,
            "language": self._language(),
            "index": self._parts[2].stats() if self._parts else {},
            **self._stores(),
        }

    def _stores(self) -> dict[str, Any]:
        """How the server does that this store is on, or the stores that it is made of."""
        told = health_of(self.store)
        return {} if told is None else {"stores": told}

    def health(self) -> dict[str, Any]:
        return health_told(
            {
                "store": health_of(self.store),
                "index": self._parts[2].stats().get("database") if self._parts else None,
                "embedder": health_of(self.embedder),
                "archive": self._archive_health(),
            }
        )

    def _archive_health(self) -> Mapping[str, Any] | None:
        from .upkeep.archive import archive_of

        try:
            return health_of(archive_of(self.settings.upkeep.archive))
        except EidetError as error:
            return {"name": self.settings.upkeep.archive, "state": "down", "last_error": str(error)}

    # How retrieval does.

    def retrieval(self, scope: Scope | None, now: float) -> tuple[Quality, Drift]:
        """From what is written and what still waits here."""
        windows, today = self.windows, day_of(now)
        first = today + 1 - max(windows.days, windows.recent_days + windows.reference_days)
        rows = [row for row in self._tallied(scope, first) if row.day <= today]
        reference, recent = split(rows, today, windows)
        return quality_of(row for row in rows if row.day > today - windows.days), drift(
            reference, recent, windows
        )

    def survey(self, scope: Scope | None, now: float) -> Survey:
        ages = (self.windows.days, self.windows.unused_days, self.windows.stale_days)
        fresh, ripe, stale = (now - days * DAY for days in ages)
        self._flush_if_possible()  # uses that still wait here are uses
        return verbs.quality_counts(self.store, scope, now=now, fresh=fresh, ripe=ripe, stale=stale)

    def metrics(self, scope: Scope | None, now: float) -> dict[str, float]:
        return metrics_of(
            *self.retrieval(scope, now),
            self.survey(scope, now),
            size=verbs.measure_size(self.store),
            stored=verbs.count(self.store, Where()),
            now=now,
            windows=self.windows,
        )

    @property
    def windows(self) -> Windows:
        return Windows(
            recent_days=self.settings.recent_days,
            reference_days=self.settings.reference_days,
            stale_days=self.settings.stale_days,
        )

    def _tallied(self, scope: Scope | None, since: int) -> list[Tally]:
        waiting = [row for row in self._tallies.rows() if scope is None or scope.holds(row.scope)]
        return verbs.read_counts(self.store, scope, since) + waiting

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._flush_if_possible()
            if self._parts is not None:
                self._parts[2].close()
            self._closed = True
            self._store.close()

    # Keeping store, embedder and language together.

    def _ready(self) -> tuple[Ingest, Recall, Index]:
        self._check_open()
        parts = self._parts
        if parts is None:
            with self._lock:
                parts = self._parts = self._parts or self._assemble()
        if not self._settled:  # somebody else may have written first, with another embedder
            self._check_names()
            self._settled = verbs.get_setting(self.store, "embedder") is not None
        return parts

    def _assemble(self) -> tuple[Ingest, Recall, Index]:
        width = verbs.get_setting(self.store, "width")
        index = open_index(
            self.store,
            int(width) if width else self.embedder.width,
            self.settings,
            self._check_names,
            self.embedder,
            self.analyzer,
        )
        ingest = Ingest(self.embedder, self.analyzer, self.settings.text_chars)
        return ingest, Recall(self.store, index, self.embedder, self.analyzer), index

    def _language(self) -> str:
        return self.settings.language or verbs.get_setting(self.store, "language") or "en"

    def _names(self, language: str) -> dict[str, str]:
        return {
            "embedder": self.embedder.name,
            "width": str(self.embedder.width),
            "language": language,
            "analyzer": self.analyzer.name,
        }

    def _claim(self) -> None:
        """Before the first write: says in the store what made its vectors and terms."""
        with self._lock:
            if verbs.get_setting(self.store, "embedder") is None:
                verbs.set_settings(self.store, self._names(self._language()), fresh=True)
            self._check_names()
            self._epoch = self.store.head().epoch

    def _check_names(self) -> None:
        """Whether the store's vectors and terms are still of this memory's embedder and language."""
        name, language = verbs.get_setting(self.store, "embedder"), verbs.get_setting(self.store, "language")
        if name is not None and name != self.embedder.name:
            raise Misconfigured(
                f"this memory was written with the embedder {name!r}, not {self.embedder.name!r}: open it "
                f"with embedder={name!r}, or change it for good with `eidet reembed`"
            )
        if language and analyzer_of(language) is not self.analyzer:
            raise Misconfigured(
                f"this memory was analysed as {language!r}, not {self._opened_as!r}: open it without "
                "a language, or change it for good with `eidet rebuild --language`"
            )
