"""Numbers of several workers, added up: whichever of them Prometheus asks, it gets those of all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from .memory_metrics import SHARED


@contextmanager
def share_metrics() -> Iterator[None]:
    """Names a folder for the numbers of the workers that are started inside, unless there is one."""
    if SHARED in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="eidet-metrics-") as folder:
        os.environ[SHARED] = folder
        try:
            yield
        finally:
            del os.environ[SHARED]
