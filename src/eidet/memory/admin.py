"""`memory.admin`: statistics, health, checks and rebuilds of a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from ..core.arguments import check_limit, one, one_or_all
from ..core.dict_filters import Filter
from ..core.errors import EidetError
from ..core.read_options import RecallOptions
from ..core.record import Trust
from ..core.scope import Scope, Scopes
from ..core.session_summary import SessionSummary
from ..core.validate import Json
from ..core.where import Where
from ..models.embed import embedder_of
from ..quality import WINDOW_DAYS, Quality, Survey, day_of, format_health, health_of, quality_of, survey_times
from ..quality.drift import RECENT_DAYS, REFERENCE_DAYS, Drift, drift, split
from ..quality.metrics import metrics_of, quality_as_json
from ..recall.path import Packing
from ..store import verbs
from ..text import analyzer_of
from ..write.ingest import Progress, reanalyse, reembed
from .feed import ChangePage, check_cursor, read_changes
from .namespaces import Services

if TYPE_CHECKING:
    from ..recall.why_not import Explained

UNFINISHED: Final = "an analysis that was interrupted"


class AdminNamespace:
    """The verbs for operators of a memory."""

    def __init__(self, services: Services) -> None:
        self._services, self._parts = services, services.parts

    def stats(self, scope: str | Scope | None = None) -> dict[str, Any]:
        """Returns counts by kind and tier (of a scope, or of all), sizes, embedder and retrieval quality.

        The counts include quarantined records; `quarantined` says how many of them await review.
        """
        place, now = one_or_all(scope), self._parts.clock()
        retrieval = quality_as_json(*self._retrieval(place, now))
        return self._counts(place, now) | self._services.life.stats() | {"retrieval": retrieval}

    def health(self) -> dict[str, Any]:
        """Reports on the servers behind this memory: stores, pending writes, index, embedder.

        `state` is up, degraded or down; each server has its own, with its number of failures and last error.
        Sends no request, so it returns at once and never fails.
        """
        index = self._parts.open_index
        return format_health(
            {
                "store": health_of(self._parts.store),
                "index": None if index is None else index.stats().get("database"),
                "embedder": health_of(self._parts.embedder),
                "archive": self._archive_health(),
            }
        )

    def metrics(self, scope: str | Scope | None = None) -> dict[str, float]:
        """Returns figures for monitoring; `eidet.quality.metrics` explains each.

        A figure without data is absent. Reads every record and flushes the use counts and tallies that
        recalls have gathered.
        """
        place, now = one_or_all(scope), self._parts.clock()
        return metrics_of(
            *self._retrieval(place, now),
            self._survey(place, now),
            size=verbs.measure_size(self._parts.store),
            stored=verbs.count(self._parts.store, Where()),
            now=now,
        )

    def sessions(self, scope: Scopes = "default", *, limit: int = 100) -> list[SessionSummary]:
        """Lists the sessions of a scope, the most recently active first, each with its first words.

        Reads every record of the scope and skips quarantined ones.
        """
        return self._services.reads.list_sessions(scope, limit)

    def changes(
        self, *, scope: str | Scope = "default", since: int | None = None, limit: int = 500
    ) -> ChangePage:
        """Returns one page of what `memory.watch` yields; continue with `since=page.cursor`."""
        place = one(scope)
        page = read_changes(self._parts, place, check_cursor(since), check_limit(limit))
        told = [(place, change.record.id) for change in page.changes if change.record is not None]
        if told:
            self._services.auditing.read("changes", place, told)
        return page

    def check(self) -> list[str]:
        """Compares the index with the store. Returns each fault in words; empty if there is none.

        In a sealed memory, opens every record and its history and reports what was changed from outside.
        """
        from ..trust.seal.store import list_damage

        store = self._parts.store
        analyzer = verbs.get_setting(store, "analyzer")
        faults: list[str] = []
        for scope in verbs.count_scopes(store):
            faults += self._parts.index.check(scope)
        faults += list_damage(store)
        if analyzer is not None and analyzer != self._parts.analyzer.name:
            faults.append(
                f"words were analysed by {analyzer}, not {self._parts.analyzer.name}: `eidet rebuild`"
            )
        return faults

    def flush(self) -> None:
        """Writes the use counts and tallies that recalls have gathered to the store."""
        self._parts.flush()

    def rebuild(
        self,
        scope: str | Scope | None = None,
        *,
        language: str | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Rebuilds the index from the store, of one scope or of all. Returns the number of records.

        With `language`, analyses the words of every text again first.
        """
        place, store = one_or_all(scope), self._parts.store
        chosen = language or self._parts.binding.language
        if language is not None or verbs.get_setting(store, "analyzer") != self._parts.analyzer.name:
            self._reanalyse(chosen, progress)
        return sum(self._parts.index.rebuild(path) for path in list(verbs.count_scopes(store, place)))

    def reembed(self, embedder: object, *, progress: Progress | None = None) -> int:
        """Switches the embedder: computes new vectors beside the old ones, then swaps them at once.

        Recalls go on meanwhile. After an interruption, the next call resumes where it stopped.
        """
        chosen = embedder_of(embedder)
        count = reembed(self._parts.store, chosen, progress)
        with self._parts.reopen_index():
            self._parts.binding.switch_embedder(chosen)
        return count

    def explain(
        self,
        query: str | Mapping[str, Json] = "",
        *,
        scope: Scopes = "default",
        limit: int = 10,
        where: Filter | None = None,
        budget: int = 1000,
        **options: Unpack[RecallOptions],
    ) -> Explained:
        """Shows what `recall` and `context` would return, and why. Counts nothing as used.

        `explain(…).why_not(record)` says where any record stands in the answer, and what it lacks.
        """
        packing = Packing(budget=budget, counter=None, neighbours=1, headings=True, fence=True)
        return self._services.reads.explain(query, scope, limit, where, options, packing)

    def _reanalyse(self, language: str, progress: Progress | None) -> None:
        parts, store = self._parts, self._parts.store
        with parts.reopen_index():
            analyzer = analyzer_of(language)
            verbs.set_settings(store, {"language": language, "analyzer": UNFINISHED})
            parts.choose_language(language)
            reanalyse(store, analyzer, parts.embedder.width, progress, facts=parts.settings.facts)
            verbs.set_settings(store, {"analyzer": analyzer.name})

    def _counts(self, scope: Scope | None, now: float) -> dict[str, Any]:
        store, index = self._parts.store, self._parts.open_index
        census = verbs.count_kinds(store, Where(scope=scope, alive_at=now))
        kinds, tiers = Counter[str](), Counter[str]()
        for (kind, tier), count in census.items():
            kinds[kind] += count
            tiers[tier] += count
        lines = health_of(store)
        return {
            "records": sum(census.values()),
            "scopes": len(verbs.count_scopes(store, scope, alive_at=now)),
            "kinds": dict(kinds),
            "tiers": dict(tiers),
            "quarantined": verbs.count(store, Where(scope=scope, trust=(Trust.QUARANTINED,), alive_at=now)),
            "store_bytes": verbs.measure_size(store),
            "embedder": verbs.get_setting(store, "embedder") or self._parts.embedder.name,
            "language": self._parts.binding.language,
            "index": {} if index is None else index.stats(),
            **({} if lines is None else {"stores": lines}),
        }

    def _archive_health(self) -> Mapping[str, Any] | None:
        from ..upkeep.archive import archive_of

        place = self._parts.settings.upkeep.archive
        try:
            return health_of(archive_of(place))
        except EidetError as error:
            return {"name": place, "state": "down", "last_error": str(error)}

    def _retrieval(self, scope: Scope | None, now: float) -> tuple[Quality, Drift]:
        """Computes quality and drift from the stored tallies and those still pending in this process."""
        today = day_of(now)
        first = today + 1 - max(WINDOW_DAYS, RECENT_DAYS + REFERENCE_DAYS)
        self._parts.check_open()
        rows = [row for row in self._parts.usage.tallies(scope, first) if row.day <= today]
        quality = quality_of(row for row in rows if row.day > today - WINDOW_DAYS)
        return quality, drift(*split(rows, today))

    def _survey(self, scope: Scope | None, now: float) -> Survey:
        self._parts.usage.flush_if_possible()  # pending uses count too
        return verbs.quality_counts(self._parts.store, scope, now=now, **survey_times(now))
