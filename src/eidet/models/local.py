"""Models of optional packages that run in this process: loaded on first use, one call at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import Any, TypeVar

from ..core.errors import MissingExtra

T = TypeVar("T")


class LocalModel:
    """Calls run one after another: the tokenizers inside are not safe to share between threads."""

    def __init__(self, package: str, load: Callable[[], Any], *, wanted_by: str) -> None:
        if find_spec(package) is None:
            raise MissingExtra(wanted_by, extra=package.replace("_", "-"))
        self._load = load
        self._lock = threading.Lock()

    def run(self, job: Callable[[Any], T]) -> T:
        """Returns what the job makes of the model."""
        with self._lock:
            return job(self._model)

    @cached_property
    def _model(self) -> Any:
        return self._load()
