"""Answers as JSON: times are ISO 8601 in UTC, vectors are left out unless asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from json import dumps
from typing import TYPE_CHECKING, Any, Final

import typer

from ..core.event import Event
from ..core.hit import Hits
from ..core.record import iso_time
from ..core.validate import dump_json
from .show import STEERING

if TYPE_CHECKING:
    from ..recall.pack import Context


_ESCAPES: Final = {sign: dumps(chr(sign))[1:-1] for sign in STEERING if sign > 126} | {127: "\\u007f"}


def emit(answer: object) -> None:
    """One JSON document, on one line; what would steer a terminal is written as JSON escapes it."""
    typer.echo(dump_json(answer).translate(_ESCAPES))


def emit_each(answers: Iterable[object]) -> None:
    """JSON lines."""
    for answer in answers:
        emit(answer)


def emit_or_tell(json: bool, answer: object, line: str) -> None:
    """The answer as JSON where that is asked for, else a line for people."""
    if json:
        emit(answer)
    else:
        typer.echo(line)


def hits_json(query: str, hits: Hits, *, vectors: bool = False) -> dict[str, Any]:
    return {"query": query} | hits.to_dict(vectors=vectors)


def context_json(context: Context) -> dict[str, Any]:
    return {
        "text": context.text,
        "tokens": context.tokens,
        "budget": context.budget,
        "used": [hit.id for hit in context.hits],
        "told": [record.id for record in context.records],
        "left_out": [hit.id for hit in context.left_out],
        "sections": dict(context.sections),
    }


def event_json(event: Event) -> dict[str, Any]:
    return asdict(event) | {"at": iso_time(event.at)}
