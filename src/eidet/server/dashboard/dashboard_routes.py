"""The routes that the pages ask. Each has a right, a scope, and one function of a view behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from ...core.scope import Scope
from ...core.validate import moment
from ...eval.cases import Question
from ...eval.lines import save_question
from ...exchange.record_exports import check_plain
from ...memory import Memory
from ...quality.metrics import MEANINGS
from ...store.traits import is_sealed, path_of
from ...trust.audit import Auditing
from ...upkeep import WORKS
from ..access import Right
from ..errors import make_not_found
from ..rest.admin_routes import OF_THE_SERVER
from ..serving import (
    Administers,
    Exports,
    Grant,
    Reads,
    Writes,
    caller_of,
    check_rights,
    serving_of,
)
from . import facts_view, memories_view, timeline_view, why_view
from .record_json import record_as_json

T = TypeVar("T")
CHANGES: Final = 200  # changes of an upkeep run that are told
_SAVED: Final = 20_000  # records of a scope that an evaluation set holds

router: APIRouter = APIRouter(prefix="/v1", include_in_schema=False)


async def _ask(grant: Grant, call: Callable[[Memory], T]) -> T:
    """Makes a call of the memory in one of its threads."""
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
async def _explain_answer(grant: Reads, form: why_view.WhyForm) -> dict[str, Any]:
    explained = await grant.memory.admin.explain(form.query, scope=grant.scope, **form.arguments())
    return await _ask(grant, lambda memory: why_view.answer_as_json(memory, explained, form))


@router.post("/debug/why-not")
async def _explain_absence(grant: Reads, form: why_view.WhyNotForm) -> dict[str, Any]:
    at = grant.single if form.at is None else Scope.exactly(form.at).path
    if not grant.scope.holds(at):  # before anything is looked up there: it may be a scope of others
        raise make_not_found()
    explained = await grant.memory.admin.explain(form.query, scope=grant.scope, **form.arguments())

    def place(memory: Memory) -> dict[str, Any]:
        record = memories_view.require(memory, form.id, at)
        return why_view.whereabouts_as_json(explained.why_not(record), record, explained)

    return await _ask(grant, place)


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


@router.post("/dashboard/records")
async def _list_records(grant: Reads, form: memories_view.TableForm) -> dict[str, Any]:
    return await _ask(grant, lambda memory: memories_view.list_page(memory, grant.scope, form))


@router.get("/dashboard/record")
async def _read_record(grant: Reads, id: str, whole: bool = False) -> dict[str, Any]:
    return await _ask(grant, lambda memory: memories_view.describe(memory, id, grant.single, whole=whole))


@router.post("/dashboard/act")
async def _act_on_record(grant: Writes, form: memories_view.ActForm) -> dict[str, Any]:
    if form.act in memories_view.LEGAL_ACTS:
        check_rights(grant.caller, Right.ADMIN)
    record = await _ask(grant, lambda memory: memories_view.act_on(memory, grant.single, form))
    return record_as_json(grant.caller.view(record))


@router.get("/dashboard/review")
async def _list_waiting(grant: Reads) -> dict[str, Any]:
    return await _ask(grant, lambda memory: memories_view.list_waiting(memory, grant.scope))


@router.post("/timeline")
async def _read_timeline(grant: Reads, form: timeline_view.TimelineForm) -> dict[str, Any]:
    return await _ask(grant, lambda memory: timeline_view.read_timeline(memory, grant.scope, form))


@router.get("/dashboard/facts")
async def _read_facts(
    grant: Reads, entity: str | None = None, hops: Annotated[int, Query(ge=1, le=2)] = 1
) -> dict[str, Any]:
    return await _ask(grant, lambda memory: facts_view.read_facts(memory, grant.scope, entity, hops))


@router.get("/dashboard/facts/why")
async def _explain_fact(grant: Reads, id: str) -> dict[str, Any]:
    return await _ask(grant, lambda memory: facts_view.explain_fact(memory, grant.scope, id))


@router.get("/quality")
async def _read_quality(grant: Reads) -> dict[str, Any]:
    whole = grant.caller.sees_all
    return await _ask(grant, lambda memory: _describe_health(memory, grant.scope, whole=whole))


class _UpkeepForm(BaseModel):
    """A run of upkeep: a dry one, unless it is said otherwise."""

    dry_run: bool = True
    only: list[str] = Field(default_factory=list, max_length=20)


@router.post("/dashboard/upkeep")
async def _run_upkeep(grant: Administers, form: _UpkeepForm) -> dict[str, Any]:
    return await _ask(grant, lambda memory: _maintain(memory, grant.scope, form))


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
    """Does what upkeep is asked for, and tells what it did or would do."""
    done = memory.upkeep.maintain(scope, dry_run=form.dry_run, only=form.only or None)
    return {
        "dry_run": done.dry_run,
        "examined": done.examined,
        "counts": dict(done.counts),
        "changes": [noted._asdict() for noted in done.changes[:CHANGES]],
        "more": max(0, len(done.changes) - CHANGES),
        "failed": list(done.failed),
        "archived": done.archived,
        "freed_bytes": done.freed_bytes,
        "seconds": done.seconds,
    }
