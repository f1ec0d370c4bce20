"""The state that Eidet keeps of a record besides its content: pins, holds, labels, links. Frozen values.

The caller's own `meta` never means anything to Eidet, and Eidet never writes into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from .validate import Json, copy_json


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
    state: State = field(default_factory=lambda: NO_STATE)


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
        marks = {name: getattr(self, name) for name in ("pinned", "hold")}
        return self.but(**{name: replace(mark, expires=expires) for name, mark in marks.items() if mark})

    def own(self) -> State:
        """Returns a copy that shares nothing mutable: the `meta` of merged parts is a dict."""
        if self.merged or self.more:
            return State.from_json(copy_json(self.to_json()))
        return self

    def to_json(self) -> dict[str, Json]:
        """Encodes the state; leaves out fields with their default, and restores those of a newer version."""
        if self is NO_STATE:
            return {}
        values = {name: _as_json(value) for name in _KNOWN if (value := getattr(self, name))}
        return {**values, **self.more}

    @staticmethod
    def from_json(values: Any) -> State:
        """Decodes a state; raises Misshapen if a field that this version knows has another shape."""
        if not isinstance(values, dict):
            raise Misshapen(f"a state is a dict, not {type(values).__name__}")
        if not values:
            return NO_STATE
        known = {name: _parse(_KNOWN[name], value) for name, value in values.items() if name in _KNOWN}
        if "ttl" in known and not known["ttl"] > 0:
            raise Misshapen(f"a ttl of {known['ttl']!r:.80} is not above 0")
        return State(**known, more={name: value for name, value in values.items() if name not in _KNOWN})


NO_STATE: Final[State] = State()


def _as_json(value: Any) -> Json:
    if isinstance(value, State):
        return value.to_json()
    if isinstance(value, tuple):
        return [_as_json(item) for item in value]
    if type(value).__name__ not in _PARTS:
        return value
    values = {one.name: _as_json(getattr(value, one.name)) for one in fields(value)}
    return {name: item for name, item in values.items() if item not in (None, {}, [])}


# Parsing of what `to_json` wrote.


def _parse(kind: str, value: Json) -> Any:
    """Parses the value of a field with this annotation; raises Misshapen for one of another shape."""
    if kind in _PLAIN:
        if type(value) not in _PLAIN[kind]:
            raise Misshapen(f"{value!r:.80} is no {kind}")
        return value
    if kind == "State":
        return State.from_json(value)
    if kind.startswith("tuple["):
        item = kind.removeprefix("tuple[").removesuffix(", ...]")
        return tuple(_parse(item, one) for one in _parse("list", value))
    return _parse_part(_PARTS[kind], value)


def _parse_part(kind: Any, value: Json) -> Any:
    shape, items = _SHAPES[kind], _parse("dict", value)
    if unknown := items.keys() - shape.keys():
        raise Misshapen(f"{sorted(unknown)} is not known of {kind.__name__}")
    try:
        return kind(**{name: _parse(shape[name], item) for name, item in items.items()})
    except TypeError as error:
        raise Misshapen(str(error)) from None


_PLAIN: Final[dict[str, tuple[type, ...]]] = {
    "float": (int, float),
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "list": (list,),
    "dict": (dict,),
    "Mapping[str, Json]": (dict,),
}
_PARTS: Final = {
    kind.__name__: kind for kind in (Protection, PoisonLabel, Quarantine, Review, Promotion, MergedPart)
}
_SHAPES: Final[dict[Any, dict[str, str]]] = {
    kind: {one.name: str(one.type).removesuffix(" | None") for one in fields(kind)}
    for kind in (*_PARTS.values(), State)
}
_KNOWN: Final = {name: kind for name, kind in _SHAPES[State].items() if name != "more"}
