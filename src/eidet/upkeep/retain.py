"""Retention: the first policy that covers a record decides how long it is kept. Pure.

A legal hold or a pin wins over every policy; a record that is kept only by them is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..core.record import Record
from ..core.scope import Scope
from ..core.settings import Retention
from . import Change, Drop, Stay
from .curve import DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The records that a policy covers: all, due, due but held or pinned, and protected by `keep`."""

    policy: Retention
    covered: int = 0
    due: int = 0
    held: int = 0
    kept: int = 0


def _holds_scope(pattern: str, path: str) -> bool:
    """Matches a scope: `**` is every scope, `acme/**` is acme and all below it, anything else one scope."""
    if pattern == "**":
        return True
    return Scope(pattern.removesuffix("/**"), below=pattern.endswith("/**")).holds(path)


def policy_for(policies: Sequence[Retention], record: Record) -> Retention | None:
    """Returns the first policy that covers a record, or None."""
    kind, scope = record.kind, record.scope
    of_kind = (policy for policy in policies if policy.kinds is None or kind in policy.kinds)
    return next((policy for policy in of_kind if _holds_scope(policy.scope, scope)), None)


def _age_days(policy: Retention, record: Record, now: float) -> float:
    return (now - (record.occurred if policy.since == "occurred" else record.created)) / DAY


def is_kept(policies: Sequence[Retention], record: Record, now: float) -> bool:
    """Returns whether a policy protects a record from deletion by anything else."""
    policy = policy_for(policies, record)
    if policy is None or policy.then != "keep":
        return False
    return policy.days is None or _age_days(policy, record, now) < policy.days


def due(policies: Sequence[Retention], record: Record, now: float) -> Retention | None:
    """Returns the policy by which the record is due for deletion or archiving, or None."""
    policy = policy_for(policies, record)
    if policy is None or policy.then == "keep" or policy.days is None:
        return None
    return policy if _age_days(policy, record, now) >= policy.days else None


def retain(record: Record, now: float, policies: Sequence[Retention], archive: bool) -> Change | None:
    """Plans what the policies archive or delete. Without an archive, a record to be archived stays."""
    if (policy := due(policies, record, now)) is None:
        return None
    since = "happened" if policy.since == "occurred" else "was stored"
    why = f"{policy}: {_age_days(policy, record, now):.0f} days since it {since}"
    if record.state.is_protected:
        held = "under a legal hold" if record.state.hold is not None else "pinned"
        return Stay(what="stays", record=record, because=f"{held}, although due by {why}")
    if policy.then == "archive" and not archive:
        return Stay(what="stays", record=record, because=f"there is no archive, although due by {why}")
    return Drop(what="retain", record=record, because=why, archive=policy.then == "archive")


def standings(records: Iterable[Record], now: float, policies: Sequence[Retention]) -> list[Standing]:
    """Returns one standing per policy, in order."""
    counts = [Counter[str]() for _ in policies]
    for record in records:
        policy = policy_for(policies, record)
        if policy is not None:
            is_due, protected = due(policies, record, now) is not None, record.state.is_protected
            counted = counts[policies.index(policy)]
            counted["covered"] += 1
            counted["held" if protected else "due"] += is_due
            counted["kept"] += is_kept(policies, record, now)
    return [Standing(policy=policy, **counted) for policy, counted in zip(policies, counts, strict=True)]
