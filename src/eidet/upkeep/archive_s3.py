"""An archive in a bucket: compressed JSON lines, each piece with a manifest that says what is in it.

A piece is what its manifest names. The lines are written before the manifest, so nobody ever lists half a
piece; both only where nothing is, or in place of exactly what was read, so two writers never undo each other.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
import secrets
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final

from ..core.errors import Corrupt, EidetError, Misconfigured, NotFound
from ..core.record import Record, new_id
from ..core.record_table import encode_fields
from ..core.validate import dump_json
from ..net.retry import RetryPolicy
from ..store.export_file import FORMAT, record_from
from .archive import ABOUT, about
from .bucket import Bucket, BucketPlace, Taken

log: logging.Logger = logging.getLogger("eidet")

_TRIES: Final = 5  # of a change that somebody else's came before
_OF_OBJECTS: Final = ("eidet", "format", "count", "archived", "object", "bytes", "sha256", *ABOUT)
_MANIFEST = re.compile(r"(archive-[0-9a-f]+)\.json")


class S3Archive:
    """An `Archive` in a bucket of any S3 server: `S3Archive("s3://bucket/prefix?endpoint=…")`.

    `keep` is durable when it returns. The manifest is small and tells count, ids, scopes and times, so
    that a piece which cannot hold what is sought need not be fetched.
    """

    def __init__(self, url: str, *, retry_policy: RetryPolicy | None = None) -> None:
        self.url = url
        self._bucket = Bucket(BucketPlace.of(url), retry_policy)

    def __repr__(self) -> str:
        return f"S3Archive({self.url!r})"

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        name = f"archive-{new_id(now)}"
        written = self._write_lines(name, records, {**manifest, "archived": now})
        self._write_manifest(name, written, None)
        return name

    def names(self) -> list[str]:
        found = map(_MANIFEST.fullmatch, self._bucket.keys("archive-"))
        return sorted(match[1] for match in found if match)

    def manifest(self, name: str) -> dict[str, Any]:
        """Returns the manifest object; raises `Corrupt` if it was changed. `read` checks the lines."""
        return self._manifest(name)[0]

    def read(self, name: str) -> Iterator[Record]:
        """Yields the records after checking every byte."""
        return iter(self._records(name, self.manifest(name)))

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Takes records out of a piece for good; how many. A piece that is empty then is removed.

        The manifest is changed only if it is the one that was read; else all is looked at again.
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

    def _write_lines(self, name: str, records: Sequence[Record], said: dict[str, Any]) -> dict[str, Any]:
        """The lines, under a name of their own; what a manifest says of them."""
        lines = "".join(dump_json(encode_fields(record)) + "\n" for record in records)
        body = gzip.compress(lines.encode(), mtime=0)
        digest = sha256(body).hexdigest()
        key = f"{name}-{secrets.token_hex(8)}.jsonl.gz"
        self._bucket.put(key, body, sha256=digest)
        own = {"eidet": "archive", "format": FORMAT, "count": len(records), "object": key}
        return {**said, **own, "bytes": len(body), "sha256": digest, **about(records)}

    def _write_manifest(self, name: str, told: dict[str, Any], instead_of: str | None) -> None:
        body = dump_json(told).encode()
        digest = sha256(body).hexdigest()
        self._bucket.put(f"{name}.json", body, sha256=digest, instead_of=instead_of)

    def _manifest(self, name: str) -> tuple[dict[str, Any], str]:
        """Returns the manifest and its etag."""
        if not _MANIFEST.fullmatch(f"{name}.json"):
            raise NotFound(f"the archive {self.url} has no {name!r}")
        found = self._bucket.get(f"{name}.json")
        if sha256(found.body).hexdigest() != found.sha256:
            raise Corrupt(f"the manifest of {name} in {self.url} was changed; nothing was loaded")
        try:
            manifest = json.loads(found.body)
        except ValueError as error:
            raise Corrupt(f"the manifest of {name} in {self.url} is not valid JSON ({error})") from error
        return self._check_manifest(manifest, name), found.etag

    def _check_manifest(self, told: Any, name: str) -> dict[str, Any]:
        if not isinstance(told, dict) or told.get("eidet") != "archive" or "object" not in told:
            raise Corrupt(f"{name} in {self.url} is not a manifest of Eidet; nothing was loaded")
        if told.get("format") != FORMAT:
            raise Misconfigured(
                f"{name} in {self.url} has format {told.get('format')}, "
                f"this version reads {FORMAT}: pip install --upgrade eidet"
            )
        return told

    def _records(self, name: str, told: dict[str, Any]) -> list[Record]:
        where = f"{name} in {self.url}"
        try:
            body = self._bucket.get(told["object"]).body
        except NotFound as error:
            raise Corrupt(f"the lines of {where} are missing; nothing was loaded") from error
        if sha256(body).hexdigest() != told["sha256"]:
            raise Corrupt(f"the lines of {where} were truncated or changed; nothing was loaded")
        try:
            lines = gzip.decompress(body).decode().split("\n")[:-1]
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise Corrupt(f"the lines of {where} are damaged: {error}; nothing was loaded") from error
        found = [record_from(line, f"{where}, line {at}") for at, line in enumerate(lines, 1)]
        if len(found) != told["count"]:
            raise Corrupt(f"{where} should hold {told['count']} records, it holds {len(found)}")
        return found

    def _expunge(self, name: str, gone: Callable[[Record], bool]) -> int:
        manifest, etag = self._manifest(name)
        records = self._records(name, manifest)
        kept = [record for record in records if not gone(record)]
        if len(kept) == len(records):
            return 0
        if kept:
            said = {k: v for k, v in manifest.items() if k not in _OF_OBJECTS or k == "archived"}
            self._write_instead(name, self._write_lines(name, kept, said), etag)
        else:
            self._bucket.delete(f"{name}.json", if_it_is=etag)
        self._bucket.delete(manifest["object"])
        return len(records) - len(kept)

    def _write_instead(self, name: str, told: dict[str, Any], etag: str) -> None:
        try:
            self._write_manifest(name, told, etag)
        except Taken:
            if name not in self.names() or self._object_of(name) != told["object"]:
                self._bucket.delete(told["object"])  # it may say what somebody else took out
            raise

    def _object_of(self, name: str) -> str:
        """A manifest that cannot be read may name any object of its piece: none of them is a stray."""
        try:
            return str(self.manifest(name)["object"])
        except EidetError as error:
            raise Corrupt(f"cannot tell what belongs to {name}: {error}") from error
