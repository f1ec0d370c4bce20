"""Objects in a bucket of any S3 server: written atomically, and never overwritten unseen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

from ..core.errors import Conflict, EidetError, Misconfigured, MissingExtra, NotFound, Unavailable
from ..net.retry import Busy, OutcomeUnknown, Retrier, RetryPolicy
from ..net.url import Options

_EXAMPLE: Final = "s3://bucket/prefix?endpoint=https://host:9000&region=eu-central-1"
_TRIES: Final = 4  # that fit into the deadline of a call if the server is silent
_PIECE: Final = 1 << 18
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_OPTIONS: Final = ("endpoint", "region", "deadline")
_SLOWER: Final = ("SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded")
_BUSY: Final = ("RequestTimeout", "ServiceUnavailable", "InternalError", "OperationAborted",
                "ConditionalRequestConflict")  # fmt: skip
_BARRED: Final = ("AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "403")


class _CutShort(KeyError):
    """A reply is truncated."""


def _as_it_is(found: Any) -> Any:
    return found


def _etag(found: Mapping[str, Any]) -> Any:
    return found["ETag"]


def _page(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Checks that a page names its bucket, because a truncated reply could look like an empty one."""
    if "Name" not in found:
        raise _CutShort("Name")
    return found


@cache
def _descriptions() -> Any:
    """Returns botocore's service descriptions, which all clients share and which are slow to read."""
    from botocore.loaders import create_loader

    return create_loader()


def _send_at_once(request: Any, **_: Any) -> None:
    """Sends without waiting for "100 Continue": botocore waits forever if the connection breaks then."""
    request.headers.pop("Expect", None)


class Taken(Conflict):
    """An object exists already, or is no longer the one that was read."""


class _Object(NamedTuple):
    body: bytes
    etag: str
    sha256: str  # of the body, as its writer stated it


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
        prefix = unquote(parts.path).strip("/")
        return cls(
            bucket=parts.netloc,
            prefix=f"{prefix}/" if prefix else "",
            endpoint=_endpoint(options.get_text("endpoint", None)),
            region=options.get_text("region", None) or None,
            deadline_seconds=options.parse_number("deadline", None, above=0),
        )

    def __str__(self) -> str:
        end = f"?endpoint={self.endpoint}" if self.endpoint else ""
        return f"s3://{self.bucket}/{self.prefix}{end}"


def _endpoint(said: str | None) -> str | None:
    if said and not said.startswith(("http://", "https://")):
        raise Misconfigured(f"an endpoint must begin with http:// or https://, not {said!r}: {_EXAMPLE}")
    return said or None


class Bucket:
    """The objects below one prefix. Every call ends within the deadline, with an answer or a typed error.

    Credentials are found as by boto3: in the environment, a profile, or the machine's role.
    """

    def __init__(self, place: BucketPlace, retry_policy: RetryPolicy | None = None) -> None:
        if find_spec("botocore") is None:
            raise MissingExtra("an archive on S3", extra="s3")
        chosen = retry_policy or RetryPolicy(deadline_seconds=place.deadline_seconds or 30.0)
        self.place = place
        self.retrier: Retrier = Retrier(str(place), chosen)
        self._try_seconds = chosen.deadline_seconds / _TRIES

    def put(self, key: str, body: bytes, *, sha256: str, instead_of: str | None = None) -> str:
        """Creates an object, or replaces the one with the given etag. Returns its etag.

        Raises `Taken` if the object exists already, or has another etag.
        """
        condition: dict[str, Any] = {"IfNoneMatch": "*"} if instead_of is None else {"IfMatch": instead_of}
        arguments: dict[str, Any] = {"Metadata": {"sha256": sha256}, "Body": body, **condition}
        try:
            written: str = self._ask("put_object", key, _etag, **arguments)
        except Taken:
            if (there := self._read_head(key)) is None or there[1] != sha256:
                raise
            return there[0]  # an earlier try succeeded, but its reply was lost
        return written

    def get(self, key: str) -> _Object:
        def read(found: Mapping[str, Any]) -> _Object:
            body = b"".join(iter(lambda: found["Body"].read(_PIECE), b""))
            if len(body) != found["ContentLength"]:
                raise _CutShort("its end")
            return _Object(body, found["ETag"], found["Metadata"].get("sha256", ""))

        found: _Object = self._ask("get_object", key, read)
        return found

    def _read_head(self, key: str) -> tuple[str, str] | None:
        try:
            found: tuple[str, str] = self._ask(
                "head_object", key, lambda told: (told["ETag"], told["Metadata"].get("sha256", ""))
            )
        except NotFound:
            return None
        return found

    def delete(self, key: str, *, if_it_is: str | None = None) -> None:
        """Deletes a key with all its versions, if it exists. Raises `Taken` if it has another etag."""
        condition: dict[str, Any] = {} if if_it_is is None else {"IfMatch": if_it_is}
        try:
            self._ask("delete_object", key, **condition)
        except NotFound:
            return
        self._delete_versions(key, latest=True)

    def delete_former(self, key: str) -> None:
        """Deletes the former versions of a key, if the bucket keeps versions."""
        self._delete_versions(key, latest=False)

    def _delete_versions(self, key: str, *, latest: bool) -> None:
        for one in self._list_pages("list_object_versions", key, ("Versions", "DeleteMarkers")):
            if one["Key"] == self.place.prefix + key and (latest or not one["IsLatest"]):
                self._ask("delete_object", key, VersionId=one["VersionId"])

    def keys(self, start: str = "") -> Iterator[str]:
        """Yields the keys that begin with `start`, by name."""
        for one in self._list_pages("list_objects_v2", start, ("Contents",)):
            yield one["Key"].removeprefix(self.place.prefix)

    def _list_pages(self, verb: str, start: str, parts: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
        following: dict[str, Any] = {}
        while True:
            page = self._ask(verb, None, _page, Prefix=self.place.prefix + start, **following)
            for part in parts:
                yield from page.get(part, ())
            if not page.get("IsTruncated"):
                return
            following = _next_page(page)

    def _ask(self, verb: str, key: str | None, then: Callable[[Any], Any] = _as_it_is, **words: Any) -> Any:
        if key is not None:
            words["Key"] = self.place.prefix + key

        last: list[EidetError] = []  # more informative than a missed deadline

        def job(left: float) -> Any:
            if left < self._try_seconds / 2:
                raise last.pop() if last else Unavailable(f"{self.place} did not answer before the deadline")
            try:
                return then(getattr(self._client, verb)(Bucket=self.place.bucket, **words))
            except KeyError as error:  # a reply whose headers were cut looks like one without them
                last[:] = [OutcomeUnknown(f"{self.place} answered incompletely: {error} is missing")]
                raise last[0] from error
            except self._errors as error:
                last[:] = [self._meaning(error, key)]
                raise last[0] from error

        return self.retrier.call(job)

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
        if self.place.endpoint:
            chosen = chosen.merge(Config(s3={"addressing_style": "path"}))
        session = Session()
        session.register_component("data_loader", _descriptions())
        client = session.create_client(
            "s3", endpoint_url=self.place.endpoint, region_name=self.place.region, config=chosen
        )
        client.meta.events.register("before-send.s3", _send_at_once)
        return client

    def _meaning(self, error: Exception, key: str | None) -> EidetError:
        response = getattr(error, "response", None)
        if response is not None:
            return _refusal(response, self.place, key, str(error))
        from botocore import exceptions as lost

        never = (lost.NoCredentialsError, lost.PartialCredentialsError, lost.ParamValidationError,
                 lost.NoRegionError, lost.ProfileNotFound)  # fmt: skip
        if isinstance(error, never):
            return Misconfigured(
                f"the archive {self.place} cannot be queried: {error}; keys come from AWS_ACCESS_KEY_ID and "
                "AWS_SECRET_ACCESS_KEY, a profile or a role"
            )
        if isinstance(error, lost.EndpointConnectionError | lost.ConnectTimeoutError):
            return Unavailable(f"the archive {self.place} cannot be reached: {error}")
        return OutcomeUnknown(f"{self.place} answered incompletely: {error}")


def _next_page(page: Mapping[str, Any]) -> dict[str, Any]:
    if "NextContinuationToken" in page:
        return {"ContinuationToken": page["NextContinuationToken"]}
    return {"KeyMarker": page["NextKeyMarker"], "VersionIdMarker": page["NextVersionIdMarker"]}


def _refusal(told: Mapping[str, Any], place: BucketPlace, key: str | None, words: str) -> EidetError:
    code = str(told.get("Error", {}).get("Code", ""))
    status = int(told.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
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
