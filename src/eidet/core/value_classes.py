"""`dataclass` of the standard library, which makes frozen classes with slots in a quarter of the time.

A start makes some ninety such classes, and the standard decorator compiles six methods for each. This one
compiles `__init__` only, which writes straight into the slots: an instance takes a third less time to make.
The other methods are shared code. Fields compare as tuples do on every version of Python; 3.13 compares one
by one, so that a NaN differs from itself. Every other kind of class is left to the standard library.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, dataclass_transform

Class = type[Any]
Decorator = Callable[[Class], Class]


class Factory:
    """Stands in a signature for a default that is made anew for each instance."""

    def __repr__(self) -> str:
        return "<factory>"


TO_BE_MADE = Factory()


@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    cls: Class | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
) -> Any:
    """Does what `dataclasses.dataclass` does with these options."""
    decorate: Decorator = dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)
    if frozen and slots and eq:
        decorate = make_value_by_keyword if kw_only else make_value
    return decorate if cls is None else decorate(cls)


def make_value_by_keyword(cls: Class) -> Class:
    return make_value(cls, kw_only=True)


def make_value(cls: Class, *, kw_only: bool = False) -> Class:
    if any(map(dataclasses.is_dataclass, cls.__mro__[1:])):
        return dataclasses.dataclass(frozen=True, slots=True, kw_only=kw_only)(cls)
    own = frozenset(cls.__dict__)
    if cls.__doc__ is None:  # or the standard library reads the signature, which takes as long as the rest
        cls.__doc__ = f"{cls.__name__}({', '.join(get_annotations(cls))})"
    made: Class = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls)
    for name, method in write_methods(made).items():
        if name not in own:
            setattr(made, name, method)
    if made.__dict__.get("__hash__") is None:  # Python's own mark of a class that has only an `__eq__`
        made.__hash__ = write_hash(dataclasses.fields(made))
    params = made.__dataclass_params__
    params.init = params.repr = params.eq = params.frozen = True
    return made


def write_methods(cls: Class) -> dict[str, Any]:
    fields = dataclasses.fields(cls)
    written = {"__repr__": write_repr(fields), "__eq__": write_eq(fields), **write_freezing(cls, fields)}
    if "__init__" not in cls.__dict__:
        written["__init__"] = write_init(cls, fields)
    for name, method in written.items():
        method.__qualname__ = f"{cls.__qualname__}.{name}"
    return written | PICKLING


def write_init(cls: Class, fields: tuple[Field[Any], ...]) -> Any:
    names: dict[str, Any] = {"_to_be_made": TO_BE_MADE}
    taken: list[str] = []
    by_keyword: list[str] = []
    lines: list[str] = []
    for field in fields:
        if field.init:
            (by_keyword if field.kw_only else taken).append(write_argument(field, names))
        lines += write_assignment(cls, field, names)
    if "__post_init__" in dir(cls):
        lines.append("self.__post_init__()")
    init = compile_init(cls, [*taken, *["*"][: len(by_keyword)], *by_keyword], lines, names)
    init.__annotations__ = {field.name: field.type for field in fields if field.init} | {"return": None}
    return init


def write_argument(field: Field[Any], names: dict[str, Any]) -> str:
    if field.default is not MISSING:
        names[f"_default_{field.name}"] = field.default
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_to_be_made"


def write_assignment(cls: Class, field: Field[Any], names: dict[str, Any]) -> list[str]:
    """Nothing for a field that is neither an argument nor has a default: `__post_init__` sets it."""
    name = field.name
    names[f"_set_{name}"] = cls.__dict__[name].__set__
    if field.default_factory is not MISSING:
        names[f"_make_{name}"] = field.default_factory
        if field.init:
            return [f"_set_{name}(self, _make_{name}() if {name} is _to_be_made else {name})"]
        return [f"_set_{name}(self, _make_{name}())"]
    if field.init:
        return [f"_set_{name}(self, {name})"]
    names[f"_default_{name}"] = field.default
    return [f"_set_{name}(self, _default_{name})"] if field.default is not MISSING else []


def compile_init(cls: Class, arguments: list[str], lines: list[str], names: dict[str, Any]) -> Any:
    """Compiles within the globals of the module of the class, as type hints are looked up there."""
    header = f"def enclose({', '.join(names)}):\n def __init__({', '.join(['self', *arguments])}):"
    source = "\n  ".join([header, *(lines or ["pass"])]) + "\n return __init__"
    local: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), local)  # noqa: S102 - made of names of fields only
    return local["enclose"](**names)


def write_repr(fields: tuple[Field[Any], ...]) -> Any:
    shown = [field.name for field in fields if field.repr]

    @recursive_repr("...")
    def __repr__(self: Any) -> str:  # noqa: N807
        values = ", ".join([f"{name}={getattr(self, name)!r}" for name in shown])
        return f"{type(self).__qualname__}({values})"

    return __repr__


def write_eq(fields: tuple[Field[Any], ...]) -> Any:
    read = read_tuple([field.name for field in fields if field.compare])

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        if other.__class__ is not self.__class__:
            return NotImplemented
        return read(self) == read(other)

    return __eq__


def write_hash(fields: tuple[Field[Any], ...]) -> Any:
    read = read_tuple(
        [field.name for field in fields if (field.compare if field.hash is None else field.hash)]
    )

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(read(self))

    return __hash__


def read_tuple(names: list[str]) -> Callable[[object], object]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def write_freezing(cls: Class, fields: tuple[Field[Any], ...]) -> dict[str, Any]:
    names = frozenset([field.name for field in fields])

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


def read_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def fill_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=False):
        object.__setattr__(self, field.name, value)


PICKLING = {"__getstate__": read_state, "__setstate__": fill_state}
