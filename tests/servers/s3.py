"""A server that speaks S3: moto's, in a thread of this process, asked over HTTP."""

from __future__ import annotations

import logging
import uuid
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "us-east-1"}


class S3:
    """One server that is empty when it starts."""

    def __init__(self) -> None:
        pytest.importorskip("boto3", reason="needs boto3: pip install 'eidet[test-s3]'")
        pytest.importorskip("flask_cors", reason="needs moto's server: pip install 'eidet[test-s3]'")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it would rather have more of its extras
            from moto.server import ThreadedMotoServer
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)

    def start(self) -> S3:
        self._server.start()
        self.port = int(self._server.get_host_and_port()[1])
        return self

    def stop(self) -> None:
        self._server.stop()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @cached_property
    def _client(self) -> Any:
        import boto3

        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            region_name="us-east-1",
        )

    def client(self) -> Any:
        """For looking into buckets, beside what is tested."""
        return self._client

    def bucket(self) -> str:
        """The name of a new bucket."""
        name = f"eidet-{uuid.uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name

    def url(self, bucket: str, prefix: str = "memories/long", port: int | None = None) -> str:
        return f"s3://{bucket}/{prefix}?endpoint=http://127.0.0.1:{port or self.port}"


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    server = S3().start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        yield server
    server.stop()


@pytest.fixture
def s3_url(s3: S3) -> str:
    """The address of an archive that is empty."""
    return s3.url(s3.bucket())
