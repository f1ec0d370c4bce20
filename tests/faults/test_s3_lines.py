"""The line to an S3 server is slow, silent, refused or cut: typed errors in time, and no half piece."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest
from tests.servers.proxy import Proxy
from tests.servers.s3 import S3

from eidet.core.errors import Misconfigured, Unavailable
from eidet.net.retry import RetryPolicy
from eidet.store.contract import NOW, fact
from eidet.trust.erase.elsewhere import records_in
from eidet.upkeep.archive_s3 import S3Archive

DEADLINE = 1.2
RETRY_POLICY = RetryPolicy(deadline_seconds=DEADLINE, break_after=100)


@pytest.fixture
def proxy(s3: S3) -> Iterator[Proxy]:
    made = Proxy(s3.port)
    yield made
    made.stop()


@pytest.fixture
def bucket(s3: S3) -> str:
    return s3.bucket()


@pytest.fixture
def archive(s3: S3, proxy: Proxy, bucket: str) -> S3Archive:
    made = S3Archive(s3.url(bucket, port=proxy.port), retry_policy=RETRY_POLICY)
    made.keep([fact("before")], {}, now=NOW)
    return made


@pytest.mark.parametrize("after", [20, 90, 200, 500])
def test_a_reply_that_is_cut_leaves_no_half_piece(
    s3: S3, proxy: Proxy, bucket: str, archive: S3Archive, after: int
) -> None:
    """The write may have arrived: then it is there as a whole, and once."""
    proxy.cut_after = after
    proxy.cut()
    for n in range(2):
        with suppress(Unavailable):
            archive.keep([fact(f"{n}", text="words " * 500)], {}, now=NOW)
    near = S3Archive(s3.url(bucket))
    found = [record.id for _, record in records_in(near)]
    assert found[0] == "before"
    assert len(found) == len(set(found))


def test_a_short_fault_is_waited_out(s3: S3, proxy: Proxy, bucket: str) -> None:
    archive = S3Archive(s3.url(bucket, port=proxy.port), retry_policy=RetryPolicy(deadline_seconds=10.0))
    assert archive.names() == []
    proxy.refuse()
    ended = time.monotonic() + 0.3

    def healed(record: object) -> bool:
        return True

    timer = threading.Timer(0.3, proxy.heal)
    timer.start()
    name = archive.keep([fact("x")], {}, now=NOW)
    timer.join()
    assert time.monotonic() >= ended
    assert [record.id for record in archive.read(name)] == ["x"]
    assert archive.expunge(name, healed, now=NOW) == 1
    assert archive.health()["retries"] > 0


def test_a_lost_answer_to_a_write_does_not_write_twice(s3: S3, proxy: Proxy, bucket: str) -> None:
    """The first answer never comes; the second try finds what the first one wrote."""
    archive = S3Archive(s3.url(bucket, port=proxy.port), retry_policy=RetryPolicy(deadline_seconds=4.0))
    archive.names()
    proxy.silent = True
    timer = threading.Timer(0.7, proxy.heal)
    timer.start()
    archive.keep([fact("x")], {}, now=NOW)
    timer.join()
    assert [record.id for _, record in records_in(archive)] == ["x"]


def test_keys_that_are_missing_are_asked_for(s3: S3, bucket: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    with pytest.raises(Misconfigured, match="AWS_ACCESS_KEY_ID"):
        S3Archive(s3.url(bucket)).names()


@pytest.mark.parametrize("after", [20, 90, 200, 260])
def test_a_listing_that_is_cut_is_never_an_empty_one(proxy: Proxy, archive: S3Archive, after: int) -> None:
    proxy.cut_after = after
    proxy.cut()
    with pytest.raises(Unavailable):
        archive.names()
