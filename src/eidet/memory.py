"""The verbs. Each body is the list of its stages; the stages live in `ingest`, `recall` and `store`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack, overload

from .core.arguments import (
    actor,
    check_filter,
    checked_budget,
    checked_flag,
    checked_limit,
    checked_neighbours,
    checked_offset,
    checked_query,
    checked_share,
    checked_unit,
    given,
    narrowed,
    one,
)
from .core.draft import Details
from .core.errors import BadInput, Conflict, Refused, Unavailable
from .core.event import Event
from .core.hit import Hit, Hits, Trace
from .core.record import Record
from .core.scope import Scope
from .core.settings import Settings, Upkeep
from .core.validate import Moment, clean_text, moment
from .core.where import Box, Near, Where
from .engine import Engine
from .models.rerank import reranker_of
from .quality.metrics import told
from .recall import AUTO, Query, Recipe, recipe_of
from .recall.feedback import counts_of, judge, judged
from .recall.nearby import turns_around, working_state
from .recall.pack import Context, pack
from .store import Store, verbs
from .store.export_file import verify_export, write_export
from .text import term_id
from .text.tokens import TokenCounter, counter_of
from .trust.audit.reads import Auditing
from .trust.privacy.service import LABELLED, Guard, Guarding, with_guard
from .upkeep import HOLD, PINNED, Maintained
from .upkeep.lifecycle import Life
from .write import Given, drafts_of
from .write.revise import revised

if TYPE_CHECKING:
    from .trust.audit import Audit
    from .trust.audit.log import AuditLog
    from .trust.erase import Absence, Erasing, Forgotten, Preview, Receipt, Wish
    from .trust.seal.service import Key
    from .upkeep.archive import Archive
    from .upkeep.fit import Fitted
    from .upkeep.retain import Standing
    from .upkeep.worker import Worker

Progress = Callable[[int, int], None]  # done, of how many

TRIES = 100  # at a change that others are always faster with


class Memory:
    """A memory for agents: in RAM, in a file, or on a server, with the same verbs.

    Safe from many threads, and in several processes on one file. What a verb returned for is
    durable and is found by the next recall. Every verb works in one scope, `"default"` if none is
    named; `Scope.under(…)` asks explicitly for a scope and all below it.
    """

    def __init__(
        self,
        place: str | Path | Store | None = None,
        *,
        embedder: object = None,
        language: str | None = None,
        durability: str | None = None,
        settings: Settings | None = None,
        guard: object = None,
        vault: str | Path | None = None,
        audit: str | Path | Audit | AuditLog | None = None,
        key: Key | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        chosen = with_guard(settings or Settings(), guard, vault)
        guards = Guard.of(chosen)
        self._engine = Engine.start(place, embedder, language, durability, chosen, audit, clock, key)
        self._guarding = Guarding(self._engine, guards)
        self._life = Life(self._engine, clock)
        self._audit = Auditing(self._engine)
        self._clean_up(clock, index=False)
        self._clock = clock

    @property
    def audit(self) -> AuditLog | None:
        """The open audit log, for entries of your own: `memory.audit.note("consent", scope="ann")`."""
        return self._engine.audit

    @overload
    def remember(self, what: list[Any] | tuple[Any, ...], **details: Unpack[Details]) -> list[Record]: ...
    @overload
    def remember(self, what: Given | None = None, **details: Unpack[Details]) -> Record: ...
    def remember(
        self, what: Given | Sequence[Given] | None = None, **details: Unpack[Details]
    ) -> Record | list[Record]:
        """Stores a text, a message, a dict or a list of those; all of a list or none of it.

        `details` are those of `Details`: scope, kind, tier, who, agent, session, step, place,
        importance, occurred, expires (a time, or a timedelta from now), source, data, meta, vector,
        derived_from, id, key, keep_duplicates, again; for many they are said of each.

        A record with an `id` (or a `key`, any text of yours) that exists becomes its next version.
        A fact or document that its scope has word for word is not stored again but counted as
        used, unless `keep_duplicates`; messages are never merged. What was forgotten for good in the
        scope is refused, unless it is said `again`.
        """
        now = self._clock()
        scope = one(details.pop("scope", "default"))
        keep = details.pop("keep_duplicates", self._engine.settings.keep_duplicates)
        again = checked_flag(details.pop("again", False), "again")
        said = {name: value for name, value in details.items() if value is not None}
        drafts, single = drafts_of(what, said)
        drafts, values = self._guarding.drafts(drafts)
        records = self._engine.ingest.records(drafts, scope=scope, now=now)
        records = self._life.echoed(self._life.weighed(drafts, records), now)
        named = [r.id for d, r in zip(drafts, records, strict=True) if d.id is not None or d.key is not None]
        there = self._life.check_not_held(scope, named) if named else []
        records = self._guarding.checked(records, now, values, there)
        watch = self._engine.watch(records, again=again)
        stored = self._engine.put(records, now=now, unique=not keep, watch=watch)
        self._life.inserted(len(stored))
        return stored[0] if single else stored

    def recall(
        self,
        query: str = "",
        *,
        scope: str | Scope = "default",
        limit: int = 10,
        where: Where | None = None,
        kinds: str | Sequence[str] | None = None,
        tiers: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        trust: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        near: Near | None = None,
        box: Box | None = None,
        vector: Any = None,
        recipe: Recipe | str = AUTO,
        least: float = 0.0,
        unit: str = "record",
        rerank: object = None,
        understand: bool = True,
        order: str = "-occurred",
        now: Moment | None = None,
        explain: bool = False,
    ) -> Hits:
        """What matters for a query, best first, each hit with its reasons; `explain` adds the trace.

        May answer nothing, if nothing fits; hits that score below `least` are left out. `recipe` is
        a name (auto, dialogue, facts, documents, exact) or a Recipe of yours. Names, times, places
        and the like are read from the query unless an argument says them or `understand` is False;
        "last week" is meant as of `now`, the present if it is not given. With the `unit` session or
        scope there is one hit for each, its best record, ranked by its best ones together. `rerank`
        is a Reranker (or what `reranker_of` takes) for the best fifty. Without a query (or a vector)
        the filter alone decides, and `order` gives the order.
        """
        clock = self._clock()
        asked = Query(
            text=self._guarding.query(checked_query(query)),
            scope=Scope.of(scope),
            now=clock,
            asked=clock if now is None else moment(now, "now"),
            limit=checked_limit(limit),
            where=self._guarding.seen(
                narrowed(
                    where,
                    kinds=kinds,
                    tiers=tiers,
                    session=session,
                    agent=agent,
                    who=who,
                    trust=trust,
                    since=since,
                    until=until,
                    near=near,
                    box=box,
                )
            ),
            vector=vector,
            recipe=recipe_of(recipe),
            least=checked_share(least, "least"),
            unit=checked_unit(unit),
            reranker=None if rerank is None else reranker_of(rerank),
            given=given(kinds=kinds, session=session, who=who, since=since, until=until, near=near, box=box),
            understand=understand,
            order=order,
            explain=explain,
        )
        started = time.perf_counter()
        with self._engine.asking():
            hits = self._engine.recall.answer(asked)
        ranked = vector is not None or bool(asked.text.strip())
        self._engine.recalled(hits, clock, time.perf_counter() - started, ranked=ranked)
        self._life.recalled(hits, clock)
        self._audit.read("recall", scope, [hit.id for hit in hits], query=asked.text)
        return hits

    def phrased(self, query: str, *, scope: str | Scope = "default", now: Moment | None = None) -> str:
        """The query as it is embedded: without the names of who speaks in the scope."""
        clock = self._clock()
        asked = Query(
            text=self._guarding.query(checked_query(query)),
            scope=Scope.of(scope),
            now=clock,
            asked=clock if now is None else moment(now, "now"),
        )
        return self._engine.recall.understood(asked).dense

    def context(
        self,
        query: str,
        *,
        budget: int = 1000,
        counter: TokenCounter | Callable[[str], int] | str | None = None,
        limit: int = 50,
        neighbours: int = 1,
        headings: bool = True,
        scope: str | Scope = "default",
        where: Where | None = None,
        recipe: Recipe | str = AUTO,
        fence: bool = True,
        reveal: bool = False,
        now: Moment | None = None,
    ) -> Context:
        """A prompt-ready block of what matters for a query, never over `budget` tokens.

        Working state, then facts, then passages of conversation: each turn that was found with its
        `neighbours` before and after, as far as `where` lets them pass. The order does not depend on
        the query, so that the beginning of a prompt stays the same as long as it can. What is not
        trusted (tool, web, unknown, labelled as poison) is quoted, unless `fence` is False. `reveal`
        turns pseudonyms back.
        """
        tokens, count, reach = checked_budget(budget), counter_of(counter), checked_neighbours(neighbours)
        hits = self.recall(query, scope=scope, limit=limit, where=where, recipe=recipe, now=now)
        clock, recall, found = self._clock(), self._engine.recall, [hit.record for hit in hits]
        seen, tell = self._guarding.seen(where), self._guarding.telling(reveal)
        made = pack(
            tuple(tell.hits(hits)),
            tokens,
            count,
            working=tell.records(working_state(recall, Scope.of(scope), seen, clock)),
            turns=tell.turns(turns_around(recall, found, reach, seen, clock)),
            terms={
                term_id(term)
                for term in self._engine.analyzer.terms(self._guarding.query(checked_query(query)))
            },
            headings=headings,
            fence=fence,
        )
        spent = {"contexts": 1, "tokens": made.tokens, "budget": made.budget}
        self._engine.tally(hits.scope, "context", spent, clock)
        return replace(made, scope=hits.scope)

    def feedback(
        self,
        about: Hit | Hits | Trace | Context | str,
        *,
        useful: bool,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> None:
        """Says whether an answer (the Hits, Trace or Context) or one record (a Hit or an id) was useful.

        Only counted, each call once: nothing is deleted or ranked otherwise. What was useful counts
        as used. `by` names who judges, and is counted apart too. An id is looked up in `scope`,
        which all else knows by itself. Counts are written down as those of recalls are.
        """
        what, who = judged(about, None if scope is None else Scope.of(scope)), judge(by)
        counts, now = counts_of(what, useful), self._clock()
        if not self._engine.store.writable:
            raise Refused("this memory is open for reading only: feedback cannot be kept")
        record = what.record or (None if what.id is None else self.get(what.id, scope=what.scope))
        if record is None and what.id is not None:
            raise self._engine.absent(f"record {what.id!r} in scope {what.scope}")
        self._engine.tally(what.scope, who, counts, now)
        if useful and record is not None:
            self._engine.used([record], now)

    @overload
    def get(self, ids: str, *, scope: str | Scope = ...) -> Record | None: ...
    @overload
    def get(self, ids: list[str] | tuple[str, ...], *, scope: str | Scope = ...) -> list[Record | None]: ...
    def get(
        self, ids: str | Sequence[str], *, scope: str | Scope = "default"
    ) -> Record | list[Record | None] | None:
        """The record with an id, or None; a list gives a list, in the order asked."""
        wanted = [clean_text(id, "an id") for id in ([ids] if isinstance(ids, str) else ids)]
        now = self._clock()
        found = [_alive(record, now) for record in self._engine.store.read(one(scope), wanted)]
        self._engine.read(filter(None, found), now)
        self._audit.read("get", scope, [record.id for record in found if record is not None])
        return found[0] if isinstance(ids, str) else found

    def find(
        self,
        where: Where | None = None,
        *,
        scope: str | Scope = "default",
        kinds: str | Sequence[str] | None = None,
        tiers: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        trust: str | Sequence[str] | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        order: str = "-occurred",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        """Records that match exactly, ordered by a field; a leading '-' means descending."""
        chosen = narrowed(
            where,
            kinds=kinds,
            tiers=tiers,
            session=session,
            agent=agent,
            who=who,
            trust=trust,
            since=since,
            until=until,
        )
        found = self._engine.recall.listed(
            self._guarding.seen(chosen),
            Scope.of(scope),
            now=self._clock(),
            order=order,
            limit=checked_limit(limit),
            offset=checked_offset(offset),
        )
        self._audit.read("find", scope, [record.id for record in found])
        return found

    def revise(
        self,
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
        """The next version of a record: the fields of `Draft` given replace those it has.

        With `version` or `digest` (its content hash) the record must still be that one, else
        Conflict. `clear` names fields to reset. Without either, a change that somebody else made
        meanwhile is kept where it touched other fields. `again` as in `remember`.
        """
        for _ in range(TRIES):
            now = self._clock()
            old = self.get(id, scope=scope)
            if old is None:
                raise self._engine.absent(f"record {id!r} in scope {one(scope)}")
            _check_unchanged(old, version, digest)
            if old.meta.get("hold"):
                raise Refused(
                    f"record {id!r} is under a legal hold and cannot be changed: `release` it first"
                )
            old = self._life.detail(old)
            kept, values = self._guarding.changes(changes, old)
            new = revised(old, kept, clear, self._engine.ingest, now)
            new = self._guarding.revised(new, old, now, values)
            watch = None if new.digest == old.digest else self._engine.watch([new], again=again)
            try:
                return self._engine.put(
                    [new], now=now, unique=False, expect=old.version, by=actor(by), watch=watch
                )[0]
            except Conflict:
                if version is not None or digest is not None:
                    raise
        raise _restless(id)

    def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Where | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        by: str | None = None,
        for_good: bool | None = None,
        why: str | None = None,
        key: object = None,
    ) -> Forgotten:
        """Deletes records by id or filter, content and history of content; how many there were.

        A whole scope is deleted only when it is named and `everything=True` says so. If anything that
        is meant is under a legal hold, all of it is refused.

        For good (the default): copies go too, what was made of it is made anew without it or goes,
        no file keeps a word of it, and it is refused when it comes back (`remember(…, again=True)`
        lifts that). Of a whole scope, what it held until now cannot be loaded again, but may be said
        again, unless `for_good=True` is given. With `for_good=False` records are deleted, no more.
        `receipt` of the answer says what was done; an Ed25519 `key` signs it. See `docs/forgetting.md`.
        """
        if for_good is False:
            chosen = _doomed(ids, self._guarding.asked(where), everything, scope)
            return self._put_away(chosen, everything, scope, actor(by))
        wish = self._wish(ids, where, everything, scope, for_good)
        said = None if why is None else clean_text(why, "why")
        now = self._clock()
        gone = self._erasing.forget(wish, now=now, by=actor(by), why=said, key=key)
        if gone and not everything:
            self._engine.tally(wish.scope.path, "forget", {"forgotten": int(gone)}, now)
        return gone

    def forgettable(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Where | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        for_good: bool | None = None,
    ) -> Preview:
        """What `forget` would delete and make anew, copies and derived records included; changes nothing."""
        return self._erasing.preview(self._wish(ids, where, everything, scope, for_good))

    def verify_forgotten(self, what: object, *, scope: str | Scope = "default") -> Absence:
        """Looks for something everywhere it could be: by receipt, id, text or value. True if it is nowhere.

        Reads every record of the scope and the bytes of every file of the memory.
        """
        return self._erasing.absence(what, Scope.of(scope))

    def verify_receipt(self, receipt: Receipt, *, key: object = None) -> bool:
        """Whether a receipt is of this memory and says what was signed.

        One that was signed by a `key` must be signed by one that this memory has signed with.
        """
        return self._erasing.verify_receipt(receipt, key)

    def _clean_up(self, clock: Callable[[], float], *, index: bool = True) -> None:
        """Finishes the cleaning of what was forgotten, where it was interrupted or had to wait."""
        if self._engine.store.writable and verbs.get_setting(self._engine.store, "unclean"):
            self._erasing.finish(clock(), index=index)

    def _put_away(
        self, chosen: Where, everything: bool, scope: str | Scope | None, by: str | None
    ) -> Forgotten:
        """Deletes, no more: what is made of it stays, and it may come back."""
        from .trust.erase import Forgotten

        place = Scope.of("default" if scope is None else scope)
        self._life.check_free(chosen.within(place), "forgotten")
        self._engine.flush()
        now = self._clock()
        gone = len(verbs.delete_where(self._engine.store, chosen.within(place), now=now, by=by))
        if gone and not everything:
            self._engine.tally(place.path, "forget", {"forgotten": gone}, now)
        return Forgotten(gone)

    def _wish(
        self,
        ids: str | Sequence[str] | None,
        where: Where | None,
        everything: bool,
        scope: str | Scope | None,
        for_good: bool | None,
    ) -> Wish:
        from .trust.erase import wish_for

        place = Scope.of("default" if scope is None else scope)
        chosen = _doomed(ids, self._guarding.asked(where), everything, scope)
        return wish_for(self._engine, chosen.within(place), place, chosen.ids, everything, for_good)

    @property
    def _erasing(self) -> Erasing:
        """Made when needed: most programs never forget."""
        from .trust.erase import Erasing

        guarding = self._guarding
        return Erasing(self._engine, self._life, guarding.empty if guarding.has_vault else None)

    def history(self, id: str, *, scope: str | Scope = "default") -> list[Event]:
        """What happened to a record, oldest first: created, revised, moved, forgotten, when and by whom."""
        told = self._engine.store.history(one(scope), clean_text(id, "an id"))
        self._audit.read("history", scope, [id])
        there = self._engine.store.read(one(scope), [id])[0]
        if there is not None and _alive(there, self._clock()) is None:
            return [replace(event, before=None) for event in told]
        return told

    def scopes(self, under: str | None = None) -> dict[str, int]:
        """The scopes that hold records, with how many, those in quarantine included."""
        place = None if under is None else Scope.under(under)
        return verbs.count_scopes(self._engine.store, place, alive_at=self._clock())

    def count(self, where: Where | None = None, *, scope: str | Scope = "default") -> int:
        """How many records match; those in quarantine only if the filter asks for them, as in `find`."""
        living = narrowed(self._guarding.seen(where), alive_at=self._clock()) or Where()
        return verbs.count(self._engine.store, living.within(Scope.of(scope)))

    def stats(self, scope: str | Scope | None = None) -> dict[str, Any]:
        """Counts by kind and tier (of a scope, or of all), sizes, what made the vectors, how recalls went.

        They are of all that is kept; `quarantined` says how many of those wait to be looked at.
        """
        place = None if scope is None else Scope.of(scope)
        now = self._clock()
        quality, drift = self._engine.retrieval(place, now)
        retrieval = told(quality, drift, self._engine.windows)
        return self._engine.stats(place, now) | self._life.stats() | {"retrieval": retrieval}

    def health(self) -> dict[str, Any]:
        """How the servers do that this memory stands on: stores, what waits for one, index, embedder.

        `state` is up, degraded or down; each line tells its own, how often it failed, and its last error.
        Asks nobody, so it answers at once, and never fails.
        """
        return self._engine.health()

    def metrics(self, scope: str | Scope | None = None) -> dict[str, float]:
        """How the memory does, as numbers for monitoring: `eidet.quality.metrics` says what each means.

        A name is absent while there is nothing to tell it from. Looks at every record, and writes
        down what recalls have gathered.
        """
        return self._engine.metrics(None if scope is None else Scope.of(scope), self._clock())

    def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = "default",
        plain: bool = False,
        progress: Progress | None = None,
    ) -> int:
        """Writes a scope (None: every scope) to a JSONL file, losslessly; how many records.

        What a sealed memory exports is sealed, and loaded with the same master key; `plain` opens it.
        """
        now = self._clock()
        where = Where(scope=None if scope is None else Scope.of(scope), alive_at=now)
        self._engine.flush()
        total = verbs.count(self._engine.store, where) if progress else 0
        records, said = self._engine.leaving(where, plain=plain)
        manifest = self._engine.manifest(now) | said
        with self._audit.doing("export", scope, file=str(path)) as done:
            return done(write_export(Path(path), _told(records, total, progress), manifest))

    def load(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Reads an export into the scopes its records name; a damaged file changes nothing.

        Records whose id exists become its next version unless they say the same, so loading again
        after an interruption does no harm.
        """
        manifest = verify_export(Path(path))
        now = self._clock()
        records = self._guarding.loaded(
            _told(self._engine.arriving(Path(path), manifest), manifest["count"], progress), now
        )
        with self._audit.doing("load", file=str(path)) as done:
            return done(self._engine.load(records, manifest, now=now))

    def maintain(
        self,
        scope: str | Scope | None = None,
        *,
        dry_run: bool = False,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
        now: Moment | None = None,
    ) -> Maintained:
        """Keeps memories in order: see `docs/life.md`. Every scope, unless one is named.

        `only` names works of `eidet.upkeep.WORKS`; `dry_run` changes nothing and tells what would be
        done and why. Recalls and writes go on meanwhile; what they change is left as they made it.
        An `llm` words summaries and facts; where it fails, the rules do.
        """
        done = self._life.maintain(
            None if scope is None else Scope.of(scope),
            dry_run=dry_run,
            only=only,
            settings=settings,
            archive=archive,
            llm=llm,
            now=None if now is None else moment(now, "now"),
        )
        if not dry_run:
            self._clean_up(self._clock)
        return done

    def retention(self, scope: str | Scope | None = None) -> list[Standing]:
        """For each policy of the settings: how many records it covers, and how many are due by now."""
        return self._life.keeping.retention(None if scope is None else Scope.of(scope), self._clock())

    def upkeep(
        self,
        every: float = 60.0,
        *,
        scope: str | Scope | None = None,
        only: str | Sequence[str] | None = None,
        settings: Upkeep | None = None,
        archive: Archive | str | Path | None = None,
        llm: object = None,
    ) -> Worker:
        """`maintain` in the background, now and every so many seconds: `with memory.upkeep(every=60): …`.

        Ends with the block, with `stop()`, with `close()` or with the program. Of several processes on
        one file, one at a time does the work. `stats()` tells how it went.
        """
        place = None if scope is None else Scope.of(scope)
        return self._life.upkeep(every, scope=place, only=only, settings=settings, archive=archive, llm=llm)

    def detail(self, id: str, *, scope: str | Scope = "default") -> Record:
        """A record as it was before its tier showed less of it; changes nothing."""
        return self._life.detail(self._there(id, scope))

    def restore(self, id: str, *, scope: str | Scope = "default") -> Record:
        """Brings a record back to the middle tier with all its detail, and counts that as a use."""
        return self._changed(id, scope, self._life.restored)

    def pin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """Upkeep leaves the record alone, and it does not expire, until it is unpinned."""
        return self._marked(id, scope, PINNED, True, by)

    def unpin(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return self._marked(id, scope, PINNED, False, by)

    def hold(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        """A legal hold: nobody can change or delete the record until it is released."""
        return self._marked(id, scope, HOLD, True, by)

    def release(self, id: str, *, scope: str | Scope = "default", by: str | None = None) -> Record:
        return self._marked(id, scope, HOLD, False, by)

    def quarantine(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        because: str | None = None,
        by: str | None = None,
    ) -> Record:
        """Keeps a memory from recall, find and context until it is approved; upkeep leaves it alone."""
        who = actor(by)
        return self._changed(id, scope, lambda old, now: self._guarding.quarantined(old, now, who, because))

    def approve(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        trust: str | None = None,
        by: str | None = None,
    ) -> Record:
        """Ends a quarantine and takes the label off; it is trusted as `trust` says, else as before."""
        who = actor(by)
        return self._changed(id, scope, lambda old, now: self._guarding.approved(old, trust, now, who))

    def review(self, *, scope: str | Scope = "default", limit: int = 100) -> list[Record]:
        """What waits for somebody to look at it: in quarantine or labelled, newest first."""
        return self.find(LABELLED, scope=scope, limit=limit)

    @overload
    def reveal(self, about: str, *, key: object = ...) -> str: ...
    @overload
    def reveal(self, about: Record, *, key: object = ...) -> Record: ...
    @overload
    def reveal(self, about: Hit, *, key: object = ...) -> Hit: ...
    @overload
    def reveal(self, about: Hits, *, key: object = ...) -> Hits: ...
    def reveal(self, about: str | Record | Hit | Hits, *, key: object = None) -> str | Record | Hit | Hits:
        """The same with pseudonyms turned back from the vault; those it does not know stay.

        With the setting `reveal` False only whoever has the guard's key and gives it may see values.
        """
        return self._guarding.reveal(about, key)

    def forget_value(self, value: str) -> int:
        """Forgets the values in a text (or behind its pseudonyms) in the vault; how many there were.

        Records keep their pseudonyms, which nobody can turn back any more.
        """
        return self._guarding.forget_value(clean_text(value, "a value"))

    def end_session(self, session: str, *, scope: str | Scope = "default", llm: object = None) -> Record:
        """Sums a session's messages up in an episode that names them; again, it tells the whole session."""
        said = clean_text(session, "session")
        return self._life.keeping.end_session(said, one(scope), llm, self._clock())

    def unarchive(
        self,
        archive: Archive | str | Path | None = None,
        *,
        ids: str | Sequence[str] | None = None,
        scope: str | Scope | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
    ) -> int:
        """Brings memories back from an archive; how many.

        All of it, or those with some ids, of a scope, or created from `since` to `until`. Pieces that
        cannot hold any of them are not fetched.
        """
        sought = {
            "ids": None if ids is None else {ids} if isinstance(ids, str) else set(ids),
            "scope": None if scope is None else Scope.of(scope),
            "since": None if since is None else moment(since, "since"),
            "until": None if until is None else moment(until, "until"),
        }
        return self._life.unarchive(archive, sought, self._clock(), self._guarding.loaded)

    def fit(
        self,
        log: str | Path | None = None,
        *,
        scope: str | Scope | None = None,
        window_days: float = 7.0,
    ) -> Fitted:
        """The forgetting curve under which the uses there were are likeliest; changes nothing.

        From an access log (the setting `access_log`) or, without one, from use counts and last uses.
        """
        chosen = log or self._engine.settings.access_log
        return self._life.keeping.fit(
            None if chosen is None else Path(chosen),
            None if scope is None else Scope.of(scope),
            window_days,
            self._clock(),
        )

    def _marked(self, id: str, scope: str | Scope, mark: str, on: bool, by: str | None) -> Record:
        who = actor(by)
        return self._changed(id, scope, lambda old, now: self._life.marked(old, mark, on, now, who))

    def _changed(self, id: str, scope: str | Scope, change: Callable[[Record, float], Record]) -> Record:
        """A change that fits whatever the record says: made again where somebody else was faster."""
        for _ in range(TRIES):
            with suppress(Conflict):
                return change(self._there(id, scope), self._clock())
        raise _restless(id)

    def _there(self, id: str, scope: str | Scope) -> Record:
        if (record := self.get(id, scope=scope)) is None:
            raise self._engine.absent(f"record {id!r} in scope {one(scope)}")
        return record

    def flush(self) -> None:
        """Writes down the use counts and tallies that recalls have gathered."""
        self._engine.flush()

    def rebuild(
        self,
        scope: str | Scope | None = None,
        *,
        language: str | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Makes the index anew from the store (all scopes if none is named); how many records.

        With `language`, the words of every text are analysed anew first.
        """
        return self._engine.rebuild(None if scope is None else Scope.of(scope), language, progress)

    def reembed(self, embedder: object, *, progress: Progress | None = None) -> int:
        """Changes the embedder: makes new vectors beside the old ones, then switches at once.

        Recalls go on meanwhile; an interrupted change goes on where it stopped.
        """
        return self._engine.reembed(embedder, progress)

    def check(self) -> list[str]:
        """What is wrong with the index against the store, in words; nothing if all is well."""
        return self._engine.check()

    def rotate_keys(
        self,
        scope: str | Scope | None = None,
        *,
        key: Key | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Gives every scope (or the one named) a new key and seals its records anew; how many.

        With `key`, that becomes the master key instead: every scope's key is put under it, at once,
        and how many those are is told. Recalls and writes go on meanwhile, here and elsewhere.
        """
        place = None if scope is None else Scope.of(scope)
        return self._engine.rotate(place, key, self._clock, progress)

    def shred(self, scope: str | Scope) -> int:
        """Destroys the key of a sealed scope: nobody can ever read its records again; how many.

        Copies of the file that were made before, and exports, have the key still. `forget` with
        everything=True clears the rows, and the scope can begin anew.
        """
        path = one(scope)
        self._life.check_free(Where(scope=Scope(path)), "shredded")
        return self._engine.shred(path, self._clock)

    def close(self) -> None:
        """Writes down what is pending and releases everything; closing twice is fine."""
        self._life.close()
        if not self._engine.closed:
            with suppress(Unavailable):  # the next one to open it does it
                self._clean_up(self._clock)
        self._engine.close()
        self._guarding.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _alive(record: Record | None, now: float) -> Record | None:
    expired = record is not None and record.expires is not None and record.expires <= now
    return None if expired else record


def _restless(id: str) -> Conflict:
    return Conflict(f"record {id!r} is changed by others all the time; the change was given up")


def _check_unchanged(old: Record, version: int | None, digest: str | None) -> None:
    if version is not None and old.version != version:
        raise Conflict(f"record {old.id!r} is at version {old.version}, not {version}", current=old.version)
    if digest is not None and old.digest != digest:
        raise Conflict(f"record {old.id!r} says something else now", current=old.version)


def _doomed(
    ids: str | Sequence[str] | None, where: Where | None, everything: bool, scope: str | Scope | None
) -> Where:
    check_filter(where)
    if everything:
        if scope is None or ids is not None or where is not None:
            raise Refused("everything=True deletes a whole scope: name the scope, and nothing else")
        return Where()
    if ids is not None and where is None:
        if not isinstance(ids, str | list | tuple | set | frozenset):
            raise BadInput(f"forget takes an id or a list of ids, not {type(ids).__name__}")
        return Where(ids=(ids,) if isinstance(ids, str) else tuple(ids))
    if where is None or ids is not None:
        raise Refused("say what to forget: ids, or where=…, or a scope with everything=True")
    if not where.narrows:
        raise Refused("the filter is empty and would match everything; use everything=True with a scope")
    return where


def _told(records: Iterator[Record], total: int, progress: Progress | None) -> Iterator[Record]:
    for done, record in enumerate(records, 1):
        yield record
        if progress is not None and (done % 500 == 0 or done == total):
            progress(done, total)
