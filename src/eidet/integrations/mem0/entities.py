"""The owner of a memory in mem0's terms, and the scope that it lives in.

Each user has a scope, `mem0/user/ann`. What belongs to no user is in the scope of its agent, app or run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from ...core.errors import BadInput, NotFound
from ...core.record import Record
from ...core.scope import Scope
from ...core.validate import clean_text
from ...core.where import Condition, Where
from ..extras import quote_label

NAMES: Final = ("user_id", "agent_id", "app_id", "run_id")  # in the order in which they own a scope
_TYPES: Final = tuple(name.removesuffix("_id") for name in NAMES)
_NEEDED: Final = "At least one of 'user_id', 'agent_id', or 'run_id' must be provided."


def parse_id(value: object, name: str, *, spaces: bool = False) -> str | None:
    """An id as text, without blanks around it; None stays None. `BadInput` as mem0 refuses it."""
    if value is None:
        return None
    trimmed = str(value).strip()
    if not trimmed:
        raise BadInput(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
    if not spaces and any(map(str.isspace, trimmed)):
        raise BadInput(
            f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces."
        )
    return trimmed


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """The user, agent, app and run that a memory belongs to."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def parse(cls, values: Mapping[str, Any], *, spaces: bool = False) -> Entities:
        """The entities that are named; `BadInput` if none is."""
        named = {name: parse_id(values.get(name), name, spaces=spaces) for name in NAMES}
        if not any(named.values()):
            raise BadInput(_NEEDED)
        return cls(**named)

    @classmethod
    def of(cls, record: Record, home: Home) -> Entities:
        """The entities of a record; one stored by Eidet's own verbs belongs to the owner of its scope."""
        fields = {"agent_id": record.agent, "run_id": record.session}
        named: dict[str, Any] = {name: record.meta.get(name) or fields.get(name) for name in NAMES}
        return cls(**named | dict(filter(None, [home.owner_of(record.scope)])))

    def items(self) -> Iterator[tuple[str, str]]:
        """The names and ids that are given."""
        given = ((name, getattr(self, name)) for name in NAMES)
        return (one for one in given if one[1] is not None)

    def select(self) -> Where | None:
        """The filter for their memories beside the scope; None if there is none."""
        if (self.agent_id, self.app_id, self.run_id) == (None, None, None):
            return None
        app = () if self.app_id is None else (Condition(("meta", "app_id"), "=", self.app_id),)
        return Where(agent=self.agent_id, session=self.run_id, conditions=app)


def join(parts: list[Where]) -> Where | None:
    """Joins filters; None if there are none."""
    return Where(every=tuple(parts)) if len(parts) > 1 else next(iter(parts), None)


@dataclass(frozen=True, slots=True)
class Home:
    """The scope below which mem0's memories are. `open` names those parts of it that a caller may see."""

    path: str = "mem0"
    open: tuple[str, ...] | None = None  # scopes below it; None: all of it

    def __post_init__(self) -> None:
        Scope.exactly(self.path)

    def scope_of(self, name: str, id: str) -> Scope:
        """The scope that an entity owns; `NotFound` if it is not open."""
        label = quote_label(clean_text(id, name))
        scope = Scope.exactly(f"{self.path}/{name.removesuffix('_id')}/{label}")
        if self.open is not None and not any(Scope.under(part).holds(scope.path) for part in self.open):
            raise NotFound("there is no such thing here")
        return scope

    def place(self, entities: Entities) -> Scope:
        """The scope for a memory of these entities: its user's, else that of its agent, app or run."""
        for name, id in entities.items():
            return self.scope_of(name, id)
        raise BadInput(_NEEDED)

    def everything(self) -> tuple[Scope, Where | None]:
        """Selects all that is open: a scope, and a filter where several parts of it are."""
        if self.open is None:
            return Scope.under(self.path), None
        if len(self.open) == 1:
            return Scope.under(self.open[0]), None
        parts = tuple(Where(scope=Scope.under(part)) for part in self.open)
        return Scope.under(self.path), Where(some=parts)

    def users(self) -> Scope:
        """The scopes of all users."""
        return Scope.under(f"{self.path}/user")

    def owner_of(self, scope: str) -> tuple[str, str] | None:
        """The entity whose scope this is, such as ("user_id", "ann")."""
        type, _, label = scope.removeprefix(f"{self.path}/").partition("/")
        if type not in _TYPES or not label or not scope.startswith(f"{self.path}/"):
            return None
        return f"{type}_id", unquote(label)
