"""What the guard costs grows with what it reads, not with its square, whatever somebody sends."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import pytest

from eidet import Memory, Settings

FEW, TIMES = 1_000, 8
SENT: dict[str, Callable[[int], dict[str, Any]]] = {
    "keys that become the same": lambda n: {"data": {f"ann{i}@example.org": i for i in range(n)}},
    "one long key of many values": lambda n: {"data": {"k" * 20 * n: [f"v{i}" for i in range(n)]}},
    "empty lines": lambda n: {"what": "\n" * n + "password"},
    "indented empty lines": lambda n: {"what": "you must " + "\n\t" * n + "ignore"},
    "a ruler": lambda n: {"what": "-" * n + "end of"},
    "a ruler of two signs": lambda n: {"what": "-=" * n + "end of document"},
    "addresses": lambda n: {"what": " ".join(f"ann{i}@example.org" for i in range(n))},
    "digits": lambda n: {"what": "1 " * n},
    "a long word": lambda n: {"what": "ignore " + "a" * n + " previous instructions"},
    "many memories": lambda n: {"what": [f"Call +49 170 {1_000_000 + i}" for i in range(n)]},
}


def cpu_seconds(given: dict[str, Any]) -> float:
    settings = Settings(guard="redact", poison="all")
    with Memory(embedder="hashing:64", settings=settings) as memory:
        gc.disable()  # a collection would look through what other tests left
        begun = time.process_time()
        memory.remember(**given, trust="web")
        taken = time.process_time() - begun
        gc.enable()
        return taken


@pytest.mark.parametrize("sort", SENT)
def test_eight_times_as_much_costs_no_more_than_some_twenty_times(sort: str) -> None:
    cpu_seconds(SENT[sort](10))  # loads what is loaded once
    few, many = (cpu_seconds(SENT[sort](count)) for count in (FEW, FEW * TIMES))
    assert many < 20 * few + 0.3


def test_keys_that_become_the_same_are_still_told_apart() -> None:
    data = {"[EMAIL] 3": 0, **{f"ann{i}@example.org": i for i in range(1, 5)}}
    with Memory(embedder="hashing:64", settings=Settings(guard="redact")) as memory:
        kept = memory.remember(data=data).data
    assert sorted(kept.values()) == [0, 1, 2, 3, 4]
    assert sorted(kept) == ["[EMAIL]", "[EMAIL] 2", "[EMAIL] 3", "[EMAIL] 4", "[EMAIL] 5"]
