"""Speaks what is documented of Weaviate: schema, tenants, batches, objects, and Get/Aggregate of GraphQL."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import numpy as np

from .http import JsonServer, Refusal

TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<name>[_A-Za-z]\w*)|(?P<mark>[{}()\[\]:,]))'
)
TYPES: dict[str, tuple[str, Any]] = {
    "int": ("valueInt", int),
}
MOST = 10_000


class Weaviate(JsonServer):
    def __init__(self, key: str | None = None) -> None:
        self.key = key
        self.classes: dict[str, dict[str, Any]] = {}
        self.tenants: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}  # class -> tenant -> id -> object
        super().__init__()

    def handle(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> tuple[int, Any]:
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            return 401, {"code": 401, "message": "anonymous access not enabled"}
        return super().handle(method, target, headers, raw)

    def error(self, status: int, message: str) -> Any:
        return {"error": [{"message": message}]}

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        steps = path.strip("/").split("/")
        match (method, *steps):
            case ("POST", "v1", "schema"):
                return self._make(body)
            case ("GET", "v1", "schema", name):
                return self._class(name)
            case ("DELETE", "v1", "schema", name):
                self.classes.pop(name, None)
                self.tenants.pop(name, None)
                return None
            case (_, "v1", "schema", name, "tenants"):
                return self._tenants(method, name, body)
            case ("POST", "v1", "batch", "objects"):
                return [self._put(one) for one in body["objects"]]
            case ("DELETE", "v1", "batch", "objects"):
                return self._remove(body, query)
            case ("GET", "v1", "objects", name, id):
                return self._object(name, id, query)
            case ("POST", "v1", "graphql"):
                return self._graphql(body)
        raise Refusal(404, f"path {path} was not found")

    def _make(self, body: dict[str, Any]) -> Any:
        name = body["class"]
        if not re.fullmatch(r"[A-Z][_0-9A-Za-z]*", name):
            raise Refusal(422, f"'{name}' is not a valid class name")
        if name in self.classes:
            raise Refusal(422, f"class name {name} already exists")
        if body.keys() - {"class", "vectorizer", "vectorIndexConfig", "multiTenancyConfig", "properties"}:
            raise Refusal(422, f"unknown fields {sorted(body)}")
        for one in body["properties"]:
            if one["dataType"][0] not in TYPES:
                raise Refusal(422, f"unknown data type {one['dataType']}")
        self.classes[name] = body
        self.tenants[name] = {}
        return body

    def _class(self, name: str) -> dict[str, Any]:
        if name not in self.classes:
            raise Refusal(404, f"class {name} not found")
        return self.classes[name]

    def _tenants(self, method: str, name: str, body: Any) -> Any:
        self._class(name)
        held = self.tenants[name]
        if method == "GET":
            return [{"name": tenant, "activityStatus": "HOT"} for tenant in held]
        if method == "POST":
            for one in body:
                if not re.fullmatch(r"[\w-]{1,64}", one["name"]):
                    raise Refusal(422, f"tenant name {one['name']} is not valid")
                held.setdefault(one["name"], {})
            return body
        for tenant in body:
            held.pop(tenant, None)
        return None

    def _space(self, name: str, tenant: str | None) -> dict[str, dict[str, Any]]:
        if name not in self.classes:
            raise Refusal(422, f"class not found: {name}")
        if tenant is None:
            raise Refusal(422, f"class {name} has multi-tenancy enabled, but request was without tenant")
        if tenant not in self.tenants[name]:
            raise Refusal(422, f'tenant not found: "{tenant}"')
        return self.tenants[name][tenant]

    def _put(self, one: dict[str, Any]) -> Any:
        try:
            space = self._space(one["class"], one.get("tenant"))
            id = str(UUID(one["id"]))
            self._check_types(one)
            space[id] = one
        except (Refusal, ValueError) as bad:
            return {"result": {"status": "FAILED", "errors": {"error": [{"message": str(bad)}]}}}
        return {**one, "result": {"status": "SUCCESS"}}

    def _check_types(self, one: dict[str, Any]) -> None:
        types = self._types(one["class"])
        for name, value in one["properties"].items():
            if name not in types or not isinstance(value, TYPES[types[name]][1]):
                raise Refusal(422, f"invalid {types.get(name)} property '{name}': {value!r}")

    def _types(self, name: str) -> dict[str, str]:
        return {one["name"]: one["dataType"][0] for one in self.classes[name]["properties"]}

    def _remove(self, body: dict[str, Any], query: dict[str, list[str]]) -> Any:
        name = body["match"]["class"]
        space = self._space(name, query.get("tenant", [None])[0])
        where = _plural(body["match"]["where"])
        gone = [id for id, one in space.items() if self._passes(name, where, one)][:MOST]
        for id in gone:
            del space[id]
        return {
            "match": body["match"],
            "output": "minimal",
            "results": {"matches": len(gone), "limit": MOST, "successful": len(gone), "failed": 0},
        }

    def _object(self, name: str, id: str, query: dict[str, list[str]]) -> Any:
        space = self._space(name, query.get("tenant", [None])[0])
        if id not in space:
            raise Refusal(404, "")
        return {
            key: value
            for key, value in space[id].items()
            if key != "vector" or query.get("include") == ["vector"]
        }

    def _graphql(self, body: dict[str, Any]) -> Any:
        try:
            ((call, (name, arguments, _)),) = _parsed(body["query"]).items()
            found = self._found(call, name, arguments)
        except Refusal as refused:
            return {"data": {}, "errors": [{"message": str(refused), "path": []}]}
        return {"data": {call: {name: found}}}

    def _found(self, call: str, name: str, arguments: dict[str, Any]) -> Any:
        if name not in self.classes:
            raise Refusal(200, f'Cannot query field "{name}" on type "GetObjectsObj".')
        return self._get(name, arguments) if call == "Get" else self._aggregate(name, arguments)

    def _aggregate(self, name: str, asked: dict[str, Any]) -> Any:
        return [{"meta": {"count": len(self._space(name, asked.get("tenant")))}}]

    def _get(self, name: str, asked: dict[str, Any]) -> Any:
        if unknown := asked.keys() - {"tenant", "limit", "nearVector", "where"}:
            raise Refusal(200, f"Unknown argument {sorted(unknown)}")
        if not 0 < asked["limit"] <= MOST:
            raise Refusal(200, "query maximum results exceeded")
        vector, where = asked["nearVector"]["vector"], asked.get("where")
        found: list[Any] = []
        for id, one in self._space(name, asked.get("tenant")).items():
            if len(one["vector"]) != len(vector):
                raise Refusal(200, f"vector lengths don't match: {len(one['vector'])} vs {len(vector)}")
            if where is None or self._passes(name, where, one):
                found.append({"_additional": {"id": id, "distance": _distance(one["vector"], vector)}})
        found.sort(key=lambda match: match["_additional"]["distance"])
        return found[: asked["limit"]]

    def _passes(self, name: str, where: dict[str, Any], one: dict[str, Any]) -> bool:
        (column,) = where["path"]
        kind, plain = TYPES[self._types(name)[column]]
        if where.keys() != {"path", "operator", kind}:
            raise Refusal(200, f"data type filter cannot use {sorted(where)} on {column}, use {kind} instead")
        return _compare(where["operator"], one["properties"].get(column), where[kind], plain)


def _compare(operator: str, has: Any, value: Any, kind: Any) -> bool:
    """Of the documented operators, the one that Eidet speaks."""
    if operator != "ContainsAny":
        raise Refusal(200, f"unknown operator {operator}")
    if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
        raise Refusal(200, "ContainsAny takes a list")
    return has in value


def _plural(where: dict[str, Any]) -> dict[str, Any]:
    """REST has names of their own for lists."""
    names = {"valueIntArray": "valueInt"}
    if where.get("operator") == "ContainsAny" and not names.keys() & where.keys():
        raise Refusal(422, "ContainsAny takes an array value")
    return {names.get(name, name): value for name, value in where.items()}


def _distance(a: list[float], b: list[float]) -> float:
    one, two = np.array(a, np.float64), np.array(b, np.float64)
    return float(1 - one @ two / (np.linalg.norm(one) * np.linalg.norm(two) or 1))


def _parsed(query: str) -> dict[str, tuple[str, dict[str, Any], Any]]:
    """`{ Get { Class(arguments) { fields } } }` as {"Get": (Class, arguments, fields)}."""
    tokens = _tokens(query)
    _expect(tokens, "{")
    call = tokens.pop(0)
    if call not in ("Get", "Aggregate"):
        raise Refusal(200, f"Cannot query field {call!r}")
    _expect(tokens, "{")
    name, arguments = tokens.pop(0), {}
    if tokens[0] == "(":
        arguments = _object_of(tokens, "(", ")")
    fields = _fields(tokens)
    _expect(tokens, "}")
    _expect(tokens, "}")
    if tokens:
        raise Refusal(200, f"Syntax Error: unexpected {tokens[0]}")
    return {call: (name, arguments, fields)}


def _tokens(query: str) -> list[Any]:
    found, at = [], 0
    query = query.rstrip()
    while at < len(query):
        match = TOKEN.match(query, at)
        if match is None:
            raise Refusal(200, f"Syntax Error: {query[at : at + 20]!r}")
        found.append(match.group(0).strip())
        at = match.end()
    return found


def _expect(tokens: list[Any], mark: str) -> None:
    if not tokens or tokens.pop(0) != mark:
        raise Refusal(200, f"Syntax Error: expected {mark}")


def _fields(tokens: list[Any]) -> list[Any]:
    _expect(tokens, "{")
    found: list[Any] = []
    while tokens[0] != "}":
        found.append(_fields(tokens) if tokens[0] == "{" else tokens.pop(0))
    tokens.pop(0)
    return found


def _object_of(tokens: list[Any], start: str, end: str) -> dict[str, Any]:
    _expect(tokens, start)
    found = {}
    while tokens[0] != end:
        name = tokens.pop(0)
        _expect(tokens, ":")
        found[name] = _value_of(tokens)
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return found


def _value_of(tokens: list[Any]) -> Any:
    if tokens[0] == "{":
        return _object_of(tokens, "{", "}")
    if tokens[0] == "[":
        tokens.pop(0)
        found = []
        while tokens[0] != "]":
            found.append(_value_of(tokens))
            if tokens[0] == ",":
                tokens.pop(0)
        tokens.pop(0)
        return found
    token = tokens.pop(0)
    if token.startswith('"'):
        import json

        return json.loads(token)
    try:
        return float(token) if re.search(r"[.eE]", token) else int(token)
    except ValueError:
        return token
