"""Laws of a mirror: it rests after one run, loses nothing, and an edit means the verb that it stands for."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.making import NOW, Clock, examples
from tests.strategies import objects, places, shares, values

from eidet import Draft, Memory, Record
from eidet.mirror import mirror_folder

PIECES = (
    *("Ann lives in Oslo.", "# heading", "- a list", "<!-- eidet", "-->", "---", "^id0", "from [[x]] ^id1"),
    *("", " ", "\t", "é🙂", "\r", "\x00", "\u2028", "\ufeff", "```", "type: x", "<!-- eidet -->"),
)
lines = st.lists(st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4))
texts = st.tuples(lines.map("\n".join), st.sampled_from("abc")).map("".join)
labels = st.sampled_from(("ann", "Ann", "a: b", "- x", "null", "2026-01-01", "é", "1e5", "{", "index", "a/b"))
drafts = st.builds(
    Draft,
    text=texts,
    data=st.none() | objects,
    meta=objects,
    kind=st.sampled_from((None, "message", "state", "summary")),
    who=st.none() | labels,
    session=st.none() | labels,
    source=st.none() | labels,
    place=st.none() | places,
    importance=st.none() | shares,
    pinned=st.sampled_from((None, True)),
    trust=st.sampled_from((None, "tool", "web")),
    ttl=st.sampled_from((None, 60.0)),
    step=st.none() | st.integers(0, 9),
    derived_from=st.sampled_from(((), ("id0",), ("id0", "far away"))),
)


def open_memory(given: list[Draft]) -> Memory:
    memory = Memory(embedder="hashing:16", clock=Clock(NOW))
    for number, draft in enumerate(given):
        memory.remember(draft, id=name(number), keep_duplicates=True)
    return memory


def name(number: int) -> str:
    return f"id{number}" if number % 2 else f"id {number}/é"


def say(memory: Memory) -> dict[str, Record]:
    return {record.id: record for record in memory.find(limit=None)}


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(drafts, max_size=4))
def test_a_mirror_of_anything_rests_after_one_run_and_loses_nothing(given: list[Draft]) -> None:
    with open_memory(given) as memory, tempfile.TemporaryDirectory() as folder:
        first = mirror_folder(memory, folder)
        before = say(memory)
        again = mirror_folder(memory, folder)
        assert first.ok
        assert not again.has_changes
        assert say(memory) == before
        # A file that says something else than the memory would be taken for an edit.
        for file in Path(folder).rglob("*.md"):
            file.write_bytes(file.read_bytes() + b"\n\n")
        assert not mirror_folder(memory, folder).revised


edits = st.lists(
    st.tuples(st.sampled_from(("text", "who", "clear", "delete", "add")), st.integers(0, 3), values),
    max_size=5,
)


@settings(max_examples=examples(200), deadline=None)
@given(edits)
def test_an_edit_of_a_person_means_the_verb_that_it_stands_for(edits: list[tuple[str, int, Any]]) -> None:
    drafts = [Draft(text=f"Note {n}", who="ann", session="s") for n in range(4)]
    with (
        open_memory(drafts) as edited,
        open_memory(drafts) as told,
        tempfile.TemporaryDirectory() as folder,
    ):
        mirror_folder(edited, folder)
        for number, (what, which, value) in enumerate(edits):
            text = f"Edit {number} {value!r}"
            if _edit(Path(folder) / "sessions" / "s.md", which, what, text):
                _do(told, name(which), what, text)
            assert mirror_folder(edited, folder).ok
        fields = ("text", "who", "session", "kind", "importance", "meta")
        for found, wanted in zip(_list(edited, fields), _list(told, fields), strict=True):
            assert found == wanted


def _list(memory: Memory, fields: tuple[str, ...]) -> list[str]:
    return sorted(repr([getattr(record, name) for name in fields]) for record in say(memory).values())


def _edit(file: Path, which: int, what: str, text: str) -> bool:
    """Edits the block of a note as a person would; whether it was there to be edited."""
    if not file.exists():
        return False
    page = file.read_text(encoding="utf-8")
    if what == "add":
        file.write_text(f"{page}\n{text}\n", encoding="utf-8")
        return True
    block = re.compile(rf"<!-- eidet\nid: [^\n]*id ?{which}[^\n]*\n(.*?)-->\n(.*?)\n\n\^[\w-]+\n", re.DOTALL)
    found = block.search(page)
    if found is None:
        return False
    new = {
        "text": found[0].replace(found[2], text),
        "who": re.sub("who: .*", f"who: {text[:6]}", found[0]),
        "clear": re.sub("who: .*\n", "", found[0]),
        "delete": "",
    }[what]
    file.write_text(page.replace(found[0], new), encoding="utf-8")
    return what != "who" or "who: " in found[0]


def _do(memory: Memory, id: str, what: str, text: str) -> None:
    match what:
        case "add":
            memory.remember(text, session="s", keep_duplicates=True)
        case "text":
            memory.revise(id, text=text)
        case "who":
            memory.revise(id, who=text[:6])
        case "clear":
            memory.revise(id, clear=["who"])
        case _:
            memory.forget(id, for_good=False)
