"""Archives belong to the memory that wrote them, where it lies: a copy of it leaves them alone."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.making import Clock
from tests.unit.trust.erase.given import NOW, SECRET

from eidet import Memory, Settings
from eidet.core.settings import Upkeep
from eidet.store import verbs
from eidet.trust.erase import Forgotten
from eidet.trust.erase.receipt import Receipt
from eidet.upkeep.archive import archive_of

KEY = "00112233445566778899aabbccddeeff" * 2
PLACES = {"a file": "{0}/prod.db", "tiers": "tiered://?short={0}/prod-short.db&long={0}/prod.db"}
WAYS: dict[str, Callable[[Memory], Forgotten]] = {
    "an id": lambda memory: memory.forget("x", scope="ann"),
    "a scope": lambda memory: memory.forget(everything=True, scope="ann"),
    "a scope for good": lambda memory: memory.forget(everything=True, scope="ann", for_good=True),
}


@pytest.fixture(params=["folder", "s3"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.getfixturevalue("s3_url") if request.param == "s3" else tmp_path / "archive")


def open_at(place: str | Path, archive: str, **how: Any) -> Memory:
    settings = Settings(upkeep=Upkeep(archive=archive))
    return Memory(place, embedder="hashing:32", clock=Clock(NOW, tick=1.0), settings=settings, **how)


def archive_secret(memory: Memory) -> None:
    memory.remember(SECRET, id="x", scope="ann")
    fading = Upkeep(forget_below=1.0, archive_above=0.0)
    chosen = memory.parts.settings.upkeep.archive
    memory.upkeep.maintain(only="forget", settings=fading, archive=chosen, now=NOW + 9e7)
    assert memory.get("x", scope="ann") is None


def pieces(archive: str) -> list[str]:
    found = archive_of(archive)
    assert found is not None
    return found.names()


def forget(memory: Memory, way: str = "an id") -> Receipt:
    receipt = WAYS[way](memory).receipt
    assert receipt is not None
    return receipt


def check_left_alone(receipt: Receipt, archive: str, there: list[str]) -> None:
    assert pieces(archive) == there
    assert receipt.counts["archived"] == 0
    (note,) = (note for note in receipt.pending if "were left alone" in note)
    assert f"eidet unarchive {archive.partition('?')[0]} --claim" in note


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["plain", "sealed", "audited"])
@pytest.mark.parametrize("files", PLACES)
def test_a_copy_leaves_the_archive_of_the_original(
    files: str, how: str, way: str, archive: str, tmp_path: Path
) -> None:
    key = {"key": KEY} if how == "sealed" else {}
    prod, staging = tmp_path / "prod", tmp_path / "staging"
    prod.mkdir()
    logs = {name: {"audit": tmp_path / f"{name}.log"} for name in ("prod", "copy")}
    if how != "audited":
        logs = {"prod": {}, "copy": {}}
    with open_at(PLACES[files].format(prod), archive, **key, **logs["prod"]) as memory:
        archive_secret(memory)
    shutil.copytree(prod, staging)
    there = pieces(archive)
    if how == "audited":
        shutil.copy(tmp_path / "prod.log", tmp_path / "copy.log")
        shutil.copy(tmp_path / "prod.log.head", tmp_path / "copy.log.head")
    with open_at(PLACES[files].format(staging), archive, **key, **logs["copy"]) as copy:
        check_left_alone(forget(copy, way), archive, there)
    with open_at(PLACES[files].format(prod), archive, **key, **logs["prod"]) as memory:
        receipt = forget(memory, way)
        assert receipt.counts["archived"] == 1
        assert receipt.pending == ()
        assert pieces(archive) == []


@pytest.mark.parametrize("how", ["plain", "sealed"])
def test_a_moved_file_claims_its_archive(how: str, archive: str, tmp_path: Path) -> None:
    key = {"key": KEY} if how == "sealed" else {}
    with open_at(tmp_path / "prod.db", archive, **key) as memory:
        archive_secret(memory)
    there = pieces(archive)
    (tmp_path / "prod.db").rename(tmp_path / "moved.db")
    with open_at(tmp_path / "moved.db", archive, **key) as memory:
        check_left_alone(forget(memory), archive, there)
        assert memory.upkeep.claim_archive(archive) == 1
        assert memory.upkeep.claim_archive(archive) == 0
    shutil.copy(tmp_path / "moved.db", tmp_path / "copy.db")
    with open_at(tmp_path / "copy.db", archive, **key) as copy:
        check_left_alone(forget(copy), archive, there)
    with open_at(tmp_path / "moved.db", archive, **key) as memory:
        assert forget(memory).counts["archived"] == 1
        assert pieces(archive) == []


def test_a_file_restored_in_place_is_a_copy(archive: str, tmp_path: Path) -> None:
    file, backup = tmp_path / "prod.db", tmp_path / "backup.db"
    with open_at(file, archive) as memory:
        archive_secret(memory)
    shutil.copy(file, backup)
    file.rename(tmp_path / "elsewhere.db")
    shutil.copy(backup, file)
    with open_at(file, archive) as memory:
        check_left_alone(forget(memory), archive, pieces(archive))


def test_a_received_file_cannot_name_a_folder_of_somebody_else(tmp_path: Path) -> None:
    mine = str(tmp_path / "mine")
    with open_at(tmp_path / "mine.db", mine) as memory:
        archive_secret(memory)
        identity = memory.parts.store.identity
    there = pieces(mine)
    with Memory(tmp_path / "theirs.db", embedder="hashing:32") as sent:
        settings = {"archives": f'["{mine}"]', "identity": identity}
        verbs.set_settings(sent.parts.store, settings)
    with Memory(tmp_path / "theirs.db", embedder="hashing:32") as received:
        check_left_alone(forget(received, "a scope"), mine, there)


def test_a_copy_of_a_database_leaves_the_archive_of_the_original(
    postgres: Any, postgres_database: str, tmp_path: Path
) -> None:
    import psycopg

    archive, name = str(tmp_path / "archive"), f"eidet_{uuid.uuid4().hex[:12]}"
    with open_at(postgres.url(postgres_database), archive) as memory:
        archive_secret(memory)
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {postgres_database}")
    try:
        with open_at(postgres.url(name), archive) as copy:
            check_left_alone(forget(copy, "a scope"), archive, pieces(archive))
    finally:
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
    with open_at(postgres.url(postgres_database), archive) as memory:
        assert forget(memory, "a scope").counts["archived"] == 1


def test_a_redis_that_is_opened_again_owns_its_archive(redis_url: str, tmp_path: Path) -> None:
    archive = str(tmp_path / "archive")
    with open_at(redis_url, archive) as memory:
        archive_secret(memory)
    with open_at(redis_url, archive) as memory:
        assert forget(memory).counts["archived"] == 1
