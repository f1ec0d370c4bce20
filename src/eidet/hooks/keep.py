"""The destination of captures, what is known of each agent, and the log of failures."""

from __future__ import annotations

import logging
import math
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final, TypedDict

from ..aio import AsyncMemory
from ..core.arguments import check_callback
from ..core.errors import BadInput
from ..core.validate import Json
from ..memory import Memory
from .captured import Captured

_log: Final = logging.getLogger("eidet")
_EVERY_SECONDS: Final = 60.0

Store = Callable[[Captured], None]
Source = Memory | AsyncMemory | Callable[[Any], Memory | AsyncMemory | None] | None


class HookOptions(TypedDict, total=False):
    """The options of `install_hooks` and `with_hooks`."""

    memory: Source
    """Where captures go: a memory, or a function of the agent. The default is the agent's own `memory`."""
    methods: str | Sequence[str]
    """The methods to capture. The default is `act`."""
    store: Store | None
    """A function that gets each `Captured` instead of a memory."""
    agent_id: str | None
    """The name of the agent. The default is what the agent or its state says."""
    scope: str
    """The scope of the records."""
    session: str | None
    """The session of the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The methods to capture, and where to keep the captures."""

    memory: Source = None
    store: Store | None = None
    methods: tuple[str, ...] = ("act",)
    agent_id: str | None = None
    scope: str = "default"
    session: str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and self.store is not None:
            raise BadInput("captures go to a memory or to your own store=, not to both")
        known = self.memory is None or isinstance(self.memory, Memory | AsyncMemory) or callable(self.memory)
        if not known:
            raise BadInput(
                f"memory must be a Memory or a function of an agent, not {type(self.memory).__name__}"
            )
        check_callback(self.store, "store")

    @classmethod
    def of(cls, options: HookOptions) -> Plan:
        methods = options.get("methods", ("act",))
        names = (methods,) if isinstance(methods, str) else tuple(methods)
        if not names or not all(isinstance(name, str) and name.isidentifier() for name in names):
            raise BadInput(f"methods are names such as ('act',), not {methods!r}")
        given: dict[str, Any] = {**options, "methods": names}
        return cls(**given)

    def keep(self, agent: Any, captured: Captured) -> None:
        if self.store is not None:
            self.store(captured)
            return
        if (memory := self._memory(agent)) is None:
            raise BadInput(
                "there is no memory to keep what was captured: pass memory=… or an agent with a `memory`"
            )
        memory.remember(captured.drafts(), scope=self.scope, session=self.session)

    def _memory(self, agent: Any) -> Memory | None:
        found: Any = self.memory
        if found is None:
            found = getattr(agent, "memory", None)
        elif not isinstance(found, Memory | AsyncMemory):
            found = found(agent)
        if isinstance(found, AsyncMemory):
            return found.core
        if isinstance(found, Memory):
            return found
        return None


@dataclass(slots=True)
class KnownAgent:
    """What the hooks know of one agent: its own plan if any, its calls from 0, and its last state.

    `number` names an agent without a name, the same each time.
    """

    plan: Plan | None = None
    calls: Iterator[int] = field(default_factory=count)
    last: Mapping[str, Json] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)
    number: str = field(default_factory=lambda: uuid.uuid4().hex[:8])


_known: Final[dict[int, KnownAgent]] = {}  # by the identity of living agents, which need not be hashable


def find_known(agent: Any) -> KnownAgent | None:
    return _known.get(id(agent))


def know(agent: Any) -> KnownAgent:
    """Returns what is known of an agent, from now on while it lives.

    Remembers nothing of an agent that does not support weak references, as one with `__slots__`.
    """
    found = find_known(agent)
    if found is None:
        found = KnownAgent()
        with suppress(TypeError):
            weakref.finalize(agent, _known.pop, id(agent), None).atexit = False
            found = _known.setdefault(id(agent), found)
    return found


_warned: Final[dict[str, float]] = {}


def warn(place: str, error: BaseException, now: float) -> None:
    """Logs a failure, at most once a minute for each place."""
    if now - _warned.get(place, -math.inf) >= _EVERY_SECONDS:
        _warned[place] = now
        _log.warning("hooks: %s: %s: %s", place, type(error).__name__, error, exc_info=error)
