"""The laws of archives, on a folder and on a server that speaks S3."""

from __future__ import annotations

from typing import Any

import pytest
from tests.servers.s3 import S3

from eidet.core.record import Record
from eidet.store.contract import fact
from eidet.upkeep.archive import Archive, FolderArchive
from eidet.upkeep.archive_contract import GONE, ArchiveContract
from eidet.upkeep.archive_s3 import S3Archive


class TestFolder(ArchiveContract):
    def make(self) -> Archive:
        return FolderArchive(self.folder / "archive")

    def reopen(self, archive: Archive) -> Archive:
        return FolderArchive(self.folder / "archive")


class TestS3(ArchiveContract):
    @pytest.fixture(autouse=True)
    def _bucket(self, s3: S3) -> None:
        self.url = s3.url(s3.bucket())

    def make(self) -> Archive:
        return S3Archive(self.url)

    def reopen(self, archive: Archive) -> Archive:
        return S3Archive(self.url)


class Forgetful:
    """Keeps everything but what is to be taken out."""

    def __init__(self, inner: Archive) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def expunge(self, name: str, gone: Any, *, now: float) -> int:
        return 0


def test_an_archive_that_forgets_nothing_does_not_pass(tmp_path: Any) -> None:
    class Broken(ArchiveContract):
        def make(self) -> Archive:
            return Forgetful(FolderArchive(tmp_path))

    with pytest.raises(AssertionError):
        Broken().test_a_piece_without_anything_left_is_removed()
    kept: list[Record] = [fact("x")]
    assert Forgetful(FolderArchive(tmp_path)).expunge("n", kept.remove, now=GONE) == 0
