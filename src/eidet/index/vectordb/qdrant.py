"""Qdrant: one collection per store and width; a shelf is a keyword field of every point."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ...core.errors import EidetError, Misconfigured, Unavailable
from ...core.settings import Settings
from ...net.retry import Retrier
from ...store import Store
from .. import Floats
from . import Match, Point, VectorLost, VectorShelf
from .address import DatabaseAddress, key_in, open_vector_index, uuid_of
from .index import VectorIndex

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

T = TypeVar("T")


def qdrant(store: Store, width: int, *, settings: Settings, **parts: Any) -> VectorIndex:
    """Opens the index `qdrant+http://host:6333`, `qdrant+file:///folder` or `qdrant://:memory:`."""
    return open_vector_index(QdrantDatabase, store, width, settings, package="qdrant_client", **parts)


class QdrantDatabase:
    """Talks to Qdrant through its own client, which is made on first use unless one is given."""

    most = 10_000
    batch = 256
    settle_seconds: float = 0.0

    def __init__(self, address: DatabaseAddress, client: QdrantClient | None = None) -> None:
        self.retrier: Retrier = Retrier(address.shown, address.retry_policy)
        self._address, self._client, self._owned = address, client, client is None
        self._local = not address.target.startswith("http")
        self._lock = threading.RLock()  # the in-process client is not thread-safe

    def _open(self) -> QdrantClient:
        from qdrant_client import QdrantClient

        if self._client is None:
            target = self._address.target
            if target == ":memory:":
                self._client = QdrantClient(":memory:")
            elif self._local:
                self._client = QdrantClient(path=target)
            else:
                seconds = max(1, int(self._address.retry_policy.deadline_seconds / 2))
                self._client = QdrantClient(
                    url=target, api_key=self._address.key, timeout=seconds, check_compatibility=False
                )
        return self._client

    def prepare(self, shelf: VectorShelf) -> None:
        from qdrant_client import models

        if not self._do(lambda c: c.collection_exists(shelf.collection)):
            vectors = models.VectorParams(size=shelf.width, distance=models.Distance.COSINE)
            self._do(lambda c: _create(c, shelf.collection, vectors))
        if not self._local:
            for column, kind in _schemas().items():
                self._do(partial(_index_column, shelf.collection, column, kind))

    def put(self, shelf: VectorShelf, points: Sequence[Point]) -> None:
        from qdrant_client import models

        batch = models.Batch(
            ids=[uuid_of(shelf, point.key) for point in points],
            vectors=[point.vector.tolist() for point in points],
            payloads=[{"seq": point.seq, "shelf": shelf.name} for point in points],
        )
        self._do(lambda c: c.upsert(shelf.collection, batch, wait=True))

    def remove(self, shelf: VectorShelf, seqs: Sequence[int]) -> None:
        from qdrant_client import models

        chosen = models.FilterSelector(filter=_filter(shelf, seqs))
        self._do(lambda c: c.delete(shelf.collection, chosen, wait=True))

    def near(
        self, shelf: VectorShelf, vector: Floats, limit: int, *, seqs: Sequence[int] | None = None
    ) -> list[Match]:
        found = self._do(
            lambda c: c.query_points(
                shelf.collection,
                query=vector.tolist(),
                query_filter=_filter(shelf, seqs),
                limit=limit,
                with_payload=False,
            )
        )
        return [Match(key_in(point.id), float(point.score)) for point in found.points]

    def count(self, shelf: VectorShelf) -> int:
        try:
            answer = self._do(lambda c: c.count(shelf.collection, _filter(shelf), exact=True))
        except VectorLost:
            return 0
        return int(answer.count)

    def discard(self, shelf: VectorShelf) -> None:
        from qdrant_client import models

        chosen = models.FilterSelector(filter=_filter(shelf))
        try:
            self._do(lambda c: c.delete(shelf.collection, chosen, wait=True))
            if not self._do(lambda c: c.count(shelf.collection, exact=True)).count:
                self._do(lambda c: c.delete_collection(shelf.collection))
        except VectorLost:
            return

    def close(self) -> None:
        if self._owned and self._client is not None:
            self._client.close()
            self._client = None

    def _do(self, job: Callable[[QdrantClient], T]) -> T:
        return self.retrier.call(lambda _left: self._run(job))

    def _run(self, job: Callable[[QdrantClient], T]) -> T:
        with _translate_errors(self.retrier.name):
            with self._lock:
                client = self._open()
                if self._local:
                    return job(client)
            return job(client)


def _create(client: QdrantClient, name: str, vectors: models.VectorParams) -> bool:
    """Creates a collection; returns False if another process was faster."""
    from qdrant_client.http.exceptions import UnexpectedResponse

    try:
        return bool(client.create_collection(name, vectors_config=vectors))
    except (UnexpectedResponse, ValueError):
        if client.collection_exists(name):
            return False
        raise


def _index_column(collection: str, column: str, kind: Any, client: QdrantClient) -> None:
    client.create_payload_index(collection, column, kind)


def _schemas() -> dict[str, Any]:
    from qdrant_client import models

    shelf = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {"shelf": shelf, "seq": models.PayloadSchemaType.INTEGER}


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except ResponseHandlingException as error:
        raise Unavailable(str(error) or type(error.source).__name__) from error
    except UnexpectedResponse as error:
        raise _refusal(name, error.status_code or 500, str(error)) from error
    except (ValueError, RuntimeError) as error:  # from the in-process client
        if "not found" in str(error):
            raise VectorLost(f"{name}: {error}") from error
        raise Misconfigured(f"{name}: {error}") from error


def _refusal(name: str, status: int, words: str) -> EidetError:
    message = f"{name} answered {status}: {words[:300]}"
    if status == 404:
        return VectorLost(message)
    return Unavailable(message) if status >= 500 or status in (408, 425, 429) else Misconfigured(message)


def _filter(shelf: VectorShelf, seqs: Sequence[int] | None = None) -> models.Filter:
    from qdrant_client import models

    must: list[Any] = [models.FieldCondition(key="shelf", match=models.MatchValue(value=shelf.name))]
    if seqs is not None:
        must.append(models.FieldCondition(key="seq", match=models.MatchAny(any=list(seqs))))
    return models.Filter(must=must)
