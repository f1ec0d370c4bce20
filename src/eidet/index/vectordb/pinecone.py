"""Pinecone over its vectors interface: the user creates the index, a shelf is a namespace in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ...core.errors import Misconfigured
from ...core.settings import Settings
from ...net.retry import Retrier
from ...store import Store
from .. import Floats
from . import Match, Point, VectorLost, VectorShelf
from .address import DatabaseAddress, Http, open_vector_index
from .index import VectorIndex

_API_VERSION: Final = "2025-10"
_SETTLE_SECONDS: Final = 60.0  # delay after which a write is surely found
_REQUEST_BYTES: Final = 1_800_000  # below the limit of 2 MB
_NUMBER_BYTES: Final = 24
_REST_BYTES: Final = 100


def pinecone(store: Store, width: int, *, settings: Settings, **parts: Any) -> VectorIndex:
    """Opens the index `pinecone+https://INDEX-HOST?key=env:PINECONE_API_KEY`."""
    return open_vector_index(PineconeDatabase, store, width, settings, own=("settle",), **parts)


class PineconeDatabase:
    """Talks HTTP to one index, which must have the width of the vectors and the metric cosine."""

    most = 10_000
    batch = 100

    def __init__(self, address: DatabaseAddress) -> None:
        if address.key is None:
            raise Misconfigured(
                "pinecone needs a key: pinecone+https://INDEX-HOST?key=env:PINECONE_API_KEY (or file:PATH)"
            )
        self.settle_seconds: float = address.number("settle", _SETTLE_SECONDS)
        headers = {"Api-Key": address.key, "X-Pinecone-API-Version": _API_VERSION}
        self._http = Http(address, headers)
        self.retrier: Retrier = self._http.retrier

    def prepare(self, shelf: VectorShelf) -> None:
        """Checks that the index fits; Pinecone creates a namespace with its first vector."""
        stats = self._post("/describe_index_stats", {})
        has, metric = stats.get("dimension"), stats.get("metric", "cosine")
        if has not in (None, shelf.width) or metric != "cosine":
            raise Misconfigured(
                f"{self.retrier.name} is an index of dimension {has} and metric {metric}, but this "
                f"memory needs {shelf.width} and cosine: make one that has them, and name its host"
            )

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        page = max(1, _REQUEST_BYTES // (shelf.width * _NUMBER_BYTES + _REST_BYTES))
        for start in range(0, len(points), page):
            vectors = [
                {"id": str(point.key), "values": point.vector.tolist(), "metadata": {"seq": point.seq}}
                for point in points[start : start + page]
            ]
            self._post("/vectors/upsert", {"vectors": vectors, "namespace": shelf.name})

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        body = {"filter": {"seq": {"$in": list(seqs)}}, "namespace": shelf.name}
        try:
            self._post("/vectors/delete", body)
        except VectorLost:
            return  # Pinecone removes a namespace with its last vector

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        asked: dict[str, Any] = {
            "namespace": shelf.name,
            "vector": vector.tolist(),
            "topK": min(limit, self.most),
            "includeValues": False,
            "includeMetadata": False,
        }
        if seqs is not None:
            asked["filter"] = {"seq": {"$in": list(seqs)}}
        answer = self._post("/query", asked)
        return [Match(int(one["id"]), float(one["score"])) for one in answer.get("matches", ())]

    def count(self, shelf: VectorShelf) -> int:
        spaces = self._post("/describe_index_stats", {}).get("namespaces") or {}
        return int(spaces.get(shelf.name, {}).get("vectorCount", 0))

    def discard(self, shelf: VectorShelf) -> None:
        try:
            self._post("/vectors/delete", {"deleteAll": True, "namespace": shelf.name})
        except VectorLost:
            return  # there is no such namespace

    def close(self) -> None:
        """Does nothing: it holds no connection open."""

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._http.ask("POST", path, body) or {}
