"""What each setting may be: one rule for each field, checked whenever settings are made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

from .errors import Misconfigured

MOST: Final = 10**12  # of things that are counted
LONGEST: Final = 1e6  # days


class SettingRule(Protocol):
    """What a setting may be. Its `str` ends the sentence "it must be …"."""

    def allows(self, value: Any) -> bool: ...

    def read(self, text: str) -> Any:
        """The value that a text of the environment stands for; ValueError if it is none."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number of a range."""

    low: int
    high: int = MOST

    def allows(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high

    def read(self, text: str) -> Any:
        return int(text)

    def __str__(self) -> str:
        return f"a whole number from {self.low:,} to {self.high:,}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a range."""

    low: float
    high: float = math.inf

    def allows(self, value: Any) -> bool:
        return (
            isinstance(value, int | float) and not isinstance(value, bool) and self.low <= value <= self.high
        )

    def read(self, text: str) -> Any:
        return float(text)

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"a number from {self.low:,g} up"
        return f"a number from {self.low:,g} to {self.high:,.9g}"


@dataclass(frozen=True, slots=True)
class Flag:
    """True or False."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool)

    def read(self, text: str) -> Any:
        if text.lower() in ("1", "true", "yes", "0", "false", "no"):
            return text.lower() in ("1", "true", "yes")
        raise ValueError(text)

    def __str__(self) -> str:
        return "true or false"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of some words."""

    words: tuple[str, ...]

    def allows(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.words

    def read(self, text: str) -> Any:
        return text

    def __str__(self) -> str:
        return f"one of {', '.join(self.words)}"


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or a path."""

    def allows(self, value: Any) -> bool:
        return isinstance(value, str | Path)

    def read(self, text: str) -> Any:
        return text

    def __str__(self) -> str:
        return "a text"


@dataclass(frozen=True, slots=True)
class CheckedElsewhere:
    """Whatever another part of Eidet reads and checks when the memory is opened."""

    by: str

    def allows(self, value: Any) -> bool:
        del value
        return True

    def read(self, text: str) -> Any:
        return text

    def __str__(self) -> str:
        return f"what {self.by} takes"


@dataclass(frozen=True, slots=True)
class OrNone:
    """The same, or None: that switches it off."""

    rule: SettingRule

    def allows(self, value: Any) -> bool:
        return value is None or self.rule.allows(value)

    def read(self, text: str) -> Any:
        if text.lower() == "none":
            return None
        return self.rule.read(text)

    def __str__(self) -> str:
        return f"{self.rule}, or none"


SHARE: Final = Number(0, 1)
TIME: Final = Number(0)  # an infinite time is never
COUNT: Final = Whole(1)

UPKEEP_RULES: Final[Mapping[str, SettingRule]] = {
    "short_entries": OrNone(Whole(0)),
    "short_age_days": OrNone(TIME),
    "short_steps": OrNone(Whole(0)),
    "middle_entries": OrNone(Whole(0)),
    "middle_age_days": OrNone(TIME),
    "middle_steps": OrNone(Whole(0)),
    "gist_tokens": COUNT,
    "digits": Whole(1, 17),
    "promote_uses": OrNone(COUNT),
    "promote_days": TIME,
    "forget_below": SHARE,
    "archive_above": SHARE,
    "archive": OrNone(Text()),
    "half_life_days": Number(1e-6, LONGEST),
    "spacing_gain": Number(0, 100),
    "importance_gain": Number(1, 1000),
    "shape": Number(0.05, 50),
    "alike": SHARE,
    "session_idle_hours": OrNone(TIME),
    "episode_messages": OrNone(COUNT),
    "episode_tokens": COUNT,
    "fact_episodes": COUNT,
    "fact_texts": Whole(0, 1_000_000),
    "every_insertions": OrNone(COUNT),
    "moves_told_days": TIME,
    "history_days": OrNone(TIME),
    "batch": Whole(1, 100_000),
}

SETTING_RULES: Final[Mapping[str, SettingRule]] = {
    "durability": OneOf(("process", "power")),
    "language": OrNone(Text()),
    "ranking": OrNone(Text()),
    "keep_duplicates": Flag(),
    "text_chars": COUNT,
    "index": Text(),
    "index_memory_mb": COUNT,
    "sidecar_from": COUNT,
    "flush_uses": COUNT,
    "recent_days": Whole(1, int(LONGEST)),
    "reference_days": Whole(1, int(LONGEST)),
    "stale_days": Whole(1, int(LONGEST)),
    "weigh": Flag(),
    "facts": Flag(),
    "fact_steps": COUNT,
    "fact_seconds": TIME,
    "echo_guard": Flag(),
    "access_log": OrNone(Text()),
    "guard": CheckedElsewhere("the guard"),
    "guard_key": CheckedElsewhere("the guard"),
    "vault": OrNone(Text()),
    "reveal": Flag(),
    "poison": OneOf(("untrusted", "all", "off")),
    "quarantine_above": OrNone(SHARE),
    "receipt_key": OrNone(Text()),
    "audit": OrNone(Text()),
    "audit_recalls": Flag(),
    "audit_content": Flag(),
    "audit_sync": Flag(),
    "audit_key_file": OrNone(Text()),
    "key": CheckedElsewhere("the key of a sealed memory"),
    "index_unsealed": Flag(),
    "retention": CheckedElsewhere("`Settings` itself"),
    "upkeep": CheckedElsewhere("`Upkeep`"),
}


def check_fields(rules: Mapping[str, SettingRule], values: Any, within: str = "") -> None:
    """Raises `Misconfigured` for the first field that its rule does not allow."""
    for name, rule in rules.items():
        value = getattr(values, name)
        if not rule.allows(value):
            raise refusal(rule, within + name, value)


def read_field(rule: SettingRule, name: str, value: Any) -> Any:
    """A value of a file or of the environment; a text stands for what the rule reads in it."""
    if not isinstance(value, str):
        return value
    try:
        return rule.read(value)
    except ValueError:
        raise refusal(rule, name, value) from None


def refusal(rule: SettingRule, name: str, value: Any) -> Misconfigured:
    return Misconfigured(f"setting {name} cannot be {value!r:.80}: it must be {rule}")
