"""The JSON object in what a model wrote: alone, in a fence, or amid prose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NoReturn

from ...core.errors import BadInput
from ...core.validate import Json, clean_json
from . import BadAnswer
from .answer_schema import misfit

PLACES = 64  # braces at which an object is looked for
_THOUGHT = ("<think>", "</think>")


def without_thoughts(text: str) -> str:
    """The answer after the thinking that some servers leave in front of it."""
    start, end = _THOUGHT
    if text.lstrip().startswith(start) and end in text:
        return text.partition(end)[2].lstrip()
    return text


def fitting(text: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """The first object in the text that fits the schema, or `BadAnswer` saying what is wrong with it."""
    first = ""
    for value in _objects(text):
        wrong = misfit(value, schema)
        if not wrong:
            return value
        first = first or wrong
    if first:
        raise BadAnswer(f"its JSON does not fit the schema: {first}", cause="misfit")
    if not text.strip():
        raise BadAnswer("it is empty", cause="empty")
    raise BadAnswer("it holds no complete JSON object", cause="malformed")


def _objects(text: str) -> Iterator[dict[str, Json]]:
    """The objects in the text from left to right, none of them inside another."""
    at = -1
    for _ in range(PLACES):
        at = text.find("{", at + 1)
        if at < 0:
            return
        found = _object_at(text, at)
        if found is not None:
            value, end = found
            yield value
            at = end - 1
        elif text[at + 1 : at + 100].lstrip().startswith('"'):
            return  # a broken object: what it holds inside is not the answer


def _object_at(text: str, at: int) -> tuple[dict[str, Json], int] | None:
    try:
        value, end = _decoder.raw_decode(text, at)
        return clean_json(value, "answer"), end
    except (ValueError, RecursionError):  # BadInput is a ValueError: a number or text JSON cannot carry
        return None


def _no_constant(name: str) -> NoReturn:
    raise BadInput(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_no_constant)
