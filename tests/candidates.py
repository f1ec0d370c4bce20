"""Candidates made by hand, as an index would find them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eidet.core.record import Kind
from eidet.index import Candidates, Traits
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


def found_of(turns: Sequence[Turn], **more: Any) -> Candidates:
    days = [(row, *when) for row, one in enumerate(turns) for when in one.days]
    traits: dict[str, Any] = {
        "kind": np.array([KINDS.index(one.kind) for one in turns], np.uint8),
        "days": np.array(days, np.int32).reshape(-1, 3),
        "voices": ("ann", "bob"),
        **_columns(turns, _TRAITS),
        **{name: value for name, value in more.items() if name in Traits.__dataclass_fields__},
    }
    said: dict[str, Any] = {
        "scopes": ["a", "b"],
        "rarity": 1.0,
        "searched": len(turns),
        "kept": len(turns),
        **_columns(turns, _SCORES),
        **{name: value for name, value in more.items() if name not in Traits.__dataclass_fields__},
    }
    return Candidates(seq=np.arange(1, len(turns) + 1), traits=Traits(**traits), **said)


def column(found: Candidates, name: str) -> Any:
    """A score or a trait of all candidates."""
    return getattr(found.traits if name in Traits.__dataclass_fields__ else found, name)


def _columns(turns: Sequence[Turn], kinds: dict[str, Any]) -> dict[str, Any]:
    return {name: np.array([getattr(one, name) for one in turns], kind) for name, kind in kinds.items()}


_SCORES: dict[str, Any] = {"dense": np.float32, "words": np.float32, "scope": np.int32}
_TRAITS: dict[str, Any] = {
    "session": np.int32,
    "turn": np.int32,
    "who": np.int32,
    "flags": np.uint8,
    "length": np.float32,
    "importance": np.float64,
    "occurred": np.float64,
}


def asked(**what: Any) -> Understood:
    return Understood(text="what?", dense="what?", **what)
