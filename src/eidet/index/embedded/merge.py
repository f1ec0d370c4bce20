"""The answers of several scopes as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import Candidates, Rows, Span, Traits

D = TypeVar("D", bound=np.generic)

_seq_of: Final = attrgetter("seq")
_dense_of: Final = attrgetter("dense")
_words_of: Final = attrgetter("words")
_traits_of: Final = attrgetter("traits")
_low_of: Final = attrgetter("low")
_high_of: Final = attrgetter("high")


def merge_candidates(parts: list[Candidates]) -> Candidates:
    """Candidates of several scopes (one to a part) as one answer; scores stay as they are."""
    if len(parts) == 1:
        return parts[0]
    codes, searched, kept, rarity = [], 0, 0, 0.0
    damaged: Counter[str] = Counter()
    scopes: list[str] = []
    notes: dict[str, None] = {}
    for at, part in enumerate(parts):
        codes.append(np.full(len(part), at, np.int32))
        searched, kept, rarity = searched + part.searched, kept + part.kept, max(rarity, part.rarity)
        scopes += part.scopes
        damaged.update(part.damaged)
        notes.update(dict.fromkeys(part.notes))
    seqs = _join(list(map(_seq_of, parts)), np.int64)
    order = np.argsort(seqs, kind="stable")
    traits = _merge_traits(list(map(_traits_of, parts)), order)
    arms = ["dense", "words"] if traits.aligned is None else ["dense", "words", "aligned"]
    return Candidates(
        scopes=scopes,
        scope=_join(codes, np.int32)[order],
        seq=seqs[order],
        dense=_join(list(map(_dense_of, parts)), np.float32)[order],
        words=_join(list(map(_words_of, parts)), np.float32)[order],
        traits=traits,
        spans={arm: _widest(parts, arm) for arm in arms},
        rarity=rarity,
        searched=searched,
        kept=kept,
        damaged=dict(damaged),
        notes=tuple(notes),
    )


def _merge_traits(parts: list[Traits], order: Rows) -> Traits:
    heard: dict[str, None] = {}
    for part in parts:
        heard.update(dict.fromkeys(part.voices))
    voices = tuple(heard)

    def column(read: Callable[[Traits], NDArray[D]], dtype: type[D]) -> NDArray[D]:
        return _join(list(map(read, parts)), dtype)[order]

    def optional(read: Callable[[Traits], NDArray[D] | None]) -> NDArray[D] | None:
        return _join_optional(list(map(read, parts)), order)

    return Traits(
        importance=column(lambda part: part.importance, np.float64),
        occurred=column(lambda part: part.occurred, np.float64),
        session=_renumber(parts)[order],
        turn=column(lambda part: part.turn, np.int32),
        who=column(lambda part: _recode(part, voices), np.int32),
        kind=column(lambda part: part.kind, np.uint8),
        flags=column(lambda part: part.flags, np.uint8),
        length=column(lambda part: part.length, np.float32),
        days=_merge_days(parts, order),
        voices=voices,
        mentions=_merge_mentions(parts, order),
        inside=optional(lambda part: part.inside),
        away=optional(lambda part: part.away),
        aligned=optional(lambda part: part.aligned),
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
    merged = np.concatenate(moved)
    merged[:, 0] = place[merged[:, 0]]
    return merged


def _join_optional(parts: Sequence[NDArray[D] | None], order: Rows) -> NDArray[D] | None:
    """None where one of them is, or there is none."""
    there = [part for part in parts if part is not None]
    return np.concatenate(there)[order] if there and len(there) == len(parts) else None


def _renumber(parts: list[Traits]) -> NDArray[np.int32]:
    """Codes of sessions, so that no two scopes share one; none stays none."""
    fresh, start = [], 0
    for part in parts:
        codes = part.session
        fresh.append(np.where(codes >= 0, codes + start, codes))
        start += int(codes.max(initial=-1)) + 1
    return _join(fresh, np.int32)


def _recode(part: Traits, voices: tuple[str, ...]) -> NDArray[np.int32]:
    """Who spoke, by the numbers of `voices`."""
    number = {who: at for at, who in enumerate(voices)}
    table = np.array([*map(number.__getitem__, part.voices), -1], np.int32)
    return table[part.who]


def _join(arrays: Sequence[NDArray[Any]], dtype: type[D]) -> NDArray[D]:
    return np.concatenate(arrays).astype(dtype) if arrays else np.empty(0, dtype)


def _widest(parts: list[Candidates], arm: str) -> Span:
    """Over all parts of which something passed."""
    spans = [part.spans[arm] for part in parts if part.kept]
    if not spans:
        return Span()
    return Span(min(map(_low_of, spans)), max(map(_high_of, spans)))
