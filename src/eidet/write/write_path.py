"""The write path of an open memory, stage by stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.actor import acts
from ..core.arguments import check_flag, check_version, one
from ..core.draft import Details, Draft
from ..core.errors import Refused
from ..core.record import Record
from ..core.remembered import RememberedList
from ..parts import Parts
from .echoes import EchoGuard
from .ingest import Ingest
from .put import put_records, put_said
from .renewed_facts import is_news
from .revise import revise_record
from .shape import Given, drafts_of

if TYPE_CHECKING:
    from ..trust.privacy.service import Guarding
    from ..upkeep.lifecycle import Life


class WritePath:
    """What a record passes on its way into the store, stage by stage."""

    def __init__(self, parts: Parts, guarding: Guarding, echoes: EchoGuard, life: Life) -> None:
        self._parts = parts
        self._guarding = guarding
        self._echoes = echoes
        self._life = life

    def remember(self, what: Given | Sequence[Given] | None, details: Details) -> Record | RememberedList:
        """Stores one thing or a list of things; answers in kind.

        One thing that was forgotten for good is `Entombed`; a list is stored without such things.
        """
        now = self._parts.clock()
        scope = one(details.pop("scope", "default"))
        keep = check_flag(
            details.pop("keep_duplicates", self._parts.settings.keep_duplicates), "keep_duplicates"
        )
        again = check_flag(details.pop("again", False), "again")
        expect = check_version(details.pop("version", None))
        given: dict[str, Any] = {}
        for name, value in details.items():
            if value is not None:
                given[name] = value
        drafts, single = drafts_of(what, given)
        drafts = _sign(drafts)
        drafts, values = self._guarding.drafts(drafts)
        records = Ingest.of(self._parts).records(drafts, scope=scope, now=now)
        records = self._parts.key_ids.name_records(records)
        if self._parts.settings.weigh:
            records = _weigh_records(drafts, records)
        records = self._echoes.mark(records, now)
        there: Sequence[Record | None] = ()
        if chosen := _list_chosen_ids(drafts, records):
            there = self._life.check_not_held(scope, chosen)
            records = self._life.still_pinned(drafts, records, there)
        records = self._guarding.check_records(records, now, values, there)
        if single:
            watch = self._parts.tombstones.over_said(records, again=again)
            stored = put_records(self._parts, records, now=now, unique=not keep, expect=expect, watch=watch)
            self._put_news(records, stored, now=now, again=again)
            self._life.count_insertions(1)
            return stored[0]
        remembered = put_said(self._parts, records, now=now, unique=not keep, again=again, expect=expect)
        left_out = {one.index for one in remembered.rejected}
        said_and_kept = [one for at, one in enumerate(records) if at not in left_out]
        self._put_news(said_and_kept, remembered, now=now, again=again)
        self._life.count_insertions(len(remembered))
        return remembered

    def _put_news(self, said: Sequence[Record], stored: list[Record], *, now: float, again: bool) -> None:
        """Stores what was taken for a repetition although what it repeats no longer held.

        What somebody forgot for good meanwhile stays forgotten.
        """
        repeats = [at for at, one in enumerate(said) if one.id != stored[at].id]
        while news := {
            stored[at].id: at
            for at in reversed(repeats)  # of those that repeat one record, the first
            if is_news(self._parts, said[at], stored[at], now)
        }:
            first = sorted(news.values())
            put = put_said(self._parts, [said[at] for at in first], now=now, unique=False, again=again)
            new = {record.id: record for record in put}
            for at in first:
                stored[at] = new.get(said[at].id, stored[at])
            repeats = sorted(set(repeats) - set(first))  # what is left may have ended by this

    def revise(
        self, old: Record, changes: Mapping[str, Any], clear: Sequence[str], *, again: bool, by: str | None
    ) -> Record:
        """Stores the next version of a record; `Conflict` if somebody else has changed it meanwhile."""
        now = self._parts.clock()
        whole = self._life.detail(old)
        kept, values = self._guarding.changes(changes)
        new = revise_record(whole, kept, clear, Ingest.of(self._parts), now)
        if new.agent != whole.agent:
            _check_signature(new.agent)
        new = self._guarding.check_revision(new, whole, now, values)
        watch = None
        if new.digest != whole.digest:
            watch = self._parts.tombstones.over_said([new], again=again)
        return put_records(self._parts, [new], now=now, expect=old.version, by=by, watch=watch)[0]


def _sign(drafts: list[Draft]) -> list[Draft]:
    """Gives drafts without an agent the one that acts; `Refused` for another where that is forbidden."""
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
    """Gives an importance to records that the caller gave none."""
    from ..upkeep.importance import weigh_record

    pairs = zip(drafts, records, strict=True)
    return [weigh_record(record) if draft.importance is None else record for draft, record in pairs]


def _list_chosen_ids(drafts: Sequence[Draft], records: Sequence[Record]) -> list[str]:
    """The ids that callers chose: such records may exist already."""
    chosen: list[str] = []
    for draft, record in zip(drafts, records, strict=True):
        if draft.id is not None or draft.key is not None:
            chosen.append(record.id)
    return chosen
