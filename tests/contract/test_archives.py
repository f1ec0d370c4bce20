"""The laws of archives, in a folder and on a server that speaks S3."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eidet.core.errors import NotFound
from eidet.core.record import Record, Tier
from eidet.core.scope import Scope
from eidet.store.contract import FULL, NOW, fact
from eidet.upkeep.archive import Archive, FolderArchive, may_hold
from eidet.upkeep.archive_s3 import S3Archive

GIVEN: dict[str, Any] = {"embedder": "e", "analyzer": "a", "exported": NOW}
GONE = NOW + 60


@pytest.fixture(params=["folder", "s3"])
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Archive]:
    if request.param == "folder":
        return lambda: FolderArchive(tmp_path / "archive")
    url = request.getfixturevalue("s3_url")
    return lambda: S3Archive(url)


@pytest.fixture
def archive(reopen: Callable[[], Archive]) -> Archive:
    return reopen()


def keep(archive: Archive, *records: Record, now: float = NOW) -> str:
    return archive.keep(records, dict(GIVEN), now=now)


def test_every_field_comes_back_exactly(archive: Archive, reopen: Callable[[], Archive]) -> None:
    assert archive.names() == []
    sealed = fact("sealed", text="", sealed=b"\0" * 16 + b"box")
    odd = fact("odd", text="a\u2028b\x85c\r\nd\x1ce\0f", meta={"nul\0": "\u2029"})
    name = keep(archive, FULL, sealed, odd)
    for opened in (archive, reopen()):
        assert opened.names() == [name]
        assert list(opened.read(name)) == [replace(FULL, seq=0), sealed, odd]


def test_a_manifest_tells_what_was_said_and_what_need_not_be_read(archive: Archive) -> None:
    manifest = archive.manifest(keep(archive, fact("x", created=5.0), fact("y", "b/c", created=7.0)))
    assert {name: manifest[name] for name in GIVEN} == GIVEN
    assert (manifest["count"], manifest["archived"]) == (2, NOW)
    assert may_hold(manifest)
    assert may_hold(manifest, ids={"x"}, scope=Scope.under("b"), since=7.0, until=9.0)
    others: list[dict[str, Any]] = [{"ids": {"z"}}, {"scope": Scope("b")}, {"since": 7.1}, {"until": 4.9}]
    assert not any(may_hold(manifest, **sought) for sought in others)


def test_pieces_are_named_oldest_first(archive: Archive) -> None:
    names = [keep(archive, fact(f"{n}"), now=NOW + n) for n in range(5)]
    assert archive.names() == names
    assert len(set(names)) == 5


def test_a_piece_that_is_not_there_is_not_found(archive: Archive) -> None:
    keep(archive, fact("x"))
    for name in ("archive-0123.jsonl", "archive-0123", "../x", "", "archive-"):
        with pytest.raises(NotFound):
            archive.manifest(name)
        with pytest.raises(NotFound):
            list(archive.read(name))


def test_what_is_forgotten_leaves_and_the_rest_stays_as_it_was(archive: Archive) -> None:
    name = keep(archive, fact("x"), FULL, fact("y"))
    before = archive.manifest(name)
    assert archive.expunge(name, lambda _: False, now=GONE) == 0
    assert archive.manifest(name) == before
    assert archive.expunge(name, lambda record: record.id in {"x", "y"}, now=GONE) == 2
    (left,) = archive.names()
    assert list(archive.read(left)) == [replace(FULL, seq=0)]
    manifest = archive.manifest(left)
    assert {name: manifest[name] for name in GIVEN} == GIVEN
    assert manifest["count"] == 1
    assert not may_hold(manifest, ids={"x"})


def test_a_piece_without_anything_left_is_removed(archive: Archive) -> None:
    name, other = keep(archive, fact("x")), keep(archive, fact("y"))
    assert archive.expunge(name, lambda _: True, now=GONE) == 1
    assert archive.names() == [other]


def test_many_writers_lose_nothing(archive: Archive) -> None:
    with ThreadPoolExecutor(6) as pool:
        names = list(pool.map(lambda n: keep(archive, fact(f"{n}", tier=Tier.LONG)), range(18)))
    assert sorted(names) == archive.names()
    kept = [record.id for name in names for record in archive.read(name)]
    assert sorted(kept) == sorted(map(str, range(18)))
