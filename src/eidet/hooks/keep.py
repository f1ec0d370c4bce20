"""The destination of captures, the registry of agents, and the log of failures."""

from __future__ import annotations

import logging
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypedDict

from ..aio import AsyncMemory
from ..core.errors import BadInput
from ..core.validate import Json
from ..memory import Memory
from .captured import Captured

log: Final = logging.getLogger("eidet")
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
        if self.store is not None and not callable(self.store):
            raise BadInput(f"store must be a function that takes a Captured, not {type(self.store).__name__}")

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
    """What the hooks know of one agent: its own plan if any, its name, its calls, its last state."""

    plan: Plan | None = None
    name: str = ""
    calls: int = 0
    last: Mapping[str, Json] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self) -> int:
        """Counts a call and returns its number, from 0."""
        with self.lock:
            self.calls += 1
            return self.calls - 1

    def name_agent(self, kind: type) -> str:
        """Returns a generated name for an agent without one, the same each time."""
        with self.lock:
            self.name = self.name or f"{kind.__name__}-{uuid.uuid4().hex[:8]}"
            return self.name


class AgentRegistry:
    """Maps each agent to its `KnownAgent` while it lives. Agents need not be hashable and stay unchanged.

    An agent that does not support weak references, as one with `__slots__`, is not remembered.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], KnownAgent]] = {}
        self._lock = threading.RLock()  # reentrant: a weak reference may die while it is held

    def of(self, agent: Any) -> KnownAgent:
        with self._lock:
            found = self.find(agent)
            if found is None:
                found = KnownAgent()
                with suppress(TypeError):
                    self._known[id(agent)] = weakref.ref(agent, partial(self._end, id(agent))), found
            return found

    def find(self, agent: Any) -> KnownAgent | None:
        known = self._known.get(id(agent))
        return None if known is None or known[0]() is not agent else known[1]

    def _end(self, at: int, gone: weakref.ref[Any]) -> None:
        with self._lock:
            if (there := self._known.get(at)) is not None and there[0] is gone:
                del self._known[at]


class ThrottledLog:
    """Logs failures, at most once a minute for each place."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged: dict[str, float] = {}
        self._lock = threading.Lock()

    def warn(self, place: str, error: BaseException) -> None:
        now = self._clock()
        with self._lock:
            last = self._logged.get(place)
            if last is not None and now - last < _EVERY_SECONDS:
                return
            self._logged[place] = now
        log.warning("hooks: %s: %s: %s", place, type(error).__name__, error, exc_info=error)


agents: Final = AgentRegistry()
failures: Final = ThrottledLog()
