"""What `eidet doctor` finds slow: by times that were measured, not by guesses."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ..memory import Memory
from ..models.embed import Embedder
from .diagnosis import CheckResult, ok, warning
from .show import size_text

SLOW_TEXT: Final = 0.1  # seconds to embed a text
SLOW_RECALL: Final = 0.25  # seconds
TRIES: Final = 3
FEW: Final = 20  # recalls; the time of fewer says little
LONG_LOG: Final = 256_000_000  # bytes of a write-ahead log
MANY: Final = 50_000  # records on a server whose vectors every process loads


def time_embedder(embedder: Embedder) -> float:
    """Seconds for one text, once the model is loaded: the best of a few, as a busy machine disturbs."""
    best = float("inf")
    for number in range(TRIES):
        start = time.perf_counter()
        embedder.embed([f"How long does short text {number} take?"])
        best = min(best, time.perf_counter() - start)
    return best


def check_embedder(seconds: float) -> Iterator[CheckResult]:
    if seconds > SLOW_TEXT:
        yield warning(
            "speed",
            f"the embedder takes {seconds * 1000:,.0f} ms a text",
            "eidet rebuild --reembed --embedder wordllama: 0.02 ms a text, offline; compare by `eidet eval`",
            "slow",
        )


def check_recalls(retrieval: Mapping[str, Any]) -> Iterator[CheckResult]:
    """How long recalls took in the last days, as the memory itself noted."""
    p95 = retrieval["seconds_p95"]
    if retrieval["recalls"] < FEW or p95 is None:
        return
    message = f"recalls take {retrieval['seconds_p50'] * 1000:,.1f} ms p50, {p95 * 1000:,.1f} ms p95"
    if p95 > SLOW_RECALL:
        yield warning("speed", message, "eidet recall --explain shows which stage takes the time", "slow")
    else:
        yield ok("speed", message)


def check_log(file: Path) -> Iterator[CheckResult]:
    """A long write-ahead log slows every reader; it shrinks when the last program closes the memory."""
    log = Path(f"{file}-wal")
    if log.exists() and log.stat().st_size > LONG_LOG:
        yield warning(
            "speed",
            f"{log} has {size_text(log.stat().st_size)}",
            "stop the programs that use the memory once, then run `eidet stats`",
            "slow",
        )


def check_index(memory: Memory, *, on_server: bool) -> Iterator[CheckResult]:
    """Whether each process has to load what a server could search."""
    if not on_server or not memory.parts.has_embedded_index:
        return
    records = memory.admin.stats()["records"]
    if records > MANY:
        yield warning(
            "speed",
            f"each process loads {records:,} vectors from the server when it starts",
            "let the server search: `CREATE EXTENSION vector` in PostgreSQL, or set EIDET_INDEX",
            "slow",
        )
