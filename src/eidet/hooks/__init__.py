"""Hooks: what an agent does and becomes is remembered, without changing the agent.

`install_hooks` is for a class, `with_hooks` for one agent. Around each call of a method (`act`, unless
said otherwise) the state before and after, what changed, the result, the reward and the time are kept
as records of kind state and action. The method runs exactly once and its answer and its exceptions
are its own; trouble with the memory is told in the log ("eidet"), at most once a minute for each place.
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
    """Captures what the agents of a class and of its subclasses do: `@install_hooks(memory=memory)`.

    Options are those of `HookOptions`. Class methods, static methods and generators are left alone.
    Installing again only changes where captures go.
    """
    plan = Plan.of(options)
    if cls is None:
        return lambda chosen: _install(chosen, plan)
    return _install(cls, plan)


def with_hooks(agent: A, **options: Unpack[HookOptions]) -> A:
    """Captures what one agent does, also when it calls its own methods; the same agent.

    Options are those of `HookOptions`. The methods of its class look for the plan of an agent when they are
    called, so nothing of other agents is captured. Calling it again only changes where captures go.
    """
    plan, cls = Plan.of(options), type(agent)
    methods = {name: inspect.getattr_static(cls, name, None) for name in plan.methods}
    if not any(_hookable(method) or getattr(method, MARK, False) for method in methods.values()):
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture that returns")
    _hook_methods(cls, methods)
    agents.of(agent).plan = plan
    return agent


def _hook_methods(cls: type, methods: Mapping[str, object]) -> None:
    """Puts captures around plain methods; those that have one already stay."""
    for name, method in methods.items():
        if _hookable(method):
            try:
                setattr(cls, name, hook_method(method))
            except TypeError as error:
                raise BadInput(f"{cls.__name__} cannot be hooked: {error}") from None


def _install(cls: C, plan: Plan) -> C:
    """Installs capture; what the class or a base class already captures stays."""
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
    """Captures what a subclass overrides, too."""
    own = cls.__dict__.get("__init_subclass__")

    def announce(sub: Any, /, **options: Any) -> None:
        if own is not None:
            own.__get__(None, sub)(**options)
        else:  # the class may be a copy by now, as dataclasses with slots are: look where this is
            owner: Any = next(one for one in sub.__mro__ if one.__dict__.get("__init_subclass__") is made)
            super(owner, sub).__init_subclass__(**options)
        _hook_own(sub)

    made: Any = classmethod(announce)
    setattr(cls, "__init_subclass__", made)  # noqa: B010  it is ours to set


def _hook_own(sub: type) -> None:
    plan: Plan = getattr(sub, PLAN)
    _hook_methods(sub, {name: sub.__dict__.get(name) for name in plan.methods})


def _hookable(method: object) -> TypeGuard[FunctionType]:
    """Tells whether it is a plain method or a coroutine, and not captured yet. Streams are left alone."""
    if not isinstance(method, FunctionType) or getattr(method, MARK, False):
        return False
    return not inspect.isgeneratorfunction(method) and not inspect.isasyncgenfunction(method)
