"""The arguments of tools, as the table of verbs describes them, with limits that suit a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from ...core import verb_table as table
from ...core.verb_table import NEW_MEMORY, Argument, Form
from ..rest.bodies import limit_field

Tool = Callable[..., Coroutine[Any, Any, Any]]

_MOST_HITS: Final = 100
_MOST_TEXTS: Final = 100
MOST_IDS: Final = 1000
MOST_TOKENS: Final = 32_000


def _take(argument: Argument, about: str = "", **narrower: Any) -> Any:
    """Makes the pydantic field of an argument; `about` adds what only a model needs to know."""
    return limit_field(replace(argument, **narrower), f"{argument.about} {about}".strip())


_KINDS: Final = (
    *("fact", "message", "episode", "summary", "document", "procedure", "state", "action", "interaction"),
)
_TRUSTS: Final = ("user", "tool", "web", "unknown")
_CHOICES: Final = {"kind": _KINDS, "kinds": _KINDS, "trust": _TRUSTS}  # what an agent may choose from
_TYPES: Final = {Form.NUMBER: float}


def takes(*names: str, table: Mapping[str, Argument]) -> Callable[[Tool], Tool]:
    """Replaces the `**keywords` of a tool with arguments of the table; the tool gets those given."""

    def declare(tool: Tool) -> Tool:
        signature = inspect.signature(tool, eval_str=True)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=hint)
            for name, hint in ((name, _hint_of(name, table[name])) for name in names)
        ]

        @wraps(tool)
        async def run(self: Any, /, **given: Any) -> Any:
            absent = {name for name in names if given.get(name) is None}
            return await tool(self, **{name: value for name, value in given.items() if name not in absent})

        run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return run

    return declare


def _hint_of(name: str, argument: Argument) -> Any:
    kind: Any = Literal[_CHOICES[name]] if name in _CHOICES else _TYPES.get(argument.form, str)
    about = "ISO 8601." if argument.form is Form.TIME else ""
    return Annotated[(list[kind] if argument.several else kind) | None, _take(argument, about)]


ScopeName = Annotated[str | None, Field(description=f"{table.SCOPE} Leave it out for the usual one.")]
ScopeNames = Annotated[
    str | list[str] | None,
    Field(description=f"{table.SCOPE} A list asks several at once. Leave it out for the usual one."),
]
TargetScope = Annotated[str, _take(table.PROMOTE["to"])]
MoveIt = Annotated[bool, _take(table.PROMOTE["move"])]
NewText = Annotated[str, _take(NEW_MEMORY["text"])]
MoreTexts = Annotated[
    list[str] | None,
    Field(
        max_length=_MOST_TEXTS - 1,
        description="Further texts with the same details. All are stored, or none.",
    ),
]
PreviewOnly = Annotated[bool, _take(table.FORGET["preview"])]
Question = Annotated[str, _take(table.QUERY)]
Key = Annotated[str | None, _take(NEW_MEMORY["key"])]
Again = Annotated[bool, _take(table.AGAIN)]
Limit = Annotated[int, _take(table.LIMIT, most=_MOST_HITS)]
Budget = Annotated[int, _take(table.CONTEXT["budget"], most=MOST_TOKENS)]
RecordId = Annotated[str, _take(table.ID)]
RecordIds = Annotated[list[str] | None, _take(table.IDS, longest=MOST_IDS)]
ExpectedVersion = Annotated[
    int | None,
    Field(ge=1, description="The version you have seen. If somebody changed it since, nothing is written."),
]
About = Annotated[str | None, Field(description="A person, place or thing, by name: all that holds of it.")]
Subject = Annotated[str | None, Field(description="Only facts whose subject this is.")]
Relation = Annotated[
    str | None, Field(description="Only facts of this relation, such as lives_in, works_at.")
]
Object = Annotated[str | None, Field(description="Only facts whose object this is.")]
AsOf = Annotated[str | None, _take(table.AS_OF, "ISO 8601.")]
KnownAt = Annotated[str | None, _take(table.KNOWN_AT, "ISO 8601.")]
EverHeld = Annotated[bool, Field(description="True: what ever held, earliest first, with its times.")]
