"""What to say where nothing was found because nobody named a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..core.scope import Scope
from .memory_options import Which
from .show import console, plain

if TYPE_CHECKING:
    from ..memory import Memory

NAMED: Final = 3


def tell_elsewhere(on: Which, memory: Memory) -> None:
    """Names scopes that hold records, if the usual one holds none and no other was asked for."""
    if on.scope is not None or on.json:
        return
    counts = memory.scopes()
    usual = Scope().path
    if not counts or usual in counts:
        return
    names = sorted(counts, key=counts.__getitem__, reverse=True)
    listed = ", ".join(plain(name) for name in names[:NAMED])
    if len(names) > NAMED:
        listed += f" and {len(names) - NAMED:,} more (`eidet scopes`)"
    console(stderr=True).print(
        f"the scope {usual} has no records; --scope names another one: {listed}", soft_wrap=True
    )
