"""The answers of several scopes as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import Candidates, Rows, Span, Traits

D = TypeVar("D", bound=np.generic)


def merge_candidates(parts: list[Candidates]) -> Candidates:
    """Candidates of several scopes (one to a part) as one answer; scores stay as they are."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(_join([part.seq for part in parts], np.int64), kind="stable")
    codes = [np.full(len(part), at, np.int32) for at, part in enumerate(parts)]
    damaged: Counter[str] = Counter()
    scopes: list[str] = []
    notes: dict[str, None] = {}
    for part in parts:
        scopes += part.scopes
        damaged.update(part.damaged)
        notes.update(dict.fromkeys(part.notes))
    traits = _merge_traits([part.traits for part in parts], order)
    arms = ["dense", "words"] if traits.aligned is None else ["dense", "words", "aligned"]
    return Candidates(
        scopes=scopes,
        scope=_join(codes, np.int32)[order],
        seq=_join([part.seq for part in parts], np.int64)[order],
        dense=_join([part.dense for part in parts], np.float32)[order],
        words=_join([part.words for part in parts], np.float32)[order],
        traits=traits,
        spans={arm: _widest(parts, arm) for arm in arms},
        rarity=max((part.rarity for part in parts), default=0.0),
        searched=sum(part.searched for part in parts),
        kept=sum(part.kept for part in parts),
        damaged=dict(damaged),
        notes=tuple(notes),
    )


def _merge_traits(parts: list[Traits], order: Rows) -> Traits:
    heard: dict[str, None] = {}
    for part in parts:
        heard.update(dict.fromkeys(part.voices))
    voices = tuple(heard)

    def column(name: Callable[[Traits], NDArray[D]], dtype: type[D]) -> NDArray[D]:
        return _join([name(part) for part in parts], dtype)[order]

    return Traits(
        importance=column(lambda part: part.importance, np.float64),
        occurred=column(lambda part: part.occurred, np.float64),
        session=_renumber([part.session for part in parts])[order],
        turn=column(lambda part: part.turn, np.int32),
        who=_join([_recode(part, voices) for part in parts], np.int32)[order],
        kind=column(lambda part: part.kind, np.uint8),
        flags=column(lambda part: part.flags, np.uint8),
        length=column(lambda part: part.length, np.float32),
        days=_merge_days(parts, order),
        voices=voices,
        mentions=_merge_mentions(parts, order),
        inside=_join_optional([part.inside for part in parts], order),
        away=_join_optional([part.away for part in parts], order),
        aligned=_join_optional([part.aligned for part in parts], order),
    )


def _merge_mentions(parts: list[Traits], order: Rows) -> tuple[NDArray[np.bool_], ...]:
    by_name = zip(*[part.mentions for part in parts], strict=True)
    return tuple(np.concatenate(masks)[order] for masks in by_name)


def _merge_days(parts: list[Traits], order: Rows) -> NDArray[np.int32]:
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    moved, start = [np.empty((0, 3), np.int32)], 0
    for part in parts:
        days = part.days.copy()
        days[:, 0] += start
        moved.append(days)
        start += len(part.turn)
    told = np.concatenate(moved)
    told[:, 0] = place[told[:, 0]]
    return told


def _join_optional(parts: Sequence[NDArray[D] | None], order: Rows) -> NDArray[D] | None:
    """None where one of them is, or there is none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there)[order] if there and len(there) == len(parts) else None


def _renumber(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Codes of several scopes, so that no two scopes share one; none stays none."""
    fresh, start = [], 0
    for codes in parts:
        fresh.append(np.where(codes >= 0, codes + start, codes))
        start += int(codes.max(initial=-1)) + 1
    return _join(fresh, np.int32)


def _recode(part: Traits, voices: tuple[str, ...]) -> NDArray[np.int32]:
    """Who spoke, by the numbers of `voices`."""
    number = {who: at for at, who in enumerate(voices)}
    table = np.array([*[number[who] for who in part.voices], -1], np.int32)
    return table[part.who]


def _join(arrays: Sequence[NDArray[Any]], dtype: type[D]) -> NDArray[D]:
    return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)


def _widest(parts: list[Candidates], arm: str) -> Span:
    """Over all parts of which something passed."""
    spans = [part.spans[arm] for part in parts if part.kept]
    return Span(min(s.low for s in spans), max(s.high for s in spans)) if spans else Span()
