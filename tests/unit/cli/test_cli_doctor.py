from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import pytest
from tests.unit.cli.shell import Shell

from eidet.memory import Memory
from eidet.store.inspect import file_of
from eidet.store.sqlite import APPLICATION_ID


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon", "Bob drinks tea")
    return eidet


def levels(eidet: Shell, *words: str, **more: str) -> dict[str, str]:
    return {finding["check"]: finding["level"] for finding in eidet("doctor", "--json", *words, **more).json}


def change(eidet: Shell, sql: str) -> None:
    with closing(sqlite3.connect(eidet.file)) as database:
        database.execute(sql)
        database.commit()


def test_a_healthy_memory_is_all_ok(filled: Shell) -> None:
    said = filled("doctor", "--thorough")
    assert said.code == 0
    assert set(levels(filled).values()) == {"ok"}
    assert set(levels(filled)) == {"file", "disk", "damage", "schema", "embedder", "language", "index"}


def test_doctor_makes_no_file(eidet: Shell) -> None:
    said = eidet("doctor")
    assert said.code == 1
    assert "does not exist" in " ".join(said.out.split())
    assert list(eidet.folder.iterdir()) == []


def test_every_fault_says_what_to_do(eidet: Shell) -> None:
    eidet.file.write_text("not a database at all")
    (finding,) = eidet("doctor", "--json").json
    assert (finding["check"], finding["level"]) == ("file", "fault")
    assert finding["todo"]
    assert "→" in eidet("doctor").out


def test_a_folder_and_a_foreign_database_are_faults(eidet: Shell) -> None:
    assert levels(eidet, "--at", str(eidet.folder)) == {"file": "fault"}
    change(eidet, "CREATE TABLE other (x)")
    assert levels(eidet)["schema"] == "fault"


def test_an_empty_file_is_fine(eidet: Shell) -> None:
    eidet.file.touch()
    assert set(levels(eidet).values()) == {"ok"}


def test_damage_inside_the_file_is_found(filled: Shell) -> None:
    eidet = filled
    eidet("remember", "--file", "-", input="\n".join(f"note {n}" for n in range(300)))
    content = bytearray(eidet.file.read_bytes())
    content[8192 * 6 : 8192 * 12] = os.urandom(8192 * 6)
    eidet.file.write_bytes(content)
    said = eidet("doctor", "--json")
    assert said.code == 1
    assert {"check": "damage", "level": "fault"}.items() <= said.json[-1].items()


@pytest.mark.parametrize(("revision", "level", "code"), [("0000", "warning", 0), ("9999", "fault", 1)])
def test_another_schema_is_told_and_left_alone(filled: Shell, revision: str, level: str, code: int) -> None:
    change(filled, f"UPDATE alembic_version SET version_num = '{revision}'")
    before = filled.file.read_bytes()
    assert filled("doctor").code == code
    assert levels(filled)["schema"] == level
    assert filled.file.read_bytes() == before


def test_another_embedder_than_the_memorys_own_is_a_fault(filled: Shell) -> None:
    assert levels(filled, EIDET_EMBEDDER="")["embedder"] == "ok"
    assert levels(filled, "--embedder", "hashing:32")["embedder"] == "fault"
    assert levels(filled, "--embedder", "nonsense")["embedder"] == "fault"


def test_an_embedder_of_another_width_is_a_fault(filled: Shell) -> None:
    change(filled, "UPDATE settings SET value = '128' WHERE name = 'width'")
    assert levels(filled)["embedder"] == "fault"


def test_another_analyzer_and_another_language_are_faults(filled: Shell) -> None:
    assert levels(filled, "--language", "de")["language"] == "fault"
    change(filled, "UPDATE settings SET value = 'words/0' WHERE name = 'analyzer'")
    assert levels(filled)["language"] == "fault"
    filled("rebuild")
    assert levels(filled)["language"] == "ok"


def test_an_unfinished_change_of_the_embedder_is_a_warning(filled: Shell) -> None:
    change(filled, "INSERT INTO vectors_next (seq, vector) VALUES (1, x'00')")
    warnings = [found for found in filled("doctor", "--json").json if found["level"] == "warning"]
    assert ["reembed" in found["todo"] for found in warnings] == [True]


def test_files_left_behind_are_named(filled: Shell) -> None:
    index = filled.folder / "eidet.db-index"
    index.mkdir()
    names = ["eidet.db.schema-0000", "out.jsonl.partial", "eidet.db-index/a.12.tmp", "eidet.db-index/b.eix"]
    for name in names:
        (filled.folder / name).write_text("x")
    said = filled("doctor")
    assert said.code == 0
    assert said.out.count("warning") == len(names)
    flat = "".join(said.out.split())
    assert all(name in flat for name in names)


def test_a_damaged_cache_is_a_warning(filled: Shell) -> None:
    filled("rebuild", EIDET_SIDECAR_FROM="1")
    (cache,) = (filled.folder / "eidet.db-index").glob("*.eix")
    cache.write_bytes(b"EIDETIX1" + bytes(100))
    said = filled("doctor", "--json")
    assert (said.code, said.err) == (0, "")
    assert [found["level"] for found in said.json if found["check"] == "cache"] == ["warning"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_can_only_be_read_is_a_warning(filled: Shell) -> None:
    filled.file.chmod(0o444)
    assert levels(filled)["file"] == "warning"


def test_a_memory_that_is_no_file_is_examined_from_inside(eidet: Shell) -> None:
    assert levels(eidet, "--at", "ram://") == {"embedder": "ok", "language": "ok", "index": "ok"}


def test_our_files_carry_our_mark(filled: Shell) -> None:
    with closing(sqlite3.connect(filled.file)) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.mark.parametrize("place", ["x.db", "~/x.db", "sqlite:///x.db", "sqlite:////tmp/x.db"])
def test_the_file_a_place_names_is_the_one_a_memory_opens(
    place: str, eidet: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(eidet.folder)
    monkeypatch.setenv("HOME", str(eidet.folder))
    at = place.replace("/tmp", str(eidet.folder))
    with Memory(at, embedder="hashing"):
        file = file_of(at)
        assert file is not None
        assert file.resolve() == (eidet.folder / "x.db").resolve()
        assert file.exists()
    assert file_of("redis://x") is file_of("ram://") is None
