"""Whatever happens to a folder, a sync leaves what a first sync of it would have stored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import examples
from tests.unit.exchange.sources import open_memory

from eidet import Memory
from eidet.exchange import sync_files

NAMES = st.sampled_from(("a.md", "b.txt", "c.html", "sub/a.md", "sub/deep/d.txt"))
WORDS = st.sampled_from(
    ("tea", "Ann lives in Lisbon.", "# Leave", "## Pay", "<h1>Rules</h1>", "", "x" * 600, "x")
)
TEXTS = st.lists(WORDS, max_size=8).map("\n\n".join)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, TEXTS),
        st.tuples(st.just("delete"), NAMES, st.just("")),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("sync"), NAMES, st.just("")),
    ),
    max_size=10,
)


def edit(folder: Path, what: str, name: str, other: str) -> None:
    path = folder / name
    if what == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(other)
    elif what == "delete":
        path.unlink(missing_ok=True)
    elif what == "rename" and path.exists():
        (folder / other).parent.mkdir(parents=True, exist_ok=True)
        path.replace(folder / other)


def list_content(memory: Memory) -> list[tuple[str, ...]]:
    records = memory.find(scope="kb", limit=None)
    return sorted((one.source or "", one.text, str(one.meta), one.kind) for one in records)


@given(EDITS)
@settings(deadline=None, max_examples=examples(200))
def test_edits_and_syncs_end_as_a_fresh_sync(edits: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as made, open_memory() as memory, open_memory() as fresh:
        folder = Path(made)
        for what, name, other in edits:
            if what == "sync":
                sync_files(memory, folder, scope="kb")
            edit(folder, what, name, other)
        sync_files(memory, folder, scope="kb")
        sync_files(fresh, folder, scope="kb")
        assert list_content(memory) == list_content(fresh)
        before = memory.parts.store.head()
        assert sync_files(memory, folder, scope="kb").changes == ()
        assert memory.parts.store.head() == before


KILLED = """
import os, signal, sys
from eidet import Memory
from eidet.exchange import sync_files
from eidet.models.embed.hashing import Hashing

def die(done, total):
    if done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

with Memory(sys.argv[1], embedder=Hashing(16)) as memory:
    sync_files(memory, sys.argv[2], scope="kb", progress=die)
"""


@pytest.mark.parametrize("after", [1, 4])
def test_a_sync_that_was_killed_goes_on_where_it_was(after: int, tmp_path: Path) -> None:
    folder, at = tmp_path / "kb", tmp_path / "m.db"
    names = ["a.md", "b.txt", "c.md", "d.txt", "e.md"]
    for name in names:
        edit(folder, "write", name, f"# {name}\n\nold\n\n# Other\n\nold")
    with open_memory(at) as memory:
        sync_files(memory, folder, scope="kb")
    for name in names[:4]:
        edit(folder, "write", name, f"# {name}\n\nnew")
    edit(folder, "rename", "e.md", "f.md")
    words = [sys.executable, "-c", KILLED, str(at), str(folder), str(after)]
    assert subprocess.run(words, env=dict(os.environ), check=False).returncode == -signal.SIGKILL
    with open_memory(at) as memory, open_memory() as fresh:
        sync_files(memory, folder, scope="kb")
        sync_files(fresh, folder, scope="kb")
        assert list_content(memory) == list_content(fresh)
