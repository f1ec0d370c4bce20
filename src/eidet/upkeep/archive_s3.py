"""An archive in a bucket: a piece is one object, a compressed export.

An object is only created where none exists, or replaced if it is still the one that was read. So writes are
atomic, and two writers never undo each other.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from operator import itemgetter
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from ..core.errors import (
    Conflict,
    Corrupt,
    EidetError,
    Misconfigured,
    MissingExtra,
    NotFound,
    Unavailable,
)
from ..core.record import Record, new_id
from ..net.retry import Busy, OutcomeUnknown, Retrier, RetryPolicy
from ..net.url import Options
from ..store.export_file import TextOfExport, format_export, read_export, verify_export
from .archive import OF_FILES, about

_EXAMPLE: Final = "s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OPTIONS: Final = ("endpoint", "region", "deadline")
_TRIES: Final = 4  # that fit into the deadline of a call if the server is silent
_CHANGES: Final = 5  # attempts at a change while other writers are faster
_END: Final = ".jsonl.gz"
_NAME = re.compile(r"archive-[0-9a-f]+")
_SLOWER: Final = ("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded")
_BUSY: Final = ("RequestTimeout", "ServiceUnavailable", "InternalError", "OperationAborted",
                "ConditionalRequestConflict")  # fmt: skip
_BARRED: Final = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "403")


# fields of a page that tell where the next one begins, and the arguments that ask for it
_NEXT: Final = {
    "NextContinuationToken": "ContinuationToken",
    "NextKeyMarker": "KeyMarker",
    "NextVersionIdMarker": "VersionIdMarker",
}


class Taken(Conflict):
    """An object exists already, or is no longer the one that was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketPlace:
    """A bucket and the prefix of the keys in it."""

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str | None = None
    deadline_seconds: float | None = None

    @classmethod
    def of(cls, url: str) -> BucketPlace:
        """Parses `s3://bucket/prefix?endpoint=http://…`; raises `Misconfigured` for anything else."""
        parts = urlsplit(url)
        if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc):
            raise Misconfigured(f"the address of an archive, {url!r}, names no bucket: {_EXAMPLE}")
        options = Options.parse(parts.query, hint=_EXAMPLE)
        options.check_known(_OPTIONS)
        prefix, endpoint = unquote(parts.path).strip("/"), options.get_text("endpoint", None) or None
        if endpoint and not endpoint.startswith(("http://", "https://")):
            raise options.error(f"an endpoint must begin with http:// or https://, not {endpoint!r}")
        return cls(
            bucket=parts.netloc,
            prefix=f"{prefix}/" if prefix else "",
            endpoint=endpoint,
            region=options.get_text("region", None) or None,
            deadline_seconds=options.parse_number("deadline", None, above=0),
        )

    def __str__(self) -> str:
        end = f"?endpoint={self.endpoint}" if self.endpoint else ""
        return f"s3://{self.bucket}/{self.prefix}{end}"


class S3Archive:
    """An `Archive` in a bucket of any S3 server: `S3Archive("s3://bucket/prefix?endpoint=…")`.

    Every request ends within the deadline, with an answer or a typed error. Credentials are found as by
    boto3: in the environment, a profile, or the machine's role.
    """

    def __init__(self, url: str, *, retry_policy: RetryPolicy | None = None) -> None:
        self.url = url
        self._place = BucketPlace.of(url)
        if find_spec("botocore") is None:
            raise MissingExtra("an archive on S3", extra="s3")
        policy = retry_policy or RetryPolicy(deadline_seconds=self._place.deadline_seconds or 30.0)
        self._retrier = Retrier(str(self._place), policy)
        self._try_seconds = policy.deadline_seconds / _TRIES

    def __repr__(self) -> str:
        return f"S3Archive({self.url!r})"

    def keep(self, records: Sequence[Record], manifest: dict[str, Any], *, now: float) -> str:
        name = f"archive-{new_id(now)}"
        self._write(name, records, {**manifest, "archived": now}, IfNoneMatch="*")
        return name

    def names(self) -> list[str]:
        found = self._list("list_objects_v2", "archive-", ("Contents",))
        keys = (one["Key"].removeprefix(self._place.prefix) for one in found)
        names = (key.removesuffix(_END) for key in keys if key.endswith(_END))
        return sorted(filter(_NAME.fullmatch, names))

    def manifest(self, name: str) -> dict[str, Any]:
        return verify_export(self._read(name)[0])

    def read(self, name: str) -> Iterator[Record]:
        """Yields the records after checking every byte."""
        export, _ = self._read(name)
        verify_export(export)
        return read_export(export)

    def expunge(self, name: str, gone: Callable[[Record], bool], *, now: float) -> int:
        """Removes records from a piece for good. Returns how many. Deletes a piece that becomes empty.

        Changes the piece only if it is still the one that was read; otherwise reads it again.
        """
        for _ in range(_CHANGES):
            try:
                return self._expunge(name, gone, now)
            except Taken:
                continue
        raise Taken(f"{self.url}: {name} kept changing; try again")

    def health(self) -> dict[str, Any]:
        return self._retrier.health()

    def _expunge(self, name: str, gone: Callable[[Record], bool], now: float) -> int:
        export, etag = self._read(name)
        manifest, records = verify_export(export), list(read_export(export))
        kept = [record for record in records if not gone(record)]
        if len(kept) == len(records):
            return 0
        if kept:
            own = {field: value for field, value in manifest.items() if field not in OF_FILES}
            self._write(name, kept, {**own, "archived": now}, IfMatch=etag)
        else:
            with suppress(NotFound):
                self._ask("delete_object", name + _END, IfMatch=etag)
        self._delete_versions(name + _END, latest=not kept)
        return len(records) - len(kept)

    def _delete_versions(self, key: str, *, latest: bool) -> None:
        """Deletes the former versions of a key, and with `latest` all, if the bucket keeps versions."""
        for one in self._list("list_object_versions", key, ("Versions", "DeleteMarkers")):
            if one["Key"] == self._place.prefix + key and (latest or not one["IsLatest"]):
                self._ask("delete_object", key, VersionId=one["VersionId"])

    # Pieces as objects.

    def _write(
        self, name: str, records: Sequence[Record], manifest: dict[str, Any], **condition: str
    ) -> None:
        """Writes an object if the condition holds; raises `Taken` if it does not."""
        text, key = "".join(format_export(records, {**manifest, **about(records)})), name + _END
        body = gzip.compress(text.encode(), mtime=0)
        try:
            self._ask("put_object", key, itemgetter("ETag"), Body=body, **condition)
        except Taken:
            if not self._has(key, body):
                raise  # else an earlier try succeeded, but its reply was lost

    def _has(self, key: str, body: bytes) -> bool:
        try:
            return bool(self._ask("get_object", key, _read_object)[0] == body)
        except NotFound:
            return False

    def _read(self, name: str) -> tuple[TextOfExport, str]:
        """Returns the export of a piece, not yet verified, and its etag."""
        where = f"{name} in {self.url}"
        if not _NAME.fullmatch(name):
            raise NotFound(f"the archive {self.url} has no {name!r}")
        body, etag = self._ask("get_object", name + _END, _read_object)
        try:
            return TextOfExport(where, gzip.decompress(body).decode()), etag
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise Corrupt(f"{where} is damaged: {error}; nothing was loaded") from error

    # Requests.

    def _list(self, verb: str, start: str, parts: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        page: dict[str, Any] = {"IsTruncated": True}
        while page.get("IsTruncated"):
            following = {ask: page[told] for told, ask in _NEXT.items() if told in page}
            page = self._ask(verb, None, _check_page, Prefix=self._place.prefix + start, **following)
            for part in parts:
                yield from page.get(part, ())

    def _ask(
        self, verb: str, key: str | None, parse: Callable[[Any], Any] = lambda reply: reply, **words: Any
    ) -> Any:
        if key is not None:
            words["Key"] = self._place.prefix + key
        last: list[EidetError] = []  # more informative than a missed deadline

        def job(left: float) -> Any:
            if left < self._try_seconds / 2:
                raise last.pop() if last else Unavailable(f"{self._place} did not answer before the deadline")
            try:
                return parse(getattr(self._client, verb)(Bucket=self._place.bucket, **words))
            except KeyError as error:  # a reply whose headers were cut looks like one without them
                last[:] = [OutcomeUnknown(f"{self._place} answered incompletely: {error} is missing")]
                raise last[0] from error
            except self._errors as error:
                last[:] = [self._translate(error, key)]
                raise last[0] from error

        return self._retrier.call(job)

    @cached_property
    def _errors(self) -> tuple[type[Exception], ...]:
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
        from urllib3.exceptions import HTTPError

        return BotoCoreError, ClientError, ResponseParserError, HTTPError, OSError

    @cached_property
    def _client(self) -> Any:
        from botocore.config import Config
        from botocore.session import Session

        patient = {"connect_timeout": self._try_seconds / 2, "read_timeout": self._try_seconds / 2}
        chosen = Config(retries={"total_max_attempts": 1}, max_pool_connections=32, **patient)
        if self._place.endpoint:
            chosen = chosen.merge(Config(s3={"addressing_style": "path"}))
        client = Session().create_client(
            "s3", endpoint_url=self._place.endpoint, region_name=self._place.region, config=chosen
        )
        client.meta.events.register("before-send.s3", _send_at_once)
        return client

    def _translate(self, error: Exception, key: str | None) -> EidetError:
        from botocore import exceptions as lost

        if isinstance(error, lost.ClientError):
            return _translate_refusal(error.response, self._place, key, str(error))

        never = (lost.NoCredentialsError, lost.PartialCredentialsError, lost.ParamValidationError,
                 lost.NoRegionError, lost.ProfileNotFound)  # fmt: skip
        if isinstance(error, never):
            return Misconfigured(
                f"the archive {self._place} cannot be queried: {error}; keys come from AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, a profile or a role"
            )
        if isinstance(error, lost.EndpointConnectionError | lost.ConnectTimeoutError):
            return Unavailable(f"the archive {self._place} cannot be reached: {error}")
        return OutcomeUnknown(f"{self._place} answered incompletely: {error}")


def _send_at_once(request: Any, **_: Any) -> None:
    """Sends without waiting for "100 Continue": botocore waits forever if the connection breaks then."""
    request.headers.pop("Expect", None)


# Parsers of replies. A missing part, of which they raise a KeyError, means that the reply was cut.


def _read_object(reply: Mapping[str, Any]) -> tuple[bytes, str]:
    body = reply["Body"].read()
    if len(body) != reply["ContentLength"]:
        raise KeyError("its end")
    return body, reply["ETag"]


def _check_page(reply: dict[str, Any]) -> dict[str, Any]:
    """Checks that a page names its bucket and what follows, because a cut reply could look like the last."""
    _ = reply["Name"]
    if reply.get("IsTruncated") and not _NEXT.keys() & reply.keys():
        raise KeyError("NextContinuationToken")
    return reply


def _translate_refusal(
    reply: Mapping[str, Any], place: BucketPlace, key: str | None, words: str
) -> EidetError:
    code = str(reply.get("Error", {}).get("Code", ""))
    status = int(reply.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code == "PreconditionFailed" or status == 412:
        return Taken(f"{place}: {key} was changed by another writer in the meantime")
    if code == "NoSuchBucket":
        return Misconfigured(f"there is no bucket {place.bucket!r}: create it, or name another ({_EXAMPLE})")
    if status == 404:
        return NotFound(f"{place} has no {key}")
    if code in _BARRED or status == 403:
        return Misconfigured(f"{place} denied access ({words}): check the keys and what they may do")
    if code in _SLOWER or status == 429:
        return Busy(f"{place} wants to be asked less often: {words}")
    if code in _BUSY or status >= 500:
        return Unavailable(f"{place} is busy or broken: {words}")
    return Misconfigured(f"{place} refused: {words}")
