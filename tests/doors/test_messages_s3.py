"""The message store in a bucket, on a server that speaks S3."""

from __future__ import annotations

from asyncio import run
from typing import Any

import pytest
from tests.making import history
from tests.servers.s3 import S3

from eidet.compat.messages import Message, S3MemoryStore, default_store
from eidet.core.errors import Refused
from eidet.upkeep.archive_s3 import S3Archive


async def told(store: Any, *words: str) -> None:
    for word in words:
        await store.add_message(Message(role="user", content=word))


@pytest.mark.point(86)
def test_messages_in_a_bucket_are_there_for_whoever_opens_it_next(s3: S3) -> None:
    bucket = s3.bucket()
    run(told(S3MemoryStore(bucket, endpoint=s3.endpoint, session_id="one"), "a", "b"))
    run(told(S3MemoryStore(bucket, endpoint=s3.endpoint, session_id="two"), "c"))
    again = S3MemoryStore(bucket, endpoint=s3.endpoint, session_id="one")
    assert history(again) == ["a", "b"]
    run(told(again, "d"))
    assert history(S3MemoryStore(f"s3://{bucket}?endpoint={s3.endpoint}", session_id="one")) == [
        "a",
        "b",
        "d",
    ]
    with pytest.raises(Refused, match="archive is append-only"):
        run(again.clear())
    assert len(S3Archive(f"s3://{bucket}?endpoint={s3.endpoint}").names()) == 4


@pytest.mark.point(86)
def test_the_store_of_the_archive_environment_is_a_bucket(s3: S3) -> None:
    address = s3.url(s3.bucket(), "chats")
    store = default_store("archive", variables={"S3_BUCKET": address})
    run(told(store, "kept"))
    assert history(default_store("archive", address)) == ["kept"]
