"""Every file that a release wrote opens in this version, and what was stored in it is found."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from tests.reference import ROOT
from tests.released_files import FOLDER, KEY, NOTES, TURNS, ask_all, read_ranking

import eidet
from eidet import BadInput, Memory
from eidet.mirror import mirror_folder
from eidet.trust.audit.verify import entries, verify

RELEASES = sorted(folder.name for folder in FOLDER.iterdir())
Opener = Callable[[Path, Path], AbstractContextManager[Memory]]


@contextmanager
def open_file(release: Path, work: Path) -> Iterator[Memory]:
    (work / "memory.db").write_bytes(gzip.decompress((release / "memory.db.gz").read_bytes()))
    for name in ("audit.jsonl", "audit.jsonl.head"):
        shutil.copy(release / name, work)
    with Memory(work / "memory.db", audit=str(work / "audit.jsonl")) as memory:
        yield memory


@contextmanager
def open_sealed(release: Path, work: Path) -> Iterator[Memory]:
    (work / "sealed.db").write_bytes(gzip.decompress((release / "sealed.db.gz").read_bytes()))
    with Memory(work / "sealed.db", key=KEY) as memory:
        yield memory


@contextmanager
def load_export(release: Path, _: Path) -> Iterator[Memory]:
    with Memory() as memory:
        memory.load(release / "export.jsonl")
        yield memory


@contextmanager
def unarchive(release: Path, work: Path) -> Iterator[Memory]:
    shutil.copytree(release / "archive", work / "archive")
    with Memory() as memory:
        memory.upkeep.unarchive(work / "archive")
        yield memory


OPENERS: dict[str, Opener] = {
    "a file": open_file,
    "a sealed file": open_sealed,
    "an export": load_export,
    "an archive": unarchive,
}


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize("name", OPENERS)
def test_a_file_of_a_release_opens_and_holds_what_was_stored(name: str, version: str, tmp_path: Path) -> None:
    with OPENERS[name](FOLDER / version, tmp_path) as memory:
        texts = {record.text for record in memory.find(scope="ann", limit=None)}
        assert {*(text for id, text in NOTES.items() if id != "cat"), *TURNS} <= texts
        cat, stock = memory.get(["cat", "stock"], scope="ann")
        assert cat is not None
        assert stock is not None
        assert (cat.text, cat.meta) == ("Her cat is called Miso and sleeps on the lathe.", {"of": "0.3"})
        assert (stock.data, stock.place, stock.step) == ({"wood": 5, "glue": 0.5}, (2.0, 4.0), 3)
        assert memory.recall("When does Mr. Lund get his table?", scope="ann")[0].id == "table"
        assert memory.recall("Which varnish?", scope="ann", session="monday")[0].text == TURNS[0]
        assert memory.remember("Ann rests.", scope="ann").version == 1


@pytest.mark.parametrize("version", RELEASES)
def test_history_and_audit_of_a_release_are_read_and_go_on(version: str, tmp_path: Path) -> None:
    with open_file(FOLDER / version, tmp_path) as memory:
        assert [event.what for event in memory.history("cat", scope="ann")] == ["created", "revised"]
        memory.remember("Ann rests.", scope="ann")
    log = tmp_path / "audit.jsonl"
    before = list(entries(FOLDER / version / "audit.jsonl"))
    assert [entry.hash for entry in entries(log)][: len(before)] == [entry.hash for entry in before]
    assert verify(log).ok
    assert verify(FOLDER / version / "audit.jsonl").ok


@pytest.mark.parametrize("version", RELEASES)
def test_a_mirror_of_a_release_is_known_again(version: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER / version / "mirror", tmp_path / "mirror")
    with open_file(FOLDER / version, tmp_path) as memory:
        file = tmp_path / "mirror" / "sessions" / "monday.md"
        file.write_text(file.read_text().replace("2 litres", "5 litres"))
        done = mirror_folder(memory, tmp_path / "mirror", scope="ann")
        assert (len(done.revised), done.remembered, done.ok) == (1, (), True)
        assert memory.recall("the tin of varnish", scope="ann")[0].text == "The tin of 5 litres."


@pytest.mark.parametrize("version", RELEASES)
def test_the_ranking_of_a_release_still_answers_in_its_order(version: str) -> None:
    told = read_ranking(version)
    assert ask_all(told, told["ranking"]) == told["asked"]


def test_an_unknown_ranking_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no ranking '2020'; there are 2026-11-18, 2026-11-19"):
        Memory(tmp_path / "agent.db", ranking="2020")
    assert not list(tmp_path.iterdir())


def test_a_pinned_ranking_stays_when_a_newer_one_comes(tmp_path: Path) -> None:
    """In a copy of the package that has one ranking more, which prefers what fits least."""
    shutil.copytree(Path(eidet.__file__).parent, tmp_path / "eidet", ignore=shutil.ignore_patterns("*.npz"))
    told = read_ranking(RELEASES[-1])
    weights = tmp_path / "eidet" / "recall" / "weights"
    newer = json.loads((weights / f"{told['ranking']}.json").read_text())
    newer["ranking"] = {
        recipe: {name: -weight for name, weight in row.items()} for recipe, row in newer["ranking"].items()
    }
    (weights / "2999-01-01.json").write_text(json.dumps(newer))
    program = (
        "import json, eidet\n"
        "from tests.released_files import ask_all, read_ranking\n"
        f"told = read_ranking({RELEASES[-1]!r})\n"
        "assert eidet.__file__.startswith(" + repr(str(tmp_path)) + ")\n"
        "print(json.dumps([ask_all(told, told['ranking']), ask_all(told, None)]))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
        check=True,
    )
    pinned, unpinned = json.loads(ran.stdout)
    assert pinned == told["asked"]
    assert unpinned != told["asked"]
