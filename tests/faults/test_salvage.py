"""What can be read of a damaged file is saved, and what cannot is named."""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from tests.making import examples
from tests.unit.cli.shell import Shell

from eidet import EidetError, Memory, Settings
from eidet.exchange.record_exports import Salvaged, salvage

COUNT = 120
PAGE = 8192
KEY = "ab" * 32
TAIL = " and of the pond"
TEXTS = {f"id{n}": f"note {n} of the garden" + TAIL * (1500 if n % 40 == 0 else 1) for n in range(COUNT)}


LEAST = {"header": COUNT - 1, "first page": COUNT - 1, "truncated": 30, "pages": 30}


def fill(path: Path, **how: Any) -> Path:
    with Memory(path, embedder="hashing:64", **how) as memory:
        for id, text in TEXTS.items():
            memory.remember(text, id=id, scope="acme/ann", meta={"about": id})
        memory.forget("id7", scope="acme/ann")
    return path


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("sound") / "m.db")


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fill(tmp_path_factory.mktemp("sealed") / "m.db", key=KEY)


def save(path: Path, to: Path, **how: Any) -> tuple[Salvaged, dict[str, str]]:
    """What was saved, and what a new memory has of it."""
    done = salvage(path, to, settings=Settings(**how), plain="key" in how)
    with Memory(embedder="hashing:64", key=how.get("key")) as memory:
        assert memory.load(to) == done.count
        found = memory.find(scope="acme/ann", limit=1000)
    return done, {record.id: record.text for record in found}


def check(done: Salvaged, saved: dict[str, str], *, least: int) -> None:
    assert len(saved) >= least
    assert "id7" not in saved
    assert all(TEXTS[id] == text for id, text in saved.items() if id in TEXTS)
    missing = TEXTS.keys() - saved.keys() - {"id7"}
    assert {id for _, id in done.lost} <= missing


def test_a_sound_file_is_saved_whole(sound: Path, tmp_path: Path) -> None:
    done, saved = save(sound, tmp_path / "out.jsonl")
    assert (done.count, done.lost) == (COUNT - 1, ())
    check(done, saved, least=COUNT - 1)


@pytest.mark.parametrize("which", ["sound", "sealed"])
@pytest.mark.parametrize("damage", LEAST)
def test_damage_costs_what_it_hit_and_no_more(
    which: str, damage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = tmp_path / "m.db"
    data = bytearray(request.getfixturevalue(which).read_bytes())
    pages = len(data) // PAGE
    if damage == "header":
        data[:100] = bytes(100)
    elif damage == "first page":
        data[:PAGE] = b"\xff" * PAGE
    elif damage == "truncated":
        del data[pages * 3 // 4 * PAGE + 11 :]
    else:
        for page in range(12, pages, 9):
            data[page * PAGE : (page + 1) * PAGE] = b"\xa5" * PAGE
    path.write_bytes(data)
    how = {"key": KEY} if which == "sealed" else {}
    assert_damaged(path, **how)
    done, saved = save(path, tmp_path / "out.jsonl", **how)
    check(done, saved, least=LEAST[damage])
    assert damage != "pages" or done.lost


def assert_damaged(path: Path, **how: Any) -> None:
    try:
        with Memory(path, embedder="hashing:64", **how) as memory:
            assert memory.admin.check()
    except EidetError:
        return


def test_a_sealed_file_needs_its_key(sealed: Path, tmp_path: Path) -> None:
    with pytest.raises(EidetError):
        salvage(sealed, tmp_path / "out.jsonl", settings=Settings())
    assert not list(tmp_path.iterdir())


def test_what_only_the_log_holds_is_saved_too(tmp_path: Path) -> None:
    with Memory(tmp_path / "live.db", embedder="hashing:64") as memory:
        memory.remember([f"note {n}" for n in range(50)], scope="acme/ann")
        for end in ("", "-wal", "-shm"):
            shutil.copy2(tmp_path / f"live.db{end}", tmp_path / f"dead.db{end}")
    done, _ = save(tmp_path / "dead.db", tmp_path / "out.jsonl")
    assert done.count == 50


@hypothesis_settings(max_examples=examples(60), deadline=None)
@given(
    holes=st.lists(st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=3000)), min_size=1, max_size=5),
    cut=st.floats(0.3, 1),
)
def test_no_damage_makes_it_fail_or_invent(sound: Path, holes: list[tuple[float, bytes]], cut: float) -> None:
    data = bytearray(sound.read_bytes())
    for at, junk in holes:
        start = int(at * (len(data) - len(junk)))
        data[start : start + len(junk)] = junk
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.db"
        path.write_bytes(data[: int(cut * len(data))])
        try:
            done = salvage(path, Path(folder) / "out.jsonl", settings=Settings())
        except EidetError:
            return
        assert done.count <= COUNT + 5
        with Memory(embedder="hashing:64") as memory:
            assert memory.load(Path(folder) / "out.jsonl") == done.count


def test_the_command_says_what_was_saved_and_what_is_lost(sound: Path, tmp_path: Path) -> None:
    eidet = Shell(tmp_path)
    data = bytearray(sound.read_bytes())
    for page in range(12, len(data) // PAGE, 9):
        data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    eidet.file.write_bytes(data)
    said = eidet("export", str(tmp_path / "out.jsonl"), "--salvage")
    assert said.code == 0
    assert said.out.startswith("saved ")
    assert "of acme/ann" in said.err
    told = eidet("export", str(tmp_path / "out.jsonl"), "--salvage", "--json").json
    assert told["exported"] > COUNT // 3
    assert told["lost"]
    assert eidet("load", str(tmp_path / "out.jsonl"), "--at", str(tmp_path / "new.db")).code == 0
    assert eidet("export", str(tmp_path / "x.jsonl"), "--salvage", "--scope", "acme/ann").code == 2
