"""The index cache beside a database: damaged, stale or foreign, recall answers as if it were not there."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import struct
import zlib
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from tests.faults.children import EMBEDDER, Slow

from eidet import Memory, Settings
from eidet.models.embed import Vectors
from eidet.store import Changes
from eidet.store.sql.sqlite import SqliteStore

MANY = 300
QUESTIONS = ("note7", "thing3 and thing5", "note290 thing", "extra2", "about nothing", "wholly other words")
Answers = list[list[tuple[str, float]]]


def opened(place: Path | SqliteStore, embedder: object = EMBEDDER, sidecar_from: int = 100) -> Memory:
    return Memory(place, embedder=embedder, settings=Settings(sidecar_from=sidecar_from), clock=lambda: 1.9e9)


def answers(path: Path, embedder: object = EMBEDDER) -> Answers:
    with opened(path, embedder) as memory:
        assert memory.admin.check() == []
        return [[(hit.text, hit.score) for hit in memory.recall(q, limit=20)] for q in QUESTIONS]


def fresh_answers(path: Path, embedder: object = EMBEDDER) -> Answers:
    """What a copy of the database answers that never had a cache."""
    copy = path.with_name("fresh.db")
    shutil.copy(path, copy)
    try:
        return answers(copy, embedder)
    finally:
        copy.unlink()
        shutil.rmtree(f"{copy}-index", ignore_errors=True)


def sidecar(path: Path) -> Path:
    (file,) = Path(f"{path}-index").iterdir()
    return file


def write_some(path: Path, word: str = "note", total: int = MANY) -> None:
    with opened(path) as memory:
        memory.remember([f"{word}{i} about thing{i % 7} and more" for i in range(total)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with its cache, which was written when it was closed."""
    path = tmp_path / "m.db"
    write_some(path)
    with opened(path) as memory:
        memory.recall("note7")
    assert sidecar(path).stat().st_size > 10_000
    return path


def write_on(path: Path) -> None:
    """Adds, revises and forgets, leaving the cache as it is."""
    with opened(path, sidecar_from=10**6) as memory:
        memory.remember([f"extra{i} about thing{i}" for i in range(5)])
        found = {hit.text.split()[0]: hit.id for hit in memory.recall("thing3", limit=50)}
        memory.revise(found["note10"], text="wholly other words")
        memory.forget([found["note3"], found["note17"]], for_good=False)  # for good, the cache goes too


class Watched(SqliteStore):
    """A store that notes from where on it was read by the index."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.since: list[int] = []

    def changes(self, scope: str, since: int, limit: int) -> Changes:
        self.since.append(since)
        return super().changes(scope, since, limit)


def read_from(path: Path) -> list[int]:
    store = Watched(path)
    with opened(store) as memory:
        memory.recall("note7")
    return store.since


def test_a_whole_sidecar_is_used_and_caught_up(path: Path) -> None:
    assert read_from(path) == []
    write_on(path)
    assert read_from(path) == [MANY]
    sidecar(path).unlink()
    assert read_from(path) == [0]


def test_a_whole_sidecar_changes_no_answer(path: Path) -> None:
    assert answers(path) == fresh_answers(path)
    write_on(path)
    assert answers(path) == fresh_answers(path)


# Damage.


def flip(file: Path, at: int, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= chance.randrange(1, 256)
    file.write_bytes(content)


def header_size(file: Path) -> int:
    return 16 + int(struct.unpack("<I", file.read_bytes()[8:12])[0])


def flip_in(part: str, seed: int) -> Callable[[Path], object]:
    def harm(file: Path) -> None:
        chance, size = random.Random(seed), header_size(file)
        first, last = (0, size) if part == "header" else (size, file.stat().st_size)
        flip(file, chance.randrange(first, last), chance)

    return harm


def turn_type(file: Path) -> None:
    """Changes the type of an array so that its bytes are read as other numbers."""
    content, size = file.read_bytes(), header_size(file)
    file.write_bytes(content[:size] + content[size:].replace(b"'<f8'", b"'>f8'", 1))


def cut_before_the_last_array(file: Path) -> None:
    os.truncate(file, file.read_bytes().rindex(b"\x93NUMPY"))


def cut_at(share: float) -> Callable[[Path], object]:
    return lambda file: os.truncate(file, int(file.stat().st_size * share))


def with_header(file: Path, change: Callable[[dict[str, object]], object]) -> None:
    """Rewrites the header with a checksum that fits."""
    content, size = file.read_bytes(), header_size(file)
    header = json.loads(content[16:size])
    change(header)
    text = json.dumps(header).encode()
    file.write_bytes(content[:8] + struct.pack("<II", len(text), zlib.crc32(text)) + text + content[size:])


def replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


HARMS: dict[str, Callable[[Path], object]] = {
    "missing": lambda file: file.unlink(),
    "missing folder": lambda file: shutil.rmtree(file.parent),
    "a folder": replace_by_folder,
    "another version": lambda file: file.write_bytes(b"EIDETIX9" + file.read_bytes()[8:]),
    "another header": lambda file: with_header(file, lambda header: header.clear()),
    "another width": lambda file: with_header(file, lambda header: header.update(width=32)),
    "another digit": lambda file: file.write_bytes(
        re.sub(rb'("total": )\d', rb"\g<1>9", file.read_bytes(), count=1)
    ),
    "another scope": lambda file: with_header(file, lambda header: header.update(scope="other")),
    "fields missing": lambda file: with_header(file, lambda header: header.pop("live")),
    "header of 4 GB": lambda file: file.write_bytes(
        file.read_bytes()[:8] + b"\xff\xff\xff\xff" + file.read_bytes()[12:]
    ),
    "another type": turn_type,
    "an array missing": cut_before_the_last_array,
    "text": lambda file: file.write_text("see the other file\n" * 1000),
    **{f"cut at {share}": cut_at(share) for share in (0.0, 0.0001, 0.01, 0.3, 0.7, 0.9999)},
    **{f"{part} {seed}": flip_in(part, seed) for part in ("header", "arrays") for seed in range(10)},
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_sidecar_changes_no_answer_and_closes_well(path: Path, harm: str) -> None:
    HARMS[harm](sidecar(path))
    write_on(path)
    assert read_from(path) == [0], "a damaged cache was used"
    assert answers(path) == fresh_answers(path)


def test_a_damaged_sidecar_is_made_anew(path: Path) -> None:
    flip(sidecar(path), 2000, random.Random(1))
    assert read_from(path) == [0]
    assert read_from(path) == []


# Other times.


def test_a_sidecar_from_earlier_is_caught_up(path: Path, tmp_path: Path) -> None:
    earlier = shutil.copy(sidecar(path), tmp_path / "earlier")
    write_some(path, "later", 1500)
    with opened(path) as memory:
        memory.forget([hit.id for hit in memory.recall("note", limit=150)])
    shutil.copy(earlier, sidecar(path))
    assert answers(path) == fresh_answers(path)


def test_a_sidecar_from_before_a_rebuild_changes_no_answer(path: Path, tmp_path: Path) -> None:
    earlier = shutil.copy(sidecar(path), tmp_path / "earlier")
    write_on(path)
    with opened(path) as memory:
        memory.admin.rebuild(language="de")
    shutil.copy(earlier, sidecar(path))
    assert read_from(path) == [0], "terms of another language were used"
    assert answers(path) == fresh_answers(path)


class Mirrored(Slow):
    """Other vectors of the same width."""

    def __init__(self) -> None:
        super().__init__(64)
        self.name = "mirrored-64"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.ascontiguousarray(super().embed(texts)[:, ::-1])


def test_a_sidecar_from_before_another_embedder_changes_no_answer(path: Path, tmp_path: Path) -> None:
    earlier = shutil.copy(sidecar(path), tmp_path / "earlier")
    with opened(path) as memory:
        memory.admin.reembed(Mirrored())
    shutil.copy(earlier, sidecar(path))
    assert answers(path, Mirrored()) == fresh_answers(path, Mirrored())


def test_a_sidecar_of_another_database_at_the_same_path_changes_no_answer(path: Path) -> None:
    for word, sidecar_from in (("one", 100), ("other", 10**6)):
        path.unlink()
        with opened(path, sidecar_from=sidecar_from) as memory:
            for i in range(MANY):
                memory.remember(f"{word}{i} on thing{i % 5}", id=f"same{i}")
            assert len(memory.recall(word, least=0)) == 10
    assert read_from(path) == [0], "the cache of another database was used"
    assert answers(path) == fresh_answers(path)


def test_a_sidecar_of_a_later_time_than_the_restored_database_changes_no_answer(
    path: Path, tmp_path: Path
) -> None:
    shutil.copy(path, tmp_path / "copy")
    write_some(path, "lost", 200)
    read_from(path)
    shutil.copy(tmp_path / "copy", path)
    assert answers(path) == fresh_answers(path)


@pytest.mark.parametrize("more", [199, 200, 201, 400])
def test_a_sidecar_of_a_time_line_that_was_given_up_changes_no_answer(
    path: Path, tmp_path: Path, more: int
) -> None:
    shutil.copy(path, tmp_path / "copy")
    write_some(path, "lost", 200)
    read_from(path)
    shutil.copy(tmp_path / "copy", path)
    with opened(path, sidecar_from=10**6) as memory:
        memory.remember([f"found{i} on thing{i % 5}" for i in range(more)])
    assert answers(path) == fresh_answers(path)


def test_a_given_up_time_line_is_told_apart_even_with_ids_of_the_callers_own(
    path: Path, tmp_path: Path
) -> None:
    shutil.copy(path, tmp_path / "copy")
    clock = count(1_800_000_000)
    for word in ("lost", "found"):
        shutil.copy(tmp_path / "copy", path)
        settings = Settings(sidecar_from=100 if word == "lost" else 10**6)
        with Memory(path, embedder=EMBEDDER, settings=settings, clock=lambda: float(next(clock))) as memory:
            for i in range(200):
                memory.remember(f"{word}{i} about thing{i % 7}", id=f"mine{i}")
            memory.recall("lost7") if word == "lost" else None
    assert answers(path) == fresh_answers(path)
