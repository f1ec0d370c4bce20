"""The verbs. Each body is the list of its stages; the stages live in `ingest`, `recall` and `store`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack, overload

from .clean import Moment, clean_text
from .config import Settings
from .engine import Engine
from .errors import BadInput, Conflict, NotFound, Refused
from .ingest import Given, drafts_of
from .ingest.revise import revised
from .model import Details, Event, Hits, Record, Scope
from .recall import BALANCED, Query, Recipe
from .recall.pack import Context, pack
from .store import Store
from .store.portable import read_export, verify_export, write_export
from .text.tokens import TokenCounter, counter_of
from .where import Box, Near, Where

Progress = Callable[[int, int], None]  # done, of how many


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
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = Engine.start(place, embedder, language, durability, settings or Settings())
        self._clock = clock

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
        derived_from, id, key, keep_duplicates; for many they are said of each.

        A record with an `id` (or a `key`, any text of yours) that exists becomes its next version.
        A fact or document that its scope has word for word is not stored again but counted as
        used, unless `keep_duplicates`; messages are never merged.
        """
        now = self._clock()
        scope = one(details.pop("scope", "default"))
        keep = details.pop("keep_duplicates", self._engine.settings.keep_duplicates)
        said = {name: value for name, value in details.items() if value is not None}
        drafts, single = drafts_of(what, said)
        records = self._engine.ingest.records(drafts, scope=scope, now=now)
        stored = self._engine.put(records, now=now, unique=not keep)
        return stored[0] if single else stored

    def recall(
        self,
        query: str = "",
        *,
        scope: str | Scope = "default",
        limit: int = 10,
        where: Where | None = None,
        kinds: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        near: Near | None = None,
        box: Box | None = None,
        vector: Any = None,
        recipe: Recipe = BALANCED,
        order: str = "-occurred",
        explain: bool = False,
    ) -> Hits:
        """What matters for a query, best first, each hit with its reasons; `explain` adds the trace.

        Without a query (or a vector) the filter alone decides, and `order` gives the order.
        """
        now = self._clock()
        asked = Query(
            text=checked_query(query),
            scope=Scope.of(scope),
            now=now,
            limit=checked_limit(limit),
            where=narrowed(
                where,
                kinds=kinds,
                session=session,
                agent=agent,
                who=who,
                since=since,
                until=until,
                near=near,
                box=box,
            ),
            vector=vector,
            recipe=recipe,
            order=order,
            explain=explain,
        )
        hits = self._engine.recall.answer(asked)
        self._engine.used((hit.record for hit in hits), now)
        return hits

    def context(
        self,
        query: str,
        *,
        budget: int = 1000,
        counter: TokenCounter | Callable[[str], int] | None = None,
        limit: int = 50,
        scope: str | Scope = "default",
        where: Where | None = None,
        recipe: Recipe = BALANCED,
    ) -> Context:
        """A prompt-ready block of what matters for a query, never over `budget` tokens."""
        if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
            raise BadInput(f"a budget is a whole number of tokens, at least one token, not {budget!r}")
        hits = self.recall(query, scope=scope, limit=limit, where=where, recipe=recipe)
        return pack(tuple(hits), budget, counter_of(counter))

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
        found = [_alive(record, now) for record in self._engine.store.get(one(scope), wanted)]
        return found[0] if isinstance(ids, str) else found

    def find(
        self,
        where: Where | None = None,
        *,
        scope: str | Scope = "default",
        kinds: str | Sequence[str] | None = None,
        session: str | None = None,
        agent: str | None = None,
        who: str | None = None,
        since: Moment | None = None,
        until: Moment | None = None,
        order: str = "-occurred",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Record]:
        """Records that match exactly, ordered by a field; a leading '-' means descending."""
        chosen = narrowed(where, kinds=kinds, session=session, agent=agent, who=who, since=since, until=until)
        return self._engine.recall.listed(
            chosen,
            Scope.of(scope),
            now=self._clock(),
            order=order,
            limit=checked_limit(limit),
            offset=checked_offset(offset),
        )

    def revise(
        self,
        id: str,
        *,
        scope: str | Scope = "default",
        version: int | None = None,
        digest: str | None = None,
        by: str | None = None,
        clear: Sequence[str] = (),
        **changes: Any,
    ) -> Record:
        """The next version of a record: the fields of `Draft` given replace those it has.

        With `version` or `digest` (its content hash) the record must still be that one, else
        Conflict. `clear` names fields to reset. Without either, a change that somebody else made
        meanwhile is kept where it touched other fields.
        """
        for _ in range(100):
            now = self._clock()
            old = self.get(id, scope=scope)
            if old is None:
                raise NotFound(f"there is no record {id!r} in scope {one(scope)}")
            _check_unchanged(old, version, digest)
            new = revised(old, changes, clear, self._engine.ingest, now)
            try:
                return self._engine.put([new], now=now, unique=False, expect=old.version, by=actor(by))[0]
            except Conflict:
                if version is not None or digest is not None:
                    raise
        raise Conflict(f"record {id!r} is changed by others all the time; the change was given up")

    def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        where: Where | None = None,
        everything: bool = False,
        scope: str | Scope | None = None,
        by: str | None = None,
    ) -> int:
        """Deletes records by id or filter, content and history of content; how many there were.

        A whole scope is deleted only when it is named and `everything=True` says so.
        """
        place = Scope.of("default" if scope is None else scope)
        chosen, who = _doomed(ids, where, everything, scope).within(place), actor(by)
        self._engine.flush()
        return len(self._engine.store.drop(chosen, now=self._clock(), by=who))

    def history(self, id: str, *, scope: str | Scope = "default") -> list[Event]:
        """What happened to a record, oldest first: created, revised, forgotten, when and by whom."""
        return self._engine.store.history(one(scope), clean_text(id, "an id"))

    def scopes(self, under: str | None = None) -> dict[str, int]:
        """The scopes that hold records, with how many."""
        return self._engine.store.scopes(None if under is None else Scope.under(under))

    def count(self, where: Where | None = None, *, scope: str | Scope = "default") -> int:
        """How many records match, expired ones that still wait for their removal included."""
        check_filter(where)
        return self._engine.store.count((where or Where()).within(Scope.of(scope)))

    def stats(self, scope: str | Scope | None = None) -> dict[str, Any]:
        """Counts by kind and tier (of a scope, or of all), sizes, and what made the vectors."""
        return self._engine.stats(None if scope is None else Scope.of(scope))

    def export(
        self,
        path: str | Path,
        *,
        scope: str | Scope | None = "default",
        progress: Progress | None = None,
    ) -> int:
        """Writes a scope (None: every scope) to a JSONL file, losslessly; how many records."""
        where = Where() if scope is None else Where(scope=Scope.of(scope))
        self._engine.flush()
        total = self._engine.store.count(where) if progress else 0
        records = _told(self._engine.store.scan(where), total, progress)
        return write_export(Path(path), records, self._engine.manifest(self._clock()))

    def load(self, path: str | Path, *, progress: Progress | None = None) -> int:
        """Reads an export into the scopes its records name; a damaged file changes nothing.

        Records whose id exists become its next version unless they say the same, so loading again
        after an interruption does no harm.
        """
        manifest = verify_export(Path(path))
        records = _told(read_export(Path(path)), manifest["count"], progress)
        return self._engine.load(records, manifest, now=self._clock())

    def flush(self) -> None:
        """Writes down the use counts that recalls have gathered."""
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

    def close(self) -> None:
        """Writes down what is pending and releases everything; closing twice is fine."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def one(scope: str | Scope) -> str:
    """The path of a single scope; a prefix is not a place to write to or to get from."""
    chosen = Scope.of(scope)
    if chosen.below:
        raise BadInput(f"this needs one scope, not {chosen}; name it as a string")
    return chosen.path


def actor(by: str | None) -> str | None:
    return None if by is None else clean_text(by, "by")


def check_filter(where: object) -> None:
    if where is not None and not isinstance(where, Where):
        raise BadInput(f"a filter is a Where(…), not {type(where).__name__}")


def narrowed(where: Where | None, **parts: Any) -> Where | None:
    """One filter from a filter and the parts given beside it; None when nothing is asked."""
    check_filter(where)
    given = {name: value for name, value in parts.items() if value is not None}
    if not given:
        return where
    return Where(**given) if where is None else Where(**given, every=(where,))


def checked_query(query: str) -> str:
    if not isinstance(query, str):
        raise BadInput(f"a query is a string, not {type(query).__name__}")
    return query.encode(errors="replace").decode() if not query.isascii() else query


def checked_limit(limit: int) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= 1_000_000:
        raise BadInput(f"limit is a whole number from 1 to 1,000,000, not {limit!r}")
    return limit


def checked_offset(offset: int) -> int:
    if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
        raise BadInput(f"offset is a whole number from 0 up, not {offset!r}")
    return offset


def _alive(record: Record | None, now: float) -> Record | None:
    expired = record is not None and record.expires is not None and record.expires <= now
    return None if expired else record


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
