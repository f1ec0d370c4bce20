"""Weaviate over its REST and GraphQL interfaces: one collection per store and width; a shelf is a tenant."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.settings import Settings
from ...net.retry import Retrier
from ...store import Store
from .. import Floats
from . import Match, Point, VectorLost, VectorShelf
from .address import DatabaseAddress, Http, key_in, open_vector_index, uuid_of
from .index import VectorIndex


def weaviate(store: Store, width: int, *, settings: Settings, **parts: Any) -> VectorIndex:
    """Opens the index `weaviate+http://host:8080`."""
    return open_vector_index(WeaviateDatabase, store, width, settings, own=("settle",), **parts)


class WeaviateDatabase:
    """Talks HTTP. If the server indexes asynchronously, `settle` is the longest delay in seconds."""

    most = 10_000  # QUERY_MAXIMUM_RESULTS of a server as it comes
    batch = 200

    def __init__(self, address: DatabaseAddress) -> None:
        self.settle_seconds: float = address.number("settle", 0.0)
        headers = {} if address.key is None else {"Authorization": f"Bearer {address.key}"}
        self._http = Http(address, headers, under="/v1")
        self.retrier: Retrier = self._http.retrier

    def prepare(self, shelf: VectorShelf) -> None:
        try:
            self._ask("GET", f"/schema/{shelf.collection}")
        except VectorLost:
            self._unless_there("/schema", _class(shelf))
        self._unless_there(f"/schema/{shelf.collection}/tenants", [{"name": shelf.name}])

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        objects = [
            {
                "class": shelf.collection,
                "id": uuid_of(shelf, point.key),
                "tenant": shelf.name,
                "properties": {"seq": point.seq},
                "vector": point.vector.tolist(),
            }
            for point in points
        ]
        answer = self._ask("POST", "/batch/objects", body={"objects": objects})
        for one in answer or ():
            if errors := ((one.get("result") or {}).get("errors") or {}).get("error"):
                raise _refusal(self.retrier.name, str(errors[0].get("message")))

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        chosen = {"path": ["seq"], "operator": "ContainsAny", "valueIntArray": list(seqs)}
        body = {"match": {"class": shelf.collection, "where": chosen}, "output": "minimal"}
        answer = self._ask("DELETE", "/batch/objects", body=body, query={"tenant": shelf.name}) or {}
        if failed := (answer.get("results") or {}).get("failed"):
            raise Unavailable(f"{self.retrier.name} did not delete {failed:,} objects")

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        asked = [f'tenant: "{shelf.name}"', f"limit: {limit}"]
        asked.append(f"nearVector: {{vector: {json.dumps(vector.tolist())}}}")
        if seqs is not None:
            named = json.dumps(list(seqs))
            asked.append(f'where: {{path: ["seq"], operator: ContainsAny, valueInt: {named}}}')
        query = f"{{ Get {{ {shelf.collection}({', '.join(asked)}) {{ _additional {{ id distance }} }} }} }}"
        found = self._query(query)["Get"][shelf.collection]
        additional = (one["_additional"] for one in found)
        return [Match(key_in(one["id"]), 1.0 - float(one["distance"])) for one in additional]

    def count(self, shelf: VectorShelf) -> int:
        query = f'{{ Aggregate {{ {shelf.collection}(tenant: "{shelf.name}") {{ meta {{ count }} }} }} }}'
        try:
            return int(self._query(query)["Aggregate"][shelf.collection][0]["meta"]["count"])
        except VectorLost:
            return 0

    def discard(self, shelf: VectorShelf) -> None:
        path = f"/schema/{shelf.collection}"
        try:
            self._ask("DELETE", f"{path}/tenants", body=[shelf.name])
            if not self._ask("GET", f"{path}/tenants"):
                self._ask("DELETE", path)
        except VectorLost:
            return

    def close(self) -> None:
        """Does nothing: it holds no connection open."""

    def _unless_there(self, path: str, body: Any) -> None:
        """Creates a collection or tenant unless it exists; another process may have been faster."""
        try:
            self._ask("POST", path, body=body)
        except Misconfigured as refused:
            if "exist" not in str(refused):
                raise

    def _query(self, query: str) -> Any:
        answer = self._ask("POST", "/graphql", body={"query": query})
        if errors := answer.get("errors"):
            raise _refusal(self.retrier.name, str(errors[0].get("message")))
        return answer["data"]

    def _ask(self, method: str, path: str, *, body: Any = None, query: dict[str, Any] | None = None) -> Any:
        try:
            return self._http.ask(method, path, body, query)
        except Misconfigured as refused:
            raise _refusal(self.retrier.name, str(refused)) from refused


def _refusal(name: str, words: str) -> EidetError:
    """Turns Weaviate's message into an error; it reports missing objects only in words."""
    low = words.lower()
    if "tenant not found" in low or "class not found" in low or "cannot query field" in low:
        return VectorLost(f"{name}: {words[:300]}")
    if "timeout" in low or "deadline" in low or "unavailable" in low:
        return Unavailable(f"{name}: {words[:300]}")
    return Misconfigured(f"{name}: {words[:300]}")


def _class(shelf: VectorShelf) -> dict[str, Any]:
    return {
        "class": shelf.collection,
        "vectorizer": "none",
        "vectorIndexConfig": {"distance": "cosine"},
        "multiTenancyConfig": {"enabled": True},
        "properties": [{"name": "seq", "dataType": ["int"]}],
    }
