"""Archives in a bucket, on a real server over HTTP."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tests.servers.s3 import S3

from eidet import Memory, Settings
from eidet.core.errors import Corrupt, Misconfigured
from eidet.core.settings import Upkeep
from eidet.store import verbs
from eidet.store.contract import NOW, fact
from eidet.trust.erase.elsewhere import records_in
from eidet.upkeep.archive import Archives, FolderArchive, archive_of, note_archive
from eidet.upkeep.archive_s3 import BucketPlace, S3Archive

GONE = NOW + 60


@pytest.fixture
def bucket(s3: S3) -> str:
    return s3.bucket()


@pytest.fixture
def archive(s3: S3, bucket: str) -> S3Archive:
    return S3Archive(s3.url(bucket))


def key_of(name: str) -> str:
    return f"memories/long/{name}.jsonl.gz"


def test_an_address_says_bucket_prefix_and_endpoint() -> None:
    place = BucketPlace.of("s3://my-bucket/a b/%C3%A9/?endpoint=http://127.0.0.1:9000&region=eu&deadline=2.5")
    assert (place.bucket, place.prefix, place.endpoint) == ("my-bucket", "a b/é/", "http://127.0.0.1:9000")
    assert (place.region, place.deadline_seconds) == ("eu", 2.5)
    assert BucketPlace.of("s3://bbb").prefix == ""


@pytest.mark.parametrize(
    "url",
    ["s3://", "s3:///prefix", "s3://UPPER/x", "s3:bucket", "s3://bbb?endpiont=x", "s3://bbb?endpoint=host",
     "s3://bbb?deadline=soon"],
)  # fmt: skip
def test_an_address_that_is_none_is_told_with_an_example(url: str) -> None:
    with pytest.raises(Misconfigured, match=r"s3://bucket/prefix\?endpoint="):
        archive_of(url)


def test_a_bucket_that_is_not_there_is_named(s3: S3) -> None:
    with pytest.raises(Misconfigured, match="no bucket 'missing-bucket'"):
        S3Archive(s3.url("missing-bucket")).keep([fact("x")], {}, now=NOW)


def test_objects_lie_below_the_prefix_and_others_are_left_alone(s3: S3, bucket: str) -> None:
    one, two = (S3Archive(s3.url(bucket, prefix)) for prefix in ("one", "one/two"))
    one.keep([fact("x")], {}, now=NOW)
    two.keep([fact("y")], {}, now=NOW)
    s3.client().put_object(Bucket=bucket, Key="one/notes.txt", Body=b"mine")
    assert [record.id for _, record in records_in(one)] == ["x"]
    assert [record.id for _, record in records_in(two)] == ["y"]


def test_lines_are_compressed_json_anybody_can_read(s3: S3, bucket: str, archive: S3Archive) -> None:
    name = archive.keep([fact(f"{n}", text="the same words " * 40) for n in range(50)], {}, now=NOW)
    body = s3.client().get_object(Bucket=bucket, Key=key_of(name))["Body"].read()
    told, *records, end = map(json.loads, gzip.decompress(body).decode().splitlines())
    assert [record["id"] for record in records] == [f"{n}" for n in range(50)]
    assert len(body) < 2000
    assert {**told, "count": end["count"]} == archive.manifest(name)
    assert told["scopes"] == {"a": 50}


MANIFEST = b'{"eidet":"export","format":1}\n'
CHANGED = {
    "nothing": b"",
    "no gzip": b"[]",
    "no text": gzip.compress(b"\xff\xfe\n"),
    "no manifest": gzip.compress(b"[]\n"),
    "too few": gzip.compress(MANIFEST),
    "no record": gzip.compress(MANIFEST + b'{"id":"y"}\n'),
}


@pytest.mark.parametrize("body", CHANGED)
def test_a_changed_piece_is_found_out(s3: S3, bucket: str, archive: S3Archive, body: str) -> None:
    name = archive.keep([fact("x")], {}, now=NOW)
    s3.client().put_object(Bucket=bucket, Key=key_of(name), Body=CHANGED[body])
    for read in (archive.read, archive.manifest):
        with pytest.raises(Corrupt, match=name):
            read(name)


def test_a_writer_that_dies_leaves_nothing_that_an_erasure_does_not_find(
    s3: S3, bucket: str, archive: S3Archive
) -> None:
    """A piece is one object: what is in the bucket is listed, however far its writer came."""
    archive.keep([fact("secret")], {}, now=NOW)
    kept = s3.client().list_objects_v2(Bucket=bucket)["Contents"]
    assert [one["Key"] for one in kept] == [key_of(name) for name in archive.names()]
    assert [archive.expunge(name, lambda _: True, now=GONE) for name in archive.names()] == [1]
    assert s3.client().list_objects_v2(Bucket=bucket).get("Contents", []) == []


def test_two_that_forget_at_once_both_succeed(s3: S3, bucket: str) -> None:
    """The second finds the piece changed under its hands, and looks again."""
    one, two = (S3Archive(s3.url(bucket)) for _ in range(2))
    name = one.keep([fact("x"), fact("y"), fact("z")], {"embedder": "e"}, now=NOW)
    waited: list[int] = []

    def slow(record: Any) -> bool:
        if not waited:
            waited.append(two.expunge(name, lambda r: r.id == "y", now=GONE))
        return bool(record.id == "x")

    assert one.expunge(name, slow, now=GONE) == 1
    assert waited == [1]
    assert [record.id for record in one.read(name)] == ["z"]
    assert one.manifest(name)["embedder"] == "e"


def test_nothing_of_what_was_forgotten_stays_in_a_bucket_that_keeps_versions(s3: S3, bucket: str) -> None:
    client = s3.client()
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    archive = S3Archive(s3.url(bucket))
    name = archive.keep([fact("x"), fact("secret")], {}, now=NOW)
    gone: set[str] = set()
    for id, left in (("secret", 1), ("x", 0)):
        gone.add(id)
        archive.expunge(name, lambda record: record.id in gone, now=GONE)
        told = client.list_object_versions(Bucket=bucket, Prefix=key_of(name))
        assert (len(told.get("Versions", [])), told.get("DeleteMarkers", [])) == (left, [])


def test_more_pieces_than_a_page_of_the_server(s3: S3, bucket: str, archive: S3Archive) -> None:
    pages = []
    ask = archive._ask

    def few(verb: str, key: Any, *then: Any, **words: Any) -> Any:
        if verb.startswith("list"):
            words["MaxKeys"] = 3
            pages.append(verb)
        return ask(verb, key, *then, **words)

    archive._ask = few  # type: ignore[method-assign]
    names = [archive.keep([fact(f"{n}")], {}, now=NOW + n) for n in range(5)]
    assert archive.names() == names
    assert len(pages) == 2


def test_a_memory_archives_restores_and_forgets_in_a_bucket(s3: S3, bucket: str, tmp_path: Path) -> None:
    url, days = s3.url(bucket), 86_400.0
    now = [NOW]
    fading = Settings(upkeep=Upkeep(archive=url, forget_below=0.9, archive_above=0.0))
    with Memory(tmp_path / "m.db", embedder="hashing", settings=fading, clock=lambda: now[0]) as memory:
        memory.remember("Ann lives in Lisbon", scope="ann", id="ann")
        memory.remember("Bob lives in Porto", scope="bob", id="bob")
        now[0] += 400 * days
        assert memory.upkeep.maintain(only="forget").archived == 2
        assert memory.count() == 0
        assert memory.upkeep.unarchive(url, scope="ann") == 1
        assert [r.text for r in memory.find(scope="ann")] == ["Ann lives in Lisbon"]
    with Memory(tmp_path / "m.db", embedder="hashing", clock=lambda: now[0]) as memory:
        assert Archives(memory.parts.store, None).known() == [], "a file alone does not say whom we talk to"
        told = memory.forget("ann", scope="ann", for_good=True)
        assert told.receipt is not None
        assert any(bucket in left for left in told.receipt.pending), "it was noted, and is named"
    assert sorted(record.id for _, record in records_in(S3Archive(url))) == ["ann", "bob"]
    with Memory(tmp_path / "m.db", embedder="hashing", settings=fading, clock=lambda: now[0]) as memory:
        memory.remember("Ann moved", scope="ann", id="other")
        memory.forget(everything=True, scope="ann")
    assert [record.id for _, record in records_in(S3Archive(url))] == ["bob"]


def test_an_archive_is_noted_once(tmp_path: Path, s3_url: str) -> None:
    memory = Memory(embedder="hashing")
    store = memory.parts.store
    for _ in range(2):
        note_archive(store, S3Archive(s3_url))
        note_archive(store, FolderArchive(tmp_path))
    assert json.loads(verbs.get_setting(store, "archives") or "") == [s3_url, str(tmp_path)]
