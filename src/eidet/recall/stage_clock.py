"""Measures the time of each stage of a recall."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(slots=True)
class StageClock:
    """Milliseconds per stage."""

    at: float = field(default_factory=time.perf_counter)
    millis: dict[str, float] = field(default_factory=dict)

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.millis[stage] = (now - self.at) * 1000
        self.at = now
