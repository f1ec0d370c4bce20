"""A folder of Markdown and a scope follow each other; what is not clear is refused or kept, never lost."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.making import NOW, Clock

from eidet import BadInput, EidetError, Memory, Refused
from eidet.mirror import Mirrored, mirror_folder, watch_folder

MONTH = "fact/2023-11.md"  # of the clock's time


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory(embedder="hashing:16", clock=Clock(NOW, tick=1.0)) as opened:
        opened.remember("Ann lives in Oslo.", id="a", scope="ann")
        opened.remember("Ann has a cat.", id="b", scope="ann", who="bob", meta={"x": "--> y"})
        opened.remember({"role": "user", "content": "Hello"}, scope="ann", session="mon-1")
        yield opened


@pytest.fixture
def folder(tmp_path: Path, memory: Memory) -> Path:
    mirror_folder(memory, tmp_path / "f", scope="ann")
    return tmp_path / "f"


def run(memory: Memory, folder: Path, **more: Any) -> Mirrored:
    return mirror_folder(memory, folder, scope="ann", **more)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def texts(memory: Memory) -> set[str]:
    return {record.text for record in memory.find(scope="ann", limit=None)}


def snapshot(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def cut_block(file: Path, id: str) -> None:
    text = file.read_text(encoding="utf-8")
    begin = (
        text.index(f"<!-- eidet\nid: {id}\n") if f"\nid: {id}\n" in text else text.index(f'"id": "{id}"') - 11
    )
    foot = f"^{id}\n"
    file.write_text(text[:begin] + text[text.index(foot) + len(foot) :], encoding="utf-8")


def test_a_session_has_a_file_and_so_has_each_month_of_a_kind(memory: Memory, folder: Path) -> None:
    assert {name for name in snapshot(folder) if name.endswith(".md")} == {
        MONTH,
        "sessions/mon-1.md",
    }
    text = (folder / MONTH).read_text(encoding="utf-8")
    assert text.startswith("---\ntype: Memories\ntitle: fact 2023-11\nscope: ann\nkind: fact\n---\n")
    assert "-->\nAnn lives in Oslo.\n\n^a\n" in text


def test_records_link_to_what_they_were_made_from(memory: Memory, folder: Path) -> None:
    memory.remember("Ann and her cat live in Oslo.", kind="summary", derived_from=["a", "b"], scope="ann")
    run(memory, folder)
    text = (folder / "summary" / "2023-11.md").read_text(encoding="utf-8")
    assert "\nfrom [[fact/2023-11#^a]], [[fact/2023-11#^b]] ^" in text


def test_a_second_run_changes_nothing(memory: Memory, folder: Path) -> None:
    before, head = snapshot(folder), memory.parts.store.head()
    done = run(memory, folder)
    assert (done.written, done.revised, done.remembered, done.forgotten, done.ok) == ((), (), (), (), True)
    assert (snapshot(folder), memory.parts.store.head()) == (before, head)


def test_an_edit_revises_and_says_which_file_it_came_from(memory: Memory, folder: Path) -> None:
    edit(folder / MONTH, "Oslo.", "Bergen.\n\n- by the sea")
    edit(folder / MONTH, 'who": "bob', 'who": "cleo')
    assert run(memory, folder).revised == ("a", "b")
    [a, b] = memory.get(["a", "b"], scope="ann")
    assert a is not None
    assert b is not None
    assert (a.text, a.version, b.who) == ("Ann lives in Bergen.\n\n- by the sea", 2, "cleo")
    assert memory.history("a", scope="ann")[-1].by == f"file:{MONTH}"


def test_text_after_a_block_is_new_and_so_is_a_file(memory: Memory, folder: Path) -> None:
    edit(folder / MONTH, "\n^a\n", "\n^a\n\nAnn swims.\n")
    (folder / "garden").mkdir()
    (folder / "garden" / "roses.md").write_text(
        "---\nwho: cleo\ntags: [plants]\n---\n# Roses\n\nWater them.\n\n<!-- eidet -->\nCut them.\n"
    )
    done = run(memory, folder)
    assert len(done.remembered) == 3
    assert {"Ann swims.", "Water them.", "Cut them."} < texts(memory)
    [water] = [one for one in memory.find(scope="ann") if one.text == "Water them."]
    assert (water.who, water.source, water.kind) == ("cleo", "garden/roses.md", "fact")
    text = (folder / "garden" / "roses.md").read_text(encoding="utf-8")
    assert "tags:\n- plants" in text
    assert text.count("# Roses") == 1
    assert not run(memory, folder).written


def test_the_same_text_can_be_new_twice(memory: Memory, folder: Path) -> None:
    for _ in range(2):
        with (folder / "todo.md").open("a") as file:
            file.write("\n<!-- eidet -->\nBuy milk.\n")
        run(memory, folder)
    assert [one.text for one in memory.find(scope="ann")].count("Buy milk.") == 2


def test_a_block_or_file_that_is_deleted_is_forgotten_softly(memory: Memory, folder: Path) -> None:
    cut_block(folder / MONTH, "a")
    (folder / "sessions" / "mon-1.md").unlink()
    assert len(run(memory, folder).forgotten) == 2
    assert texts(memory) == {"Ann has a cat."}
    assert memory.remember("Ann lives in Oslo.", scope="ann").text == "Ann lives in Oslo."


def test_a_block_stays_where_somebody_moved_it(memory: Memory, folder: Path) -> None:
    (folder / MONTH).rename(folder / "about ann.md")
    done = run(memory, folder)
    assert (done.forgotten, done.revised, done.written) == ((), (), ())
    assert not (folder / MONTH).exists()


def test_what_the_memory_changes_is_written_and_what_it_forgets_goes(memory: Memory, folder: Path) -> None:
    memory.revise("a", scope="ann", text="Ann lives in Rome.")
    memory.forget("b", scope="ann")
    assert run(memory, folder).written == (MONTH,)
    text = (folder / MONTH).read_text(encoding="utf-8")
    assert "Rome" in text
    assert "cat" not in "".join(map(str, snapshot(folder).values()))
    memory.forget("a", scope="ann", for_good=False)
    run(memory, folder)
    assert not (folder / MONTH).exists()


def test_what_changed_on_both_sides_is_shown_and_kept_twice(memory: Memory, folder: Path) -> None:
    edit(folder / MONTH, "Oslo", "Bergen")
    memory.revise("a", scope="ann", text="Ann lives in Rome.")
    done = run(memory, folder)
    assert (done.conflicts, done.unresolved, done.ok) == (
        (f"{MONTH}: a",),
        ("fact/2023-11.conflict.md",),
        False,
    )
    assert "Rome" in (folder / MONTH).read_text(encoding="utf-8")
    kept = (folder / "fact" / "2023-11.conflict.md").read_text(encoding="utf-8")
    assert "Ann lives in Bergen." in kept
    again = run(memory, folder)
    assert (again.conflicts, again.ok) == ((), False)
    (folder / "fact" / "2023-11.conflict.md").unlink()
    assert run(memory, folder).ok
    assert "Ann lives in Rome." in texts(memory)


def test_the_same_change_on_both_sides_is_no_conflict(memory: Memory, folder: Path) -> None:
    edit(folder / MONTH, "Oslo", "Rome")
    memory.revise("a", scope="ann", text="Ann lives in Rome.")
    assert run(memory, folder).ok


@pytest.mark.parametrize("in_store", [True, False])
def test_deleted_here_and_changed_there_keeps_the_change(
    memory: Memory, folder: Path, in_store: bool
) -> None:
    if in_store:
        memory.forget("a", scope="ann", for_good=False)
        edit(folder / MONTH, "Oslo", "Bergen")
    else:
        cut_block(folder / MONTH, "a")
        memory.revise("a", scope="ann", text="Ann lives in Bergen.")
    assert not run(memory, folder).ok
    name = "fact/2023-11.conflict.md" if in_store else MONTH
    assert "Bergen" in (folder / name).read_text(encoding="utf-8")


def test_what_the_memory_refuses_is_kept_beside(memory: Memory, folder: Path) -> None:
    memory.forget("b", scope="ann")
    memory.upkeep.hold("a", scope="ann")
    run(memory, folder)
    edit(folder / MONTH, "Oslo.", "Bergen.")
    (folder / "new.md").write_text("Ann has a cat.")
    done = run(memory, folder)
    assert len(done.conflicts) == 2
    assert texts(memory) == {"Ann lives in Oslo.", "Hello"}
    assert "Bergen" in (folder / "fact" / "2023-11.conflict.md").read_text(encoding="utf-8")
    assert "cat" in (folder / "new.conflict.md").read_text(encoding="utf-8")


def test_many_deletions_must_be_meant(memory: Memory, folder: Path) -> None:
    memory.remember([f"Note {n}" for n in range(30)], scope="ann")
    run(memory, folder)
    (folder / MONTH).unlink()
    before = memory.parts.store.head()
    with pytest.raises(Refused, match="32 records are gone"):
        run(memory, folder)
    assert memory.parts.store.head() == before
    assert len(run(memory, folder, delete=True).forgotten) == 32


def test_a_dry_run_writes_nothing(memory: Memory, folder: Path, tmp_path: Path) -> None:
    assert run(memory, tmp_path / "new", dry_run=True).ok
    assert not (tmp_path / "new").exists()
    edit(folder / MONTH, "Oslo", "Bergen")
    before, head = snapshot(folder), memory.parts.store.head()
    assert run(memory, folder, dry_run=True).revised == ("a",)
    assert (snapshot(folder), memory.parts.store.head()) == (before, head)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"who": "bob"', "who: [bob", r"2023-11.md, line \d+: this is not YAML"),
        ('"who": "bob"', "hoo: bob", r"line \d+: a record has no field 'hoo'; it has agent, data"),
        ('"who": "bob"', "importance: 7", r"line \d+: importance"),
        ("-->\nAnn lives", "\nAnn lives", r"line \d+: "),
        ("Ann lives in Oslo.", "", r"line \d+: there is nothing to remember.*delete its whole block"),
        ('"id": "b"', "id: a", r"2023-11.md, line 10 has the same id a; delete one"),
        ('"id": "b"', "id: 3", r"an id is a text; quote it"),
        ("kind: fact", "kind: {", r"2023-11.md, line \d+: this is not YAML"),
    ],
)
def test_what_cannot_be_read_changes_nothing_and_is_named(
    memory: Memory, folder: Path, old: str, new: str, problem: str
) -> None:
    edit(folder / MONTH, "has a cat", "has a dog")
    edit(folder / MONTH, old, new)
    before, head = snapshot(folder), memory.parts.store.head()
    with pytest.raises(BadInput, match=problem):
        run(memory, folder)
    assert (snapshot(folder), memory.parts.store.head()) == (before, head)


def test_a_folder_that_is_not_ours_is_refused_before_anything_is_written(
    memory: Memory, folder: Path, tmp_path: Path
) -> None:
    strange = tmp_path / "strange"
    strange.mkdir()
    (strange / "note.md").write_text("mine")
    before = snapshot(tmp_path)
    with pytest.raises(Refused, match="has files and is no mirror"):
        run(memory, strange)
    with pytest.raises(Refused, match="mirrors the scope ann"):
        mirror_folder(memory, folder, scope="bob")
    with Memory(embedder="hashing:16") as other, pytest.raises(Refused, match="mirrors another memory"):
        run(other, folder)
    with pytest.raises(BadInput, match="is not a folder"):
        run(memory, strange / "note.md")
    with pytest.raises(BadInput):
        mirror_folder(memory, tmp_path / "g", scope="ann/**")
    assert snapshot(tmp_path) == before
    (folder / ".eidet-mirror.json").write_text("{")
    with pytest.raises(BadInput, match="cannot be read"):
        run(memory, folder)


def test_a_link_does_not_lead_out_of_the_folder(memory: Memory, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (folder / "summary").symlink_to(tmp_path / "out")
    memory.remember("A summary.", kind="summary", scope="ann")
    with pytest.raises(Refused, match="leads out of"):
        run(memory, folder)
    assert not list((tmp_path / "out").iterdir())


def test_files_are_for_their_owner_and_tell_no_plain_hash(memory: Memory, folder: Path) -> None:
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in folder.rglob("*") if file.is_file())
    state = json.loads((folder / ".eidet-mirror.json").read_text())
    a = memory.get("a", scope="ann")
    assert a is not None
    assert state["records"]["a"].keys() == {"hash", "file"}
    assert state["records"]["a"]["hash"] not in a.digest


def test_what_is_in_quarantine_is_not_mirrored(memory: Memory, folder: Path) -> None:
    memory.trust.quarantine("a", scope="ann")
    run(memory, folder)
    assert "Oslo" not in (folder / MONTH).read_text(encoding="utf-8")


def test_a_record_that_expired_leaves_the_folder(memory: Memory, folder: Path) -> None:
    memory.remember("Back at noon", scope="ann", id="e", expires=NOW + 100)
    run(memory, folder)
    assert "noon" in (folder / MONTH).read_text(encoding="utf-8")
    memory.parts.clock.pass_(1000)  # type: ignore[attr-defined]
    done = run(memory, folder)
    assert (done.ok, done.remembered) == (True, ())
    assert "noon" not in (folder / MONTH).read_text(encoding="utf-8")


def test_a_sealed_memory_is_mirrored_only_plainly_asked_for(tmp_path: Path) -> None:
    key = bytes(range(32)).hex()
    with Memory(tmp_path / "m.db", embedder="hashing:16", key=key) as sealed:
        sealed.remember("Ann lives in Oslo.", scope="ann")
        with pytest.raises(Refused, match="is sealed"):
            run(sealed, tmp_path / "f")
        assert not (tmp_path / "f").exists()
        run(sealed, tmp_path / "f", plain=True)
        assert not run(sealed, tmp_path / "f", plain=True).written


def test_a_mirror_is_audited(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder="hashing:16", audit=tmp_path / "audit") as audited:
        run(audited, tmp_path / "f")
    assert str(tmp_path / "f") in (tmp_path / "audit").read_text()


def test_a_watch_goes_on_while_files_come_and_go(memory: Memory, folder: Path) -> None:
    """An editor, or git, that writes and deletes files between two looks, and while the watch looks."""
    stop, ended = Event(), Event()

    def come_and_go() -> None:
        for round in range(60):
            files = [folder / "draft" / f"{n}.md" for n in range(20)]
            files[0].parent.mkdir(exist_ok=True)
            for file in files:
                file.write_text(f"Half a thought {round}.")
            shutil.rmtree(files[0].parent, ignore_errors=True)
        ended.set()
        (folder / "new.md").write_text("Ann has a bike.")

    def tell(_: object) -> None:
        if ended.is_set() and "Ann has a bike." in texts(memory):
            stop.set()

    with ThreadPoolExecutor() as other:
        going = other.submit(come_and_go)
        watch_folder(memory, folder, tell, stop, seconds=0.0, scope="ann")
        going.result()
    assert "Ann lives in Oslo." in texts(memory)


def test_a_watch_follows_both_sides_and_goes_on_after_an_error(memory: Memory, folder: Path) -> None:
    told: list[Mirrored | EidetError] = []
    stop = Event()
    steps = iter(
        (
            lambda: edit(folder / MONTH, "Oslo", "Bergen"),
            lambda: edit(folder / MONTH, "kind: fact", "kind: {"),
            lambda: edit(folder / MONTH, "kind: {", "tags: [a]\nkind: fact"),
            lambda: memory.revise("a", scope="ann", text="Ann lives in Rome."),
            stop.set,
        )
    )

    def tell(done: Mirrored | EidetError) -> None:
        told.append(done)
        next(steps)()

    watch_folder(memory, folder, tell, stop, seconds=0.01, scope="ann")
    assert [type(one) for one in told] == [Mirrored, Mirrored, BadInput, Mirrored, Mirrored]
    assert isinstance(told[1], Mirrored)
    assert told[1].revised == ("a",)
    assert "Rome" in (folder / MONTH).read_text(encoding="utf-8")
