"""The place of a memory, as Haystack's stores are given it and serialize it."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any, TypeAlias

from ...core.errors import BadInput, Misconfigured
from ...memory import Memory
from ...store.traits import path_of
from ..extras import make_missing

try:
    from haystack.utils import Secret
except ModuleNotFoundError as error:
    raise make_missing("Haystack", "haystack") from error

Place: TypeAlias = Memory | str | Path | Secret


class OpenedPlace:
    """A memory, or the place of one that is opened when it is first used; only a place can be serialized."""

    def __init__(self, given: Place) -> None:
        self.given = given
        self._memory: Memory | None = None
        self._lock = threading.Lock()
        if isinstance(given, Memory):
            self._memory = given

    @property
    def memory(self) -> Memory:
        with self._lock:
            if self._memory is None:
                self._memory = Memory(_resolve(self.given))
            return self._memory

    def to_dict(self) -> Any:
        given = self.given
        if isinstance(given, Secret):
            return given.to_dict()
        if isinstance(given, Memory):
            path = path_of(given.parts.store)
            if path is None:
                raise Misconfigured("only a memory in a file can be serialized; name its place instead")
            return str(path)
        place = str(given)
        if "://" in place and ("@" in place or "?" in place):
            raise Misconfigured(
                "an address with a login or options is not serialized; give it as Secret.from_env_var('…')"
            )
        return place

    def close(self) -> None:
        """Closes the memory if it was opened here."""
        with self._lock:
            if self._memory is not None and not isinstance(self.given, Memory):
                self._memory.close()
                self._memory = None


def _resolve(given: Any) -> str | Path:
    if not isinstance(given, Secret):
        return given
    place = given.resolve_value()
    if not place:
        raise Misconfigured("the secret that names the memory is empty")
    return str(place)


def check_list(given: Any, kind: type) -> None:
    """`BadInput`, which is a ValueError, unless it is a list of these."""
    if not isinstance(given, list):
        raise BadInput(f"give a list of {kind.__name__}, not {type(given).__name__}")
    for item in given:
        if not isinstance(item, kind):
            raise BadInput(f"give a list of {kind.__name__}, not one with {type(item).__name__}")
