"""Policies: the action for each class of finding, and patterns for classes of your own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ...core.errors import BadInput, Refused
from .findings import Found, Pii, finding_at


class Action(StrEnum):
    """An action on a finding."""

    REDACT = "redact"  # [EMAIL]
    MASK = "mask"  # a…@e….com, •••• 4242
    HASH = "hash"  # email:3f9a61c2d07b54e8, keyed and irreversible
    REFUSE = "refuse"  # raises `Forbidden`
    LABEL = "label"  # the text stays, its class is reported
    KEEP = "keep"  # the text stays


STAYING = frozenset({Action.LABEL, Action.KEEP})


PATTERN_SECONDS: Final = 1.0  # a pattern may search one text for so long
PATTERN_CONFIDENCE: Final = 0.9
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,30}[a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A class of your own: `Pattern(name="employee", regex=r"E-[0-9]{6}")`. A bad one raises `BadInput`.

    `action` applies to its findings; without one, the default of the policy applies. A text in which the
    pattern searches for longer than `PATTERN_SECONDS` is `Refused`, so that nothing is stored unguarded.
    """

    name: str
    regex: str
    action: str | None = None
    compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name) or self.name in (*Pii, "default"):
            raise BadInput(
                f"pattern name {self.name!r} needs small letters, digits and _, and a name not in use"
            )
        object.__setattr__(self, "compiled", _compile(self.name, self.regex))

    def findings(self, text: str) -> Iterator[Found]:
        search = self.compiled.finditer(text, timeout=PATTERN_SECONDS, concurrent=True)
        try:
            spans = [match.span() for match in search if match.end() > match.start()]
        except TimeoutError:
            raise Refused(
                f"pattern {self.name} takes too long on a text of {len(text):,} characters: bound its "
                "repeats ({1,20} for +) and do not repeat a group that holds repeats; nothing was stored"
            ) from None
        yield from (finding_at(text, self.name, span, PATTERN_CONFIDENCE) for span in spans)


def _compile(name: str, expression: str) -> Any:
    import regex

    try:
        compiled = regex.compile(expression)
        if compiled.match("", timeout=PATTERN_SECONDS):
            raise BadInput(f"pattern {name} matches the empty text, and so everywhere")
    except (regex.error, TypeError, OverflowError, RecursionError) as wrong:
        raise BadInput(f"pattern {name} is not a regular expression: {wrong}") from None
    return compiled


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One action per class; classes without one follow `default`. Unknown actions raise `BadInput`."""

    email: str | None = None
    phone: str | None = None
    card: str | None = None
    iban: str | None = None
    national_id: str | None = None
    ip: str | None = None
    mac: str | None = None
    secret: str | None = None
    birth: str | None = None
    address: str | None = None
    default: str = Action.REDACT
    patterns: tuple[Pattern, ...] = ()

    def __post_init__(self) -> None:
        for kind in (*Pii, "default"):
            _check_action(kind, getattr(self, kind))
        for pattern in self.patterns:
            _check_action(pattern.name, pattern.action)
        names = [pattern.name for pattern in self.patterns]
        if len(set(names)) < len(names):
            raise BadInput(f"two patterns share a name: {', '.join(sorted(names))}")

    def action(self, kind: str) -> Action:
        own = {pattern.name: pattern.action for pattern in self.patterns}
        return Action((own[kind] if kind in own else getattr(self, kind)) or self.default)

    @property
    def actions(self) -> frozenset[Action]:
        """The actions that this policy can take."""
        return frozenset(map(self.action, (*Pii, *(pattern.name for pattern in self.patterns))))


def policy_of(value: object) -> Policy | None:
    """Parses a policy from settings: a policy, one action for all classes, or actions by class.

    `"redact"`, `"email=mask,card=refuse,label"` (the bare action is for the rest) and
    `{"email": "mask", "default": "label"}` are policies; None and `"off"` are none.
    """
    if value is None or isinstance(value, Policy):
        return value
    if isinstance(value, str):
        if value.strip().lower() in ("", "off", "none"):
            return None
        return _policy(_parse_actions(value))
    if isinstance(value, Mapping):
        return _policy(dict(value))
    raise BadInput(f"a guard must be a Policy or the name of an action, not {type(value).__name__}")


def _parse_actions(text: str) -> dict[str, str]:
    actions: dict[str, str] = {}
    for part in text.split(","):
        kind, sign, action = part.strip().partition("=")
        if sign:
            actions[kind.strip()] = action.strip()
        elif kind:
            actions["default"] = kind
    return actions


def _policy(actions: Mapping[str, object]) -> Policy:
    known = (*Pii, "default")
    if unknown := sorted(set(map(str, actions)) - set(known)):
        raise BadInput(f"a guard has no class {', '.join(unknown)}; there are {', '.join(known)}")
    given: dict[str, Any] = dict(actions)
    return Policy(**given)


def _check_action(kind: str, action: str | None) -> None:
    if action is None and kind != "default":
        return
    if action not in tuple(Action):
        whose, off = ("a guard", "off, ") if kind == "default" else (kind, "")
        raise BadInput(f"{whose} has the unknown action {action!r}; there are {off}{', '.join(Action)}")


class Forbidden(Refused):
    """A text holds a class that the policy refuses. The message says where, never the value."""

    def __init__(self, kind: str, *, start: int, end: int, path: str = "") -> None:
        at = f"{path or 'the text'} at characters {start} to {end}"
        super().__init__(
            f"the policy refuses {kind}: there is one in {at}; take it out or choose another action"
        )
        self.kind: str = kind
        self.start: int = start
        self.end: int = end
        self.path: str = path
