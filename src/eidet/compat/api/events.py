"""Hooks on events of a memory, called by priority. Memories that they return are stored."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from ...core.errors import EidetError
from .errors import MemoryConfigException, MemoryStoreException, log

if TYPE_CHECKING:
    from .space import MemorySpace

Hook = Callable[..., Any]
DEEPEST: Final = 5  # levels of events that hooks trigger


class Events:
    """The hooks of one API. A hook that fails is logged, and the others are called."""

    def __init__(self) -> None:
        self._hooks: dict[str, list[tuple[float, Hook]]] = {}  # with priorities
        self._depth = threading.local()

    def register(self, event: str, hook: Hook, priority: int = 5) -> None:
        """Registers a hook. Higher priorities are called first, equal ones in order of registration."""
        if not isinstance(event, str) or not event or not callable(hook):
            raise MemoryConfigException("a hook is a callable for an event with a name")
        if isinstance(priority, bool) or not isinstance(priority, int | float):
            raise MemoryConfigException(f"the priority of a hook is a number, not {priority!r}")
        added = [*self._hooks.get(event, ()), (priority, hook)]
        self._hooks[event] = sorted(added, key=lambda one: -one[0])

    def fire(self, event: str, data: Mapping[str, Any], space: MemorySpace) -> list[Any]:
        """Calls the hooks and returns the result of each, None for one that failed."""
        hooks = self._hooks.get(event, ())
        if not hooks:
            return []
        depth = getattr(self._depth, "now", 0)
        if depth >= DEEPEST:
            log.warning(
                "event %s: hooks trigger events %s levels deep; calling no hook for this one", event, depth
            )
            return []
        self._depth.now = depth + 1
        try:
            return [self._call_hook(hook, event, dict(data), space) for _, hook in hooks]
        finally:
            self._depth.now = depth

    def _call_hook(self, hook: Hook, event: str, data: dict[str, Any], space: MemorySpace) -> Any:
        try:
            answer = hook(data, space)
            if isinstance(answer, Mapping) and answer.get("store_memory"):
                _store(answer, data, space)
        except Exception as error:  # noqa: BLE001  code of the user: whatever it does, the memory goes on
            level = logging.WARNING if isinstance(error, EidetError) else logging.ERROR
            log.log(level, "a hook of event %s failed: %r", event, error, exc_info=error)
            return None
        return answer


def _store(answer: Mapping[str, Any], data: Mapping[str, Any], space: MemorySpace) -> None:
    contents = answer.get("memory_data")
    if not isinstance(contents, Mapping):
        raise MemoryStoreException("a hook that stores a memory answers with memory_data, a dict")
    step = answer.get("step_number", data.get("step_number", 0))
    kind = answer.get("memory_type", "state")
    space.store(contents, step, answer.get("priority", 1.0), memory_type=kind)
