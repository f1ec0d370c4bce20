"""Writes rest.md of the reference from the schema that the server itself publishes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from eidet import AsyncMemory

HEAD = """# REST

Every route of `eidet serve`, with its parameters and the fields of its body. `python
docs/make_reference.py` writes this page from the schema that a server has at `/openapi.json`. [The
server](../operate/server.md) explains how to call it, errors, retries and access.
"""
METHODS = ("get", "post", "patch", "put", "delete")


def page() -> str:
    schema = read_schema()
    parts = [HEAD.rstrip()]
    for path, methods in schema["paths"].items():
        for method in METHODS:
            if method in methods and path.startswith("/v1/") and "/debug" not in path:
                parts += _route(method, path, methods[method], schema)
    parts += ["## Bodies and answers", *_bodies(schema)]
    return "\n\n".join(parts) + "\n"


def read_schema() -> dict[str, Any]:
    from eidet.server.serve import create_app

    return create_app(AsyncMemory()).openapi()


def _route(method: str, path: str, route: dict[str, Any], schema: dict[str, Any]) -> Iterator[str]:
    yield f"## `{method.upper()} {path}`"
    yield _plain(route.get("description") or route.get("summary", ""))
    lines = []
    for one in route.get("parameters", []):
        lines.append(_parameter(one, schema))
    body = _content(route.get("requestBody", {}))
    if body:
        lines.append(f"- body: {_kind(body)}")
    yield "\n".join([*lines, *_answers(route.get("responses", {}))])


def _answers(responses: dict[str, Any]) -> Iterator[str]:
    """What a route answers when it succeeds, and the statuses of its errors in one line."""
    errors = []
    for status, answer in sorted(responses.items()):
        if int(status) < 400:
            yield _answer(status, answer)
        else:
            errors.append(f"`{status}`")
    if errors:
        yield f"- errors, each with an [`ErrorBody`](#errorbody): {', '.join(errors)}"


def _parameter(one: dict[str, Any], schema: dict[str, Any]) -> str:
    if "$ref" in one:
        one = schema["components"]["parameters"][one["$ref"].rsplit("/", 1)[-1]]
    said = _after(one.get("description", ""))
    return f"- `{one['name']}` in the {one['in']}: {_kind(one.get('schema', {}))}{said}"


def _answer(status: str, answer: dict[str, Any]) -> str:
    content = _content(answer)
    kind = f", {_kind(content)}" if content else ""
    return f"- answer {status}{kind}{_after(answer.get('description', ''))}"


def _content(holder: dict[str, Any]) -> dict[str, Any]:
    for content in holder.get("content", {}).values():
        found: dict[str, Any] = content.get("schema", {})
        return found
    return {}


def _kind(schema: dict[str, Any]) -> str:
    """A type as a reader would say it, with a link where it has an entry of its own."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[-1]
        return f"[`{name}`](#{name.lower()})"
    if "anyOf" in schema or "oneOf" in schema:
        kinds = []
        for one in schema.get("anyOf") or schema["oneOf"]:
            if _kind(one) not in kinds:
                kinds.append(_kind(one))
        return " or ".join(kinds)
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    return str(schema.get("type", "any"))


def _bodies(schema: dict[str, Any]) -> Iterator[str]:
    for name, one in sorted(schema["components"]["schemas"].items()):
        if name not in ("HTTPValidationError", "ValidationError"):
            yield f"### `{name}`"
            if one.get("description"):
                yield _plain(one["description"])
            fields = _fields(one)
            yield "\n".join(fields) if fields else _kind(one)


def _fields(one: dict[str, Any]) -> list[str]:
    lines = []
    for name, field in one.get("properties", {}).items():
        required = ", required" if name in one.get("required", []) else ""
        default = ""
        if field.get("default") not in (None, [], {}):
            default = f" = `{field['default']}`"
        lines.append(f"- `{name}`: {_kind(field)}{required}{default}{_after(field.get('description', ''))}")
    return lines


def _after(said: str) -> str:
    return f": {_plain(said)}" if said else ""


def _plain(said: str) -> str:
    """A description as one line; globs are no emphasis."""
    return " ".join(said.split()).replace("**", r"\*\*").replace("Successful Response", "done")
