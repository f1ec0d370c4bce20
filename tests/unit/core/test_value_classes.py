"""Classes made by our `dataclass` are as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import pytest

from eidet.core.value_classes import dataclass

T = TypeVar("T")
Class = type[Any]
Decorator = Callable[[Class], Class]


def make_part(decorate: Decorator) -> Class:
    @decorate
    class Part:
        name: str
        sizes: list[int] = dataclasses.field(default_factory=list)
        secret: str = dataclasses.field(default="hidden", repr=False)
        note: object = dataclasses.field(default=None, compare=False)
        total: int = dataclasses.field(default=0, init=False)
        made: list[int] = dataclasses.field(default_factory=list, init=False)
        count: ClassVar[int] = 3

    return Part


def make_checked(decorate: Decorator) -> Class:
    @decorate
    class Checked:
        """Has a check of its own."""

        low: int
        high: int = 9
        width: int = dataclasses.field(init=False)

        def __post_init__(self) -> None:
            if self.low > self.high:
                raise ValueError("low is above high")
            object.__setattr__(self, "width", self.high - self.low)

    return Checked


def make_empty(decorate: Decorator) -> Class:
    @decorate
    class Empty:
        pass

    return Empty


def make_one(decorate: Decorator) -> Class:
    @decorate
    class One:
        value: float

    return One


def make_mixed(decorate: Decorator) -> Class:
    @decorate
    class Mixed:
        first: int
        second: int = 2
        third: int = dataclasses.field(default=3, kw_only=True)

    return Mixed


def make_own(decorate: Decorator) -> Class:
    @decorate
    class Own:
        left: int
        right: int = 0

        def __init__(self, left: int) -> None:
            object.__setattr__(self, "left", left)
            object.__setattr__(self, "right", -left)

        def __repr__(self) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.left == other.left

        def __hash__(self) -> int:
            return 7

    return Own


def make_own_eq(decorate: Decorator) -> Class:
    @decorate
    class OwnEq:  # noqa: PLW1641 - the decorator writes it
        left: int

        def __eq__(self, other: object) -> bool:
            return True

    return OwnEq


def make_boxed(decorate: Decorator) -> Class:
    @decorate
    class Boxed(Generic[T]):
        inside: T

    return Boxed


CASES = [
    (make_part, {"name": "oak"}),
    (make_part, {"name": "oak", "sizes": [1, 2], "secret": "s", "note": "n"}),
    (make_checked, {"low": 3}),
    (make_empty, {}),
    (make_one, {"value": 2.5}),
    (make_mixed, {"first": 1, "third": 8}),
    (make_own, {"left": 4}),
    (make_own_eq, {"left": 4}),
    (make_boxed, {"inside": (1, 2)}),
]
Make = Callable[[Decorator], Class]


def tell(act: Callable[..., object], *words: object, **named: object) -> tuple[str, str]:
    """What an act gives, or how it fails, in words."""
    try:
        return "gives", repr(act(*words, **named))
    except (TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error)


def tell_of_instances(cls: Class, arguments: dict[str, Any]) -> list[object]:
    one = cls(**arguments)
    two = cls(**arguments)
    told: list[object] = [repr(one), one == two, one != two, one == 5, one.__eq__(5), dataclasses.asdict(one)]
    told += [tell(hash, one)[0], tell(dataclasses.replace, one), tell(dataclasses.replace, one, other=1)]
    told += [copy.copy(one) == one, copy.deepcopy(one) == one, hasattr(one, "__dict__"), one.__getstate__()]
    told += [tell(cls), tell(cls, 1, 2), tell(cls, 1, 2, 3, 4), tell(cls, unknown=1), tell(cls, low=10)]
    if told[6] == "gives":
        told += [hash(one) == hash(two), {one: 1}.get(one)]
    for field in dataclasses.fields(cls):
        told += [tell(setattr, one, field.name, 1), tell(delattr, one, field.name)]
    return told


def tell_of_class(cls: Class) -> list[object]:
    params = cls.__dataclass_params__
    return [
        [(field.name, field.type, field.init, field.kw_only) for field in dataclasses.fields(cls)],
        *(str(inspect.signature(cls)), cls.__match_args__, cls.__slots__, "count" in dir(cls)),
        *(tell(get_type_hints, cls.__init__), cls.__init__.__qualname__, cls.__eq__.__qualname__),
        *(params.frozen, params.eq, params.repr, params.init),
    ]


@pytest.mark.parametrize("kw_only", [True, False])
@pytest.mark.parametrize(("make", "arguments"), CASES)
def test_classes_are_as_those_of_the_standard_library(
    make: Make, arguments: dict[str, Any], kw_only: bool
) -> None:
    ours = make(dataclass(frozen=True, slots=True, kw_only=kw_only))
    theirs = make(dataclasses.dataclass(frozen=True, slots=True, kw_only=kw_only))
    assert tell_of_class(ours) == tell_of_class(theirs)
    assert repr(tell_of_instances(ours, arguments)) == repr(tell_of_instances(theirs, arguments))


def test_a_default_is_made_anew_for_each_instance() -> None:
    made = make_part(dataclass(frozen=True, slots=True, kw_only=True))
    assert made(name="a").sizes is not made(name="b").sizes


@dataclass(frozen=True, slots=True)
class Sent:
    """Found by its name when it is read back."""

    value: int
    rest: tuple[object, ...] = ()


def test_an_instance_is_read_back_from_a_pickle() -> None:
    sent = Sent(1, ("a",))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(sent, protocol)) == sent


def test_a_frozen_class_may_be_derived_from_one_of_ours() -> None:
    @dataclasses.dataclass(frozen=True)
    class More(Sent):
        name: str = ""

    @dataclass(frozen=True, slots=True)
    class Most(Sent):
        name: str = ""

    for cls in (More, Most):
        made = cls(1, ("b",), "c")
        assert (made.value, made.rest, made.name) == (1, ("b",), "c")
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.value = 2  # type: ignore[misc]


def test_an_unknown_attribute_is_refused_as_a_field_is() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'other'"):
        Sent(1).other = 2  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'other'"):
        del Sent(1).other  # type: ignore[attr-defined]


def test_fields_compare_as_tuples_do() -> None:
    unknown = float("nan")
    assert Sent(1, (unknown,)) == Sent(1, (unknown,))
    made = make_one(dataclass(frozen=True, slots=True))
    assert made(unknown) == made(unknown)
    assert made(unknown) != made(float("nan"))


def test_an_instance_that_holds_itself_can_be_shown() -> None:
    held: list[object] = []
    sent = Sent(1, (held,))
    held.append(sent)
    assert repr(sent).endswith("Sent(value=1, rest=([...],))")


def test_other_kinds_of_classes_are_left_to_the_standard_library() -> None:
    @dataclass
    class Loose:
        value: int = 1

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        value: int = 1

    loose = Loose()
    loose.value = 2
    assert loose == Loose(2)
    assert Same() != Same()
