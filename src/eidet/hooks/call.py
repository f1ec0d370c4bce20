"""Captures one call of an agent: the state before it, the result and the state after it.

The method runs exactly once, whatever happens to the capture.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from types import FunctionType
from typing import Any, Final, TypeVar
from uuid import UUID

from ..core.validate import Json
from .captured import Captured, NotPlain, number, open_name, part, plain, state_of
from .keep import KnownAgent, Plan, agents, failures

MARK: Final = "__eidet_hooked__"  # the attribute of a method that is captured
PLAN: Final = "__eidet_hooks__"  # the attribute of a class that holds its plan
_Key = tuple[int, str, int, int]
_Method = Callable[..., Any]
T = TypeVar("T")
_running: Final[ContextVar[frozenset[_Key]]] = ContextVar("eidet_hooks", default=frozenset())


def _plan_of(agent: Any) -> Plan | None:
    """Returns the plan of the agent, else that of its class, else None."""
    known = agents.find(agent)
    own = None if known is None else known.plan
    return own if own is not None else getattr(type(agent), PLAN, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call in progress, with the state before it. Errors of the capture are logged and never escape."""

    agent: Any
    plan: Plan
    method: str
    known: KnownAgent
    step: int
    arguments: Mapping[str, Json]
    before: Mapping[str, Json] | None
    started: float
    clock: float

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Marks the method as running: nested calls of it on the same agent belong to this call."""
        before = _running.get()
        token = _running.set(before | {_key_of(self.agent, self.method)})
        try:
            yield
        finally:
            _running.reset(token)

    def finish(self, result: Any) -> None:
        if (captured := self._capture(result, None)) is not None:
            self._keep(captured)

    async def finish_without_blocking(self, result: Any) -> None:
        """Finishes the call without blocking the loop while it waits for disk or server."""
        captured = self._capture(result, None)
        if captured is not None and _in_asyncio():
            await asyncio.to_thread(self._keep, captured)
        elif captured is not None:
            self._keep(captured)

    def fail(self, error: BaseException) -> None:
        if (captured := self._capture(None, error)) is not None:
            self._keep(captured)

    def _capture(self, result: Any, error: BaseException | None) -> Captured | None:
        seconds = time.perf_counter() - self.clock
        return _safely(self._place("result"), lambda: self._make_captured(result, error, seconds))

    def _make_captured(self, result: Any, error: BaseException | None, seconds: float) -> Captured:
        after = _safely(self._place("state after"), lambda: state_of(self.agent))
        with self.known.lock:
            known, self.known.last = _same(self.known.last, self.before), after
        step = _step_of(self.agent, after)
        action = part(result, "action_type", "action")
        return Captured(
            agent=_name_of(self.agent, self.plan, self.known, after or self.before),
            method=self.method,
            step=self.step,
            step_after=self.step + 1 if step is None else step,
            started=self.started,
            seconds=seconds,
            arguments=self.arguments,
            before=self.before,
            after=after,
            result=_plainly(result),
            action=action if isinstance(action, str) else self.method,
            reward=number(part(result, "reward")),
            error=None if error is None else f"{type(error).__name__}: {error}",
            before_known=known,
        )

    def _keep(self, captured: Captured) -> None:
        _safely(self._place("keeping"), lambda: self.plan.keep(self.agent, captured))

    def _place(self, what: str) -> str:
        return f"{what} of {type(self.agent).__name__}.{self.method}"


def hook_method(method: FunctionType) -> _Method:
    """Returns the method with a capture around it, of the same kind: plain or coroutine."""
    wrapper = _coroutine(method) if inspect.iscoroutinefunction(method) else _plain(method)
    setattr(wrapper, MARK, True)
    return wrapper


def _plain(method: _Method) -> _Method:
    @wraps(method)
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if (call := _begin_call(self, method, args, kwargs)) is None:
            return method(self, *args, **kwargs)
        try:
            with call.inside():
                result = method(self, *args, **kwargs)
        except BaseException as error:
            call.fail(error)
            raise
        if inspect.iscoroutine(result):
            return _await_call(call, result)
        call.finish(result)
        return result

    return wrapper


def _coroutine(method: _Method) -> _Method:
    @wraps(method)
    async def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if (call := _begin_call(self, method, args, kwargs)) is None:
            return await method(self, *args, **kwargs)
        return await _await_call(call, method(self, *args, **kwargs))

    return wrapper


async def _await_call(call: Call, running: Any) -> Any:
    try:
        with call.inside():
            result = await running
    except BaseException as error:
        call.fail(error)
        raise
    await call.finish_without_blocking(result)
    return result


def _begin_call(agent: Any, method: _Method, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call | None:
    """Begins a capture; returns None without a plan, or if the call is part of a captured one."""
    name = method.__name__
    return _safely(f"begin of {type(agent).__name__}.{name}", lambda: _begin(agent, method, args, kwargs))


def _begin(agent: Any, method: _Method, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call | None:
    plan, name = _plan_of(agent), method.__name__
    if plan is None or name not in plan.methods or _key_of(agent, name) in _running.get():
        return None
    known = agents.of(agent)
    before = _safely(f"state before of {type(agent).__name__}.{name}", lambda: state_of(agent))
    counted, stated = known.call(), _step_of(agent, before)
    return Call(
        agent=agent,
        plan=plan,
        method=name,
        known=known,
        step=counted if stated is None else stated,
        arguments=_arguments(method, agent, args, kwargs),
        before=before,
        started=time.time(),
        clock=time.perf_counter(),
    )


def _key_of(agent: Any, method: str) -> _Key:
    """Returns the key of a running call, which another thread or task does not share."""
    return id(agent), method, threading.get_ident(), _task()


def _task() -> int:
    try:
        return id(asyncio.current_task())
    except RuntimeError:
        return 0


def _in_asyncio() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _safely(place: str, what: Callable[[], T]) -> T | None:
    """Calls `what`; logs an error and returns None, so that no fault disturbs the agent."""
    try:
        return what()
    except Exception as error:  # noqa: BLE001  any state, result or store of a user may raise anything
        failures.warn(place, error)
        return None


def _same(one: Mapping[str, Json] | None, other: Mapping[str, Json] | None) -> bool:
    return one is not None and one == other


def _arguments(
    method: _Method, agent: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Json]:
    """Returns the arguments by name, as far as JSON can hold them."""
    try:
        bound = inspect.signature(method).bind_partial(agent, *args, **kwargs)
    except TypeError:  # the method itself will raise it
        return {}
    _, *given = bound.arguments.items()
    arguments: dict[str, Json] = plain({name: value for name, value in given if open_name(name)})
    return arguments


def _plainly(value: Any) -> Json:
    try:
        return plain(value)
    except NotPlain:
        return str(type(value).__name__)


def _name_of(agent: Any, plan: Plan, known: KnownAgent, state: Mapping[str, Json] | None) -> str:
    """Returns the name given when hooked, else that of the state or agent, else a generated one."""
    own = (getattr(agent, name, None) for name in ("agent_id", "name"))
    stated = next(filter(None, (plan.agent_id, part(state or {}, "agent_id"), *own)), None)
    return str(stated) if isinstance(stated, str | int | UUID) else known.name_agent(type(agent))


def _step_of(agent: Any, state: Mapping[str, Json] | None) -> int | None:
    """Returns the step of the state, or else of the agent."""
    step = _whole_number(part(state or {}, "step_number"))
    return step if step is not None else _whole_number(getattr(agent, "step_number", None))


def _whole_number(value: Any) -> int | None:
    found = None if isinstance(value, bool) else number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**53 else None
