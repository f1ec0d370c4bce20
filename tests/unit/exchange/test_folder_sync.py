"""Files become passages that say where they stand; a sync changes what changed, and nothing else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.reference import ROOT
from tests.unit.exchange.sources import open_memory

from eidet import BadInput, Memory, MissingExtra, NotFound, Refused
from eidet.exchange import FileChange, sync_files

PAPER = ROOT / "examples" / "programs" / "papers" / "lease.pdf"
MARKDOWN = """---
title: Handbook
---
Welcome.

# Leave

```sh
# no heading
```

## Parental *leave*

Fourteen weeks.

Sick notes
----------

On the third day.

# Pay

Monthly.
"""
HTML = """<html><head><title>Rules</title><style>p {}</style></head><body>
<p>Read this.</p><h1>House <em>rules</em></h1><p>No <b>smoking</b>
inside.</p><h3>Doors</h3><ul><li>Shut them</li><li>Lock them</li></ul>
<table><tr><td>front</td><td>red</td></tr></table><script>run()</script>
<h1>Ends</h1><p>The end &amp; more.</p></body></html>"""
PLACES = {
    "handbook.md": (
        MARKDOWN,
        {
            "handbook.md": "Welcome.",
            "handbook.md › Leave": "```sh\n# no heading\n```",
            "handbook.md › Leave › Parental leave": "Fourteen weeks.",
            "handbook.md › Leave › Sick notes": "On the third day.",
            "handbook.md › Pay": "Monthly.",
        },
    ),
    "rules.html": (
        HTML,
        {
            "rules.html": "Read this.",
            "rules.html › House rules": "No smoking inside.",
            "rules.html › Ends": "The end & more.",
            "rules.html › House rules › Doors": "Shut them\nLock them\n\nfront red",
        },
    ),
    "note.txt": ("\ufeffMilk\r\nand bread.\r\n", {"note.txt": "Milk\nand bread."}),
    "empty.md": ("# Nothing\n\n", {}),
}


def list_passages(memory: Memory, scope: str = "default") -> dict[str, str]:
    """The place and the text of each passage, of several at one place the last."""
    records = memory.find(scope=scope, limit=None, order="created")
    return dict(record.text.split(":\n", 1) for record in records)


@pytest.mark.parametrize("name", PLACES)
def test_a_file_is_read_in_passages_with_their_place(name: str, tmp_path: Path) -> None:
    text, places = PLACES[name]
    file = tmp_path / name
    file.write_bytes(text.encode())
    with open_memory() as memory:
        sync_files(memory, file, scope="team")
        found = list_passages(memory, "team")
        assert found == places
        assert {one.kind for one in memory.find(scope="team")} <= {"document"}


def test_a_hit_and_a_context_say_file_heading_and_page(tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_text(MARKDOWN)
    (tmp_path / "lease.pdf").write_bytes(PAPER.read_bytes())
    with open_memory() as memory:
        sync_files(memory, tmp_path)
        hit = memory.recall("parental leave weeks")[0]
        assert hit.why().startswith("in handbook.md › Leave › Parental leave; ")
        assert hit.record.meta["passage"] == {
            "place": "handbook.md › Leave › Parental leave",
            "heading": ["Leave", "Parental leave"],
        }
        assert hit.record.source == f"{tmp_path.as_posix()}/handbook.md"
        rent = memory.recall("the rent is 780 euros")[0]
        assert rent.why().startswith("in lease.pdf › page 2; ")
        assert rent.record.meta["passage"]["page"] == 2
        told = memory.context("parental leave weeks").text
        assert "handbook.md › Leave › Parental leave: Fourteen weeks." in told


def test_a_long_section_is_cut_and_loses_no_word(tmp_path: Path) -> None:
    words = [f"word{number}" for number in range(2000)]
    paragraphs = [" ".join(words[at : at + 37]) for at in range(0, 2000, 37)]
    (tmp_path / "long.md").write_text("# Long\n\n" + "\n\n".join(paragraphs))
    with open_memory() as memory:
        sync_files(memory, tmp_path)
        records = memory.find(limit=None, order="created")
        assert len(records) > 20
        assert all(len(one.text) < 720 for one in records)
        told = [word for one in records for word in one.text.split(":\n")[1].split()]
        assert sorted(told) == sorted(words)


CHANGES: dict[str, tuple[dict[str, str | None], list[FileChange]]] = {
    "nothing": ({}, []),
    "a new file": ({"c.txt": "new"}, [FileChange(file="c.txt", added=1)]),
    "a new passage": (
        {"a.md": "# A\n\none\n\n# B\n\ntwo\n\n# C\n\nthree"},
        [FileChange(file="a.md", added=1)],
    ),
    "a change": ({"a.md": "# A\n\none\n\n# B\n\n2"}, [FileChange(file="a.md", updated=1)]),
    "a heading renamed": (
        {"a.md": "# A\n\none\n\n# D\n\ntwo"},
        [FileChange(file="a.md", added=1, removed=1)],
    ),
    "a passage gone": ({"a.md": "# A\n\none"}, [FileChange(file="a.md", removed=1)]),
    "a file gone": ({"b/b.txt": None}, [FileChange(file="b/b.txt", removed=1)]),
    "a file hidden": ({"b/b.txt": None, "b/.b.txt": "text"}, [FileChange(file="b/b.txt", removed=1)]),
    "a file of another kind": ({"c.csv": "1,2"}, []),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_sync_changes_what_changed_and_a_dry_run_says_so_before(name: str, tmp_path: Path) -> None:
    edits, expected = CHANGES[name]
    write(tmp_path, {"a.md": "# A\n\none\n\n# B\n\ntwo", "b/b.txt": "text"})
    with open_memory() as memory:
        mine = memory.remember("my own", kind="document", source="kb/a.md")
        sync_files(memory, tmp_path, name="kb")
        write(tmp_path, edits)
        before = memory.parts.store.head()
        told = sync_files(memory, tmp_path, name="kb", dry_run=True)
        assert memory.parts.store.head() == before
        done = sync_files(memory, tmp_path, name="kb")
        wanted = [FileChange(**{**change_of(one), "file": f"kb/{one.file}"}) for one in expected]
        assert list(done.changes) == list(told.changes) == wanted
        assert (memory.parts.store.head() == before) is (not expected)
        assert memory.get(mine.id) == mine
        versions = [one.version for one in memory.find(limit=None)]
        assert max(versions) == (2 if name == "a change" else 1)


def change_of(one: FileChange) -> dict[str, Any]:
    return {name: getattr(one, name) for name in ("file", "added", "updated", "removed")}


def write(folder: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)


def test_one_file_of_a_folder_is_the_same_document(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n\none", "b/b.txt": "text"})
    with open_memory() as memory:
        for path in (tmp_path, tmp_path / "b", tmp_path / "b" / "b.txt"):
            sync_files(memory, path)
        assert memory.count() == 2
        (tmp_path / "b" / "b.txt").unlink()
        assert sync_files(memory, tmp_path / "b").count("removed") == 1
        assert memory.count() == 1


def test_other_folders_and_scopes_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path, {"docs/a.txt": "one", "docs2/a.txt": "two"})
    with open_memory() as memory:
        for scope in ("ann", "bob"):
            sync_files(memory, tmp_path, scope=scope)
        (tmp_path / "docs" / "a.txt").unlink()
        (tmp_path / "docs2" / "a.txt").unlink()
        sync_files(memory, tmp_path / "docs", scope="ann")
        assert (memory.count(scope="ann"), memory.count(scope="bob")) == (1, 2)


def test_what_cannot_be_read_is_named_and_its_passages_stay(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one", "b.txt": "two", "c.pdf": "no PDF", "d/d.txt": "three"})
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    with open_memory() as memory:
        sync_files(memory, tmp_path, name="kb")
        (tmp_path / "a.txt").write_bytes(b"binary \0")
        (tmp_path / "b.txt").write_bytes(b"latin \xe9")
        skipped = {"loop", "link.txt", "a.txt", "b.txt", "c.pdf"}
        if os.geteuid() != 0:  # root may read anything
            (tmp_path / "d").chmod(0)
            skipped.add("d")
        done = sync_files(memory, tmp_path, name="kb")
        (tmp_path / "d").chmod(0o700)
        assert {one.where.removeprefix("kb/") for one in done.skipped} == skipped
        assert done.changes == ()
        assert memory.count() == 3


def test_a_scan_is_named_and_files_of_other_kinds_are_counted(tmp_path: Path) -> None:
    from pypdf import PdfWriter

    scan = PdfWriter()
    scan.add_blank_page(200, 200)
    scan.write(tmp_path / "scan.pdf")
    write(tmp_path, {"a.txt": "one", "b.docx": "Word", "c/d.DOCX": "Word", "Makefile": "all:", ".env": "x"})
    with open_memory() as memory:
        done = sync_files(memory, tmp_path, name="kb")
        assert [(one.where, "no page has text" in one.why) for one in done.skipped] == [("kb/scan.pdf", True)]
        assert done.unread == {".docx": 2, "": 1}
        assert done.files == 1
        with pytest.raises(BadInput, match="text recognition"):
            sync_files(memory, tmp_path / "scan.pdf")


def test_a_pdf_without_its_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    file = tmp_path / "lease.pdf"
    file.write_bytes(PAPER.read_bytes())
    with open_memory() as memory:
        with pytest.raises(MissingExtra, match=r"pip install 'eidet\[pdf\]'"):
            sync_files(memory, file)
        (left,) = sync_files(memory, tmp_path).skipped
        assert "pip install 'eidet[pdf]'" in left.why


@pytest.mark.parametrize(
    ("path", "scope", "error", "match"),
    [
        ("nowhere", "default", NotFound, "no file or folder"),
        ("table.csv", "default", BadInput, r"files that can be read end in \.md"),
        ("bad.txt", "default", BadInput, r"bad\.txt: it is a binary file"),
        ("", "team/**", BadInput, "scope"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    path: str, scope: str, error: type[Exception], match: str, tmp_path: Path
) -> None:
    write(tmp_path, {"table.csv": "1", "bad.txt": "\0", "good.txt": "fine"})
    with open_memory() as memory:
        with pytest.raises(error, match=match):
            sync_files(memory, tmp_path / path, scope=scope)
        assert memory.scopes() == {}


def test_what_was_forgotten_for_good_stays_so_and_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# A\n\none\n\n# B\n\ntwo"})
    with open_memory() as memory:
        sync_files(memory, tmp_path)
        memory.forget(next(one.id for one in memory.find() if "two" in one.text))
        done = sync_files(memory, tmp_path)
        assert (done.changes, memory.count()) == ((), 1)
        assert "forgotten for good" in done.skipped[0].why


def test_a_document_under_a_hold_is_left_and_the_rest_goes_on(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "one", "b.txt": "two"})
    with open_memory() as memory:
        sync_files(memory, tmp_path)
        held = next(one for one in memory.find() if "one" in one.text)
        memory.upkeep.hold(held.id)
        write(tmp_path, {"a.txt": "1", "b.txt": "2"})
        done = sync_files(memory, tmp_path)
        assert [one.where for one in done.skipped] == [f"{tmp_path.as_posix()}/a.txt"]
        assert done.count("updated") == 1
        with pytest.raises(Refused):
            sync_files(memory, tmp_path / "a.txt")


def test_a_memory_that_redacts_is_not_written_again(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# Mail ann@example.org\n\nWrite to ann@example.org."})
    with Memory(embedder="hashing:16", guard="redact") as memory:
        sync_files(memory, tmp_path)
        assert "ann@example.org" not in memory.find()[0].text
        done = sync_files(memory, tmp_path)
        assert (done.changes, memory.count(), memory.find()[0].version) == ((), 1, 1)
