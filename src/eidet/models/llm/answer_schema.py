"""The part of JSON Schema that we use: what is wrong with a schema, and where a value does not fit one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.errors import BadInput
from ...core.validate import Json, clean_json, dump_json

TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "integer": int,
    "boolean": bool,
    "null": type(None),
}
KEYWORDS = {"type", "properties", "required", "additionalProperties", "items", "enum"} | {
    "minimum", "maximum", "minItems", "maxItems", "title", "description"
}  # fmt: skip


def check_schema(schema: Mapping[str, Json]) -> None:
    """Refuses a schema that says what we would not check, or that does not ask for an object."""
    clean_json(schema, "schema")
    if schema.get("type") != "object":
        raise BadInput('a schema asks for an object: {"type": "object", "properties": …}')
    for path, part in _parts(schema, "$"):
        wrong = _wrong_with(part)
        if wrong:
            raise BadInput(f"schema at {path}: {wrong}")


def _parts(schema: Any, path: str) -> Iterator[tuple[str, Any]]:
    yield path, schema
    if not isinstance(schema, Mapping):
        return
    properties = schema.get("properties", {})
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        yield from _parts(part, f"{path}.{name}")
    if "items" in schema:
        yield from _parts(schema["items"], f"{path}[]")
    if not isinstance(schema.get("additionalProperties", True), bool):
        yield from _parts(schema["additionalProperties"], f"{path}.*")


def _wrong_with(part: Any) -> str:
    if not isinstance(part, Mapping):
        return f"a schema is a dict, not {type(part).__name__}"
    if unknown := sorted(part.keys() - KEYWORDS):
        return f"{', '.join(unknown)} is not checked here; there are {', '.join(sorted(KEYWORDS))}"
    if unknown := sorted({str(name) for name in _types(part)} - TYPES.keys()):
        return f"no type is called {', '.join(unknown)}; there are {', '.join(TYPES)}"
    if not isinstance(part.get("properties", {}), Mapping):
        return "properties is a dict of schemas"
    lists = []
    for word in ("required", "enum"):
        if not isinstance(part.get(word, []), list | tuple):
            lists.append(word)
    numbers = [
        word for word in ("minimum", "maximum", "minItems", "maxItems") if _no_number(part.get(word, 0))
    ]
    if lists:
        return f"{lists[0]} is a list"
    if numbers:
        return f"{numbers[0]} is a number"
    return ""


def _no_number(value: Json) -> bool:
    return isinstance(value, bool) or not isinstance(value, int | float)


def _types(part: Mapping[str, Json]) -> list[str]:
    given = part.get("type", [])
    if isinstance(given, list | tuple):
        return list(given)
    return [given]


def misfit(value: Json, schema: Mapping[str, Json], path: str = "$") -> str:
    """The first thing that does not fit, with the way to it (`$.facts[2].text`); "" if all fits."""
    return next(_misfits(value, schema, path), "")


def _misfits(value: Json, schema: Mapping[str, Json], path: str) -> Iterator[str]:
    types = _types(schema)
    if types and not any(_is(value, name) for name in types):
        yield f"{path} has to be {' or '.join(types)}, not {_shorten(value)}"
        return
    if "enum" in schema and not any(_same(value, one) for one in schema["enum"]):
        yield f"{path} has to be one of {_shorten(list(schema['enum']))}, not {_shorten(value)}"
    if isinstance(value, dict):
        yield from _object_misfits(value, schema, path)
    elif isinstance(value, list):
        yield from _array_misfits(value, schema, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _bounds(value, schema, path, ("minimum", "maximum"), "")


def _object_misfits(value: dict[str, Json], schema: Mapping[str, Json], path: str) -> Iterator[str]:
    known = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    yield from (f"{path} lacks {name!r}" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from _misfits(item, known[name], f"{path}.{name}")
        elif others is False:
            yield f"{path} has {name[:60]!r}, which is not wanted"
        elif others is not True:
            yield from _misfits(item, others, f"{path}.{name[:60]}")


def _array_misfits(value: list[Json], schema: Mapping[str, Json], path: str) -> Iterator[str]:
    yield from _bounds(len(value), schema, path, ("minItems", "maxItems"), " items")
    if "items" in schema:
        for at, item in enumerate(value):
            yield from _misfits(item, schema["items"], f"{path}[{at}]")


def _bounds(
    size: float, schema: Mapping[str, Json], path: str, words: tuple[str, str], unit: str
) -> Iterator[str]:
    least, most = (schema.get(word) for word in words)
    if least is not None and size < least:
        yield f"{path} has to be at least {least}{unit}, not {size}"
    if most is not None and size > most:
        yield f"{path} has to be at most {most}{unit}, not {size}"


def _is(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON: 1 is not true."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _shorten(value: Json) -> str:
    text = dump_json(value)
    if len(text) <= 80:
        return text
    return text[:79] + "…"


def is_closed(schema: Json) -> bool:
    """Whether every object names all it may hold, and needs it all: what strict modes of providers take."""
    return all(
        _is_closed_object(part)
        for _, part in _parts(schema, "$")
        if isinstance(part, Mapping) and "object" in _types(part)
    )


def _is_closed_object(part: Mapping[str, Json]) -> bool:
    return part.get("additionalProperties") is False and set(part.get("required", ())) == set(
        part.get("properties", {})
    )
