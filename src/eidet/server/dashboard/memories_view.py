"""Memories: a page of records, one record with all that belongs to it, and what can be done to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic import BaseModel, Field

from ...core.dict_filters import where_of
from ...core.errors import BadInput, NotFound
from ...core.record import Event, Record
from ...core.scope import Scope
from ...core.validate import Json
from ...core.where import Condition, Where
from ...memory import Memory
from ...store import verbs
from ...upkeep.curve import DAY, strength
from ...upkeep.tier_plan import curve_of
from ..rest.replies import etag_of
from .record_json import PAGE_CHARS, record_as_json, records_as_json
from .why_view import FilterForm

_CURVE_POINTS: Final = 64
LINKS: Final = 50  # records of each sort of link that are told
WAITING: Final = 100  # records to review that are told
LEGAL_ACTS: Final = ("hold", "release")  # these need the right admin, as they do over REST
ORDERS: Final = ("occurred", "created", "importance", "step", "uses", "seq")


class TableForm(FilterForm):
    """One page of a table: a search, filters, an order."""

    query: str = Field(default="", max_length=20_000)
    source: str | None = None
    importance_min: float | None = None
    importance_max: float | None = None
    uses_min: int | None = None
    marked: str | None = None  # pinned, held, labelled, expiring or lowered
    order: str = "-occurred"
    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0)

    def filter(self) -> Where | None:
        """A filter for the fields that verbs have no option for; None if none is filled in."""
        conditions = []
        if self.uses_min is not None:
            conditions.append(Condition("record.uses", ">=", self.uses_min))
        if self.marked:
            conditions.append(_find_mark(self.marked))
        chosen = Where(
            every=[given for given in [where_of(self.where)] if given is not None],
            source=self.source or None,
            importance_min=self.importance_min,
            importance_max=self.importance_max,
            conditions=conditions,
        )
        return chosen if chosen.narrows else None


_MARKS: Final = {
    "pinned": Condition("state.pinned", "exists"),
    "held": Condition("state.hold", "exists"),
    "labelled": Condition("state.poison", "exists"),
    "merged": Condition("state.merged", "exists"),
    "lowered": Condition("record.level", ">", 0),
}


def _find_mark(mark: str) -> Condition:
    if mark not in _MARKS:
        raise BadInput(f"there is no mark {mark!r}; there are {', '.join(_MARKS)}")
    return _MARKS[mark]


class ActForm(BaseModel):
    """An act on a record: pin, hold, quarantine …"""

    id: str
    act: str


def list_page(memory: Memory, scope: Scope, form: TableForm) -> dict[str, Any]:
    """Returns one page of records and the number of matches; a search is ranked and ends with its hits."""
    options = form.options()
    where = form.filter()
    if form.query.strip():
        most = min(form.limit + form.offset, 200)
        explained = memory.admin.explain(
            form.query, scope=scope, limit=most, where=where, budget=1, **options
        )
        shown = list(explained.hits)[form.offset :]
        rows = [record_as_json(hit.record) | {"score": hit.score, "why": hit.why()} for hit in shown]
        return {"records": rows, "total": len(explained.hits), "ranked": True}
    found = memory.find(where, scope=scope, limit=form.limit, order=form.order, offset=form.offset, **options)
    total = memory.count(where, scope=scope, **options)
    return {"records": records_as_json(found), "total": total, "ranked": False}


def require(memory: Memory, id: str, scope: str) -> Record:
    record = memory.get(id, scope=scope)
    if record is None:
        raise NotFound(f"there is no record {id!r} in scope {scope}")
    return record


def describe(memory: Memory, id: str, scope: str, *, whole: bool) -> dict[str, Any]:
    """A record with its history, its strength over time, and what it is linked with."""
    record = require(memory, id, scope)
    chars = len(record.text) if whole else PAGE_CHARS
    return record_as_json(record, chars) | {
        "etag": etag_of(record),
        "digest": record.digest,
        "data": record.data,
        "meta": dict(record.meta),
        "state": record.state.to_json(),
        "derived_from": list(record.derived_from),
        "history": [_event_as_json(event) for event in memory.history(id, scope=scope)],
        "strength": _strength(memory, record),
        "links": _links(memory, record),
        "whole": None if record.original is None else record.whole.text[:PAGE_CHARS],
    }


def _strength(memory: Memory, record: Record) -> dict[str, Any]:
    """Computes its present strength, and the curve it follows while unused."""
    now, settings = memory.parts.clock(), memory.parts.settings.upkeep
    curve = curve_of(settings)
    last = max(record.created, record.last_used or 0.0)
    end = max(now + 90 * DAY, last + 2 * (now - last))
    points = []
    for step in range(_CURVE_POINTS):
        at = last + (end - last) * step / (_CURVE_POINTS - 1)
        left = strength(record.uses, record.created, record.last_used, record.importance, at, curve)
        points.append((at, round(left, 4)))
    left = strength(record.uses, record.created, record.last_used, record.importance, now, curve)
    return {"now": now, "value": left, "points": points, "forget_below": settings.forget_below}


def _links(memory: Memory, record: Record) -> dict[str, list[dict[str, Any]]]:
    store, at = memory.parts.store, record.scope
    sources = store.read(at, list(record.derived_from[:LINKS]))
    derived = verbs.find_derived(store, Scope.exactly(at))
    made = [other for other in derived if record.id in other.derived_from]
    return {
        "made_of": records_as_json(sources, 160),
        "made_from_it": records_as_json(made[:LINKS], 160),
        "beside": records_as_json(_neighbours(memory, record), 160),
    }


def _neighbours(memory: Memory, record: Record) -> list[Record | None]:
    """Finds the records before and after it in its session, in order."""
    if record.session is None:
        return []
    near = memory.parts.index.around(record.scope, [record.seq], 2, None, now=memory.parts.clock())
    if record.seq not in near:
        return []
    beside = sorted(near[record.seq].beside, key=lambda pair: pair[1])
    return memory.parts.store.read(record.scope, [seq for seq, _ in beside])


def list_waiting(memory: Memory, scope: Scope) -> dict[str, Any]:
    """Lists what waits for review, newest first, with reasons; `more` says whether others wait."""
    found = memory.trust.review(scope=scope, limit=WAITING + 1)
    return {"records": [_waiting_as_json(one) for one in found[:WAITING]], "more": len(found) > WAITING}


def _waiting_as_json(record: Record) -> dict[str, Any]:
    label, mark = record.state.poison, record.state.quarantine
    return record_as_json(record, PAGE_CHARS) | {
        "because": None if mark is None else mark.because,
        "score": None if label is None else label.score,
        "why": [] if label is None else list(label.why),
        "made_of": len(record.derived_from),
    }


def act_on(memory: Memory, scope: str, form: ActForm) -> Record:
    """Pins, holds, sets aside, or ends any of these."""
    acts: dict[str, Callable[..., Record]] = {
        "pin": memory.upkeep.pin,
        "unpin": memory.upkeep.unpin,
        "hold": memory.upkeep.hold,
        "release": memory.upkeep.release,
        "restore": memory.upkeep.restore,
        "quarantine": memory.trust.quarantine,
        "approve": memory.trust.approve,
    }
    if form.act not in acts:
        raise BadInput(f"there is no act {form.act!r}; there are {', '.join(acts)}")
    return acts[form.act](form.id, scope=scope)


def _event_as_json(event: Event) -> dict[str, Any]:
    """Converts an event without id and scope; cuts long earlier texts."""
    told = {name: getattr(event, name) for name in ("what", "at", "by", "version")}
    before = event.before and {name: _cut(value) for name, value in event.before.items()}
    return told | {"before": before}


def _cut(value: Json) -> Json:
    return value[:PAGE_CHARS] if isinstance(value, str) else value
