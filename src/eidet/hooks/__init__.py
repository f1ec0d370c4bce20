"""Hooks: what an agent does and becomes is remembered, without changing the agent.

`install_hooks` is for a class, `with_hooks` for one agent. Around each call of a method (`act`, unless
said otherwise) the state before and after, what changed, the result, the reward and the time are kept
as records of kind state and action. The method runs exactly once and its answer and its exceptions
are its own; trouble with the memory is told in the log ("eidet"), at most once a minute for each place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import lru_cache
from types import FunctionType
from typing import Any, Final, TypeGuard, TypeVar, Unpack, cast, overload

from ..core.errors import BadInput
from .call import PLAN
from .captured import Captured
from .keep import HookOptions, Plan, agents
from .watch import MARK, hook_method

__all__ = ["Captured", "HookOptions", "install_hooks", "with_hooks"]

C = TypeVar("C", bound=type)
A = TypeVar("A")


@overload
def install_hooks(cls: None = None, **options: Unpack[HookOptions]) -> Callable[[C], C]: ...
@overload
def install_hooks(cls: C, **options: Unpack[HookOptions]) -> C: ...
def install_hooks(cls: C | None = None, **options: Unpack[HookOptions]) -> C | Callable[[C], C]:
    """Captures what the agents of a class and of its subclasses do: `@install_hooks(memory=memory)`.

    Options are those of `HookOptions`. Class methods and static methods are left alone. Installing again
    only changes where captures go.
    """
    plan = Plan.of(options)
    if cls is None:
        return lambda chosen: _install(chosen, plan)
    return _install(cls, plan)


def with_hooks(agent: A, **options: Unpack[HookOptions]) -> A:
    """Captures what one agent does, also when it calls its own methods; the same agent.

    Options are those of `HookOptions`. Other agents of its class are left alone. It becomes an instance of a
    subclass that has its class's name; copies and pickles of it are of the class itself. Calling it again
    only changes where captures go.
    """
    plan = Plan.of(options)
    names = tuple(name for name in plan.methods if _hookable(inspect.getattr_static(type(agent), name, None)))
    if not names and not any(_is_hooked(type(agent), name) for name in plan.methods):
        raise BadInput(f"{type(agent).__name__} has no method {' or '.join(plan.methods)} to capture")
    if names:
        _become(agent, _make_hooked_class(cast("Hashable", type(agent)), names))
    agents.of(agent).plan = plan
    return agent


def _is_hooked(cls: type, name: str) -> bool:
    return bool(getattr(inspect.getattr_static(cls, name, None), MARK, False))


def _install(cls: C, plan: Plan) -> C:
    """What is captured already, of the class itself or of one it inherits from, stays so."""
    if not isinstance(cls, type):
        raise BadInput(f"install_hooks is for a class, not {type(cls).__name__}; with_hooks is for an agent")
    found = [name for name in plan.methods if inspect.getattr_static(cls, name, None) is not None]
    before: Plan | None = getattr(cls, PLAN, None)
    if not found:
        raise BadInput(f"{cls.__name__} has no method {' or '.join(plan.methods)} to capture")
    for name in found:
        method = inspect.getattr_static(cls, name)
        if _hookable(method):
            setattr(cls, name, hook_method(method))
    if PLAN not in cls.__dict__:
        _hook_subclasses(cls)
    names = (*(before.methods if before else ()), *plan.methods)
    setattr(cls, PLAN, replace(plan, methods=tuple(dict.fromkeys(names))))
    return cls


def _hook_subclasses(cls: type) -> None:
    """What a subclass overrides is captured as well."""
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
    for name in plan.methods:
        method = sub.__dict__.get(name)
        if _hookable(method):
            setattr(sub, name, hook_method(method))


class _Silent:
    """Keeps a subclass that is made for hooks from announcing itself to the class of the agent."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        pass


def _silent(metaclass: Any) -> Any:
    """A metaclass that puts `_Silent` behind a class, not beneath it: its instances keep their layout."""
    order = {"mro": lambda made: [made, _Silent, *metaclass.mro(made)[1:]]}
    return type(metaclass.__name__, (metaclass,), order)


@lru_cache(maxsize=256)
def _make_hooked_class(cls: Any, names: tuple[str, ...]) -> type:
    def reduce(self: Any, protocol: Any) -> Any:
        return _as_of(super(made_class, self).__reduce_ex__(protocol), made_class, cls)

    body: dict[str, Any] = {
        "__slots__": (),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__reduce_ex__": reduce,
    }
    methods = {name: inspect.getattr_static(cls, name) for name in names}
    body |= {
        name: hook_method(method) for name, method in methods.items() if isinstance(method, FunctionType)
    }
    made_class: Any = _silent(type(cls))(cls.__name__, (cls,), body)
    return cast("type", made_class)


def _as_of(reduced: Any, made: type, cls: type) -> Any:
    """What pickles and copies go by, with the class itself in the place of the one made for hooks."""
    if not isinstance(reduced, tuple) or len(reduced) < 2:
        return reduced
    make, args, *rest = reduced
    replaced = tuple(cls if arg is made else arg for arg in args)
    ours = _NEW.get(make.__name__ if made in args else "")  # pickle wants theirs to be of the hooked class
    return (ours or (cls if make is made else make), replaced, *rest)


def _new(cls: Any, *args: Any) -> Any:
    return cls.__new__(cls, *args)


def _new_ex(cls: Any, args: Any, kwargs: Any) -> Any:
    return cls.__new__(cls, *args, **kwargs)


_NEW: Final[dict[str, Callable[..., Any]]] = {"__newobj__": _new, "__newobj_ex__": _new_ex}


def _become(agent: Any, cls: type) -> None:
    try:
        object.__setattr__(agent, "__class__", cls)
    except TypeError as error:
        raise BadInput(
            f"{type(agent).__name__} cannot be hooked as an instance ({error}); install_hooks on its class"
        ) from None


def _hookable(method: object) -> TypeGuard[FunctionType]:
    """Whether it is a plain method, of any of the four kinds, without a capture around it."""
    return isinstance(method, FunctionType) and not getattr(method, MARK, False)
