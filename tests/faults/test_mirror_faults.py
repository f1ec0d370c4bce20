"""A mirror that is killed (SIGKILL) at any line of its run: the next run finishes, and nothing is lost."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from eidet import Memory
from eidet.mirror import mirror_folder

POINTS = 14  # lines of a run at which it is killed, from the first to the last
Open = Callable[[], Memory]


@pytest.fixture(params=["file", "server"])
def open_memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any) -> Iterator[Open]:
    """Opens one memory, however often."""
    place: Any = tmp_path / "m.db"
    monkeypatch.setenv("HOME", str(tmp_path))
    with ExitStack() as stack:
        if request.param == "server":
            from tests.servers.served import serve_in_thread

            url = stack.enter_context(serve_in_thread(place, embedder="hashing:16")).url
            yield lambda: Memory(url)
        else:
            yield lambda: Memory(place, embedder="hashing:16")


@contextmanager
def traced(at_line: Callable[[], None]) -> Iterator[None]:
    """Calls something before each line of the mirror's own code."""

    def trace(frame: Any, event: str, _: Any) -> Any:
        if "/eidet/mirror/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            at_line()
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(None)


def run_killed(open_memory: Open, folder: Path, line: int | None) -> int:
    """Mirrors in a process that is killed before a line; without one, tells how many lines a run has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads: the child uses nothing of the server's
        child = os.fork()
    if child == 0:
        count = 0

        def step() -> None:
            nonlocal count
            count += 1
            if count == line:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            with open_memory() as memory, traced(step):
                mirror_folder(memory, folder, scope="ann")
            (folder.parent / "lines").write_text(str(count))
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) == (line is not None)
    return int((folder.parent / "lines").read_text()) if line is None else 0


BEFORE = {"a": "Ann lives in Oslo.", "b": "Ann has a cat.", "c": "Ann sings.", "d": "x"}


def prepare(open_memory: Open, folder: Path) -> None:
    """A mirror, and then changes of every sort on both sides; one of them is a conflict."""
    with open_memory() as memory:
        memory.forget(everything=True, scope="ann", for_good=False)
        for id, text in BEFORE.items():
            memory.remember(text, id=id, scope="ann", session="mon")
        mirror_folder(memory, folder, scope="ann")
        file = folder / "sessions" / "mon.md"
        text = file.read_text()
        begin = text.index("<!-- eidet\nid: d\n")
        text = text[:begin] + text[text.index("^d\n") + 3 :]
        text = (
            text.replace("Oslo.", "Bergen.")
            .replace("a cat", "a dog")
            .replace("\n^c\n", "\n^c\n\nAnn swims.\n")
        )
        file.write_text(text)
        (folder / "todo.md").write_text("Buy milk.")
        memory.revise("b", scope="ann", text="Ann has a bird.")
        memory.remember("Ann skis.", scope="ann", session="tue")


WANTED = ["Ann has a bird.", "Ann lives in Bergen.", "Ann sings.", "Ann skis.", "Ann swims.", "Buy milk."]


def check(open_memory: Open, folder: Path) -> None:
    with open_memory() as memory:
        mirror_folder(memory, folder, scope="ann")
        assert sorted(one.text for one in memory.find(scope="ann", limit=None)) == WANTED
        assert "Ann has a dog." in (folder / "sessions" / "mon.conflict.md").read_text()
        assert not mirror_folder(memory, folder, scope="ann").written
        told = "".join(file.read_text() for file in folder.rglob("*.md") if "conflict" not in file.name)
        assert all(told.count(text) == 1 for text in WANTED)
    assert not list(folder.rglob("*.partial"))


def test_a_run_that_is_killed_anywhere_is_finished_by_the_next(open_memory: Open, tmp_path: Path) -> None:
    prepare(open_memory, tmp_path / "0")
    lines = run_killed(open_memory, tmp_path / "0", None)
    check(open_memory, tmp_path / "0")
    for point in range(POINTS):
        folder = tmp_path / f"f{point}"
        prepare(open_memory, folder)
        run_killed(open_memory, folder, 1 + point * (lines - 1) // (POINTS - 1))
        check(open_memory, folder)


def test_a_first_run_that_is_killed_leaves_a_folder_that_is_ours(open_memory: Open, tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.remember(["Ann lives in Oslo.", "Ann sings."], scope="ann", session="mon")
    run_killed(open_memory, tmp_path / "0", None)  # makes the keys that all runs share
    lines = run_killed(open_memory, tmp_path / "1", None)
    for point in range(POINTS):
        folder = tmp_path / f"f{point}"
        run_killed(open_memory, folder, 1 + point * (lines - 1) // (POINTS - 1))
        with open_memory() as memory:
            assert mirror_folder(memory, folder, scope="ann").ok
            assert memory.count(scope="ann") == 2
        assert "Ann sings." in (folder / "sessions" / "mon.md").read_text()
