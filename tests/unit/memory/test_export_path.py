"""A file that Eidet writes is whole at any moment, whoever else writes it; what cannot be written is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eidet import EidetError, Memory, Unavailable
from eidet.core.private_files import write_private
from eidet.exchange import export_memories

COUNT = 1001


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16", clock=lambda: 1_700_000_000.0) as opened:
        opened.remember([f"note {number}" for number in range(COUNT)])
        yield opened


Write = Callable[[Memory, Path, Callable[[int, int], None] | None], object]
WRITERS: dict[str, Write] = {
    "export": lambda memory, path, progress: memory.export(path, progress=progress),
    "jsonl": lambda memory, path, progress: export_memories(memory, "jsonl", path, progress=progress),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_two_exports_to_one_path_do_not_publish_each_others_half(
    memory: Memory, writer: str, tmp_path: Path
) -> None:
    write, path = WRITERS[writer], tmp_path / "all.jsonl"
    write(memory, path, None)
    whole, sizes = path.stat().st_size, []

    def write_again(done: int, total: int) -> None:
        if done < total:
            write(memory, path, None)
            sizes.append(path.stat().st_size)

    write(memory, path, write_again)
    assert sizes
    assert {*sizes, path.stat().st_size} == {whole}
    assert [file.name for file in tmp_path.iterdir()] == ["all.jsonl"]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(
    "name", ["file/all.jsonl", "missing/all.jsonl", "x" * 300], ids=["file", "missing", "long"]
)
def test_what_cannot_be_written_is_told(memory: Memory, writer: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="could not be written"):
        WRITERS[writer](memory, tmp_path / name, None)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


def test_a_small_file_says_why_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        write_private(tmp_path / "file" / "key", "secret")


@pytest.mark.parametrize("name", ["file/a.db", "x" * 300], ids=["file", "long"])
def test_a_place_that_cannot_be_opened_is_told(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EidetError):
        Memory(tmp_path / name, embedder="hashing:16")
