"""Hooks that record what an agent's methods do."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, overload

from ...core.errors import EidetError
from ...core.validate import Json
from ...hooks import Captured, install_hooks, with_hooks
from .api import AgentMemoryAPI
from .config import MemoryConfig
from .errors import MemoryConfigException
from .models import ActionData, AgentState
from .space import MemorySpace

C = TypeVar("C", bound=type)
A = TypeVar("A")
Target = AgentMemoryAPI | MemorySpace | None


class _Default:
    """The API of agents without one of their own: one per process, in RAM."""

    api: AgentMemoryAPI | None = None
    lock = threading.Lock()


def default_memory_api() -> AgentMemoryAPI:
    """Returns the API for agents without one of their own."""
    with _Default.lock:
        if _Default.api is None:
            _Default.api = AgentMemoryAPI()
        return _Default.api


def set_default_memory_api(api: AgentMemoryAPI | None) -> None:
    """Replaces the default API; None makes a new one in RAM when it is next needed."""
    with _Default.lock:
        _Default.api = api


class BaseAgent:
    """An agent to inherit from. `config` may be, or have as "memory", an AgentMemoryAPI or a MemoryConfig.

    The hooks count its steps, unless it sets `step_number` itself.
    """

    def __init__(self, config: Any = None, agent_id: str | None = None) -> None:
        self.config = config
        self.agent_id: str = agent_id or f"agent-{uuid.uuid4().hex[:12]}"
        self.step_number: int | None = None
        self.memory_api: AgentMemoryAPI = _api_in(config)

    def act(self, observation: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} says what it does in act(observation)")

    def get_state(self) -> AgentState:
        """Returns the agent's current state; override it to add `extra_data`."""
        return AgentState(agent_id=self.agent_id, step_number=self.step_number)

    @property
    def memory_space(self) -> MemorySpace:
        """The memories of this agent."""
        return self.memory_api.get_memory_space(self.agent_id)


def _api_in(config: Any) -> AgentMemoryAPI:
    given = config.get("memory") if isinstance(config, Mapping) else config
    if isinstance(given, AgentMemoryAPI):
        return given
    if isinstance(given, MemoryConfig):
        return AgentMemoryAPI(given)
    return default_memory_api()


@overload
def install_memory_hooks(cls: C) -> C: ...
@overload
def install_memory_hooks(
    cls: None = None,
    *,
    memory: Target = None,
    agent_id: str | None = None,
    methods: str | Sequence[str] = ("act",),
) -> Callable[[C], C]: ...
def install_memory_hooks(
    cls: C | None = None,
    *,
    memory: Target = None,
    agent_id: str | None = None,
    methods: str | Sequence[str] = ("act",),
) -> C | Callable[[C], C]:
    """Records what agents of a class do: the state before and after, the action, what changed.

    The memory is the given one, or the agent's own `memory_api`, or the default one. The method runs
    exactly once, whatever memory does; failures of the memory are logged.
    """

    def install(chosen: C) -> C:
        _check(memory)
        install_hooks(chosen, store=_sink(memory, agent_id), agent_id=agent_id, methods=methods)
        _bind_new(chosen, memory, agent_id, methods)
        return chosen

    return install if cls is None else install(cls)


def with_memory(
    agent: A, agent_id: str | None = None, *, memory: Target = None, methods: str | Sequence[str] = ("act",)
) -> A:
    """Records what one agent does. Returns the same agent."""
    _check(memory)
    try:
        return _bind_agent(agent, memory, agent_id, methods)
    except EidetError as error:
        raise MemoryConfigException(f"this agent cannot be given a memory: {error}") from error


def _check(memory: object) -> None:
    if not isinstance(memory, AgentMemoryAPI | MemorySpace | None):
        raise MemoryConfigException(
            f"memory is an AgentMemoryAPI or a MemorySpace, not {type(memory).__name__}"
        )


def _bind_new(cls: Any, memory: Target, agent_id: str | None, methods: str | Sequence[str]) -> None:
    """Makes each new agent of the class write to the memory it belongs to."""
    begin = cls.__init__

    @wraps(begin)
    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        _bind_agent(self, memory, agent_id, methods)

    cls.__init__ = make


def _bind_agent(agent: A, memory: Target, agent_id: str | None, methods: str | Sequence[str]) -> A:
    own = getattr(agent, "memory_api", None)
    target = memory or (own if isinstance(own, AgentMemoryAPI) else None)
    name = agent_id or (target.agent_id if isinstance(target, MemorySpace) else None)
    return with_hooks(agent, store=_sink(target, name), agent_id=name, methods=methods)


def _sink(target: Target, agent_id: str | None) -> Callable[[Captured], None]:
    def keep(captured: Captured) -> None:
        space = target
        if not isinstance(space, MemorySpace):
            space = (space or default_memory_api()).get_memory_space(agent_id or captured.agent)
        space.store_batch(list(_memories(captured)))

    return keep


def _memories(captured: Captured) -> Iterator[dict[str, Any]]:
    """Yields the state before (unless it is known already), the action and the state after."""
    before, after, step = captured.before, captured.after, captured.step
    if before is not None and not captured.before_known:
        yield _memory("state", before, step, captured.state_importance(before))
    yield _memory("action", _action(captured), step, captured.action_importance)
    if after is not None:
        yield _memory("state", after, captured.step_after, captured.state_importance(after))


def _memory(kind: str, contents: Mapping[str, Json], step: int, priority: float) -> dict[str, Any]:
    return {"memory_type": kind, "contents": contents, "step_number": step, "priority": priority}


def _action(captured: Captured) -> dict[str, Json]:
    return ActionData(
        action_type=captured.action or captured.method,
        agent_id=captured.agent,
        step_number=captured.step,
        action_params=dict(captured.arguments),
        state_before=dict(captured.before or {}),
        state_after=dict(captured.after or {}),
        state_difference=dict(captured.changes),
        result=captured.result,
        reward=captured.reward,
        execution_time=captured.seconds,
        outcome="success" if captured.error is None else "error",
        error=captured.error,
    ).as_dict()
