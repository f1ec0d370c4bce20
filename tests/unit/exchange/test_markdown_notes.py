"""Notes that agents and people keep in Markdown come in with heading and file, and go out again."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.exchange.sources import FOREIGN, list_records, open_memory

from eidet import BadInput
from eidet.exchange import export_memories, import_memories


def test_bullets_and_sections_become_records_with_heading_and_file() -> None:
    with open_memory() as memory:
        import_memories(memory, "markdown", FOREIGN / "markdown")
        found = {(one.source, one.meta.get("heading")): one.text for one in list_records(memory).values()}
        texts = {one.text for one in list_records(memory).values()}
    assert found["CLAUDE.md", "Project notes"] == "This service keeps orders.\nIt runs on two machines."
    assert found["MEMORY.md", None] == "The user prefers short answers."
    assert {
        "Run the tests with `make check`.",
        "Deploy like this:\n\n```sh\n# this is no heading\nmake deploy\n```",
        "Ask before you change the schema.",
        "Verbs for functions,\nnouns for values.",
        "Afterwards comes prose again.",
    } < texts
    assert ("CLAUDE.md", "Style / Names") in found


def test_the_front_matter_of_a_topic_is_kept() -> None:
    with open_memory() as memory:
        import_memories(memory, "markdown", FOREIGN / "markdown" / "topics")
        [record] = list_records(memory).values()
    assert record.meta["front_matter"] == {"name": "testing", "description": "How tests are run here"}


def test_notes_that_went_out_come_back_below_their_headings(tmp_path: Path) -> None:
    with open_memory() as memory, open_memory() as other:
        import_memories(memory, "markdown", FOREIGN / "markdown")
        memory.remember("- a list\n\n  inside\n# of a text", kind="episode")
        export_memories(memory, "markdown", tmp_path / "MEMORY.md", scope="default")
        import_memories(other, "markdown", tmp_path / "MEMORY.md")
        before, after = list_records(memory), list_records(other)
        assert before.keys() == after.keys()
        for place, record in before.items():
            assert after[place].meta["heading"] == record.meta.get("heading", f"{record.kind.capitalize()}s")


def test_a_concept_keeps_what_its_front_matter_says() -> None:
    with open_memory() as memory:
        import_memories(memory, "okf", FOREIGN / "okf")
        orders = next(one for one in list_records(memory).values() if "Orders" in one.text)
    assert orders.text.startswith("Customer Orders: One row per completed order.\n\nJoined with")
    assert (orders.kind, orders.source) == ("document", "https://example.com/orders")
    assert orders.when.isoformat() == "2026-05-28T14:30:00+00:00"
    assert orders.meta["okf"]["tags"] == ["sales", "orders"]


def test_a_bundle_brings_back_every_record_as_it_was(tmp_path: Path) -> None:
    with open_memory() as memory, open_memory() as other:
        memory.remember("Ann lives in Lisbon", id="a", meta={"n": 1}, importance=0.9, source="mail")
        memory.remember(
            "\n two\r\nlines\x07", id="odd/id", scope="club/water", derived_from=["a"], pinned=True
        )
        memory.remember({"health": 0.5}, id="index", expires="2999-01-01", who="ann")
        export_memories(memory, "okf", tmp_path / "bundle.zip")
        import_memories(other, "okf", tmp_path / "bundle.zip")
        before, after = list_records(memory), list_records(other)
        assert before.keys() == after.keys()
        for place, record in before.items():
            for name in ("id", "data", "meta", "importance", "source", "derived_from", "when", "expires"):
                assert getattr(after[place], name) == getattr(record, name)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\ntype: [a\n---\nx", r"note.md, line \d+: this is not YAML"),
        ("---\ntype: a\n", "note.md, line 1: the front matter has no end"),
        ("---\n- a\n---\nx", "note.md, line 2: `name: value` lines are expected"),
        ("---\na: &x 1\nb: *x\n---\nx", "note.md, line 2: an alias"),
        ("---\ntype: a\ngenerated: {at: soon}\n---\nx", "generated.at 'soon' is not an ISO 8601"),
    ],
)
def test_front_matter_that_cannot_be_read_is_named_with_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "note.md").write_text(text)
    with open_memory() as memory:
        with pytest.raises(BadInput, match=problem):
            import_memories(memory, "okf", tmp_path / "note.md")
        assert not memory.scopes()


def test_a_file_without_a_type_is_no_concept_and_is_told(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("just a note")
    with open_memory() as memory:
        done = import_memories(memory, "okf", tmp_path)
    assert list(done.skipped) == ["has no `type` in its front matter, as concepts have"]
