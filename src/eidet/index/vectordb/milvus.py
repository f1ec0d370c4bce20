"""Milvus: one collection per store and width; the shelf is its partition key (not in Milvus Lite)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.settings import Settings
from ...net.retry import Retrier
from ...store import Store
from .. import Floats
from . import Match, Point, VectorLost, VectorShelf
from .address import DatabaseAddress, open_vector_index
from .index import VectorIndex

if TYPE_CHECKING:
    from pymilvus import MilvusClient

T = TypeVar("T")

_NO_COLLECTION: Final = 100  # an error code of Milvus
_WRONG_REQUEST: Final = frozenset({1100, 1101, 2000, 65535})
LONGEST: Final = 100  # characters of a name


def milvus(store: Store, width: int, *, settings: Settings, **parts: Any) -> VectorIndex:
    """Opens the index `milvus+http://host:19530`, or `milvus+file:///path.db` (Milvus Lite)."""
    return open_vector_index(MilvusDatabase, store, width, settings, package="pymilvus", **parts)


class MilvusDatabase:
    """Talks to Milvus through its own client, with strongly consistent reads.

    The client is made on first use, unless one is given, which stays open.
    """

    most = 16_384
    batch = 500
    settle_seconds: float = 0.0

    def __init__(self, address: DatabaseAddress, client: MilvusClient | None = None) -> None:
        self.retrier: Retrier = Retrier(address.shown, address.retry_policy)
        self._address, self._client, self._owned = address, client, client is None
        self._lite = not address.target.startswith("http")
        self._lock = threading.Lock()

    def _open(self) -> MilvusClient:
        from pymilvus import MilvusClient

        with self._lock:
            if self._client is None:
                seconds = self._address.retry_policy.deadline_seconds
                uri, token = self._address.target, self._address.key or ""
                self._client = MilvusClient(uri=uri, token=token, timeout=seconds)
            return self._client

    def prepare(self, shelf: VectorShelf) -> None:
        def job(client: MilvusClient, left: float) -> None:
            if not client.has_collection(shelf.collection, timeout=left):
                _create(client, shelf, left, self._lite)

        self._do(job)

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        rows = [
            {
                "id": _id(shelf, point.key),
                "shelf": shelf.name,
                "vector": point.vector.tolist(),
                "seq": point.seq,
            }
            for point in points
        ]
        self._do(lambda client, left: client.upsert(shelf.collection, rows, timeout=left))

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        chosen = _expression(shelf, seqs)
        self._do(lambda client, left: client.delete(shelf.collection, filter=chosen, timeout=left))

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        answer = self._do(
            lambda client, left: client.search(
                shelf.collection,
                data=[vector.tolist()],
                anns_field="vector",
                filter=_expression(shelf, seqs),
                limit=min(limit, self.most),
                consistency_level="Strong",
                timeout=left,
            )
        )
        return [Match(_key(hit["id"]), float(hit["distance"])) for hit in answer[0]]

    def count(self, shelf: VectorShelf) -> int:
        try:
            return self._count_rows(shelf.collection, _expression(shelf))
        except VectorLost:
            return 0

    def discard(self, shelf: VectorShelf) -> None:
        if not self._do(lambda client, left: client.has_collection(shelf.collection, timeout=left)):
            return
        chosen = _expression(shelf)
        self._do(lambda client, left: client.delete(shelf.collection, filter=chosen, timeout=left))
        if not self._count_rows(shelf.collection, "seq >= 0"):
            self._do(lambda client, left: client.drop_collection(shelf.collection, timeout=left))

    def _count_rows(self, collection: str, chosen: str) -> int:
        answer = self._do(
            lambda client, left: client.query(
                collection,
                filter=chosen,
                output_fields=["count(*)"],
                consistency_level="Strong",
                timeout=left,
            )
        )
        return int(answer[0]["count(*)"])

    def close(self) -> None:
        with self._lock:
            if self._owned and self._client is not None:
                self._client.close()
                self._client = None

    def _do(self, job: Callable[[MilvusClient, float], T]) -> T:
        def run(left: float) -> T:
            with _translate_errors(self.retrier.name):
                return job(self._open(), left)

        return self.retrier.call(run)


def _create(client: MilvusClient, shelf: VectorShelf, left: float, lite: bool) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=LONGEST)
    schema.add_field("shelf", DataType.VARCHAR, max_length=LONGEST, is_partition_key=not lite)
    schema.add_field("seq", DataType.INT64)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=shelf.width)
    index = client.prepare_index_params()
    index.add_index("vector", index_type="AUTOINDEX", metric_type="COSINE")
    client.create_collection(
        shelf.collection, schema=schema, index_params=index, consistency_level="Strong", timeout=left
    )


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except MilvusException as error:
        raise _refusal(name, int(error.code), str(error.message)) from error
    except (RpcError, OSError) as error:
        raise Unavailable(f"{type(error).__name__}: {error}"[:300]) from error


def _refusal(name: str, code: int, words: str) -> EidetError:
    message = f"{name} answered {code}: {words.strip()[:300]}"
    if code == _NO_COLLECTION:
        return VectorLost(message)
    if code in _WRONG_REQUEST or "auth" in words.lower():
        return Misconfigured(message)
    return Unavailable(message)


def _id(shelf: VectorShelf, key: int) -> str:
    return f"{shelf.name}.{key}"


def _key(id: Any) -> int:
    return int(str(id).rpartition(".")[2])


def _expression(shelf: VectorShelf, seqs: Sequence[int] | None = None) -> str:
    """Returns a filter expression; safe to format, as the shelf's name is a hash."""
    mine = f'shelf == "{shelf.name}"'
    return mine if seqs is None else f"{mine} and seq in [{', '.join(map(str, seqs))}]"
