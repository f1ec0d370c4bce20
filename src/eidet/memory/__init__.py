"""`Memory` and its verbs. Each verb lists its stages, which `write`, `recall` and `trust` implement.

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
from ..trust.audit import Audit
from ..trust.privacy.service import guard_of
from .addresses import Addressed
from .feed import watch
from .namespaces import HasNamespaces, Services
from .records import Promotions

if TYPE_CHECKING:
    from ..models.rerank import Reranker
    from ..recall.pack import Context
    from ..text.tokens import TokenCounter
    from ..trust.audit.log import AuditLog
    from ..trust.erase import Forgotten
    from ..trust.seal.service import Key
    from ..write.ingest import Progress
    from ..write.shape import Given


def _find_reranker(thing: object) -> Reranker | None:
    if thing is None:
        return None
    from ..models.rerank import reranker_of

    return reranker_of(thing)


@observable(
    "remember", "recall", "recall_all", "context", "find", "revise", "promote", "forget", "export", "load"
)
class Memory(HasNamespaces, Addressed, clients="eidet.memories"):
    """A memory for agents in RAM, a file, a database or on a server (`http://…`), with the same verbs.

    Many threads may share it, and several processes may open one file. Once a verb returns, its data is
    durable and the next recall finds it. Every verb works in one scope, `"default"` if none is
    named; `"acme/**"` (or `Scope.under("acme")`) stands for a scope and all scopes below it. Verbs that
    read also take a list: `scope=["ann", "team/core"]`.

    Without `settings`, EIDET_* variables apply. Namespaces: `facts`, `upkeep`, `trust`, `keys`, `admin`.
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
        named = {"language": language, "ranking": ranking, "durability": durability, "guard": guard}
        chosen = change_settings(settings_of(settings), **named)
        if settings is not None and (place is None or isinstance(place, str | Path)):
            warn_unused(chosen, {"key": key, "audit": audit})
        guards, ranks = guard_of(chosen), _find_reranker(reranker)
        parts, log = open_parts(place, embedder=embedder, settings=chosen, key=key, audit=audit, clock=clock)
        self._services = Services(parts, log, guards, ranks)
        self._services.forgetting.clean_up(index=False)

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
        keep_duplicates, read_speakers, again; for a list they apply to each item. `meta` is yours and comes
        back as you gave it. `read_speakers` parses who and occurred from texts such as "[2026-05-08] Ann: …".

        If the `id` (or the `key`, any text of yours) exists, the record becomes its next version. With
        `version` the record must still be at that version, else Conflict; 0 requires that none exists yet.
        A fact or document that the scope already has with the same details is counted as used instead
        of stored again, unless `keep_duplicates`; messages are never merged. Content that was forgotten for
        good in the scope is refused unless `again`; of a list, the rest is stored (see `RememberedList`).
        """
        return self._services.writes.remember(what, details)

    def recall(
        self,
        query: str | Mapping[str, Json] = "",
        *,
        scope: Scopes = "default",
        limit: int = 10,
        where: Filter | None = None,
        **options: Unpack[RecallOptions],
    ) -> Hits:
        """Finds the records that matter for a query, best first, with reasons. `explain` adds a trace.

        A dict finds states with near values: `recall({"health": 0.8})`. `where` is a `Where` or a dict
        such as `{"data.health": {"$gt": 0.5}}`, here and in the verbs below.

        `options` are those of `RecallOptions`: kinds, tiers, session, agent, who, trust, since, until, near,
        box, vector, recipe, least, unit, rerank, understand, order, now, explain. Hits that score below
        `least` are left out, maybe all. `recipe` is a name (auto, dialogue, facts, documents, exact) or a
        Recipe of yours. Names, times and places are read from the query unless an argument gives them or
        `understand` is False; "last week" is relative to `now`, by default the present. With `unit` "session"
        or "scope", each of these gets one hit, its best record. `rerank` (anything `reranker_of` takes; False
        for none) replaces the memory's own reranker for the best fifty hits. Without a query or vector, the
        filter selects the records and `order` sorts them.
        """
        return self._services.reads.recall(query, scope, limit, where, options)

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

        `complete` is False if records may be missing, and `reason` says why; `maybe` lists records that may
        belong to the answer, the likeliest first. `options` are those of `RecallAllOptions`: the parts of a
        filter by name, now, as_of and known_at. `Hits.wants_all` marks questions that suit this verb.
        """
        return self._services.reads.recall_all(query, scope, limit, where, options)

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

        It holds instructions and working state, then the best hits in order of time and, where there is
        room, the `neighbours` before and after each turn that match `where`. Untrusted records (tool, web,
        unknown, labelled as poison) are quoted unless `fence` is False. Records whose ids are in `seen`,
        because the reader already has them, are left out.
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
        return self._services.reads.context(query, scope, limit, where, asked, packing)

    def feedback(
        self,
        about: Hit | Hits | Trace | Context | str,
        *,
        useful: bool,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> None:
        """Records whether an answer (the Hits, Trace or Context) or one record (a Hit or an id) was useful.

        Each call is counted once; it deletes nothing and changes no ranking. A useful record counts as
        used. `by` names the judge, whose judgements are also counted apart. An id is looked up in `scope`.
        """
        self._services.records.judge(about, useful, scope, by)

    @overload
    def get(self, ids: str, *, scope: Scopes = ...) -> Record | None: ...
    @overload
    def get(self, ids: list[str] | tuple[str, ...], *, scope: Scopes = ...) -> list[Record | None]: ...
    def get(
        self, ids: str | Sequence[str], *, scope: Scopes = "default"
    ) -> Record | list[Record | None] | None:
        """Returns the record with an id, or None if it is absent; for a list, a list in the order asked."""
        if isinstance(ids, str):
            return self._services.records.get([ids], scope)[0]
        return self._services.records.get(ids, scope)

    def find(
        self,
        where: Filter | None = None,
        *,
        scope: Scopes = "default",
        limit: int | None = 100,
        **options: Unpack[FindOptions],
    ) -> FoundList:
        """Returns the records that match a filter exactly, at most `limit` of them; with None, all.

        `more` of the answer tells whether others match. `options` are those of `FindOptions`: kinds, tiers,
        session, agent, who, trust, since, until, near, box, order (a field or a path such as "data.price",
        a leading '-' means descending), offset.
        """
        return self._services.reads.find(where, scope, limit, options)

    def count(
        self,
        where: Filter | None = None,
        *,
        scope: Scopes = "default",
        **options: Unpack[FilterOptions],
    ) -> int:
        """Counts matching records. As in `find`, quarantined ones match only if the filter asks for them."""
        return self._services.reads.count(where, scope, options)

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

        With `version` or `digest` (its content hash) the record must still match it, else Conflict.
        Without either, changes that another writer made meanwhile to other fields are kept. `clear` names
        fields to reset. `again` works as in `remember`.
        """
        revise = partial(self._services.writes.revise, again=again, by=actor(by))
        return self._services.records.change(
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
        **options: Unpack[FilterOptions],
    ) -> Forgotten:
        """Deletes records by id or filter, with content and history. Returns how many there were.

        `options` are the parts of a filter that `recall` takes by name: `forget(session="s1")`. A whole
        scope is deleted only if you name it with `everything=True`. One record under a legal hold blocks all.

        For good (the default): copies are deleted too, derived records are rebuilt without the content or
        deleted, no file keeps a word of it, and storing it again is refused (`remember(…, again=True)` lifts
        that). After a whole scope is deleted, its records cannot be loaded again, but their content may be
        remembered again unless `for_good=True`. `for_good=False` only deletes the records. The
        signed `receipt` of the answer says what was done.
        """
        chosen = combine_filter("forget", where, options)
        if for_good is False:
            return self._services.forgetting.delete(ids, chosen, everything, scope, by=actor(by), why=why)
        wish = self._services.forgetting.wish(ids, chosen, everything, scope, for_good)
        return self._services.forgetting.forget(wish, by=actor(by), why=why)

    def promote(
        self,
        id: str,
        *,
        to: str | Scope,
        scope: str | Scope = "default",
        move: bool = False,
        by: str | None = None,
    ) -> Record:
        """Copies a record into another scope under the same id; `record.state.promoted` names the origin.

        With `move`, the original is deleted, and its earlier versions move too unless a copy exists already.
        A legal hold refuses that. A second call changes nothing, or writes the copy's next version if the
        record has changed since.
        """
        promotions = Promotions(self._services)
        return promotions.promote(id, one(scope), one(to), move=move, by=actor(by))

    def history(self, id: str, *, scope: Scopes = "default") -> list[Event]:
        """Lists a record's events, oldest first: created, revised, moved or forgotten, when and by whom."""
        return self._services.records.history(id, scope)

    def scopes(self, under: str | None = None) -> dict[str, int]:
        """Returns the number of records per scope, quarantined ones included; skips empty scopes."""
        place = None if under is None else Scope.under(under)
        return verbs.count_scopes(self.parts.store, place, alive_at=self.parts.clock())

    def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = None,
        plain: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Writes every scope, or the one named, losslessly to a JSONL file. Returns the number of records.

        An export is not sealed, so a sealed memory writes one only with `plain=True`.
        """
        from .export_import import export_records

        place = one_or_all(scope)
        with self._services.auditing.doing("export", place, file=str(path)) as done:
            return done(export_records(self.parts, path, place, plain=plain, progress=progress))

    def load(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Loads an export into the scopes its records name. Returns the number of records.

        If one line is damaged or is no valid record, nothing is loaded. With a `scope`, only its records
        are loaded. A record whose id exists becomes its next version, unless the content is the same.
        """
        from .export_import import ExportFile

        place, parts = one_or_all(scope), self.parts
        file = ExportFile(parts, self._services.guarding, check_path(path, "path"), place)
        with self._services.auditing.doing("load", scope, file=str(path)) as done:
            return done(file.load(progress))

    watch = watch

    def close(self) -> None:
        """Flushes pending writes and releases all resources. Closing twice is harmless."""
        self._services.life.close()
        if not self.parts.closed:
            with suppress(Unavailable):  # the next open of this memory cleans up
                self._services.forgetting.clean_up()
        self.parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
