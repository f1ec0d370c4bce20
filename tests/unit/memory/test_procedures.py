"""Procedures: their shape, the text that is made of it, and how they are found."""

from __future__ import annotations

from typing import Any

import pytest

from eidet import BadInput, Memory

RELEASE = {
    "name": "release",
    "when": "a new version is to be published",
    "steps": ["Run the tests", "Tag it:\n\n    git tag v2", "Push the tag"],
    "when_not": "on a Friday",
    "outcome": "the package is on the index",
}
TEXT = """release.
When: a new version is to be published.
1. Run the tests.
2. Tag it:

    git tag v2
3. Push the tag.
When not: on a Friday.
Outcome: the package is on the index."""


def test_a_procedure_is_told_found_and_kept_once() -> None:
    with Memory() as memory:
        record = memory.remember(RELEASE, kind="procedure")
        assert (record.text, record.data, str(record.kind)) == (TEXT, RELEASE, "procedure")
        assert memory.remember(kind="procedure", data=RELEASE).id == record.id
        memory.remember(["The kettle is blue.", "Ann lives in Porto."])
        assert memory.recall("how do I publish a new version?")[0].id == record.id
        assert [hit.id for hit in memory.recall("how do I release?", kinds="procedure")] == [record.id]
        assert "1. Run the tests." in str(memory.context("how do I release?"))


def test_a_revised_procedure_tells_its_new_steps(memory: Memory) -> None:
    record = memory.remember(kind="procedure", data=RELEASE)
    new = memory.revise(record.id, data={**RELEASE, "steps": "Ask Ann."})
    assert (new.version, "Ask Ann." in new.text, "Run the tests" in new.text) == (2, True, False)


def test_what_is_private_in_a_procedure_is_hidden_in_its_text_too() -> None:
    with Memory(embedder="hashing:16", guard="redact") as memory:
        record = memory.remember(kind="procedure", data={**RELEASE, "steps": ["Write to ann@example.com"]})
        assert "example.com" not in f"{record.text} {record.data}"


def test_a_procedure_may_be_told_in_words(memory: Memory) -> None:
    assert memory.remember("To make tea, boil water.", kind="procedure").data is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "a dict of name, when, steps, when_not, outcome, not list"),
        ({"when": "x"}, "steps is missing"),
        ({"steps": ["x"]}, "when is missing"),
        ({**RELEASE, "cost": 1}, "put cost into meta"),
        ({**RELEASE, "outcome": ""}, "outcome of a procedure is a text, and not empty"),
        ({**RELEASE, "name": 5}, "name of a procedure is a text"),
        ({**RELEASE, "steps": []}, "steps of a procedure is a list of texts"),
        ({**RELEASE, "steps": ["x", " "]}, "and not empty"),
        ({**RELEASE, "steps": [1]}, "steps of a procedure is a list of texts"),
    ],
)
def test_the_shape_of_a_procedure_is_checked(memory: Memory, data: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        memory.remember(kind="procedure", data=data)
    assert memory.count() == 0
