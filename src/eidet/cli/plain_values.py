"""Options whose values need no conversion, taken as they are.

Typer converts every value with Pydantic, whose import takes a quarter of the time of a short command. A text
stays a text, though, and an option that was not given stays None. All other values go to Typer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

from typer.core import TyperCommand

T = TypeVar("T", bound=Iterable[object])


class _ValueConverter(Protocol):
    """What converts the values of one option: Typer's own, or `_PlainValues`."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any: ...


@runtime_checkable
class _ConvertedOption(Protocol):
    """An option of a Typer that makes its converter when the first value comes."""

    type_descriptor: Any
    multiple: bool
    nargs: int
    get_runtime_param: Callable[[], _ValueConverter]


class _PlainValues:
    """Converts the values of one option, with Typer's converter only where there is something to convert."""

    def __init__(self, make_converter: Callable[[], _ValueConverter]) -> None:
        self._make_converter = make_converter

    def __call__(self) -> _PlainValues:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if param.type_descriptor.annotation is type(value) and type(value) in (str, int) and not several:
            return value
        return self._make_converter().coerce(value, param=param, ctx=ctx)


class PlainCommand(TyperCommand):
    """A command whose options take plain values as they are."""

    def get_params(self, ctx: Any) -> Any:
        return take_plain_values(super().get_params(ctx))


def take_plain_values(options: T) -> T:
    """Makes options take plain values as they are; with another Typer, they stay as they were."""
    for option in options:
        if isinstance(option, _ConvertedOption) and not isinstance(option.get_runtime_param, _PlainValues):
            option.get_runtime_param = _PlainValues(option.get_runtime_param)
    return options
