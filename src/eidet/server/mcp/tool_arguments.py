"""The arguments of tools, as the table of verbs describes them, with limits that suit a model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from ...core.fact_verb_table import FACTS
from ...core.verb_table import APPROVE, ID, NEW_MEMORY, QUERY, REMEMBER, REVISE, SCOPE, VERBS, Argument, Form
from ..rest.bodies import limit_field

Tool = Callable[..., Coroutine[Any, Any, Any]]

_USUAL: Final = "Leave it out for the usual one."
_MORE: Final = Argument(about="Further texts with the same details. All are stored, or none.", longest=99)
_TABLES: Final[Mapping[str, Mapping[str, Argument]]] = {
    **{name: verb.arguments for name, verb in VERBS.items()},
    "remember": {**NEW_MEMORY, **REMEMBER, "more": _MORE},
    "revise": {**REVISE, "id": ID, "version": APPROVE["version"]},
    "history": {"id": ID},
    "facts": {
        "about": Argument(about="A person, place or thing, by name: all that holds of it."),
        "subject": Argument(about="Only facts whose subject this is."),
        "relation": Argument(about="Only facts of this relation, such as lives_in, works_at."),
        "object": Argument(about="Only facts whose object this is."),
        "as_of": FACTS["match"].arguments["as_of"],
        "known_at": FACTS["match"].arguments["known_at"],
        "ever": Argument(about="True: what ever held, earliest first, with its times."),
        "limit": VERBS["recall"].arguments["limit"],
    },
}
_NARROWER: Final[Mapping[str, Mapping[str, float]]] = {
    "limit": {"most": 100},
    "budget": {"most": 32_000},
    "ids": {"longest": 1000},
}
_KINDS: Final = (
    *("fact", "message", "episode", "summary", "document", "procedure", "state", "action", "interaction"),
)
_TRUSTS: Final = ("user", "tool", "web", "unknown")
_CHOICES: Final = {"kind": _KINDS, "kinds": _KINDS, "trust": _TRUSTS}  # what an agent may choose from
_TYPES: Final = {Form.NUMBER: float}


def takes(*names: str) -> Callable[[Tool], Tool]:
    """Describes the arguments of a tool as the table does, and adds optional ones.

    The named ones replace its `**keywords`; the tool gets those that were given.
    """

    def declare(tool: Tool) -> Tool:
        table = _TABLES[tool.__name__]
        signature = inspect.signature(tool, eval_str=True)
        own = [
            one.replace(annotation=_describe(one.name, one.annotation, table))
            for one in signature.parameters.values()
            if one.kind is not one.VAR_KEYWORD
        ]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=_describe(name, _type_of(name, table[name]), table),
            )
            for name in names
        ]

        @wraps(tool)
        async def run(self: Any, /, **given: Any) -> Any:
            absent = {name for name in names if given.get(name) is None}
            return await tool(self, **{name: value for name, value in given.items() if name not in absent})

        run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        return run

    return declare


def _type_of(name: str, argument: Argument) -> Any:
    kind: Any = Literal[_CHOICES[name]] if name in _CHOICES else _TYPES.get(argument.form, str)
    return (list[kind] if argument.several else kind) | None


def _describe(name: str, kind: Any, table: Mapping[str, Argument]) -> Any:
    """Adds the description and the limits of an argument to its type."""
    if name == "self":
        return kind
    if name == "scope":
        several = "A list asks several at once. " if list[str] in getattr(kind, "__args__", ()) else ""
        return Annotated[kind, Field(description=f"{SCOPE} {several}{_USUAL}")]
    argument = QUERY if name == "query" else table[name]
    iso = " ISO 8601." if argument.form is Form.TIME else ""
    narrower: Any = _NARROWER.get(name, {})
    return Annotated[kind, limit_field(replace(argument, **narrower), argument.about + iso)]
