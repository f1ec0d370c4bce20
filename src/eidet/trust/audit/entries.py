"""What the entries about each job of the verbs say: before it is done, and once its answer is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.validate import Json
from ...store import Store, verbs
from ...store.verbs.erasing import LiftTombstones
from ...store.verbs.values import ReplaceDerived, RewriteHistory, SetSettings
from ...store.verbs.writing import DeleteUnchanged, DeleteWhere, Put, RewriteForms
from .events import flag_records, of_filter, of_records, writer
from .log import AuditLog

Events = list[dict[str, Json]]


def describe_job(log: AuditLog, store: Store, job: object) -> Events | None:
    """The entries for a job that is about to be done; None for one that nobody knows."""
    match job:
        case Put():
            flags = flag_records(log, job.records, job.by)
            return of_records(log, "put", job.records, job.by or writer(job.records), flags)
        case RewriteForms():
            return of_records(log, "recast", [old for old, _ in job.forms], job.by)
        case DeleteUnchanged():
            return of_records(log, "bury", job.records, job.by)
        case DeleteWhere():
            census = verbs.count_kinds(store, job.where)
            return [of_filter(log, "drop", job.where, job.by, census)]
    return _describe_values(log, store, job)


def _describe_values(log: AuditLog, store: Store, job: object) -> Events | None:
    match job:
        case LiftTombstones():
            return [log.describe("exhume", scope=job.scope, count=len(job.marks))]
        case RewriteHistory():
            return [log.describe("retell", scope=job.scope, ids=[job.id], versions=sorted(job.before))]
        case SetSettings():  # only the names: what a setting holds may be nobody's business
            return [log.describe("configure", settings=sorted(job.settings), store=store.identity)]
        case ReplaceDerived():
            return [log.describe("rewrite")]
    return None


def describe_answer(job: object, answer: Any) -> dict[str, Any]:
    """What only the store knew: how a job went where that is not as its entry says."""
    match job:
        case Put():
            stored = zip(job.records, answer, strict=True)
            return _unless_empty("instead", {new.id: old.id for new, old in stored if new.id != old.id})
        case RewriteForms():
            forms = zip(job.forms, answer, strict=True)
            return _unless_empty("left", [old.id for (old, _), new in forms if new is None])
        case DeleteUnchanged():
            gone = set(answer)
            return _unless_empty("left", [record.id for record in job.records if record.id not in gone])
        case DeleteWhere():
            return {"by": job.by, "ids": answer, "count": len(answer)}
    return {}


def _unless_empty(name: str, value: Iterable[Any]) -> dict[str, Any]:
    return {name: value} if value else {}
