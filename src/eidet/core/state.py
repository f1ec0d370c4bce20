"""The state that Eidet keeps of a record besides its content: pins, holds, labels, links. Frozen values.

The caller's own `meta` never means anything to Eidet, and Eidet never writes into it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Final

from .validate import Json, copy_json, dump_json


class Misshapen(ValueError):
    """Raised for a value that does not have the shape that Eidet writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """A pin or a legal hold: since when, by whom, and the expiry that comes back when it ends."""

    at: float
    by: str | None = None
    expires: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonLabel:
    """A score from 0 to 1 of how much a text looks like instructions to the agent, and why."""

    score: float
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quarantine:
    """A quarantine: since when, the trust before it, by whom and why."""

    at: float
    was: str
    by: str | None = None
    because: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """An approval: by whom, when, and the digest of the content approved."""

    at: float
    digest: str
    by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The scope that a record was promoted from, when and by whom."""

    scope: str
    at: float
    by: str | None = None


def _no_state() -> State:
    return NO_STATE


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPart:
    """A record that upkeep merged into another one, with everything that the other does not say."""

    id: str
    text: str
    occurred: float
    source: str | None = None
    session: str | None = None
    importance: float | None = None
    meta: Mapping[str, Json] = field(default_factory=dict)
    state: State = field(default_factory=_no_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Internal state of a record; `NO_STATE` if there is none.

    Conditions ask for it as `state.hold`, `state.poison.score` and so on, in the form of `to_json`.
    """

    pinned: Protection | None = None
    hold: Protection | None = None
    ttl: float | None = None  # seconds it lives on after it was read
    poison: PoisonLabel | None = None
    quarantine: Quarantine | None = None
    reviewed: Review | None = None
    promoted: Promotion | None = None
    merged: tuple[MergedPart, ...] = ()
    weighed: bool = False  # Eidet may change its importance
    used_before_move: int = 0
    worded_by: str | None = None  # what worded a record that upkeep made: `rules`, or another
    pii: tuple[str, ...] = ()  # classes of personal data that were in it
    more: Mapping[str, Json] = field(default_factory=dict)  # fields of a newer version, kept as they are

    def but(self, **changes: Any) -> State:
        """Returns the state with some fields changed; `NO_STATE` itself if nothing is left."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        new = State(**(kept | changes))
        if new == NO_STATE:
            return NO_STATE
        return new

    @property
    def is_protected(self) -> bool:
        """Returns whether the record is pinned or under a legal hold."""
        return self.pinned is not None or self.hold is not None

    def protect_from(self, expires: float | None) -> State:
        """Stores an expiry with the present pins and holds, to return when they end."""
        if expires is None:
            return self
        marks = {name: getattr(self, name) for name in PROTECTIONS}
        waiting = {name: _until(mark, expires) for name, mark in marks.items() if mark is not None}
        return self.but(**waiting)

    def own(self) -> State:
        """Returns a copy that shares nothing mutable: the `meta` of merged parts is a dict."""
        if self.merged or self.more:
            return State.from_json(copy_json(self.to_json()))
        return self

    def to_json(self) -> dict[str, Json]:
        """Encodes the state; leaves out fields with their default, and restores those of a newer version."""
        if self is NO_STATE:
            return {}
        values = {name: _as_json(value) for name in _READ if (value := getattr(self, name))}
        return {**values, **self.more}

    @staticmethod
    def from_json(values: Any) -> State:
        """Decodes a state; raises Misshapen if a field that this version knows has another shape."""
        if not isinstance(values, dict):
            raise Misshapen(f"a state is a dict, not {type(values).__name__}")
        if not values:
            return NO_STATE
        known = {name: _READ[name](value) for name, value in values.items() if name in _READ}
        return State(**known, more={name: value for name, value in values.items() if name not in _READ})


PROTECTIONS: Final = ("pinned", "hold")
NO_STATE: Final[State] = State()


def dump_state(state: State) -> str | None:
    """Encodes a state as JSON; None if it is empty."""
    values = state.to_json()
    if values:
        return dump_json(values)
    return None


def _until(mark: Protection, expires: float) -> Protection:
    return Protection(at=mark.at, by=mark.by, expires=expires)


def _as_json(value: Any) -> Json:
    if isinstance(value, State):
        return value.to_json()
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    if not isinstance(value, _PARTS):
        return value
    values = {one.name: _as_json(getattr(value, one.name)) for one in fields(value)}
    return {name: item for name, item in values.items() if item not in (None, {}, [])}


# Parsers of what `to_json` wrote: each accepts one shape, and raises Misshapen for any other.


def _parse_number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Misshapen(f"{value!r:.80} is not a number")
    return value


def _positive(value: Json) -> float:
    if not _parse_number(value) > 0:
        raise Misshapen(f"{value!r:.80} is not above 0")
    if isinstance(value, float):
        return float(value)
    return int(value)


def _count(value: Json) -> int:
    if type(value) is not int or value < 1:
        raise Misshapen(f"{value!r:.80} is not a count")
    return value


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise Misshapen(f"{value!r:.80} is not a text")
    return value


def _texts(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise Misshapen(f"{value!r:.80} is not a list of texts")
    return tuple(map(_text, value))


def _true(value: Json) -> bool:
    if value is not True:
        raise Misshapen(f"{value!r:.80} is not true")
    return True


def _mapping(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise Misshapen(f"{value!r:.80} is not a dict")
    return value


def _read_part(kind: type[Any], value: Json) -> Any:
    """Parses one part of a state; raises Misshapen if a field is missing, unknown or of another type."""
    shape, items = _SHAPES[kind], _mapping(value)
    if unknown := items.keys() - shape.keys():
        raise Misshapen(f"{sorted(unknown)} is not known of {kind.__name__}")
    try:
        return kind(**{name: shape[name](item) for name, item in items.items()})
    except TypeError as error:
        raise Misshapen(str(error)) from None


def _parse_merged(value: Json) -> tuple[MergedPart, ...]:
    if not isinstance(value, list) or not value:
        raise Misshapen(f"{value!r:.80} is not a list of parts")
    return tuple(_read_part(MergedPart, part) for part in value)


_PARTS: Final = (Protection, PoisonLabel, Quarantine, Review, Promotion, MergedPart)
_READERS: Final[dict[str, Callable[[Json], Any]]] = {  # by the annotation of a field
    "float": _parse_number,
    "int": _count,
    "bool": _true,
    "str": _text,
    "tuple[str, ...]": _texts,
    "Mapping[str, Json]": _mapping,
    "State": State.from_json,
    "tuple[MergedPart, ...]": _parse_merged,
    **{kind.__name__: partial(_read_part, kind) for kind in _PARTS},
}
_SHAPES: Final[dict[Any, dict[str, Callable[[Json], Any]]]] = {
    kind: {one.name: _READERS[str(one.type).removesuffix(" | None")] for one in fields(kind)}
    for kind in (*_PARTS, State)
}
_READ: Final = {name: read for name, read in _SHAPES[State].items() if name != "more"} | {"ttl": _positive}
