"""Builds audit entries about records: their ids, kinds and counts, never their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...core.actor import Acting, acts
from ...core.errors import EidetError, Misconfigured
from ...core.record import Record
from ...core.validate import Json
from ...store.verbs.writing import Put
from .log import AuditLog

Flags = Mapping[tuple[str, str], list[str]]  # (scope, id) -> flags of the check


def of_records(
    log: AuditLog,
    verb: str,
    records: Sequence[Record],
    by: str | None,
    flags: Flags | None = None,
) -> list[dict[str, Json]]:
    """Builds one event per scope of the records; none for no records."""
    actor = acts()
    if len(records) == 1:
        return [_event(log, verb, records[0].scope, records, by, flags or {}, actor)]
    scopes: dict[str, list[Record]] = {}
    for record in records:
        scopes.setdefault(record.scope, []).append(record)
    return [_event(log, verb, scope, some, by, flags or {}, actor) for scope, some in scopes.items()]


def _event(
    log: AuditLog,
    verb: str,
    scope: str,
    records: Sequence[Record],
    by: str | None,
    flags: Flags,
    acting: Acting,
) -> dict[str, Json]:
    reasons = acting.reasons
    return log.describe(
        verb,
        by=by,
        acting=acting,
        scope=scope,
        ids=[record.id for record in records],
        count=len(records),
        kinds={str(records[0].kind): 1} if len(records) == 1 else dict(Counter(str(r.kind) for r in records)),
        flags={r.id: flags[scope, r.id] for r in records if (scope, r.id) in flags} if flags else {},
        reasons={r.id: reasons[r.id] for r in records if r.id in reasons} if reasons else {},
    )


def writer(records: Sequence[Record]) -> str | None:
    """Returns the agent that all records share, unless an actor is set or the agents differ."""
    agents = {record.agent for record in records}
    if len(agents) == 1 and acts().by is None:
        return agents.pop()
    return None


def flag_records(log: AuditLog, records: Sequence[Record], by: str | None) -> Flags:
    """Runs the audit's check on each record. Returns the flags; logs a refusal before raising it."""
    check = log.audit.check
    found: dict[tuple[str, str], list[str]] = {}
    for record in () if check is None else records:
        assert check is not None
        try:
            flags = check(record)
        except EidetError as error:
            log.note("refused", by=by, scope=record.scope, ids=[record.id], error=type(error).__name__)
            raise
        if flags:
            found[record.scope, record.id] = _flags(flags)
    return found


def _flags(flags: object) -> list[str]:
    if not isinstance(flags, list | tuple | set | frozenset) or not all(isinstance(f, str) for f in flags):
        raise Misconfigured(f"the check of an audit must return a list of flags, not {flags!r}")
    return sorted(flags) if isinstance(flags, set | frozenset) else list(flags)


def describe_put(log: AuditLog, job: Put) -> list[dict[str, Json]]:
    """Builds the entries for records that are about to be written, after checking the records."""
    flags = flag_records(log, job.records, job.by)
    return of_records(log, "put", job.records, job.by or writer(job.records), flags)
