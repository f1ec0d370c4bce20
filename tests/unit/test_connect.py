"""From what a user names to the store and the index that serve it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eidet import Memory
from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings
from eidet.index.embedded import EmbeddedIndex
from eidet.open import open_index, open_store
from eidet.store.ram import RamStore
from eidet.store.sql.sqlite import SqliteStore

SETTINGS = Settings()


@pytest.mark.parametrize("place", [None, "ram://"])
def test_nothing_and_ram_open_a_store_in_ram(place: str | None) -> None:
    assert isinstance(open_store(place, SETTINGS), RamStore)


def test_a_path_opens_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    places: list[Any] = [
        tmp_path / "a.db",
        str(tmp_path / "b.db"),
        "c.db",
        "~/d.db",
        "sqlite:///e.db",
        f"sqlite:///{tmp_path}/f.db",
    ]
    for place in places:
        store = open_store(place, SETTINGS)
        assert isinstance(store, SqliteStore)
        store.close()
    assert sorted(file.name for file in tmp_path.glob("*.db")) == [f"{name}.db" for name in "abcdef"]


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=ro#%41é🙂.db"
    with Memory(path, embedder="hashing:16") as memory:
        memory.remember("hello")
    assert path.exists()
    with Memory(path, embedder="hashing:16") as memory:
        assert len(memory.recall("hello")) == 1


def test_a_store_is_itself() -> None:
    store = RamStore()
    assert open_store(store, SETTINGS) is store


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        Misconfigured, match=r"no entry point 'mongo' of eidet\.stores; there are .*\bram\b.*\bsqlite\b"
    ):
        open_store("mongo://host/db", SETTINGS)


@pytest.mark.parametrize(
    ("place", "reason"), [("no/such/folder/x.db", "folder .* does not exist"), ("", "is a folder")]
)
def test_a_place_that_cannot_be_is_explained(place: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=reason):
        open_store(str(tmp_path / place), SETTINGS)


def test_durability_is_one_of_two() -> None:
    with pytest.raises(Misconfigured, match="durability cannot be 'none': it must be one of process, power"):
        open_store("x.db", Settings(durability="none"))


@pytest.mark.parametrize(("durability", "wanted"), [("process", 1), ("power", 2)])
def test_durability_reaches_every_connection(tmp_path: Path, durability: str, wanted: int) -> None:
    with Memory(tmp_path / "x.db", embedder="hashing:16", durability=durability) as memory:
        driver = memory.parts.store._driver  # type: ignore[attr-defined]
        assert driver.read("PRAGMA synchronous", ()) == [(wanted,)]
        assert driver.write(lambda cursor: cursor.execute("PRAGMA synchronous").fetchone()) == (wanted,)


def test_the_embedded_index_lives_beside_the_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "x.db", SETTINGS)
    index = open_index(store, Settings(sidecar_from=1), 16)
    assert isinstance(index, EmbeddedIndex)
    assert index.sidecars.path("a").parent == tmp_path / "x.db-index"  # type: ignore[union-attr]
    assert not (tmp_path / "x.db-index").exists()
    store.close()


def test_another_index_is_named_by_a_setting() -> None:
    store = RamStore()
    with pytest.raises(Misconfigured, match=r"no entry point 'none' of eidet\.indexes"):
        open_index(store, Settings(index="none"), 16)
