"""Hooks that remember the actions and states of an agent, without changing the agent.

`install_hooks` is for a class, `with_hooks` for one agent. For each call of a method (`act` by default),
the state before and after, the changes, the result, the reward and the time are kept as records of kind
state and action. The method runs exactly once, and its result and exceptions are passed on as they are;
failures of the memory are logged ("eidet"), at most once a minute for each place.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import wraps
from types import FunctionType
from typing import Any, Final, TypeGuard, TypeVar, Unpack, overload
from uuid import UUID

from ..core.errors import BadInput
from ..core.validate import Json
from .captured import Captured, NotPlain, number, open_name, part, plain, state_of
from .keep import HookOptions, KnownAgent, Plan, find_known, know, warn

__all__ = ["Captured", "HookOptions", "install_hooks", "with_hooks"]

C = TypeVar("C", bound=type)
A = TypeVar("A")

_MARK: Final = "__eidet_hooked__"  # the attribute of a method that is captured
_PLAN: Final = "__eidet_hooks__"  # the attribute of a class that holds its plan
_Key = tuple[int, str, int, int]
_Method = Callable[..., Any]
T = TypeVar("T")
_running: Final[ContextVar[frozenset[_Key]]] = ContextVar("eidet_hooks", default=frozenset())


@overload
def install_hooks(cls: None = None, **options: Unpack[HookOptions]) -> Callable[[C], C]: ...
@overload
def install_hooks(cls: C, **options: Unpack[HookOptions]) -> C: ...
def install_hooks(cls: C | None = None, **options: Unpack[HookOptions]) -> C | Callable[[C], C]:
    """Captures the calls of agents of a class and its subclasses: `@install_hooks(memory=memory)`.

    Options are those of `HookOptions`. Class methods, static methods and generators are left alone.
    Installing again only changes where captures go.
    """
    plan = Plan.of(options)
    if cls is None:
        return lambda chosen: _install(chosen, plan)
    return _install(cls, plan)


def with_hooks(agent: A, **options: Unpack[HookOptions]) -> A:
    """Captures the calls of one agent, also those it makes itself; returns the same agent.

    Options are those of `HookOptions`. The methods of its class look up the plan of their agent at each
    call, so no other agent is captured. Calling it again only changes where captures go.
    """
    plan, cls = Plan.of(options), type(agent)
    methods = {name: inspect.getattr_static(cls, name, None) for name in plan.methods}
    if not any(_hookable(method) or getattr(method, _MARK, False) for method in methods.values()):
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture that returns")
    _hook_methods(cls, methods)
    know(agent).plan = plan
    if find_known(agent) is None:
        raise BadInput(f"{cls.__name__} cannot be hooked: add '__weakref__' to its __slots__")
    return agent


def _hook_methods(cls: type, methods: Mapping[str, object]) -> None:
    """Wraps plain methods in captures, except those that are wrapped already."""
    for name, method in methods.items():
        if _hookable(method):
            try:
                setattr(cls, name, _hook_method(method))
            except TypeError as error:
                raise BadInput(f"{cls.__name__} cannot be hooked: {error}") from None


def _install(cls: C, plan: Plan) -> C:
    """Installs capture on a class; keeps what it or a base class captures already."""
    if not isinstance(cls, type):
        raise BadInput(f"install_hooks is for a class, not {type(cls).__name__}; with_hooks is for an agent")
    found = [name for name in plan.methods if inspect.getattr_static(cls, name, None) is not None]
    before: Plan | None = getattr(cls, _PLAN, None)
    if not found:
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture")
    _hook_methods(cls, {name: inspect.getattr_static(cls, name) for name in found})
    if _PLAN not in cls.__dict__:
        _hook_subclasses(cls)
    names = (*(before.methods if before else ()), *plan.methods)
    setattr(cls, _PLAN, replace(plan, methods=tuple(dict.fromkeys(names))))
    return cls


def _hook_subclasses(cls: type) -> None:
    """Makes future subclasses capture the methods that they override."""
    own = cls.__dict__.get("__init_subclass__")

    def announce(sub: Any, /, **options: Any) -> None:
        if own is not None:
            own.__get__(None, sub)(**options)
        else:  # the class may be a copy by now, as dataclasses with slots are: find that
            owner: Any = next(one for one in sub.__mro__ if one.__dict__.get("__init_subclass__") is made)
            super(owner, sub).__init_subclass__(**options)
        _hook_own(sub)

    made: Any = classmethod(announce)
    setattr(cls, "__init_subclass__", made)  # noqa: B010  it is ours to set


def _hook_own(sub: type) -> None:
    plan: Plan = getattr(sub, _PLAN)
    _hook_methods(sub, {name: sub.__dict__.get(name) for name in plan.methods})


def _hookable(method: object) -> TypeGuard[FunctionType]:
    """Returns whether it is a plain or coroutine method that is not captured yet, and no generator."""
    if not isinstance(method, FunctionType) or getattr(method, _MARK, False):
        return False
    return not inspect.isgeneratorfunction(method) and not inspect.isasyncgenfunction(method)


# One call.


def _plan_of(agent: Any) -> Plan | None:
    """Returns the plan of the agent, else that of its class, else None."""
    known = find_known(agent)
    own = None if known is None else known.plan
    return own if own is not None else getattr(type(agent), _PLAN, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
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

    def finish(self, result: Any = None, error: BaseException | None = None) -> None:
        self._keep(self._capture(result, error))

    async def finish_without_blocking(self, result: Any) -> None:
        """Finishes the call without blocking the loop while it waits for disk or server."""
        captured = self._capture(result, None)
        if _in_asyncio():
            await asyncio.to_thread(self._keep, captured)
        else:
            self._keep(captured)

    def _capture(self, result: Any, error: BaseException | None) -> Captured | None:
        seconds = time.perf_counter() - self.clock
        return _safely(self._place("result"), lambda: self._make_captured(result, error, seconds))

    def _make_captured(self, result: Any, error: BaseException | None, seconds: float) -> Captured:
        after = _safely(self._place("state after"), lambda: state_of(self.agent))
        with self.known.lock:
            known = self.before is not None and self.known.last == self.before
            self.known.last = after
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

    def _keep(self, captured: Captured | None) -> None:
        if captured is not None:
            _safely(self._place("keeping"), lambda: self.plan.keep(self.agent, captured))

    def _place(self, what: str) -> str:
        return f"{what} of {type(self.agent).__name__}.{self.method}"


def _hook_method(method: FunctionType) -> _Method:
    """Returns the method with a capture around it, of the same kind: plain or coroutine."""
    wrapper = _coroutine(method) if inspect.iscoroutinefunction(method) else _plain(method)
    setattr(wrapper, _MARK, True)
    return wrapper


def _plain(method: _Method) -> _Method:
    name = method.__name__

    @wraps(method)
    def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        call = _safely(f"begin of {type(self).__name__}.{name}", lambda: _begin(self, method, args, kwargs))
        if call is None:
            return method(self, *args, **kwargs)
        try:
            with call.inside():
                result = method(self, *args, **kwargs)
        except BaseException as error:
            call.finish(error=error)
            raise
        if inspect.iscoroutine(result):
            return _await_call(call, result)
        call.finish(result)
        return result

    return wrapper


def _coroutine(method: _Method) -> _Method:
    name = method.__name__

    @wraps(method)
    async def wrapper(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        call = _safely(f"begin of {type(self).__name__}.{name}", lambda: _begin(self, method, args, kwargs))
        if call is None:
            return await method(self, *args, **kwargs)
        return await _await_call(call, method(self, *args, **kwargs))

    return wrapper


async def _await_call(call: _Call, running: Any) -> Any:
    try:
        with call.inside():
            result = await running
    except BaseException as error:
        call.finish(error=error)
        raise
    await call.finish_without_blocking(result)
    return result


def _begin(agent: Any, method: _Method, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> _Call | None:
    """Begins a capture; returns None without a plan, or if the call is part of a captured one."""
    plan, name = _plan_of(agent), method.__name__
    if plan is None or name not in plan.methods or _key_of(agent, name) in _running.get():
        return None
    known = know(agent)
    before = _safely(f"state before of {type(agent).__name__}.{name}", lambda: state_of(agent))
    counted, stated = next(known.calls), _step_of(agent, before)
    return _Call(
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
        warn(place, error, time.monotonic())
        return None


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
    return str(stated) if isinstance(stated, str | int | UUID) else f"{type(agent).__name__}-{known.number}"


def _step_of(agent: Any, state: Mapping[str, Json] | None) -> int | None:
    """Returns the step of the state, or else of the agent."""
    step = _whole_number(part(state or {}, "step_number"))
    return step if step is not None else _whole_number(getattr(agent, "step_number", None))


def _whole_number(value: Any) -> int | None:
    found = None if isinstance(value, bool) else number(value)
    return int(found) if found is not None and found.is_integer() and abs(found) < 2**53 else None
