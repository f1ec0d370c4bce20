"""Work that was cut short is noticed and can be finished; odd but honest input finds its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from eidet import Kind, Memory, Misconfigured
from eidet.text import term_id
from eidet.text.analysis import terms_in

HASHING = "hashing:64"


class Cut(Exception):
    """Somebody pulled the plug."""


def cut(done: int, total: int) -> None:
    raise Cut(done, total)


def test_an_interrupted_change_of_language_is_noticed_and_finished(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with Memory(path, embedder=HASHING) as memory:
        memory.remember([f"Häuser {n}" for n in range(1500)])
        with pytest.raises(Cut):
            memory.admin.rebuild(language="de", progress=cut)
    with Memory(path) as memory:
        assert any("eidet rebuild" in fault for fault in memory.admin.check())
        assert memory.admin.rebuild() == 1500
        assert memory.admin.check() == []
        records = memory.find(limit=2000)
        assert len(records) == 1500
        assert all(term_id("haus") in terms_in(record.terms) for record in records)


def test_a_file_opens_by_the_embedder_it_was_written_with(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=HASHING) as memory:
        memory.remember("Ann lives in Lisbon")
    with Memory(tmp_path / "m.db") as memory:
        assert memory.recall("Lisbon")[0].text == "Ann lives in Lisbon"
        assert memory.admin.stats()["embedder"] == HASHING


def test_a_file_of_an_embedder_that_cannot_be_had_is_read_but_not_embedded_for(tmp_path: Path) -> None:
    with Memory(tmp_path / "m.db", embedder=lambda texts: [[1.0, float(len(t))] for t in texts]) as memory:
        kept = memory.remember("Ann lives in Lisbon")
    with Memory(tmp_path / "m.db") as memory:
        assert memory.get(kept.id) == kept
        with pytest.raises(Misconfigured, match="open it with embedder=…, the object or function itself"):
            memory.recall("Lisbon")
        assert memory.admin.reembed(HASHING) == 1
        assert memory.recall("Lisbon")[0].id == kept.id


def test_a_message_keeps_the_further_keys_a_provider_gave_it() -> None:
    with Memory(embedder=HASHING) as memory:
        told = memory.remember({"role": "user", "content": "hi", "id": "m1", "refusal": None})
    assert (told.kind, told.text, told.who) == (Kind.MESSAGE, "hi", "user")
    assert told.data == {"role": "user", "id": "m1", "refusal": None}


def test_details_that_are_none_are_as_good_as_not_given() -> None:
    with Memory(embedder=HASHING) as memory:
        assert len(memory.remember(["a b", "c d"], id=None, session=None)) == 2
