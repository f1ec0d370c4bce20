"""Candidates made by hand, as an index would find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eidet.core.record import Kind
from eidet.index import Found, Span
from eidet.recall.understand import Understood

DAY = 86_400.0
KINDS = list(Kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One candidate."""

    dense: float = 0.0
    words: float = 0.0
    session: int = -1
    turn: int = -1
    who: int = -1
    kind: Kind = Kind.FACT
    flags: int = 0
    length: float = 5.0
    importance: float = 0.5
    occurred: float = 0.0
    scope: int = 0
    days: tuple[tuple[int, int], ...] = ()


def found_of(turns: Sequence[Turn], **more: Any) -> Found:
    dense, words = ([getattr(one, arm) for one in turns] for arm in ("dense", "words"))
    said: dict[str, Any] = {
        "scopes": ["a", "b"],
        "spans": {"dense": span(dense), "words": Span(0.0, max(words, default=0.0))},
        "rarity": 1.0,
        "voices": ("ann", "bob"),
        "searched": len(turns),
        "kept": len(turns),
    }
    columns = {
        name: np.array([getattr(one, name) for one in turns], kind)
        for name, kind in {
            "dense": np.float32,
            "words": np.float32,
            "session": np.int32,
            "turn": np.int32,
            "who": np.int32,
            "flags": np.uint8,
            "length": np.float32,
            "importance": np.float64,
            "occurred": np.float64,
            "scope": np.int32,
        }.items()
    }
    days = [(row, *when) for row, one in enumerate(turns) for when in one.days]
    return Found(
        seq=np.arange(1, len(turns) + 1),
        kind=np.array([KINDS.index(one.kind) for one in turns], np.uint8),
        days=np.array(days, np.int32).reshape(-1, 3),
        **{**said, **columns, **more},
    )


def span(values: Sequence[float]) -> Span:
    return Span(min(values, default=0.0), max(values, default=0.0))


def asked(**what: Any) -> Understood:
    return Understood(text="what?", dense="what?", **what)
