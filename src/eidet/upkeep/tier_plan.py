"""Plans the changes of single records. Pure: facts about the whole scope come as `Bounds`.

Of retention policies, the first that covers a record decides how long it is kept. A legal hold or a pin wins
over every policy; a record that is kept only by them is reported.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from ..core.record import Original, Record, Tier, Trust, decode_original, pack_original
from ..core.scope import Scope
from ..core.settings import Retention, Upkeep
from ..core.validate import Json
from ..models.embed.quantise import dequantise, quantise
from . import Change, Drop, Stay, Write, resting_time
from .curve import DAY, strength
from .importance import move_score

LEVELS: Final = {Tier.SHORT: 0, Tier.MIDDLE: 1, Tier.LONG: 2}
DUE: Final = 0.5  # least `move_score` of a move: age limits are stated for importance 0.5
_LIMITS: Final = ("entries", "age_days", "steps")  # settings of the short and the middle tier
_DUTIES: Final = ("expire", "retain")  # works that apply to quarantined records, too
_ABOVE: Final = {Tier.LONG: Tier.MIDDLE, Tier.MIDDLE: Tier.SHORT}
_BELOW: Final = {Tier.SHORT: Tier.MIDDLE, Tier.MIDDLE: Tier.LONG}

Rested = tuple[float, int]  # the time of the last use, and the seq that orders equal times


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What planners must know of a whole scope, and the policies of its records.

    `crowded`: for each overfull tier, the bound up to which records are surplus.
    `newest_step`: of the scope; None if its records have no steps.
    """

    crowded: Mapping[Tier, Rested] = field(default_factory=dict)
    newest_step: int | None = None
    retention: tuple[Retention, ...] = ()


_Planner = Callable[[Record, float, Upkeep, Bounds], Change | None]


def crowd_bound(by_created: Iterable[Record], over: int) -> Rested | None:
    """Returns the bound of the surplus, longest unused first; None if there is no surplus.

    `over` is the size of the surplus. The records come in the order of creation (then of seq) and are not
    all read: none can be unused for longer than its age, so once `over` records have been unused for
    longer than the age of the next one, no later one can belong to the surplus.
    """
    longest: list[Rested] = []  # negative, so that the one used last comes first
    for record in by_created if over > 0 else ():
        if len(longest) == over and (-record.created, -record.seq) < longest[0]:
            break
        heapq.heappush(longest, (-resting_time(record), -record.seq))
        if len(longest) > over:
            heapq.heappop(longest)
    return (-longest[0][0], -longest[0][1]) if longest else None


def _expire(record: Record, now: float, _: Upkeep, bounds: Bounds) -> Change | None:
    if record.expires is None or record.expires > now:
        return None
    if record.state.is_protected or is_kept(bounds.retention, record, now):
        return None
    ago = (now - record.expires) / DAY
    return Drop(what="expire", record=record, because=f"expired {ago:.1f} days ago")


def _forget(record: Record, now: float, settings: Upkeep, bounds: Bounds) -> Change | None:
    """Plans to forget a faded record. An important one is archived first, or stays without an archive."""
    if not settings.forget_below or record.state.is_protected:
        return None
    left, important = strength(record, now, settings), record.importance >= settings.archive_above
    if left >= settings.forget_below or (important and not settings.archive):
        return None
    if is_kept(bounds.retention, record, now):
        return None
    idle = (now - resting_time(record)) / DAY
    used = f"used {record.uses} times" if record.uses else "never used"
    because = f"strength {left:.3f} is below {settings.forget_below:g}: {used}, idle {idle:.0f} days"
    return Drop(what="forget", record=record, because=because, archive=important)


def _promote(record: Record, now: float, settings: Upkeep, _: Bounds) -> Change | None:
    if settings.promote_uses is None or record.tier not in _ABOVE or record.state.is_protected:
        return None
    uses = record.uses - record.state.used_before_move
    recent = record.last_used is not None and now - record.last_used <= settings.promote_days * DAY
    if uses < settings.promote_uses or not recent:
        return None
    because = f"used {uses} times since it came to the {record.tier} tier"
    return _move_record(record, _ABOVE[record.tier], 0, because, what="promote")


def _move(record: Record, now: float, settings: Upkeep, bounds: Bounds) -> Change | None:
    """Plans a move one tier down, or two if both limits are passed."""
    if record.state.is_protected:
        return None
    if record.tier is Tier.LONG:
        if record.level >= LEVELS[Tier.LONG]:
            return None
        return _move_record(record, Tier.LONG, LEVELS[Tier.LONG], "it was put into the long tier")
    because = _due(record, record.tier, settings, bounds, now)
    if because is None:
        return None
    below = _BELOW[record.tier]
    if below is Tier.MIDDLE and (further := _due(record, below, settings, bounds, now)):
        below, because = Tier.LONG, further
    return _move_record(record, below, LEVELS[below], because)


def _move_record(record: Record, tier: Tier, level: int, because: str, *, what: str = "move") -> Write:
    """Plans a move to another tier; keeps the number of uses before it, for promotions."""
    state = record.state
    if tier is not record.tier and state.used_before_move != record.uses:
        state = state.but(used_before_move=record.uses)
    new = record.but(tier=tier, level=level, state=state)
    return Write(what=what, record=new, because=because, instead=record, recast=True)


def _due(record: Record, tier: Tier, settings: Upkeep, bounds: Bounds, now: float) -> str | None:
    """Returns the reason why a record is due to leave a tier, or None if it is not.

    A record that would just have arrived in the tier is no surplus of it.
    """
    entries, age_days, steps = (getattr(settings, f"{tier}_{limit}") for limit in _LIMITS)
    since, crowd = resting_time(record), bounds.crowded.get(tier)
    if record.tier is tier and crowd is not None and (since, record.seq) <= crowd:
        return f"the {tier} tier has more than {entries:,} records"
    days = (now - since) / DAY
    if age_days is not None and move_score(days, age_days or 1e-9, record.importance) >= DUE:
        return f"not used for {days:.1f} days at importance {record.importance:.2f}"
    if steps is not None and record.step is not None and bounds.newest_step is not None:
        behind = bounds.newest_step - record.step
        if behind > steps:
            return f"{behind:,} steps behind the newest"
    return None


PLANNERS: Final[Mapping[str, _Planner]] = {
    "expire": _expire,
    "retain": lambda record, now, settings, bounds: retain(
        record, now, bounds.retention, settings.archive is not None
    ),
    "forget": _forget,
    "promote": _promote,
    "move": _move,
}


def plan(
    records: Iterable[Record], now: float, settings: Upkeep, bounds: Bounds, works: Sequence[str]
) -> Iterator[Change]:
    """Yields at most one change per record: that of the first work that plans one.

    A record in quarantine is ignored until it is approved, but by `_DUTIES`.
    """
    for record in records:
        aside = record.trust is Trust.QUARANTINED
        planned = (
            PLANNERS[work](record, now, settings, bounds) for work in works if not aside or work in _DUTIES
        )
        yield from islice(filter(None, planned), 1)


# Retention policies.


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


# Lowering records to what a tier shows, and raising them again exactly.

_GIST: Final = 2  # from this level on, only the gist of a text is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Lowers and raises records.

    `embed` returns the vectors of texts as the write path computes them; `repeats` means that it always
    returns the same bytes, so that they need not be kept. `gist` shortens a text.
    """

    embed: Callable[[Sequence[str]], list[bytes]]
    gist: Callable[[str], str]
    embedder: str
    width: int
    repeats: bool

    def at_levels(self, changes: Sequence[tuple[Record, int]]) -> list[Record]:
        """Returns each record lowered or raised to its new level. Embeds all their texts in one call."""
        asked = (record.whole.text for record, level in changes if self._is_embedded(record, level))
        texts = list(dict.fromkeys(asked))
        made = dict(zip(texts, self.embed(texts) if texts else (), strict=True))
        return [self._at_level(record, level, made) for record, level in changes]

    def whole(self, record: Record) -> Record:
        """Returns a record with its full detail."""
        return self.at_levels([(record, 0)])[0]

    def _is_embedded(self, record: Record, level: int) -> bool:
        """Returns whether a change needs the vector of the whole text, to return it or to compare it."""
        if record.vector is None:
            return False
        if level < record.level:
            part = decode_original(record.original)
            return part.vector is None or part.embedder != self.embedder
        return self.repeats and record.level == 0 < level

    def _raise(self, record: Record, made: Mapping[str, bytes]) -> Record:
        """Takes the vector from `made` if it was not kept, or if another embedder made it."""
        whole, kept = record.whole, decode_original(record.original).vector
        vector = made[whole.text] if self._is_embedded(record, 0) else kept or record.vector
        return whole.but(vector=vector, level=0, original=None)

    def _at_level(self, record: Record, level: int, made: Mapping[str, bytes]) -> Record:
        if level < record.level:
            record = self._raise(record, made)
        if level <= record.level:
            return record
        part = decode_original(record.original)
        text, data = record.text, record.data
        if level >= _GIST:
            text, data = self.gist(text), _round_floats(data)
        vector, kept = record.vector, part.vector
        if vector is not None:
            if not record.level and not (self.repeats and made.get(record.text) == vector):
                kept = vector
            vector = quantise(dequantise(vector, record.level, self.width), level, self.width)
        original = Original(
            text=record.text if text != record.text else part.text,
            data=(record.data,) if not _same(data, record.data) else part.data,
            vector=kept,
            embedder="" if kept is None else (part.embedder or self.embedder),
        )
        return record.but(text=text, data=data, vector=vector, level=level, original=pack_original(original))


def _round_floats(data: Json) -> Json:
    """Rounds floats in data to three significant digits; whole numbers stay, because they are often ids."""
    match data:
        case dict():
            return {key: _round_floats(value) for key, value in data.items()}
        case list():
            return [_round_floats(value) for value in data]
        case float():
            return float(f"{data:.3g}")
    return data


def _same(one: Json, other: Json) -> bool:
    """Compares data strictly (1 differs from 1.0, and 0.0 from -0.0), so that originals return exactly."""
    return repr(one) == repr(other)
