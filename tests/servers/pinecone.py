"""Speaks what is documented of Pinecone's vectors interface: one index, namespaces, metadata filters."""

from __future__ import annotations

from typing import Any

import numpy as np

from .http import JsonServer, Refusal

KNOWN = {
    "/vectors/upsert": {"vectors", "namespace"},
    "/query": {"namespace", "vector", "topK", "filter", "includeValues", "includeMetadata"},
    "/vectors/delete": {"ids", "deleteAll", "namespace", "filter"},
    "/describe_index_stats": {"filter"},
}


class Pinecone(JsonServer):
    """`lag` upserts are not found yet: what was written is found later, as in the real one."""

    def __init__(self, dimension: int, *, key: str = "secret-key", metric: str = "cosine") -> None:
        self.dimension, self.key, self.metric = dimension, key, metric
        self.spaces: dict[str, dict[str, dict[str, Any]]] = {}
        self.unseen: dict[str, dict[str, dict[str, Any]]] = {}  # written, but not found before `settle()`
        self.lagging = False
        super().__init__()

    def settle(self) -> None:
        with self._lock:
            for name, vectors in self.unseen.items():
                self.spaces.setdefault(name, {}).update(vectors)
            self.unseen.clear()

    def handle(self, method: str, target: str, headers: dict[str, str], raw: bytes) -> tuple[int, Any]:
        if headers.get("api-key") != self.key:
            return 401, {
                "error": {"code": "UNAUTHENTICATED", "message": f"Invalid key {headers.get('api-key')}"}
            }
        if not headers.get("x-pinecone-api-version"):
            return 400, {"code": 3, "message": "X-Pinecone-Api-Version is required"}
        if len(raw) > 2_000_000:
            return 413, {"code": 3, "message": "the request exceeds 2MB"}
        return super().handle(method, target, headers, raw)

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        if (method, path) == ("GET", "/vectors/fetch"):
            return self._fetch(query)
        if method != "POST" or path not in KNOWN:
            raise Refusal(404, f"no {method} {path}")
        if not isinstance(body, dict) or body.keys() - KNOWN[path]:
            raise Refusal(400, f"unknown fields {sorted(body.keys() - KNOWN[path])}")
        return getattr(self, path.strip("/").replace("/", "_"))(body)

    def vectors_upsert(self, body: dict[str, Any]) -> Any:
        vectors = body["vectors"]
        if not 0 < len(vectors) <= 1000:
            raise Refusal(400, "1 to 1000 vectors at once")
        target = (self.unseen if self.lagging else self.spaces).setdefault(body.get("namespace", ""), {})
        for one in vectors:
            if one.keys() - {"id", "values", "metadata"} or not isinstance(one["id"], str):
                raise Refusal(400, f"unknown fields in a vector: {sorted(one)}")
            if len(one["values"]) != self.dimension:
                raise Refusal(400, f"Vector dimension {len(one['values'])} does not match {self.dimension}")
            if not any(one["values"]):
                raise Refusal(400, "Dense vectors must contain at least one non-zero value.")
            _check_metadata(one.get("metadata", {}))
        target.update({one["id"]: one for one in vectors})
        return {"upsertedCount": len(vectors)}

    def query(self, body: dict[str, Any]) -> Any:
        if not isinstance(body.get("topK"), int) or not 1 <= body["topK"] <= 10_000:
            raise Refusal(400, "topK must be between 1 and 10000")
        if len(body["vector"]) != self.dimension:
            raise Refusal(400, "Vector dimension does not match")
        found = [
            {"id": one["id"], "score": _cosine(one["values"], body["vector"]), "values": []}
            for one in self.spaces.get(body.get("namespace", ""), {}).values()
            if _passes(body.get("filter", {}), one.get("metadata", {}))
        ]
        found.sort(key=lambda match: -match["score"])
        return {
            "matches": found[: body["topK"]],
            "namespace": body.get("namespace", ""),
            "usage": {"readUnits": 1},
        }

    def vectors_delete(self, body: dict[str, Any]) -> Any:
        given = {"ids", "deleteAll", "filter"} & body.keys()
        if len(given) != 1:
            raise Refusal(400, "exactly one of ids, deleteAll and filter")
        space = self.spaces.get(body.get("namespace", ""))
        if space is None:
            raise Refusal(404, "Namespace not found")
        for id in [one["id"] for one in space.values() if _chosen(body, one)]:
            del space[id]
        if not space:
            del self.spaces[body.get("namespace", "")]
        return {}

    def describe_index_stats(self, body: dict[str, Any]) -> Any:
        counts = {name: {"vectorCount": len(space)} for name, space in self.spaces.items()}
        total = sum(one["vectorCount"] for one in counts.values())
        return {
            "namespaces": counts,
            "dimension": self.dimension,
            "metric": self.metric,
            "indexFullness": 0,
            "totalVectorCount": total,
        }

    def _fetch(self, query: dict[str, list[str]]) -> Any:
        space = self.spaces.get(query.get("namespace", [""])[0], {})
        return {"vectors": {id: space[id] for id in query["ids"] if id in space}, "usage": {"readUnits": 1}}


def _chosen(body: dict[str, Any], one: dict[str, Any]) -> bool:
    if "ids" in body:
        return one["id"] in body["ids"]
    return bool(body.get("deleteAll")) or _passes(body["filter"], one.get("metadata", {}))


def _check_metadata(metadata: dict[str, Any]) -> None:
    for name, value in metadata.items():
        if name.startswith("$") or type(value) not in (str, int, float, bool):
            raise Refusal(
                400, f"Metadata value must be a string, number, boolean or list of strings, got {value!r}"
            )


def _cosine(a: list[float], b: list[float]) -> float:
    one, two = np.array(a, np.float64), np.array(b, np.float64)
    return float(one @ two / (np.linalg.norm(one) * np.linalg.norm(two) or 1))


def _passes(chosen: dict[str, Any], metadata: dict[str, Any]) -> bool:
    """Of the documented filters, the one that Eidet speaks: a field whose value is in a list."""
    for name, told in chosen.items():
        if name.startswith("$") or not isinstance(told, dict) or told.keys() != {"$in"}:
            raise Refusal(400, f"unknown operator in {chosen}")
        if not isinstance(told["$in"], list) or len(told["$in"]) > 10_000:
            raise Refusal(400, "$in takes a list of at most 10000")
        if metadata.get(name) not in told["$in"]:
            return False
    return True
