"""The arguments of tools, as the table of verbs describes them to a model; with limits that suit one."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from ...core import verb_table as table
from ...core.verb_table import DETAILS, FILTERS, NEW_MEMORY, REVISE, Argument
from ..rest.bodies import limit_field

MOST_HITS: Final = 100
MOST_TEXTS: Final = 100
MOST_IDS: Final = 1000
MOST_TOKENS: Final = 32_000


def _take(argument: Argument, about: str = "", **narrower: Any) -> Any:
    """What pydantic has to know of an argument; `about` is what only a model needs to be told."""
    return limit_field(replace(argument, **narrower), f"{argument.about} {about}".strip())


ScopeName = Annotated[str | None, Field(description=f"{table.SCOPE} Leave it out for the usual one.")]
NewText = Annotated[str, _take(NEW_MEMORY["text"])]
MoreTexts = Annotated[
    list[str] | None,
    Field(
        max_length=MOST_TEXTS - 1,
        description="Further texts with the same details. All are stored, or none.",
    ),
]
RevisedText = Annotated[str | None, _take(REVISE["text"])]
PreviewOnly = Annotated[bool, _take(table.FORGET["preview"])]
Question = Annotated[str, _take(table.QUERY)]
MemoryKind = Literal["fact", "message", "episode", "summary", "document", "state", "action", "interaction"]
KindOfText = Annotated[MemoryKind | None, _take(DETAILS["kind"], "Default: fact.")]
Kinds = Annotated[list[MemoryKind] | None, _take(FILTERS["kinds"])]
Who = Annotated[str | None, _take(DETAILS["who"])]
Session = Annotated[str | None, _take(DETAILS["session"])]
Since = Annotated[str | None, _take(FILTERS["since"], "ISO 8601.")]
Until = Annotated[str | None, _take(FILTERS["until"], "ISO 8601.")]
Occurred = Annotated[str | None, _take(DETAILS["occurred"], "ISO 8601.")]
Importance = Annotated[float | None, _take(DETAILS["importance"])]
Source = Annotated[str | None, _take(DETAILS["source"])]
SourceTrust = Annotated[Literal["user", "tool", "web", "unknown"] | None, _take(DETAILS["trust"])]
Key = Annotated[str | None, _take(NEW_MEMORY["key"])]
Again = Annotated[bool, _take(table.AGAIN)]
Limit = Annotated[int, _take(table.LIMIT, most=MOST_HITS)]
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
