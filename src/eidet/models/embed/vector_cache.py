"""An embedder that caches the rows of another embedder."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ...core.errors import BadInput
from ...quality import health_of
from . import Embedder, Vectors, embed_checked, gives_same_bytes, reads_sentences

_Digest = bytes
_Found = dict[_Digest, Vectors]


class Cached:
    """Caches the rows of `embedder` for the `size` last used texts.

    Only texts that are not cached are passed on, in one call, each once.
    """

    costly = True

    def __init__(self, embedder: Embedder, size: int = 10_000) -> None:
        if size < 1:
            raise BadInput(f"the size of a cache needs at least 1, not {size}")
        self._embedder, self._size = embedder, size
        self._rows: OrderedDict[_Digest, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def repeats(self) -> bool:
        """Whether the embedder gives the same bytes for a text each time."""
        return gives_same_bytes(self._embedder)

    @property
    def reads_sentences(self) -> bool:
        return reads_sentences(self._embedder)

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def width(self) -> int:
        return self._embedder.width

    def health(self) -> dict[str, Any]:
        """Returns the embedder's health; empty if it reports none."""
        return dict(health_of(self._embedder) or {})

    def embed(self, texts: Sequence[str]) -> Vectors:
        wanted = {_digest(text): text for text in texts}
        found = self._look_up(wanted)
        missing = {digest: text for digest, text in wanted.items() if digest not in found}
        if missing:
            rows = embed_checked(self._embedder, list(missing.values()))
            learned = {digest: row.copy() for digest, row in zip(missing, rows, strict=True)}
            self._keep(learned)
            found |= learned
        rows = np.empty((len(texts), self.width), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[:] = found[_digest(text)]
        return rows

    def forget(self, texts: Sequence[str]) -> None:
        """Evicts the rows of these texts."""
        with self._lock:
            for text in texts:
                self._rows.pop(_digest(text), None)

    def _look_up(self, digests: Iterable[_Digest]) -> _Found:
        found: _Found = {}
        with self._lock:
            for digest in digests:
                if (row := self._rows.get(digest)) is not None:
                    self._rows.move_to_end(digest)
                    found[digest] = row
        return found

    def _keep(self, rows: _Found) -> None:
        with self._lock:
            self._rows.update(rows)
            while len(self._rows) > self._size:
                self._rows.popitem(last=False)


def _digest(text: str) -> _Digest:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
