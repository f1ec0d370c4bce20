"""Hooks that remember the actions and states of an agent, without changing the agent.

`install_hooks` is for a class, `with_hooks` for one agent. For each call of a method (`act` by default),
the state before and after, the changes, the result, the reward and the time are kept as records of kind
state and action. The method runs exactly once, and its result and exceptions are passed on as they are;
failures of the memory are logged ("eidet"), at most once a minute for each place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any, TypeGuard, TypeVar, Unpack, overload

from ..core.errors import BadInput
from .call import MARK, PLAN, hook_method
from .captured import Captured
from .keep import HookOptions, Plan, agents

__all__ = ["Captured", "HookOptions", "install_hooks", "with_hooks"]

C = TypeVar("C", bound=type)
A = TypeVar("A")


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
    if not any(_hookable(method) or getattr(method, MARK, False) for method in methods.values()):
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture that returns")
    _hook_methods(cls, methods)
    agents.of(agent).plan = plan
    if agents.find(agent) is None:
        raise BadInput(f"{cls.__name__} cannot be hooked: add '__weakref__' to its __slots__")
    return agent


def _hook_methods(cls: type, methods: Mapping[str, object]) -> None:
    """Wraps plain methods in captures, except those that are wrapped already."""
    for name, method in methods.items():
        if _hookable(method):
            try:
                setattr(cls, name, hook_method(method))
            except TypeError as error:
                raise BadInput(f"{cls.__name__} cannot be hooked: {error}") from None


def _install(cls: C, plan: Plan) -> C:
    """Installs capture on a class; keeps what it or a base class captures already."""
    if not isinstance(cls, type):
        raise BadInput(f"install_hooks is for a class, not {type(cls).__name__}; with_hooks is for an agent")
    found = [name for name in plan.methods if inspect.getattr_static(cls, name, None) is not None]
    before: Plan | None = getattr(cls, PLAN, None)
    if not found:
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture")
    _hook_methods(cls, {name: inspect.getattr_static(cls, name) for name in found})
    if PLAN not in cls.__dict__:
        _hook_subclasses(cls)
    names = (*(before.methods if before else ()), *plan.methods)
    setattr(cls, PLAN, replace(plan, methods=tuple(dict.fromkeys(names))))
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
    plan: Plan = getattr(sub, PLAN)
    _hook_methods(sub, {name: sub.__dict__.get(name) for name in plan.methods})


def _hookable(method: object) -> TypeGuard[FunctionType]:
    """Returns whether it is a plain or coroutine method that is not captured yet, and no generator."""
    if not isinstance(method, FunctionType) or getattr(method, MARK, False):
        return False
    return not inspect.isgeneratorfunction(method) and not inspect.isasyncgenfunction(method)
