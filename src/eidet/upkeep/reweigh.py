"""Importance that nobody stated: from the content when a record is written, from its life afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import numpy as np

from ..core.record import Kind, Record
from ..core.validate import Json
from ..models.embed.quantise import first_rows
from . import Change, Write, is_protected
from .curve import DAY
from .importance import EVEN, Weights, action_importance, importance, state_importance, surprise

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
