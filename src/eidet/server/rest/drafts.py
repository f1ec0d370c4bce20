"""From the bodies of requests to what the verbs take."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from ...core.draft import Draft, Message
from ...core.errors import BadInput
from ...core.where import Box, Near
from ...core.where_json import where_from_json
from ...recall.options import FilterOptions
from ...write.shape import drafts_of
from ..errors import Problem
from ..serving import Grant
from .bodies import ChangesBody, Descriptions, Filters, NewMemories, NewMemory, NewMessage

FILTERS: Final = frozenset(FilterOptions.__annotations__)


def read_drafts(body: NewMemories) -> list[Draft]:
    """One draft for each memory of a request."""
    drafts = []
    for one in body.memories:
        if isinstance(one, NewMessage):
            drafts.append(_read_message(one))
        else:
            drafts.append(_read_memory(one))
    return drafts


def _read_memory(body: NewMemory) -> Draft:
    return Draft(**_read_descriptions(body), text=body.text, id=body.id, key=body.key)


_SAID_APART = frozenset(("expires_in", "text", "id", "key", "clear", "again"))


def _read_descriptions(body: Descriptions) -> dict[str, Any]:
    """The fields that were given and are not null."""
    given: dict[str, Any] = {}
    for name in body.model_fields_set - _SAID_APART:
        value = getattr(body, name)
        if value is not None:
            given[name] = value
    if body.expires_in is not None:
        if body.expires is not None:
            raise BadInput("give expires or expires_in, not both")
        given["expires"] = timedelta(seconds=body.expires_in)
    return given


def _read_message(body: NewMessage) -> Draft:
    message = Message(
        role=body.role,
        content=body.content,
        timestamp=body.timestamp,
        metadata=body.metadata or {},
        tool_calls=body.tool_calls or (),
        tool_call_id=body.tool_call_id,
        name=body.name,
    )
    (draft,), _ = drafts_of(message, {})
    return replace(draft, session=body.session, agent=body.agent)


def read_changes(body: ChangesBody) -> tuple[dict[str, Any], list[str]]:
    """What changes, and the fields to reset: those that `clear` names, and those that are null."""
    changes, clear = _read_descriptions(body), list[str](body.clear)
    if body.text is not None:
        changes["text"] = body.text
    for name in sorted(body.model_fields_set - _SAID_APART - changes.keys()):
        clear.append(name)
    return changes, clear


def read_options(body: Filters, names: Container[str] = FILTERS) -> dict[str, Any]:
    """What a request says of the options of a verb, those of a filter among them.

    What it leaves out is left to the verb, whose defaults are the same.
    """
    options: dict[str, Any] = {}
    for name in body.model_fields_set:
        if name in names and (value := getattr(body, name)) is not None:
            options[name] = value
    if body.near is not None:
        options["near"] = Near(place=tuple(body.near.place), radius=body.near.radius)
    if body.box is not None:
        options["box"] = Box(low=tuple(body.box.low), high=tuple(body.box.high))
    return options


def read_where(body: Filters) -> Any:
    """The filter of a request; none if it asks for nothing."""
    where: Mapping[str, Any] | None = body.where
    return where_from_json(where)


def check_records(grant: Grant, count: int, field: str) -> None:
    """422 for more records at once than the caller may ask for."""
    most = grant.caller.limits.records_per_call
    if count > most:
        raise Problem(
            422,
            "too_many_records",
            f"one call takes at most {most:,} records, not {count:,}",
            hint="ask in several calls; find gives a cursor for the next page",
            field=f"body.{field}",
        )
