"""What the tests of a memory's life share."""

from __future__ import annotations

from eidet import Memory
from eidet.core.settings import Upkeep

NOW = 1_700_000_000.0
LONG = " ".join(f"Ann told on day {n} of the {n * 7}th house she had seen in Lisbon." for n in range(40))
QUICK = Upkeep(short_age_days=1, middle_age_days=10)


def tiers(memory: Memory) -> list[str]:
    return [f"{record.tier} {record.level}" for record in memory.find(order="created")]
