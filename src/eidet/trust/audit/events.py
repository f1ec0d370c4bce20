"""Builds audit entries about records: their ids, kinds and counts, never their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...core.actor import acts
from ...core.errors import EidetError, Misconfigured
from ...core.record import Record
from ...core.validate import Json
from .log import AuditLog

Flags = Mapping[tuple[str, str], list[str]]  # (scope, id) -> flags of the check


def describe_written(
    log: AuditLog, verb: str, records: Sequence[Record], by: str | None
) -> list[dict[str, Json]]:
    """Builds the entries for records that are about to be written, after checking the records."""
    flags = _flag_records(log, records, by)
    agents = {record.agent for record in records}
    if by is None and acts().by is None and len(agents) == 1:
        by = agents.pop()
    return describe_records(log, verb, records, by, flags)


def describe_records(
    log: AuditLog, verb: str, records: Sequence[Record], by: str | None, flags: Flags | None = None
) -> list[dict[str, Json]]:
    """Builds one entry per scope of the records; none for no records."""
    reasons, flagged = acts().reasons, flags or {}
    scopes: dict[str, list[Record]] = {}
    for record in records:
        scopes.setdefault(record.scope, []).append(record)
    return [
        log.describe(
            verb,
            by=by,
            scope=scope,
            ids=[record.id for record in some],
            count=len(some),
            kinds=dict(Counter(str(record.kind) for record in some)),
            flags={r.id: flagged[scope, r.id] for r in some if (scope, r.id) in flagged},
            reasons={r.id: reasons[r.id] for r in some if r.id in reasons},
        )
        for scope, some in scopes.items()
    ]


def _flag_records(log: AuditLog, records: Sequence[Record], by: str | None) -> Flags:
    """Runs the audit's check on each record. Returns the flags; logs a refusal before raising it."""
    check = log.audit.check
    if check is None:
        return {}
    found: dict[tuple[str, str], list[str]] = {}
    for record in records:
        try:
            flags = check(record)
        except EidetError as error:
            log.note("refused", by=by, scope=record.scope, ids=[record.id], error=type(error).__name__)
            raise
        if flags:
            found[record.scope, record.id] = _sort_flags(flags)
    return found


def _sort_flags(flags: object) -> list[str]:
    if not isinstance(flags, list | tuple | set | frozenset) or not all(isinstance(f, str) for f in flags):
        raise Misconfigured(f"the check of an audit must return a list of flags, not {flags!r}")
    return sorted(flags) if isinstance(flags, set | frozenset) else list(flags)
