"""Health: rates, drift, storage by tier, upkeep, the audit log and keys."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel, Field

from ...core.errors import BadInput
from ...core.scope import Scope
from ...memory import Memory
from ...quality.metrics import MEANINGS
from ...store.traits import is_sealed
from ...upkeep import WORKS
from ..rest.admin_routes import OF_THE_SERVER
from .record_json import records_as_json
from .transfer_routes import Report

CHANGES: Final = 200  # changes of an upkeep run that are told


class UpkeepForm(BaseModel):
    """A run of upkeep: a dry one, unless it is said otherwise."""

    dry_run: bool = True
    only: list[str] = Field(default_factory=list, max_length=20)


def read_health(memory: Memory, scope: Scope, *, whole: bool) -> dict[str, Any]:
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
        "review": records_as_json(memory.trust.review(scope=scope, limit=20), 160),
        "audited": memory.audit is not None,
        "sealed": is_sealed(memory.parts.store),
        "writable": memory.parts.store.writable,
        "works": list(WORKS),
        "place": place,
    }


def run_upkeep(memory: Memory, scope: Scope, form: UpkeepForm, report: Report) -> dict[str, Any]:
    done = memory.upkeep.maintain(scope, dry_run=form.dry_run, only=form.only or None, progress=report)
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


def verify_audit(memory: Memory) -> dict[str, Any]:
    """Reads the whole audit log of the memory and checks its chain."""
    from ...trust.audit.verify import verify

    log = memory.audit
    if log is None:
        raise BadInput("this memory has no audit log; open it with the setting audit to begin one")
    found = verify(log.path, key=log.key, store=memory.parts.store)
    return {
        "ok": found.ok,
        "entries": found.entries,
        "head": str(found.head),
        "faults": [str(fault) for fault in found.faults[:50]],
        "notes": [str(note) for note in found.notes[:50]],
    }
