"""Upkeep of an open memory: gives planners what they need, and words their episodes and facts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..core.errors import BadInput, NotFound
from ..core.record import Kind, Record, Trust
from ..core.scope import Scope
from ..core.settings import Upkeep
from ..core.where import Condition, Where
from ..graph.scope_graph import View
from ..models.embed import Vectors, embed_checked, gives_same_bytes
from ..models.llm import LLM, llm_of
from ..parts import Parts
from ..store import Head, verbs
from ..store.rules import UNIQUE_KINDS
from ..text.analysis import has_statements
from ..trust.privacy.quarantine import trust_in
from ..write.ingest import Ingest, embed_units
from ..write.write_path import load_records, put_records
from . import Ask, Change, Maintained, Write, works_of
from .archive import Archive, Archives, about, archive_of, may_hold
from .candidates import PAGE
from .consolidate import consolidate, due_for_episode, episode, episode_id, merge, talks_of
from .importance import reweigh
from .run import GiveWay, Pause, Run, never
from .summary import SUM_UP, ask_or_fall_back, gist, passage_of, summarise
from .tier_plan import Forms, Standing, is_kept, standings

_CHARS_A_TOKEN: Final = 8
_OWN: Final = (Trust.TRUSTED, Trust.USER)
_FOREIGN: Final = (Trust.TOOL, Trust.WEB, Trust.UNKNOWN)
_APPROVED: Final = (*_OWN, *_FOREIGN)
_WISHES: Final = {
    "summarise": SUM_UP,
    "consolidate": "State in one sentence the fact that these notes have in common, with names, dates and "
    "numbers. Only that sentence.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepTask:
    """The task of one upkeep run; see `memory.upkeep.maintain`."""

    scope: Scope | None = None
    only: str | Iterable[str] | None = None
    settings: Upkeep | None = None
    archive: Archive | str | Path | None = None
    llm: object = None

    def __post_init__(self) -> None:
        if self.settings is not None and not isinstance(self.settings, Upkeep):
            raise BadInput(f"settings of upkeep must be Upkeep(…), not {self.settings!r:.80}")


class Keeping:
    """Runs upkeep of an open memory, one run at a time."""

    def __init__(self, parts: Parts, guard: Callable[[Record], Record]) -> None:
        self._parts = parts
        self._guard = guard
        self.archives: Archives = Archives(parts.store, parts.settings.upkeep.archive)
        self._turn = threading.Lock()  # one upkeep at a time in this process
        self._compared: dict[str, Head] = {}  # by scope: the state last compared

    def maintain(
        self,
        task: UpkeepTask,
        *,
        now: float,
        dry_run: bool = False,
        told: int = 1_000_000,
        stops: Pause = never,
        give_way: GiveWay = lambda: None,
    ) -> Maintained:
        """Does a task or, with `dry_run`, reports what it would do; `told` limits the changes listed."""
        chosen = task.settings or self._parts.settings.upkeep
        archive = chosen.archive if task.archive is None else task.archive
        chosen = replace(chosen, archive=None if archive is None else str(archive))
        works = works_of(task.only)
        self._parts.binding.check_width()
        if not dry_run:
            self._parts.flush()
        with self._turn:
            model = None if task.llm is None else llm_of(task.llm)
            run = Run(
                parts=self._parts,
                settings=chosen,
                now=now,
                dry_run=dry_run,
                forms=self.forms(chosen),
                write=self._write,
                groups=partial(self._groups, settings=chosen, now=now, dry_run=dry_run),
                answer=partial(self._write_text, settings=chosen, llm=model),
                archive=self._open_archive(archive, dry_run=dry_run),
                epoch=0 if dry_run else self._parts.binding.epoch,
                told=told,
                stops=stops,
                give_way=give_way,
            )
            return run.maintain(task.scope, works)

    def _open_archive(self, archive: Archive | str | Path | None, *, dry_run: bool) -> Archive | None:
        """Opens the archive to use and records it in the store, because forgetting must search it."""
        source = archive_of(archive)
        if source is None:
            return None
        if not dry_run:
            self.archives.note(source)
        return self.archives.sealed(source)

    def _find_archive(self, archive: Archive | str | Path | None, verb: str) -> Archive:
        """Opens the archive that a caller names, or that of the settings."""
        source = archive_of(archive or self._parts.settings.upkeep.archive)
        if source is None:
            raise BadInput(f"name the archive: {verb}('folder'), or set upkeep.archive")
        return source

    def claim(self, archive: Archive | str | Path | None) -> int:
        """Makes the pieces of an archive this memory's own. Returns how many were not."""
        return self.archives.claim(self._find_archive(archive, "claim_archive"))

    def unarchive(
        self,
        archive: Archive | str | Path | None,
        sought: Mapping[str, Any],
        now: float,
        through: Callable[[Iterator[Record], float], Iterator[Record]],
    ) -> int:
        """Restores the records `sought` (see `may_hold`), each checked by `through`. Returns how many."""
        source, count = self.archives.sealed(self._find_archive(archive, "unarchive")), 0
        for name in source.names():
            manifest = source.manifest(name)
            if may_hold(manifest, **sought):
                chosen = (
                    record.but(uses=record.uses + 1, last_used=now)  # else it would be forgotten again
                    for record in source.read(name)
                    if may_hold(about([record]), **sought)
                )
                count += load_records(self._parts, through(chosen, now), manifest, now=now)
        return count

    def _write(
        self,
        records: Sequence[Record],
        *,
        now: float,
        unique: bool = False,
        expect: int | None = None,
        by: str | None = None,
    ) -> list[Record]:
        records = self._parts.key_ids.name_records(records)
        watch = self._parts.tombstones.over_returning(records)
        return put_records(self._parts, records, now=now, unique=unique, expect=expect, by=by, watch=watch)

    def forms(self, settings: Upkeep) -> Forms:
        embedder = self._parts.embedder
        return Forms(
            embed=partial(embed_units, embedder),
            gist=partial(_gist, embed=partial(embed_checked, embedder), tokens=settings.gist_tokens),
            embedder=embedder.name,
            width=embedder.width,
            repeats=gives_same_bytes(embedder),
        )

    def _merge(self, scope: str, now: float, dry_run: bool) -> Iterator[Change]:
        """Yields merges of facts that say the same, unless the store is unchanged since the last real run."""
        store, policies = self._parts.store, self._parts.settings.retention
        compared = store.head()
        if self._compared.get(scope) == compared:
            return
        for trust in (_OWN, _FOREIGN):  # untrusted content never merges with a user's
            ours = Where(scope=Scope(scope), kinds=UNIQUE_KINDS, trust=trust, alive_at=now)
            facts = partial(verbs.scan, store, ours, batch=PAGE)
            periods = partial(self._find_periods, view=View(now=now))
            for change in merge(facts, self._parts.embedder.width, periods):
                if not any(is_kept(policies, record, now) for record in change.absorbs):
                    yield change
        if not dry_run:
            self._compared[scope] = compared

    def _find_periods(self, record: Record, view: View) -> Hashable:
        """Returns the periods in which a record's statements held, by relation and start."""
        if not has_statements(record.terms):
            return ()
        held = self._parts.graphs.ask(record.scope, lambda graph: graph.find_intervals(record.seq, view))
        return tuple((one.relation, one.start) for one in held)

    def _groups(
        self, work: str, scope: str, *, settings: Upkeep, now: float, dry_run: bool
    ) -> Iterator[Change]:
        store, place, width = self._parts.store, Scope(scope), self._parts.embedder.width
        match work:
            case "merge":
                yield from self._merge(scope, now, dry_run)
            case "weigh":
                ours = Where(scope=place, alive_at=now)
                if verbs.count(store, ours & Where(conditions=(Condition("state.weighed", "=", True),))):
                    yield from reweigh(verbs.scan(store, ours, batch=PAGE), now, width)
            case "summarise":
                yield from self._episodes(place, settings, now)
            case "consolidate":
                episodes = store.find(
                    Where(scope=place, kinds=(Kind.EPISODE,), trust=_APPROVED, alive_at=now)
                )
                for ask in consolidate(episodes, settings, self._embed, now):
                    if self._parts.key_ids.read(scope, [ask.record.id])[0] is None:
                        yield ask

    def _episodes(self, place: Scope, settings: Upkeep, now: float) -> Iterator[Change]:
        messages = Where(scope=place, kinds=(Kind.MESSAGE,), trust=_APPROVED, alive_at=now)
        for session, talk in talks_of(verbs.scan(self._parts.store, messages, batch=PAGE)).items():
            episode = self._parts.key_ids.read(place.path, [episode_id(session)])[0]
            if because := due_for_episode(talk, episode, now, settings):
                yield self._episode(place.path, session, because, now)

    def _episode(self, scope: str, session: str, because: str, now: float) -> Ask:
        where = Where(
            scope=Scope(scope), kinds=(Kind.MESSAGE,), session=session, trust=_APPROVED, alive_at=now
        )
        # a scan is complete or fails, so that no half of a session is summarised as all of it
        messages = sorted(
            verbs.scan(self._parts.store, where, batch=PAGE), key=lambda message: message.occurred
        )
        if not messages:
            raise NotFound(f"there are no messages of a session {session!r} in scope {scope}")
        return episode([message.whole for message in messages], session, because, now)

    def _write_text(self, ask: Ask, *, settings: Upkeep, llm: LLM | None) -> Write:
        """Writes the text of a record with the LLM or, without a usable answer, by rules."""
        tokens, passages = settings.episode_tokens, list(map(passage_of, ask.sources))
        silence = ask.sources[0].text or ask.record.session or "nothing was said"
        outcome = ask_or_fall_back(
            llm,
            _WISHES[ask.what].format(tokens),
            passages,
            tokens,
            lambda: ask.rules or summarise(passages, self._embed, tokens) or silence,
            purpose=ask.what,
        )
        data = {**(ask.record.data or {}), "by": outcome.by}
        worded = ask.record.but(
            text=outcome.value,
            data=data if ask.what == "summarise" else None,
            trust=max(map(trust_in, ask.sources), key=list(Trust).index, default=ask.record.trust),
        )
        kept = self._guard(worded.but(state=worded.state.but(worded_by=outcome.by)))
        ready = Ingest.of(self._parts).derive([kept])[0]
        return Write(what=ask.what, record=ready, because=ask.because)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        return embed_checked(self._parts.embedder, texts)

    def retention(self, scope: Scope | None, now: float) -> list[Standing]:
        records = verbs.scan(self._parts.store, Where(scope=scope), batch=PAGE)
        return standings(records, now, self._parts.settings.retention)

    def end_session(self, session: str, scope: str, llm: object, now: float) -> Record:
        settings = self._parts.settings.upkeep
        ask = self._episode(scope, session, "the session was ended", now)
        put = self._write_text(ask, settings=settings, llm=None if llm is None else llm_of(llm))
        return self._write([put.record], now=now)[0]


def _gist(text: str, embed: Callable[[Sequence[str]], Vectors], tokens: int) -> str:
    """Returns the gist, or a short text itself, whose gist would save less than its original costs."""
    return text if len(text) <= _CHARS_A_TOKEN * tokens else gist(text, embed, tokens)
