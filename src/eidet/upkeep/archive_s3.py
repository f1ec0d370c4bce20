"""An archive in a bucket: a piece is one object of compressed JSON lines, the first of which is its manifest.

An object is only created where none exists, or replaced if it is still the one that was read. So writes are
atomic, and two writers never undo each other.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from ..core.errors import Corrupt, Misconfigured, NotFound
from ..core.record import Record, new_id
from ..core.record_table import encode_fields
from ..core.validate import dump_json
from ..net.retry import RetryPolicy
from ..store.export_file import FORMAT, record_from
from .archive import about
from .bucket import Bucket, BucketPlace, Taken

_TRIES: Final = 5  # of a change while other writers are faster
_END: Final = ".jsonl.gz"
_NAME = re.compile(r"archive-[0-9a-f]+")


class _Piece(NamedTuple):
    manifest: dict[str, Any]
    records: list[Record]
    etag: str


class S3Archive:
    """An `Archive` in a bucket of any S3 server: `S3Archive("s3://bucket/prefix?endpoint=…")`."""

    def __init__(self, url: str, *, retry_policy: RetryPolicy | None = None) -> None:
        self.url = url
        self._bucket = Bucket(BucketPlace.of(url), retry_policy)

    def __repr__(self) -> str:
        return f"S3Archive({self.url!r})"

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        name = f"archive-{new_id(now)}"
        self._write(name, records, {**manifest, "archived": now}, None)
        return name

    def names(self) -> list[str]:
        keys = (key.removesuffix(_END) for key in self._bucket.keys("archive-") if key.endswith(_END))
        return sorted(filter(_NAME.fullmatch, keys))

    def manifest(self, name: str) -> dict[str, Any]:
        return self._read(name).manifest

    def read(self, name: str) -> Iterator[Record]:
        """Yields the records after checking every byte."""
        return iter(self._read(name).records)

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Removes records from a piece for good. Returns how many. Deletes a piece that becomes empty.

        Changes the piece only if it is still the one that was read; otherwise reads it again.
        """
        del now
        for _ in range(_TRIES):
            try:
                return self._expunge(name, gone)
            except Taken:
                continue
        raise Taken(f"{self.url}: {name} kept changing; try again")

    def health(self) -> dict[str, Any]:
        return self._bucket.retrier.health().as_dict()

    def _expunge(self, name: str, gone: Callable[[Record], bool]) -> int:
        manifest, records, etag = self._read(name)
        kept = [record for record in records if not gone(record)]
        if len(kept) == len(records):
            return 0
        if kept:
            self._write(name, kept, manifest, etag)
            self._bucket.delete_former(name + _END)
        else:
            self._bucket.delete(name + _END, if_it_is=etag)
        return len(records) - len(kept)

    def _write(
        self, name: str, records: Sequence[Record], manifest: dict[str, Any], instead_of: str | None
    ) -> None:
        own = {"eidet": "archive", "format": FORMAT, "count": len(records), **about(records)}
        lines = [{**manifest, **own}, *map(encode_fields, records)]
        body = gzip.compress("".join(dump_json(line) + "\n" for line in lines).encode(), mtime=0)
        self._bucket.put(name + _END, body, sha256=sha256(body).hexdigest(), instead_of=instead_of)

    def _read(self, name: str) -> _Piece:
        where = f"{name} in {self.url}"
        if not _NAME.fullmatch(name):
            raise NotFound(f"the archive {self.url} has no {name!r}")
        found = self._bucket.get(name + _END)
        if sha256(found.body).hexdigest() != found.sha256:
            raise Corrupt(f"{where} was truncated or changed; nothing was loaded")
        try:
            first, *lines = gzip.decompress(found.body).decode().split("\n")[:-1]
            manifest = json.loads(first)
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise Corrupt(f"{where} is damaged: {error}; nothing was loaded") from error
        if not isinstance(manifest, dict) or manifest.get("eidet") != "archive":
            raise Corrupt(f"{where} is not an archive of Eidet; nothing was loaded")
        if manifest.get("format") != FORMAT:
            raise Misconfigured(
                f"{where} has format {manifest.get('format')}, this version reads {FORMAT}: "
                "pip install --upgrade eidet"
            )
        records = [record_from(line, f"{where}, line {at}") for at, line in enumerate(lines, 2)]
        if len(records) != manifest.get("count"):
            raise Corrupt(f"{where} should hold {manifest.get('count')} records, it holds {len(records)}")
        return _Piece(manifest, records, found.etag)
