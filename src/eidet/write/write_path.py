"""The write path of an open memory, stage by stage."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from ..core.actor import acts
from ..core.arguments import check_flag, check_texts, check_version, one
from ..core.draft import Details, Draft
from ..core.errors import BadInput, Refused
from ..core.hit import Rejected, RememberedList
from ..core.procedure import tell_data
from ..core.record import Record
from ..core.state import Protection
from ..core.where import Where
from ..graph.scope_graph import ScopeGraph, View
from ..parts import Parts
from ..store import TOMBSTONES, TombstoneGuard, verbs
from ..store.rules import Entombed, Held, StaleEpoch, check_entombed, list_marks
from ..store.verbs.writing import Put, run_put
from ..text.analysis import has_statements
from .ingest import Ingest, batches, check_arrival, fits_embedder
from .shape import Given, drafts_of, give_state, shape_record

if TYPE_CHECKING:
    from ..trust.privacy.service import Guarding
    from ..upkeep.lifecycle import Life


class WritePath:
    """Remembers and revises records of an open memory."""

    def __init__(self, parts: Parts, guarding: Guarding, life: Life) -> None:
        self._parts = parts
        self._guarding = guarding
        self._life = life

    def remember(self, what: Given | Sequence[Given] | None, details: Details) -> Record | RememberedList:
        """Stores one item or a list. Returns one record or a list accordingly.

        Raises `Entombed` for a single item that was forgotten for good; leaves such items out of a list.
        """
        now, settings = self._parts.clock(), self._parts.settings
        scope = one(details.pop("scope", "default"))
        keep = check_flag(details.pop("keep_duplicates", settings.keep_duplicates), "keep_duplicates")
        again = check_flag(details.pop("again", False), "again")
        expect = check_version(details.pop("version", None))
        reads_speakers = check_flag(details.pop("read_speakers", False), "read_speakers")
        given: dict[str, Any] = {name: value for name, value in details.items() if value is not None}
        drafts, single = drafts_of(what, given)
        if reads_speakers if settings.read_speakers is None else settings.read_speakers:
            drafts = self._name_speakers(drafts, scope)
        drafts = _sign(drafts)
        drafts, labels = self._guarding.drafts(drafts)
        records = Ingest.of(self._parts).records(drafts, scope=scope, now=now)
        if settings.weigh:
            records = _weigh_records(drafts, records)
        there: Sequence[Record | None] = ()
        if chosen := [at for at, draft in enumerate(drafts) if draft.id is not None or draft.key is not None]:
            records = self._parts.key_ids.name_records(records)
            there = self._parts.store.read(scope, [records[at].id for at in chosen])
            for old in filter(None, there):
                self._life.check_changeable(old)
            records = _keep_pins(drafts, records, there)
        records = self._guarding.check_records(records, now, labels, there)
        if single:
            watch = self._parts.tombstones.over_said(records, again=again)
            stored = put_records(self._parts, records, now=now, unique=not keep, expect=expect, watch=watch)
            self._put_news(records, stored, now=now, again=again)
            self._count_insertions(1)
            return stored[0]
        remembered = _put_said(self._parts, records, now=now, unique=not keep, again=again, expect=expect)
        left_out = {one.index for one in remembered.rejected}
        said_and_kept = [one for at, one in enumerate(records) if at not in left_out]
        self._put_news(said_and_kept, remembered, now=now, again=again)
        self._count_insertions(len(remembered))
        return remembered

    def _name_speakers(self, drafts: list[Draft], scope: str) -> list[Draft]:
        from ..text.speakers import name_speakers

        count = partial(verbs.count, self._parts.store)
        return name_speakers(drafts, lambda who: count(Where(scope=scope, who=who)) > 0)

    def _count_insertions(self, count: int) -> None:
        if self._parts.settings.upkeep.every_insertions is not None:
            self._life.count_insertions(count)

    def _put_news(self, said: Sequence[Record], stored: list[Record], *, now: float, again: bool) -> None:
        """Stores statements that were taken for repetitions of records that no longer held.

        Leaves out those whose content was forgotten for good meanwhile.
        """
        repeats = [at for at, one in enumerate(said) if one.id != stored[at].id]
        while news := {
            stored[at].id: at
            for at in reversed(repeats)  # the first that repeats each record wins
            if is_news(self._parts, said[at], stored[at], now)
        }:
            first = sorted(news.values())
            put = _put_said(self._parts, [said[at] for at in first], now=now, unique=False, again=again)
            new = {record.id: record for record in put}
            for at in first:
                stored[at] = new.get(said[at].id, stored[at])
            repeats = sorted(set(repeats) - set(first))  # this write may have ended what the rest repeats

    def revise(
        self, old: Record, changes: Mapping[str, Any], clear: Sequence[str], *, again: bool, by: str | None
    ) -> Record:
        """Stores the next version of a record; raises `Conflict` if another writer changed it meanwhile."""
        self._life.check_changeable(old)
        now = self._parts.clock()
        whole = self._life.detail(old)
        kept, labels = self._guarding.changes(changes)
        new = _revise_record(whole, kept, clear, Ingest.of(self._parts), now)
        if new.agent != whole.agent:
            _check_signature(new.agent)
        new = self._guarding.check_revision(new, whole, now, labels)
        is_new = new.digest != whole.digest
        watch = self._parts.tombstones.over_said([new], again=again) if is_new else None
        return put_records(self._parts, [new], now=now, expect=old.version, by=by, watch=watch)[0]


def _keep_pins(
    drafts: Sequence[Draft], records: Sequence[Record], there: Sequence[Record | None]
) -> list[Record]:
    """Keeps the pin on next versions of pinned records, unless their drafts say otherwise."""
    pins = {old.id: old.state.pinned for old in filter(None, there) if old.state.pinned is not None}
    return [
        give_state(new, new.state.but(pinned=replace(pins[new.id], expires=None)), new.expires)
        if draft.pinned is None and new.id in pins
        else new
        for draft, new in zip(drafts, records, strict=True)
    ]


def _sign(drafts: list[Draft]) -> list[Draft]:
    """Sets the acting agent on drafts without one; raises `Refused` for another one if the actor is bound."""
    agent = acts().agent
    if agent is None:
        return drafts
    for draft in drafts:
        if draft.agent is not None:
            _check_signature(draft.agent)
    return [draft if draft.agent is not None else replace(draft, agent=agent) for draft in drafts]


def _check_signature(agent: str | None) -> None:
    actor = acts()
    if actor.bound and agent != actor.agent:
        raise Refused(
            f"{actor.agent} cannot write in the name of another agent: leave `agent` out, "
            "or give the key the right 'agents'"
        )


def _weigh_records(drafts: Sequence[Draft], records: list[Record]) -> list[Record]:
    """Estimates the importance of records for which the caller gave none."""
    from ..upkeep.importance import weigh_record

    pairs = zip(drafts, records, strict=True)
    return [weigh_record(record) if draft.importance is None else record for draft, record in pairs]


def is_news(parts: Parts, said: Record, kept: Record, now: float) -> bool:
    """Returns whether a supposed repetition states something that had ceased to hold."""
    if not said.occurred > kept.occurred or not has_statements(kept.terms):
        return False
    question = partial(_has_ended, seq=kept.seq, at=said.occurred, view=View(now=now))
    return parts.settings.facts and parts.graphs.ask(kept.scope, question)


def _has_ended(graph: ScopeGraph, seq: int, at: float, view: View) -> bool:
    """Returns whether a record states facts and none of them holds at a time, whoever stated them."""
    intervals = graph.find_intervals(seq, view)
    for interval in intervals:
        said = graph.trace(interval.subject, interval.relation, view)
        if any(other.holds_at(at) for other in said.find((interval.object, interval.negated))):
            return False
    return bool(intervals)


_CHANGEABLE: Final = frozenset(field.name for field in fields(Draft)) - {"id", "key"}
_OF_STATE: Final = ("ttl", "pinned")  # parts of a record's state that a caller may set
_OF_RECORD: Final = _CHANGEABLE - {"vector", *_OF_STATE}
_ANALYSED: Final = ("who", "occurred", "kind")  # fields that the analysis depends on, beside the text


def _revise_record(
    old: Record, changes: Mapping[str, Any], clear: Sequence[str], ingest: Ingest, now: float
) -> Record:
    """Applies checked changes to a record and recomputes its vector and terms where needed."""
    if unknown := (changes.keys() | set(check_texts(clear, "clear"))) - _CHANGEABLE:
        raise BadInput(f"cannot revise {sorted(unknown)}; there are {', '.join(sorted(_CHANGEABLE))}")
    cleared = {name: old.created if name == "occurred" else getattr(Draft(), name) for name in clear}
    given = {**cleared, **changes}
    draft = replace(_draft_of(old, given), **given)
    if "data" in changes and "text" not in changes and old.kind != "message":
        was_told = old.data is not None and old.text == tell_data(old.data, old.kind)
        draft = replace(draft, text=None if was_told else draft.text)
    new = shape_record(draft, scope=old.scope, now=now, text_chars=ingest.text_chars)
    new = _with_state(new, old, given, now).but(vector=old.vector, terms=old.terms, level=old.level)
    if draft.vector is not None or new.text != old.text:
        return ingest.derive([new], [draft.vector])[0]
    if any(getattr(new, name) != getattr(old, name) for name in _ANALYSED):
        return new.but(terms=ingest.analyse([new], [old.vector])[0])
    return new


def _draft_of(record: Record, said: Mapping[str, Any]) -> Draft:
    """Turns a record back into a draft. A new time to live starts now."""
    kept = {name: getattr(record, name) for name in _OF_RECORD}
    if said.get("ttl") is not None:
        kept["expires"] = None
    return Draft(id=record.id, **kept)


def _with_state(new: Record, old: Record, said: Mapping[str, Any], now: float) -> Record:
    """Carries the old record's internal state over, except what the caller sets; a pin delays the expiry."""
    state, expires = old.state, new.expires
    if "ttl" in said:
        state = state.but(ttl=new.state.ttl)
    if new.state.pinned is not None and expires is None:
        expires = new.state.pinned.expires
    if said.get("pinned") and state.pinned is None:
        state = state.but(pinned=Protection(at=now, by=acts().by))
    elif "pinned" in said and not said["pinned"] and state.pinned is not None:
        expires = state.pinned.expires if expires is None else expires
        state = state.but(pinned=None)
    return give_state(new, state, expires)


log: logging.Logger = logging.getLogger("eidet")


def put_records(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool = False,
    expect: int | None = None,
    by: str | None = None,
    watch: TombstoneGuard | None = None,
    releases: bool = False,
) -> list[Record]:
    """Writes records embedded by this memory, together with pending use counts."""
    if not records:
        return []
    store = parts.store
    job = Put(
        records=records,
        now=now,
        unique=unique,
        expect=expect,
        epoch=parts.binding.claim_epoch(),
        by=by or acts().by,
        watch=watch,
        releases=releases,
    )
    try:
        stored = run_put(store, job)
    except StaleEpoch:
        stored = run_put(store, job._replace(epoch=parts.binding.renew()))
    parts.usage.flush_if_due()
    parts.note_written(stored)
    return stored


def _put_said(
    parts: Parts,
    records: Sequence[Record],
    *,
    now: float,
    unique: bool,
    again: bool,
    expect: int | None = None,
) -> RememberedList:
    """Writes a caller's list of records, except those whose content was forgotten for good."""
    rest, stored = list(enumerate(records)), list[Record]()
    rejected: list[Rejected] = []
    while rest and not stored:
        allowed = [record for _, record in rest]
        try:
            watch = parts.tombstones.over_said(allowed, again=again)
            stored = put_records(parts, allowed, now=now, unique=unique, expect=expect, watch=watch)
        except Entombed as error:
            rejected += [Rejected(rest[at][0], since) for at, since in error.found.items()]
            rest = [one for at, one in enumerate(rest) if at not in error.found]
    if rejected:
        places = ", ".join(str(one.index) for one in rejected[:10])
        log.warning(
            "left out what was forgotten for good before, at %s of the list (counted from 0, %d in all); "
            "remember(…, again=True) stores it again",
            places,
            len(rejected),
        )
    return RememberedList(stored, sorted(rejected, key=attrgetter("index")))


def put_returning(parts: Parts, records: Sequence[Record], *, now: float) -> list[Record]:
    """Writes records that come back from a file or an archive. Leaves out those forgotten for good.

    Never overwrites a record under a legal hold. Logs how many were left out.
    """
    rest, held = list(records), 0
    stored: list[Record] = []
    while rest and not stored:
        try:
            watch = parts.tombstones.over_returning(rest)
            stored = put_records(parts, rest, now=now, watch=watch)
        except Entombed as error:
            rest = [record for at, record in enumerate(rest) if at not in error.found]
        except Held as error:
            free = [record for record in rest if (record.scope, record.id) not in error.records]
            held += len(rest) - len(free)
            rest = free
    _tell_left_out(len(records) - len(rest) - held, held)
    return stored


def is_entombed(parts: Parts, record: Record) -> bool:
    """Returns whether a tombstone forbids a record that comes back from a file or an archive."""
    store = parts.store
    if verbs.get_setting(store, "secret:marks") is None:
        return False
    watch = parts.tombstones.over_returning([record])
    claims = watch.claims()
    since = store.values(TOMBSTONES, list_marks([record], claims, watch))
    sources = store.read(record.scope, record.derived_from) if since else []
    there = {(record.scope, source.id) for source in sources if source is not None}
    try:
        check_entombed([record], claims, watch, since, there)
    except Entombed:
        return True
    return False


def _tell_left_out(forgotten: int, held: int) -> None:
    if forgotten:
        log.info("%d records were forgotten for good and are left out", forgotten)
    if held:
        log.warning("%d records are under a legal hold; left them as they are", held)


def load_records(
    parts: Parts, records: Iterator[Record], manifest: Mapping[str, Any], *, now: float, checked: bool = False
) -> int:
    """Writes an export's records; recomputes foreign vectors and terms. Returns how many.

    Checks each record first, unless all were `checked` before. Leaves out the records of scopes that this
    store forgot as a whole after it wrote the export.
    """
    is_over = _find_ended(parts, manifest)
    embedded = fits_embedder(manifest, parts.embedder)
    analysed = manifest.get("analyzer") == parts.analyzer.name
    count = 0
    for full in batches(records, 1000):
        batch = [record for record in full if not is_over(record.scope)]
        _tell_left_out(len(full) - len(batch), 0)
        for record in () if checked else batch:
            check_arrival(record, parts.embedder if embedded else None, analysed=analysed)
        ready = batch if embedded and analysed else Ingest.of(parts).refit(batch, embedded)
        count += len(put_returning(parts, ready, now=now))
    return count


def _find_ended(parts: Parts, manifest: Mapping[str, Any]) -> Callable[[str], bool]:
    """Returns a test whether this store forgot a scope after the export; never true for other stores."""
    ends = manifest.get("ends")
    if manifest.get("store") != parts.store.identity or not isinstance(ends, int):
        return lambda _: False
    return cache(verbs.ended_since(parts.store, ends))
