"""Routes that only the pages call. Each checks a right in a scope, and calls one function of a view.

For all else the pages call the REST interface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from ...core.errors import NotFound
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import moment
from ...eval.cases import Question
from ...eval.lines import save_question
from ...exchange.record_exports import check_plain
from ...memory import Memory
from ...quality.metrics import MEANINGS
from ...store import verbs
from ...store.traits import is_sealed, path_of
from ...trust.audit import Auditing
from ...upkeep import WORKS
from ...upkeep.curve import DAY, strength
from ..access import Right
from ..errors import make_not_found
from ..rest.admin_routes import OF_THE_SERVER
from ..rest.replies import tell_record
from ..serving import Administers, Exports, Grant, Reads, caller_of, serving_of
from . import timeline_view
from .why_view import WhyBody, WhyNotBody, choose_recipe, tell_answer, tell_whereabouts, to_question

T = TypeVar("T")
CHANGES: Final = 200  # changes of an upkeep run that an answer lists
_SAVED: Final = 20_000  # records of a scope that an evaluation set holds at most

router: APIRouter = APIRouter(prefix="/v1", include_in_schema=False)


async def _ask(grant: Grant, call: Callable[[Memory], T]) -> T:
    """Runs a function of the memory in one of its threads."""
    memory = grant.memory
    return await memory.threads.run(lambda: call(memory.core))


@router.get("/dashboard/start")
async def _read_start(request: Request) -> dict[str, Any]:
    """Answers what a page needs to begin: scopes with their sizes, and the rights of the caller."""
    caller, serving = caller_of(request), serving_of(request)
    scopes: dict[str, int] = {}
    if caller.may(Right.READ):
        known = await serving.memory.scopes()
        scopes = {path: count for path, count in known.items() if caller.reaches(Scope.exactly(path))}
    rights = sorted(right.value for right in caller.rights)
    told = {"scopes": scopes, "rights": rights, "name": caller.name, "home": caller.choose_home()}
    return told | {"keys": serving.keys.required}


@router.get("/dashboard/head")
async def _read_head(grant: Reads) -> dict[str, int]:
    """Answers the newest change of the store: a page reloads when it moves."""
    head = await _ask(grant, lambda memory: memory.parts.store.head())
    return {"seq": head.seq, "epoch": head.epoch}


@router.get("/dashboard/overview")
async def _read_overview(grant: Reads) -> dict[str, Any]:
    return await _ask(grant, lambda memory: timeline_view.read_overview(memory, grant.scope))


@router.post("/debug/why")
async def _explain_answer(grant: Reads, body: WhyBody) -> dict[str, Any]:
    explained = await grant.memory.admin.explain(scope=grant.scope, **to_question(body))
    chosen = choose_recipe(body.recipe, body.weights)
    return await _ask(grant, lambda memory: tell_answer(memory, explained, chosen))


@router.post("/debug/why-not")
async def _explain_absence(grant: Reads, body: WhyNotBody) -> dict[str, Any]:
    at = grant.single if body.at is None else Scope.exactly(body.at).path
    if not grant.scope.holds(at):  # before any lookup there: it may be a scope of others
        raise make_not_found()
    explained = await grant.memory.admin.explain(scope=grant.scope, **to_question(body))

    def place(memory: Memory) -> dict[str, Any]:
        record = _require(memory, body.id, at)
        return tell_whereabouts(explained.why_not(record), record, explained)

    return await _ask(grant, place)


def _require(memory: Memory, id: str, scope: str) -> Record:
    record = memory.get(id, scope=scope)
    if record is None:
        raise NotFound(f"there is no record {id!r} in scope {scope}")
    return record


class _SaveForm(BaseModel):
    """A question and the ids of the records that answer it."""

    query: str
    gold: list[str]
    now: float | str | None = None


@router.post("/debug/evaluation")
async def _save_evaluation(grant: Exports, form: _SaveForm) -> dict[str, Any]:
    """Adds a question to the evaluation set beside the memory; where that is, is for keys that see all."""

    def save(memory: Memory) -> dict[str, Any]:
        at = path_of(memory.parts.store)
        file = Path("eidet.eval.jsonl") if at is None else at.with_name(f"{at.name}.eval.jsonl")
        asked = memory.parts.clock() if form.now in (None, "") else moment(form.now, "now")
        question = Question(id=form.query[:200], text=form.query, gold=tuple(form.gold), asked=asked)
        check_plain(memory, False, instead="save the question in a set of your own")
        records = memory.find(scope=grant.single, limit=_SAVED)
        with Auditing(memory.audit).doing("export", grant.single, file=str(file)) as done:
            count = save_question(file, grant.single, records, question)
            done(len(records))
        told: dict[str, Any] = {"questions": count}
        if grant.caller.sees_all:
            told |= {"file": str(file), "command": f"eidet eval {file}"}
        return told

    return await _ask(grant, save)


@router.get("/dashboard/record")
async def _read_surroundings(grant: Reads, id: str) -> dict[str, Any]:
    return await _ask(grant, lambda memory: _tell_surroundings(memory, _require(memory, id, grant.single)))


@router.post("/timeline")
async def _read_timeline(grant: Reads, form: timeline_view.TimelineForm) -> dict[str, Any]:
    return await _ask(grant, lambda memory: timeline_view.read_timeline(memory, grant.scope, form))


@router.get("/quality")
async def _read_quality(grant: Reads) -> dict[str, Any]:
    whole = grant.caller.sees_all
    return await _ask(grant, lambda memory: _describe_health(memory, grant.scope, whole=whole))


class _UpkeepForm(BaseModel):
    """A run of upkeep, dry by default."""

    dry_run: bool = True
    only: list[str] = Field(default_factory=list, max_length=20)


@router.post("/dashboard/upkeep")
async def _run_upkeep(grant: Administers, form: _UpkeepForm) -> dict[str, Any]:
    return await _ask(grant, lambda memory: _maintain(memory, grant.scope, form))


# A record: the curve of its strength, and its links.

_CURVE_POINTS: Final = 64
LINKS: Final = 50  # records listed for each kind of link


def _tell_surroundings(memory: Memory, record: Record) -> dict[str, Any]:
    """Returns the strength and links of a record, and its text before its tier reduced it."""
    return {
        "strength": _tell_strength(memory, record),
        "links": _tell_links(memory, record),
        "whole": None if record.original is None else record.whole.text,
    }


def _tell_strength(memory: Memory, record: Record) -> dict[str, Any]:
    """Computes the present strength of a record, and its curve while unused."""
    now, settings = memory.parts.clock(), memory.parts.settings.upkeep
    last = max(record.created, record.last_used or 0.0)
    end = max(now + 90 * DAY, last + 2 * (now - last))

    times = [last + (end - last) * step / (_CURVE_POINTS - 1) for step in range(_CURVE_POINTS)]
    points = [(time, round(strength(record, time, settings), 4)) for time in times]
    value, least = strength(record, now, settings), settings.forget_below
    return {"now": now, "value": value, "points": points, "forget_below": least}


def _tell_links(memory: Memory, record: Record) -> dict[str, list[dict[str, Any]]]:
    store, at = memory.parts.store, record.scope
    derived = verbs.find_derived(store, Scope.exactly(at))
    linked: dict[str, Sequence[Record | None]] = {
        "made_of": store.read(at, list(record.derived_from[:LINKS])),
        "made_from_it": [other for other in derived if record.id in other.derived_from][:LINKS],
        "beside": _find_neighbours(memory, record),
    }
    return {name: [tell_record(one) for one in found if one] for name, found in linked.items()}


def _find_neighbours(memory: Memory, record: Record) -> list[Record | None]:
    """Finds the records before and after a record in its session, in order."""
    if record.session is None:
        return []
    near = memory.parts.index.around(record.scope, [record.seq], 2, None, now=memory.parts.clock())
    if record.seq not in near:
        return []
    beside = sorted(near[record.seq].beside, key=lambda pair: pair[1])
    return memory.parts.store.read(record.scope, [seq for seq, _ in beside])


# Health: rates, drift, storage by tier, upkeep.


def _describe_health(memory: Memory, scope: Scope, *, whole: bool) -> dict[str, Any]:
    """Describes the health of a scope; with `whole`, also that of the server and all its scopes."""
    standings = memory.upkeep.retention(scope)
    policies = [asdict(standing) | {"policy": str(standing.policy)} for standing in standings]
    stats, health = memory.admin.stats(scope), memory.admin.health()
    place: str | None = memory.parts.place
    if not whole:
        for name in OF_THE_SERVER:
            stats.pop(name, None)
        health, place = {"state": health["state"]}, None
    return {
        "stats": stats,
        "metrics": memory.admin.metrics(scope),
        "meanings": MEANINGS,
        "health": health,
        "retention": policies,
        "audited": memory.audit is not None,
        "sealed": is_sealed(memory.parts.store),
        "writable": memory.parts.store.writable,
        "works": list(WORKS),
        "place": place,
    }


def _maintain(memory: Memory, scope: Scope, form: _UpkeepForm) -> dict[str, Any]:
    """Runs upkeep, and returns what it did or would do."""
    done = memory.upkeep.maintain(scope, dry_run=form.dry_run, only=form.only or None)
    changes = [noted._asdict() for noted in done.changes[:CHANGES]]
    more = max(0, len(done.changes) - CHANGES)
    return asdict(replace(done, changes=())) | {"changes": changes, "more": more}
