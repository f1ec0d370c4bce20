"""An upkeep tells how far it is: rising, up to all of it, whatever it is asked to do."""

from __future__ import annotations

import pytest

from eidet import Memory
from eidet.upkeep import WORKS


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize("only", [None, "move", "merge", ("move", "expire"), WORKS])
def test_an_upkeep_tells_how_far_it_is(dry_run: bool, only: str | tuple[str, ...] | None) -> None:
    told: list[tuple[int, int]] = []
    with Memory(embedder="hashing:64") as memory:
        for scope in ("ann", "ben"):
            memory.remember([f"note {number}" for number in range(30)], scope=scope)
        memory.upkeep.maintain(dry_run=dry_run, only=only, progress=lambda done, of: told.append((done, of)))
    assert told == sorted(told)
    assert len(told) >= 2
    assert told[-1][0] == told[-1][1]
    assert len({of for _, of in told}) == 1
