"""The verbs. Each body is the list of its stages; the stages live in `write`, `recall` and `trust`.

facts.py  upkeep.py  trust.py  keys.py  admin.py   the namespaces; namespaces.py opens them
records.py  forgetting.py  export_import.py   what several verbs share
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

from ..core.arguments import actor, check_path, check_texts, one, one_or_all
from ..core.dict_filters import Filter
from ..core.draft import Details
from ..core.errors import Unavailable
from ..core.hit import AllHits, FoundList, Hit, Hits, RememberedList, Trace
from ..core.observers import observable
from ..core.read_options import (
    FilterOptions,
    FindOptions,
    RecallAllOptions,
    RecallOptions,
    check_options,
    combine_filter,
)
from ..core.recipe import Recipe
from ..core.record import Event, Record
from ..core.scope import Scope, Scopes
from ..core.settings import Settings, change_settings, settings_of, warn_unused
from ..core.validate import Json, Moment
from ..open import open_parts
from ..store import Store, verbs
from ..trust.audit import Audit, Auditing
from ..trust.privacy.service import Guarding, guard_of, with_guard
from ..upkeep.lifecycle import Life
from .addresses import Addressed
from .feed import watch
from .forgetting import Forgetting
from .namespaces import HasNamespaces, Namespaces, find_reranker
from .records import Records

if TYPE_CHECKING:
    from ..recall.pack import Context
    from ..text.tokens import TokenCounter
    from ..trust.audit.log import AuditLog
    from ..trust.erase import Forgotten
    from ..trust.seal.service import Key
    from ..write.shape import Given
    from .export_import import Progress


@observable(
    "remember", "recall", "recall_all", "context", "find", "revise", "promote", "forget", "export", "load"
)
class Memory(HasNamespaces, Addressed, clients="eidet.memories"):
    """A memory for agents: in RAM, in a file, in a database or on a server (`http://…`), same verbs.

    Safe from many threads, and in several processes on one file. Once a verb returns, its data is
    durable and found by the next recall. Every verb works in one scope, `"default"` if none is
    named; `"acme/**"` (or `Scope.under("acme")`) asks explicitly for a scope and all below it. Verbs that
    read take a list as well: `scope=["ann", "team/core"]`.

    Without `settings`, EIDET_* variables are obeyed. Namespaces: `facts`, `upkeep`, `trust`, `keys`, `admin`.
    """

    def __init__(
        self,
        place: str | Path | Store | None = None,
        *,
        embedder: object = None,
        reranker: object = None,
        language: str | None = None,
        ranking: str | None = None,
        durability: str | None = None,
        settings: Settings | None = None,
        guard: object = None,
        audit: str | Path | Audit | AuditLog | Literal[False] | None = None,
        key: Key | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        named = {"language": language, "ranking": ranking, "durability": durability}
        chosen = with_guard(change_settings(settings_of(settings), **named), guard)
        if settings is not None and (place is None or isinstance(place, str | Path)):
            warn_unused(chosen, {"key": key, "audit": audit})
        guards, best = guard_of(chosen), find_reranker(reranker)
        parts, log = open_parts(place, embedder=embedder, settings=chosen, key=key, audit=audit, clock=clock)
        self._parts, self._log = parts, log
        self._auditing = Auditing(log)
        self._guarding = Guarding(parts, guards)
        self._life = Life(parts, self._guarding.guard_worded)
        self._records = Records(parts, self._auditing)
        self._forgetting = Forgetting(parts, self._guarding, self._life)
        stages = (self._records, self._guarding, self._life)
        self._namespaces = Namespaces(parts, *stages, self._forgetting, self._auditing, best)
        self._forgetting.clean_up(index=False)

    @overload
    def remember(self, what: list[Any] | tuple[Any, ...], **details: Unpack[Details]) -> RememberedList: ...
    @overload
    def remember(self, what: Given | None = None, **details: Unpack[Details]) -> Record: ...
    def remember(
        self, what: Given | Sequence[Given] | None = None, **details: Unpack[Details]
    ) -> Record | RememberedList:
        """Stores a text, a message, a dict or a list of those. A list is stored whole or not at all.

        `details` are those of `Details`: scope, kind, tier, who, agent, session, step, place,
        importance, occurred, expires (a time, or a timedelta from now), ttl (seconds it lives after it was
        made or last read), pinned, source, data, meta, vector, derived_from, id, key, version,
        keep_duplicates, read_speakers, again; for many they are said of each. `meta` is yours and comes back
        as you gave it. `read_speakers` takes who and occurred from texts that begin with "[2026-05-08] Ann:".

        A record with an `id` (or a `key`, any text of yours) that exists becomes its next version. With
        `version` it must be at that one, else Conflict; 0 says that there must be none yet.
        A fact or document that its scope has with every detail is not stored again but counted as
        used, unless `keep_duplicates`; messages are never merged. What was forgotten for good in the
        scope is refused, unless it is said `again`; of a list, the rest is stored (see `RememberedList`).
        """
        return self._namespaces.writes.remember(what, details)

    def recall(
        self,
        query: str | Mapping[str, Json] = "",
        *,
        scope: Scopes = "default",
        limit: int = 10,
        where: Filter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Hits:
        """Finds what matters for a query, best first, with reasons. `explain` adds a trace.

        A dict asks for states with near values: `recall({"health": 0.8})`. `where` is a `Where` or a dict
        such as `{"data.health": {"$gt": 0.5}}`, here and in the verbs below.

        `options` are those of `RecallOptions`: kinds, tiers, session, agent, who, trust, since, until, near,
        box, vector, recipe, least, unit, rerank, understand, order, now, explain. Hits that score below
        `least` are left out, maybe all. `recipe` is a name (auto, dialogue, facts, documents, exact) or a
        Recipe of yours. Names, times and places are read from the query unless an argument says them or
        `understand` is False; "last week" is as of `now`, by default the present. With the `unit` session or
        scope there is one hit for each, its best record. `rerank` (what `reranker_of` takes; False: none)
        replaces the memory's own for the best fifty. Without a query (or vector) the filter decides, in the
        `order` named.
        """
        return self._namespaces.reads.recall(query, scope, limit, where, options)

    def recall_all(
        self,
        query: str,
        *,
        scope: Scopes = "default",
        limit: int = 100,
        where: Filter | None = None,
        **options: Unpack[RecallAllOptions],
    ) -> AllHits:
        """Finds every record on a topic, in order of time, with a `count`: "how often did I go climbing?"

        `complete` is False where something may be missing, and `reason` says what: records that may belong
        are in `maybe`, the likeliest first. `options` are those of `RecallAllOptions`: the parts of a filter
        by name, now, as_of and known_at. `Hits.wants_all` says that a question sounds like one for this verb.
        """
        return self._namespaces.reads.recall_all(query, scope, limit, where, options)

    def context(
        self,
        query: str | Mapping[str, Json],
        *,
        budget: int = 1000,
        counter: TokenCounter | Callable[[str], float] | str | None = None,
        limit: int = 50,
        neighbours: int = 1,
        headings: bool = True,
        scope: Scopes = "default",
        where: Filter | None = None,
        recipe: Recipe | str | None = None,
        least: float | None = None,
        seen: Sequence[str] | AbstractSet[str] = (),
        fence: bool = True,
        now: Moment | None = None,
        as_of: Moment | None = None,
        known_at: Moment | None = None,
        **options: Unpack[FilterOptions],
    ) -> Context:
        """Builds a prompt-ready block of what matters for a query, never over `budget` tokens.

        Instructions and working state, then the best hits in the order of time, and where there is room
        the `neighbours` before and after each turn, as far as `where` lets them pass. What is not
        trusted (tool, web, unknown, labelled as poison) is quoted, unless `fence` is False.
        `seen` are the ids of what the reader was shown already, which is left out.
        `least` and `options`, the parts of a filter by name, are those of `recall`; without a `least`, hits
        of low score fill the budget behind better ones, unless there is room for all.
        """
        from ..recall.path import Packing

        check_options("context", options)
        packing = Packing(
            budget=budget,
            counter=counter,
            neighbours=neighbours,
            headings=headings,
            seen=frozenset(check_texts(seen, "seen")),
            fence=fence,
        )
        asked = RecallOptions(recipe=recipe, least=least, now=now, as_of=as_of, known_at=known_at)
        asked.update(options)  # type: ignore[typeddict-item]  # filters are among the options of a recall
        return self._namespaces.reads.context(query, scope, limit, where, asked, packing)

    def feedback(
        self,
        about: Hit | Hits | Trace | Context | str,
        *,
        useful: bool,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> None:
        """Says whether an answer (the Hits, Trace or Context) or one record (a Hit or an id) was useful.

        Only counted, each call once: nothing is deleted or ranked otherwise. What was useful counts as
        used. `by` names who judges, and is counted apart too. An id is looked up in `scope`.
        """
        self._records.judge(about, useful, scope, by)

    @overload
    def get(self, ids: str, *, scope: Scopes = ...) -> Record | None: ...
    @overload
    def get(self, ids: list[str] | tuple[str, ...], *, scope: Scopes = ...) -> list[Record | None]: ...
    def get(
        self, ids: str | Sequence[str], *, scope: Scopes = "default"
    ) -> Record | list[Record | None] | None:
        """The record with an id, or None; a list gives a list, in the order asked."""
        if isinstance(ids, str):
            return self._records.get([ids], scope)[0]
        return self._records.get(ids, scope)

    def find(
        self,
        where: Filter | None = None,
        *,
        scope: Scopes = "default",
        limit: int | None = 100,
        **options: Unpack[FindOptions],
    ) -> FoundList:
        """Records that match exactly, 100 of them unless `limit` says otherwise; None gives all.

        `more` of the answer says whether others match. `options` are those of `FindOptions`: kinds, tiers,
        session, agent, who, trust, since, until, near, box, order (a field or a path such as "data.price",
        a leading '-' means descending), offset.
        """
        return self._namespaces.reads.find(where, scope, limit, options)

    def count(
        self,
        where: Filter | None = None,
        *,
        scope: Scopes = "default",
        **options: Unpack[FilterOptions],
    ) -> int:
        """Counts matching records. As in `find`, quarantined ones count only if the filter asks for them."""
        return self._namespaces.reads.count(where, scope, options)

    def revise(
        self,
        /,
        id: str,
        *,
        scope: str | Scope = "default",
        version: int | None = None,
        digest: str | None = None,
        by: str | None = None,
        clear: Sequence[str] = (),
        again: bool = False,
        **changes: Any,
    ) -> Record:
        """Writes the next version of a record. The `Draft` fields given replace the present ones.

        With `version` or `digest` (its content hash) the record must still be that one, else Conflict.
        Without either, what somebody else changed meanwhile in other fields is kept. `clear` names fields
        to reset. `again` as in `remember`.
        """
        revise = partial(self._namespaces.writes.revise, again=again, by=actor(by))
        return self._records.change(
            id, scope, lambda old, _: revise(old, changes, clear), version=version, digest=digest
        )

    def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Filter | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        by: str | None = None,
        for_good: bool | None = None,
        why: str | None = None,
        key: object = None,
        **options: Unpack[FilterOptions],
    ) -> Forgotten:
        """Deletes records by id or filter, with content and history. Returns how many there were.

        `options` are the parts of a filter that `recall` takes by name: `forget(session="s1")`. A whole
        scope goes only if it is named, with `everything=True`. One record under a legal hold refuses all.

        For good (the default): copies go too, what was made of it is made anew without it or goes, no file
        keeps a word of it, and it is refused when it comes back (`remember(…, again=True)` lifts that). Of a
        whole scope, what it held cannot be loaded again, but may be said again, unless `for_good=True`. With
        `for_good=False` records are deleted, no more. `receipt` says what was done; a `key` (Ed25519) signs.
        """
        chosen = combine_filter("forget", where, options)
        if for_good is False:
            return self._forgetting.delete(ids, chosen, everything, scope, by=actor(by), why=why)
        wish = self._forgetting.wish(ids, chosen, everything, scope, for_good)
        return self._forgetting.forget(wish, by=actor(by), why=why, key=key)

    def promote(
        self,
        id: str,
        *,
        to: str | Scope,
        scope: str | Scope = "default",
        move: bool = False,
        by: str | None = None,
    ) -> Record:
        """Copies a record into another scope under the same id; `record.state.promoted` says from where.

        With `move`, it leaves its scope, unless a legal hold keeps it, and its earlier versions come along,
        unless a copy is there already.
        Called again, it changes nothing, or makes the copy's next version if the record has changed since.
        """
        return self._namespaces.promotions.promote(id, one(scope), one(to), move=move, by=actor(by))

    def history(self, id: str, *, scope: Scopes = "default") -> list[Event]:
        """Lists a record's events, oldest first: created, revised, moved, forgotten; when and by whom."""
        return self._records.history(id, scope)

    def scopes(self, under: str | None = None) -> dict[str, int]:
        """The scopes that hold records, with how many, those in quarantine included."""
        place = None if under is None else Scope.under(under)
        return verbs.count_scopes(self._parts.store, place, alive_at=self._parts.clock())

    def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = None,
        plain: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Writes every scope, or the one named, to a JSONL file, losslessly; how many records.

        An export is not sealed: a sealed memory writes one only if `plain` says so.
        """
        from .export_import import Leaving, export_records

        leaving = Leaving(scope=one_or_all(scope), plain=plain, progress=progress)
        with self._auditing.doing("export", leaving.scope, file=str(path)) as done:
            return done(export_records(self._parts, check_path(path, "path"), leaving))

    def load(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Loads an export into the scopes its records name. Returns the number of records.

        If one line is damaged, or could not be a record, nothing is loaded. With a `scope`, only its
        records are. Records whose id exists become its next version unless they say the same.
        """
        from .export_import import ExportFile

        file = ExportFile.of(self._parts, self._guarding, path, scope)
        with self._auditing.doing("load", scope, file=str(path)) as done:
            return done(file.load(progress))

    watch = watch

    def close(self) -> None:
        """Flushes pending writes and releases everything. Closing twice is harmless."""
        self._life.close()
        if not self._parts.closed:
            with suppress(Unavailable):  # the next one to open it does it
                self._forgetting.clean_up()
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
