"""The JSON object in what a model wrote (alone, in a fence, or amid prose), and whether it fits a schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from ...core.errors import BadInput
from ...core.validate import Json, clean_json, dump_json
from . import BadAnswer

PLACES: Final = 64  # braces at which an object is looked for
TYPES: Final[dict[str, type | tuple[type, ...]]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
_THOUGHT = ("<think>", "</think>")


def without_thoughts(text: str) -> str:
    """The answer after the thinking that some servers leave in front of it."""
    start, end = _THOUGHT
    if text.lstrip().startswith(start) and end in text:
        return text.partition(end)[2].lstrip()
    return text


def find_fitting(text: str, schema: Mapping[str, Json]) -> dict[str, Json]:
    """The first object in the text that fits the schema, or `BadAnswer` saying what is wrong with it."""
    first = ""
    for value in _objects(text):
        wrong = find_misfit(value, schema)
        if not wrong:
            return value
        first = first or wrong
    if first:
        raise BadAnswer(f"its JSON does not fit the schema: {first}", cause="misfit")
    if not text.strip():
        raise BadAnswer("it is empty", cause="empty")
    raise BadAnswer("it holds no complete JSON object", cause="malformed")


def find_misfit(value: Json, schema: Mapping[str, Json], path: str = "$") -> str:
    """The first thing that does not fit, with the way to it (`$.facts[2].text`); "" if all fits.

    Checks type, properties, required, additionalProperties (true or false), items, enum, minimum, maximum and
    maxItems. Other keywords are told to the model and not checked.
    """
    return next(_misfits(value, schema, path), "")


def _misfits(value: Json, schema: Mapping[str, Json], path: str) -> Iterator[str]:
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        yield f"{path} has to be {' or '.join(types)}, not {_shorten(value)}"
    elif "enum" in schema and value not in schema["enum"]:
        yield f"{path} has to be one of {_shorten(list(schema['enum']))}, not {_shorten(value)}"
    elif isinstance(value, dict):
        yield from _object_misfits(value, schema, path)
    elif isinstance(value, list):
        if len(value) > schema.get("maxItems", len(value)):
            yield f"{path} has to be at most {schema['maxItems']} items, not {len(value)}"
        for at, item in enumerate(value):
            yield from _misfits(item, schema.get("items", {}), f"{path}[{at}]")
    elif isinstance(value, int | float):
        least, most = schema.get("minimum", value), schema.get("maximum", value)
        if not least <= value <= most:
            yield f"{path} has to be from {least} to {most}, not {value}"


def _object_misfits(value: dict[str, Json], schema: Mapping[str, Json], path: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{path} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from _misfits(item, known[name], f"{path}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{path} has {name[:60]!r}, which is not wanted"


def is_closed(schema: Any) -> bool:
    """Whether every object names all it may hold and needs it all: what strict modes of providers take."""
    if not isinstance(schema, Mapping):
        return True
    parts = schema.get("properties", {})
    closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(parts)
    inner = (*parts.values(), schema.get("items"))
    return (closed or "object" not in _types(schema)) and all(map(is_closed, inner))


def _types(schema: Mapping[str, Json]) -> list[str]:
    given = schema.get("type", [])
    return [given] if isinstance(given, str) else list(given)


def _is(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES.get(name, object))


def _shorten(value: Json) -> str:
    text = dump_json(value)
    return text if len(text) <= 80 else text[:79] + "…"


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
