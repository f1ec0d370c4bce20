"""An archive in a folder: whole files with checksums, read back exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet.core.errors import Corrupt, Misconfigured, NotFound
from eidet.core.record import Record
from eidet.upkeep.archive import FolderArchive, archive_of

NOW = 1_700_000_000.0
TWO = Record(id="2", scope="t", text="two")


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    name = archive.keep([TWO], {}, now=NOW)
    path = tmp_path / name
    path.write_text(path.read_text().replace("two", "six"))
    with pytest.raises(Corrupt, match="truncated or changed"):
        archive.manifest(name)


def test_other_files_are_none_of_its_pieces(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / ".archive-00.jsonl").write_text("half written")
    archive = FolderArchive(tmp_path)
    assert archive.names() == []
    for name in ("notes.txt", "../x", "archive-ff.jsonl"):
        with pytest.raises(NotFound):
            archive.manifest(name)


def test_an_archive_is_named_by_a_folder_or_given(tmp_path: Path) -> None:
    archive = FolderArchive(tmp_path)
    assert archive_of(archive) is archive
    assert archive_of(None) is None
    named = archive_of(str(tmp_path))
    assert isinstance(named, FolderArchive)
    assert named.folder == tmp_path
    with pytest.raises(Misconfigured):
        archive_of(5)  # type: ignore[arg-type]
