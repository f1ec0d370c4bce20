"""An embedder around an embedder that remembers what it embedded: in RAM, and in a file if asked."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from ...core.errors import BadInput, translate_errors
from ...core.health import HasHealth
from ...core.private_files import create_private
from . import (
    AsyncEmbedder,
    Embedder,
    Vectors,
    check_vectors,
    embed_checked,
    gives_same_bytes,
    reads_sentences,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    embedder TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedder, digest)
) WITHOUT ROWID
"""
_ASK_AT_ONCE = 500  # digests in one SELECT; old SQLite builds allow 999 parameters
BUSY_SECONDS = 2.0
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}

_Digest = bytes
_Found = dict[_Digest, Vectors]


class Cached:
    """The rows of `embedder`, each text embedded once while it is among the `size` last used.

    Only texts that are not known are passed on, in one call, each once. With `path` rows are also
    kept in an SQLite file across restarts, which nothing ever evicts; delete it to empty it. The
    file is only a cache: damaged, it is made anew, and where it cannot be used RAM alone serves;
    both with a warning.
    """

    def __init__(
        self, embedder: Embedder, size: int = 10_000, path: str | os.PathLike[str] | None = None
    ) -> None:
        if size < 1:
            raise BadInput(f"the size of a cache needs at least 1, not {size}")
        self._embedder, self._size = embedder, size
        self._rows: OrderedDict[_Digest, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self._disk = None if path is None else _Disk(Path(path))
        self.path: Path | None = None if path is None else Path(path)

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
        """That of the embedder, where it tells any."""
        return dict(self._embedder.health()) if isinstance(self._embedder, HasHealth) else {}

    def embed(self, texts: Sequence[str]) -> Vectors:
        digests = [_digest(text) for text in texts]
        found = self._look_up(digests)
        missing = _missing(texts, digests, found)
        if missing:
            found |= self._learn(missing, embed_checked(self._embedder, list(missing.values())))
        rows = np.empty((len(texts), self.width), dtype=np.float32)
        for row, digest in zip(rows, digests, strict=True):
            row[:] = found[digest]
        return rows

    async def warm(self, texts: Sequence[str]) -> None:
        """Awaits the rows of texts not known yet, so that `embed` finds them here without waiting.

        Does nothing around a synchronous embedder. More texts than `size` do not all stay.
        """
        if not isinstance(self._embedder, AsyncEmbedder):
            return
        digests = [_digest(text) for text in texts]
        missing = _missing(texts, digests, self._look_up(digests))
        if missing:
            asked = list(missing.values())
            with translate_errors(f"embedder {self.name!r}"):
                answer = await self._embedder.aembed(asked)
            self._learn(missing, check_vectors(self._embedder, asked, answer))

    def forget(self, texts: Sequence[str]) -> None:
        """Drops the rows of texts, from RAM and from the file."""
        digests = [_digest(text) for text in texts]
        with self._lock:
            for digest in digests:
                self._rows.pop(digest, None)
        if self._disk is not None and digests:
            self._disk.delete(digests)

    def cache_files(self) -> list[Path]:
        """The SQLite file and its write-ahead log, where they exist."""
        return [] if self._disk is None else self._disk.files()

    def close(self) -> None:
        """Closes the file, if there is one; the cache may be used on and opens it again."""
        if self._disk is not None:
            self._disk.close()

    def _look_up(self, digests: Sequence[_Digest]) -> _Found:
        found: _Found = {}
        with self._lock:
            for digest in digests:
                if (row := self._rows.get(digest)) is not None:
                    self._rows.move_to_end(digest)
                    found[digest] = row
        unknown = [digest for digest in dict.fromkeys(digests) if digest not in found]
        if self._disk is not None and unknown:
            read = self._disk.read(self.name, unknown, self.width)
            self._keep(read)
            found |= read
        return found

    def _learn(self, texts: Mapping[_Digest, str], rows: Vectors) -> _Found:
        learned = {digest: row.copy() for digest, row in zip(texts, rows, strict=True)}
        self._keep(learned)
        if self._disk is not None and learned:
            self._disk.write(self.name, learned)
        return learned

    def _keep(self, rows: _Found) -> None:
        with self._lock:
            self._rows.update(rows)
            while len(self._rows) > self._size:
                self._rows.popitem(last=False)


def _digest(text: str) -> _Digest:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


def _missing(texts: Sequence[str], digests: Sequence[_Digest], found: _Found) -> dict[_Digest, str]:
    return {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}


class _Disk:
    """Rows in one SQLite file, shared by threads and processes. Never the reason for a failure."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = os.getpid()

    def files(self) -> list[Path]:
        named = (self._path, Path(f"{self._path}-wal"))
        return [file for file in named if file.exists()]

    def read(self, name: str, digests: Sequence[_Digest], width: int) -> _Found:
        """The rows that are there and have this width; others are as good as absent."""
        found: _Found = {}
        with self._lock:
            try:
                for start in range(0, len(digests), _ASK_AT_ONCE):
                    found |= self._select(name, digests[start : start + _ASK_AT_ONCE])
            except sqlite3.Error as error:
                self._mend(error)
        return {digest: row for digest, row in found.items() if len(row) == width}

    def write(self, name: str, rows: _Found) -> None:
        values = [(name, digest, row.astype("<f4").tobytes()) for digest, row in rows.items()]
        with self._lock:
            try:
                self._insert(values)
            except sqlite3.Error as error:
                self._mend(error)
                with suppress(sqlite3.Error):
                    self._insert(values)

    def delete(self, digests: Sequence[_Digest]) -> None:
        with self._lock:
            try:
                with self._open() as connection:
                    connection.execute("PRAGMA secure_delete = ON")
                    connection.executemany("DELETE FROM vectors WHERE digest = ?", [(d,) for d in digests])
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                self._mend(error)

    def close(self) -> None:
        with self._lock:
            self._drop_connection()

    def _select(self, name: str, digests: Sequence[_Digest]) -> _Found:
        marks = ",".join("?" * len(digests))
        query = f"SELECT digest, vector FROM vectors WHERE embedder = ? AND digest IN ({marks})"  # noqa: S608
        rows = self._open().execute(query, (name, *digests)).fetchall()
        whole = ((digest, blob) for digest, blob in rows if blob and len(blob) % 4 == 0)
        return {digest: np.frombuffer(blob, "<f4").astype(np.float32) for digest, blob in whole}

    def _insert(self, values: Sequence[tuple[str, _Digest, bytes]]) -> None:
        with self._open() as connection:
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", values)

    def _open(self) -> sqlite3.Connection:
        if self._owner != os.getpid():  # after a fork: the parent's connection is not ours to use or close
            self._connection, self._owner = None, os.getpid()
        if self._connection is None:
            create_private(self._path)
            self._connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_SCHEMA)
        return self._connection

    def _mend(self, error: sqlite3.Error) -> None:
        """Removes a damaged file so that the next use makes a new one; other trouble is only told."""
        self._drop_connection()
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
            warnings.warn(f"the embedding cache {self._path} cannot be used now: {error}", stacklevel=5)
            return
        warnings.warn(
            f"the embedding cache {self._path} was damaged ({error}) and is made anew", stacklevel=5
        )
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def _drop_connection(self) -> None:
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None

    __del__ = _drop_connection
