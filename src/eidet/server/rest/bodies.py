"""Request bodies, made from the table of verbs, and their conversion to arguments of verbs.

A field that the table does not name is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from ...core.verb_table import MESSAGE, NEW_MEMORY, REMEMBER, REVISE, Argument, Form
from ...core.where import Box, Near
from ..errors import Problem
from ..serving import Grant

_EARLIEST, _LATEST = -62_000_000_000.0, 253_000_000_000.0  # seconds since 1970
_Label = Annotated[str, Field(min_length=1, max_length=1000)]
_IsoTime = Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
_Coordinates = Annotated[
    list[Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]], Field(min_length=2, max_length=3)
]


class _RequestBody(BaseModel):
    """A body that refuses unknown fields and converts no types."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", strict=True)


class NearBody(_RequestBody):
    """Within a distance of a place."""

    place: _Coordinates
    radius: Annotated[float, Field(ge=0, le=1e9)]


class BoxBody(_RequestBody):
    """Within a rectangle or a box."""

    low: _Coordinates
    high: _Coordinates


_TYPES: Final[Mapping[Form, Any]] = {
    Form.TEXT: str,
    Form.LABEL: _Label,
    Form.ID: Annotated[str, Field(min_length=1, max_length=200)],
    Form.NUMBER: float,
    Form.WHOLE: int,
    Form.FLAG: bool,
    Form.TIME: Annotated[float, Field(ge=_EARLIEST, le=_LATEST)] | _IsoTime,
    Form.PLACE: _Coordinates,
    Form.NEAR: NearBody,
    Form.BOX: BoxBody,
    Form.VECTOR: Annotated[
        list[Annotated[float, Field(allow_inf_nan=False)]], Field(min_length=1, max_length=65_536)
    ],
    Form.JSON: Any,
    Form.LABELS: dict[str, Any],
    Form.FILTER: dict[str, Any],
    Form.QUERY: str | dict[str, Any],
    Form.ENTITY: _Label,
    Form.NAME: _Label,
    Form.FACT: _Label,
    Form.RELATION: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[a-z][a-z0-9_]*$")],
    Form.PATTERN: Annotated[list[str | None], Field(min_length=3, max_length=3)],
}
_TIME_FORMS: Final = "Seconds since 1970, or ISO 8601 such as 2026-05-04T10:00:00Z."


def limit_field(argument: Argument, about: str | None = None) -> FieldInfo:
    """Makes a pydantic field with the limits that the table sets for an argument."""
    limits = {
        "description": about,
        "ge": argument.least,
        "gt": argument.above,
        "le": argument.most,
        "min_length": argument.shortest,
        "max_length": argument.longest,
        "pattern": argument.pattern,
    }
    given: dict[str, Any] = {name: value for name, value in limits.items() if value is not None}
    return cast("FieldInfo", Field(**given))


def _field_of(argument: Argument) -> tuple[Any, Any]:
    """Returns the type of a field and its pydantic `Field`."""
    kind: Any = Literal[argument.choices] if argument.choices else _TYPES[argument.form]
    kind = Annotated[list[kind] if argument.several else kind, limit_field(argument)]
    about = argument.about
    if argument.form is Form.TIME:
        about = f"{about} {_TIME_FORMS}"
    if argument.default is ...:
        return kind, Field(description=about)
    if argument.default == ():
        return kind, Field(default_factory=list, description=about)
    if argument.default is None:
        kind = kind | None
    return kind, Field(argument.default, description=about)


def make_body(
    name: str, about: str, arguments: Mapping[str, Argument], **further: tuple[Any, Any]
) -> type[_RequestBody]:
    """Makes the model of a body with a field for each argument."""
    fields: dict[str, Any] = {key: _field_of(argument) for key, argument in arguments.items()}
    return create_model(name, __base__=_RequestBody, __doc__=about, **(fields | further))


NewMemory: Final = make_body("NewMemory", "A memory to be. It needs a text, or data.", NEW_MEMORY)
NewMessage: Final = make_body(
    "NewMessage",
    "One turn of a conversation, as agent frameworks write it.",
    MESSAGE,
    content=(
        str | None,
        Field(None, description=MESSAGE["content"].about, validation_alias=AliasChoices("content", "text")),
    ),
)
NewMemories: Final = make_body(
    "NewMemories",
    "A memory by itself, or `memories`: a list of them. All are stored, or none.",
    {**NEW_MEMORY, **REMEMBER},
    memories=(
        Annotated[list[NewMemory | NewMessage], Field(min_length=1)] | None,  # type: ignore[valid-type]
        Field(None, examples=[[{"text": "Ann lives in Lisbon", "who": "Ann"}]]),
    ),
)
ChangesBody: Final = make_body(
    "ChangesBody", "What a memory shall say from now on; what is left out stays. null resets a field.", REVISE
)


def to_arguments(body: BaseModel) -> dict[str, Any]:
    """Converts a request to its verb's arguments; defaults apply to what is absent or null."""
    given = {name: value for name in body.model_fields_set if (value := getattr(body, name)) is not None}
    if near := given.get("near"):
        given["near"] = Near(place=tuple(near.place), radius=near.radius)
    if box := given.get("box"):
        given["box"] = Box(low=tuple(box.low), high=tuple(box.high))
    return given


def check_records(grant: Grant, count: int, field: str) -> None:
    """Raises 422 if one call asks for more records than the caller may."""
    most = grant.caller.limits.records_per_call
    if count > most:
        raise Problem(
            422,
            "too_many_records",
            f"one call takes at most {most:,} records, not {count:,}",
            hint="ask in several calls; find gives a cursor for the next page",
            field=f"body.{field}",
        )
