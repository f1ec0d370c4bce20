"""Rules for settings: the annotation gives the type, a table here the range or the allowed words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from .errors import Misconfigured

_MOST: Final = 10**12  # of things that are counted
_LONGEST: Final = 1e6  # days
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str, Path),
}
_USUAL: Final[dict[str, tuple[float, float]]] = {
    "int": (1, _MOST),
    "float": (0, math.inf),
}  # an infinite time means never
_RANGES: Final[dict[str, tuple[float, float]]] = {
    **dict.fromkeys(("short_entries", "short_steps", "middle_entries", "middle_steps"), (0, _MOST)),
    **dict.fromkeys(("forget_below", "archive_above", "quarantine_above"), (0, 1)),
    "half_life_days": (1e-6, _LONGEST),
    "spacing_gain": (0, 100),
    "importance_gain": (1, 1000),
    "batch": (1, 100_000),
}
_WORDS: Final = {
    "durability": ("process", "power"),
    "poison": ("untrusted", "all", "off"),
    "review": ("off", "derived", "untrusted", "all"),
    "waiting": ("hidden", "marked"),
    "then": ("keep", "archive", "delete"),
    "since": ("created", "occurred"),
}
_CHECKED_ELSEWHERE: Final = ("guard", "guard_key", "key", "kinds", "retention", "upkeep")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingRule:
    """The allowed values of a setting. Its `str` completes "it must be …". Without types, all pass."""

    types: tuple[type, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    words: tuple[str, ...] = ()
    or_none: bool = False  # None switches it off

    def allows(self, value: Any) -> bool:
        if value is None or not self.types:
            return self.or_none or not self.types
        if not isinstance(value, self.types) or isinstance(value, bool) != (bool in self.types):
            return False
        if isinstance(value, int | float):
            return self.low <= value <= self.high
        return not self.words or value in self.words

    def parse(self, text: str) -> Any:
        """Parses a value from the environment; raises ValueError if the text is invalid."""
        if self.or_none and text.lower() == "none":
            return None
        if bool in self.types:
            return ("0", "false", "no", "1", "true", "yes").index(text.lower()) > 2
        if int in self.types:
            return float(text) if float in self.types else int(text)
        return text

    def __str__(self) -> str:
        return self._describe_values() + (", or none" if self.or_none else "")

    def _describe_values(self) -> str:
        if self.words:
            return f"one of {', '.join(self.words)}"
        if int not in self.types:
            return "true or false" if bool in self.types else "a text"
        if float not in self.types:
            return f"a whole number from {self.low:,} to {self.high:,}"
        return f"a number from {self.low:,g} " + ("up" if self.high == math.inf else f"to {self.high:,.9g}")


@cache
def rules_of(kind: Any) -> Mapping[str, SettingRule]:
    """Builds one rule per field of a settings class."""
    return {field.name: _make_rule(field.name, str(field.type)) for field in fields(kind)}


def _make_rule(name: str, annotation: str) -> SettingRule:
    if name in _CHECKED_ELSEWHERE:
        return SettingRule()
    first, *others = annotation.split(" | ")
    low, high = _RANGES.get(name, _USUAL.get(first, (-math.inf, math.inf)))
    return SettingRule(
        types=_TYPES[first], low=low, high=high, words=_WORDS.get(name, ()), or_none="None" in others
    )


def check_fields(values: Any, within: str = "") -> None:
    """Raises `Misconfigured` for the first field that its rule does not allow."""
    kind: Any = type(values)
    for name, rule in rules_of(kind).items():
        value = getattr(values, name)
        if not rule.allows(value):
            raise _make_error(rule, within + name, value)


def parse_field(rule: SettingRule, name: str, value: Any) -> Any:
    """Parses a text from a file or the environment by the rule; returns other values as they are."""
    if not isinstance(value, str):
        return value
    try:
        return rule.parse(value)
    except ValueError:
        raise _make_error(rule, name, value) from None


def _make_error(rule: SettingRule, name: str, value: Any) -> Misconfigured:
    return Misconfigured(f"setting {name} cannot be {value!r:.80}: it must be {rule}")
