"""What to say where nothing was found because the scope holds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..core.scope import ALL, Scope
from .memory_options import Which
from .show import console, plain

if TYPE_CHECKING:
    from ..memory import Memory

NAMED: Final = 3


def tell_elsewhere(on: Which, memory: Memory) -> None:
    """Names scopes that hold records, if the one that was asked for holds none."""
    scope = on.one_scope
    if on.json or ALL in scope:
        return
    counts = memory.scopes()
    if not counts or Scope.of(scope).path in counts:
        return
    names = sorted(counts, key=counts.__getitem__, reverse=True)
    listed = ", ".join(plain(name) for name in names[:NAMED])
    if len(names) > NAMED:
        listed += f" and {len(names) - NAMED:,} more (`eidet scopes`)"
    console(stderr=True).print(
        f"the scope {plain(scope)} has no records; --scope names another one: {listed}", soft_wrap=True
    )
