"""How much a memory matters, in 0-1: from what it says, what was said about it, and what came of it.

What is not known is left out and its weight goes to the rest; a number that is not a number counts
as not known. No single part leaves 0-1, so neither does the answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Final

import numpy as np

from ..core.errors import BadInput
from ..core.record import Kind, Record
from ..core.validate import Json
from ..models.embed.quantise import first_rows
from . import Change, Write, is_protected
from .curve import DAY
from .informativeness import telling

_TAGS: Final[Mapping[str, float]] = MappingProxyType(
    {
        "critical": 1.0,
        "important": 0.9,
        "decision": 0.9,
        "preference": 0.8,
        "commitment": 0.8,
        "todo": 0.7,
        "fact": 0.6,
        "smalltalk": 0.1,
        "noise": 0.0,
    }
)


def action_importance(reward: float | None, state_change: float | None) -> float:
    """`min(1, 0.5 * |reward| + 0.5 * state change)`; what is unknown or a change below 0 counts as 0."""
    return min(1.0, 0.5 * abs(_value_or(reward, 0.0)) + 0.5 * max(_value_or(state_change, 0.0), 0.0))


def state_importance(health: float | None, reward: float | None) -> float:
    """`max(0.5, 1 - health, min(1, |reward| / 5))`, at most 1; unknown health is full, unknown reward 0."""
    return min(1.0, max(0.5, 1.0 - _value_or(health, 1.0), min(1.0, abs(_value_or(reward, 0.0)) / 5.0)))


def move_score(age: float, ttl: float | None, importance: float | None) -> float:
    """`age / ttl * (1 - importance)`: due for the next tier at 1. Age and ttl in one unit, from 0 up.

    Without a ttl (None, 0, infinite or no number) nothing is due: 0. Unknown importance is 0.5.
    """
    lasts, lived = _value_or(ttl, 0.0), max(_value_or(age, 0.0), 0.0)
    if lasts <= 0 or math.isinf(lasts):
        return 0.0
    spare = 1.0 - _clamp(_value_or(importance, 0.5))
    return lived / lasts * spare if spare else 0.0


def surprise(best_cosine: float | None) -> float | None:
    """How new something is: one minus the cosine with the nearest thing known; None where none is known."""
    return None if best_cosine is None or math.isnan(best_cosine) else _clamp(1.0 - best_cosine)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each part counts, relative to the others; 0 leaves a part out.

    `reward_scale`: the reward, of either sign, that makes a memory as important as can be.
    `uses_scale`: the number of uses that make half the importance that use can give.
    `age_half_life_days`: until age has taken half of what newness gave.
    `tags`: what a tag says of importance; of several, the highest counts. Other tags say nothing.
    """

    content: float = 0.5
    tagged: float = 0.3
    reward: float = 0.3
    surprise: float = 0.2
    uses: float = 0.2
    age: float = 0.05
    reward_scale: float = 5.0
    uses_scale: float = 5.0
    age_half_life_days: float = 30.0
    tags: Mapping[str, float] = field(default_factory=lambda: _TAGS)

    def __post_init__(self) -> None:
        for name in ("content", "tagged", "reward", "surprise", "uses", "age"):
            weight = getattr(self, name)
            if not (weight >= 0 and math.isfinite(weight)):
                raise BadInput(f"the weight {name} must be a number from 0 up, not {weight!r}")
        for name in ("reward_scale", "uses_scale", "age_half_life_days"):
            if not getattr(self, name) > 0:
                raise BadInput(f"{name} must be above 0, not {getattr(self, name)!r}")


EVEN: Final = Weights()


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Importance in 0-1 and the parts it came from, as `name: value in 0-1`; notes say what was noticed."""

    value: float
    parts: Mapping[str, float]
    notes: tuple[str, ...] = ()


def importance(
    text: str,
    *,
    stated: float | None = None,
    pinned: bool = False,
    tags: Iterable[str] = (),
    reward: float | None = None,
    surprise: float | None = None,
    uses: int | None = None,
    age_days: float | None = None,
    weights: Weights = EVEN,
) -> Weighed:
    """What is pinned matters fully, what somebody stated is taken at their word, the rest is weighed."""
    if pinned:
        return Weighed(value=1.0, parts={"pinned": 1.0})
    if stated is not None and not math.isnan(stated):
        return Weighed(value=_clamp(stated), parts={"stated": _clamp(stated)})
    content = telling(text)
    parts = _drop_unknown(
        {
            "content": content.value,
            "tagged": _of_tags(tags, weights),
            "reward": _scale(reward, weights.reward_scale),
            "surprise": None if surprise is None else _or_none(surprise),
            "uses": _of_uses(uses, weights.uses_scale),
            "age": _of_age(age_days, weights.age_half_life_days),
        }
    )
    return Weighed(value=_mean(parts, weights), parts=parts, notes=content.notes)


def _drop_unknown(parts: Mapping[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in parts.items() if value is not None}


def _mean(parts: Mapping[str, float], weights: Weights) -> float:
    """The weighted mean; the middle where all that is known has no weight."""
    total = sum(getattr(weights, name) for name in parts)
    if not total:
        return 0.5
    return _clamp(sum(value * (getattr(weights, name) / total) for name, value in parts.items()))


def _of_tags(tags: Iterable[str], weights: Weights) -> float | None:
    known = [weights.tags[tag.casefold()] for tag in tags if tag.casefold() in weights.tags]
    return max(map(_clamp, known), default=None)


def _scale(value: float | None, scale: float) -> float | None:
    return None if value is None or math.isnan(value) else _clamp(abs(value) / scale)


def _of_uses(uses: int | None, scale: float) -> float | None:
    return None if uses is None else 1.0 - scale / (scale + max(uses, 0))


def _of_age(days: float | None, half_life: float) -> float | None:
    return None if days is None or math.isnan(days) else _clamp(2.0 ** -(max(days, 0.0) / half_life))


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else _clamp(value)


def _value_or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None or math.isnan(value) else value


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


# Importance that nobody stated: from the content at first, from its life afterwards.


_STEP: Final = 0.05  # smaller changes are not written
_WINDOW: Final = 4_096


def weigh_record(record: Record, weights: Weights = EVEN) -> Record:
    """The record with the importance its content and metadata tell."""
    value = _by_formula(record)
    if value is None:
        value = importance(record.text, tags=_tags(record.meta), reward=_number(record.data, "reward"),
                           pinned=record.state.pinned is not None, weights=weights).value  # fmt: skip
    return record.but(importance=value, state=record.state.but(weighed=True))


def reweigh(records: Iterable[Record], now: float, width: int, weights: Weights = EVEN) -> Iterator[Change]:
    """What use, age and surprise make of the importance of those that were weighed; states stay."""
    walk = iter(records)
    while window := sorted(islice(walk, _WINDOW), key=lambda record: (record.created, record.id)):
        ours = [at for at, record in enumerate(window) if _is_ours(record)]
        for at, new in zip(ours, surprises(window, ours, width), strict=True):
            record = window[at]
            value = importance(
                record.whole.text,
                tags=_tags(record.meta),
                reward=_number(record.data, "reward"),
                surprise=new,
                uses=record.uses,
                age_days=(now - record.occurred) / DAY,
                weights=weights,
            ).value
            if abs(value - record.importance) >= _STEP:
                yield _put(record, value, new)


def _put(record: Record, value: float, new: float | None) -> Write:
    known = f", surprise {new:.2f}" if new is not None else ""
    because = f"importance {record.importance:.2f} becomes {value:.2f}: {record.uses} uses{known}"
    return Write(
        what="weigh", record=record.but(importance=value), because=because, instead=record, recast=True
    )


def surprises(window: Sequence[Record], wanted: Sequence[int], width: int) -> list[float | None]:
    """How new each wanted record was against all before it in the window."""
    if not wanted:
        return []
    rows = first_rows([record.vector for record in window], [record.level for record in window], width)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    nearest = (float((rows[:at] @ rows[at]).max()) if at else None for at in wanted)
    return [surprise(cosine) for cosine in nearest]


def _is_ours(record: Record) -> bool:
    return record.state.weighed and not is_protected(record) and _by_formula(record) is None


def _by_formula(record: Record) -> float | None:
    """States and actions that tell their reward, health or change have formulas of their own."""
    reward, health = _number(record.data, "reward"), _number(record.data, "health")
    change = _number(record.data, "state_change")
    if record.kind is Kind.ACTION and (reward, change) != (None, None):
        return action_importance(reward, change)
    if record.kind is Kind.STATE and (reward, health) != (None, None):
        return state_importance(health, reward)
    return None


def _number(data: Json, name: str) -> float | None:
    value = data.get(name) if isinstance(data, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _tags(meta: Mapping[str, Json]) -> list[str]:
    tags = meta.get("tags", meta.get("tag", ()))
    if isinstance(tags, str | list | tuple):
        return [tag for tag in ([tags] if isinstance(tags, str) else tags) if isinstance(tag, str)]
    return []
