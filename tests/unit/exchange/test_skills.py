"""Procedures: their shape, how they are found, and their way to SKILL.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.exchange.sources import open_memory

from eidet import BadInput, Memory, Refused, Unavailable
from eidet.exchange import export_memories

NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")  # as the format says it
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


def test_a_revised_procedure_tells_its_new_steps() -> None:
    with open_memory() as memory:
        record = memory.remember(kind="procedure", data=RELEASE)
        new = memory.revise(record.id, data={**RELEASE, "steps": "Ask Ann."})
        assert (new.version, "Ask Ann." in new.text, "Run the tests" in new.text) == (2, True, False)


def test_what_is_private_in_a_procedure_is_hidden_in_its_text_too() -> None:
    with Memory(embedder="hashing:16", guard="redact") as memory:
        record = memory.remember(kind="procedure", data={**RELEASE, "steps": ["Write to ann@example.com"]})
        assert "example.com" not in f"{record.text} {record.data}"


def test_a_procedure_may_be_told_in_words() -> None:
    with open_memory() as memory:
        assert memory.remember("To make tea, boil water.", kind="procedure").data is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "a dict of name, when, steps, when_not, outcome, not list"),
        ({"when": "x"}, "steps is missing"),
        ({"steps": ["x"]}, "when is missing"),
        ({**RELEASE, "cost": 1}, "put cost into meta"),
        ({**RELEASE, "when": "two\nlines"}, "when is one line"),
        ({**RELEASE, "when": "x" * 1025}, "when is one line of 1 to 1,024 characters"),
        ({**RELEASE, "outcome": ""}, "outcome is one line"),
        ({**RELEASE, "steps": []}, "steps is a list of texts"),
        ({**RELEASE, "steps": ["x", " "]}, "none of them is empty"),
        ({**RELEASE, "steps": [1]}, "steps is a list of texts"),
        ({**RELEASE, "name": "Release It"}, "such as release-notes, not 'Release It'"),
        ({**RELEASE, "name": "../up"}, "the name of a procedure"),
    ],
)
def test_the_shape_of_a_procedure_is_checked(data: Any, said: str) -> None:
    with open_memory() as memory:
        with pytest.raises(BadInput, match=said):
            memory.remember(kind="procedure", data=data)
        assert memory.count() == 0


def test_a_skill_is_what_agents_expect(tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.remember(kind="procedure", data=RELEASE)
        memory.remember("Ann lives in Porto.")
        done = export_memories(memory, "skill", tmp_path)
    assert (done.count, done.left_out) == (1, {"that are no procedures": 1})
    assert [file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.*")] == ["release/SKILL.md"]
    _, front, body = (tmp_path / "release" / "SKILL.md").read_text().split("---\n", 2)
    head = yaml.safe_load(front)
    assert (head["name"], head["description"]) == ("release", RELEASE["when"])
    assert all(isinstance(value, str) for value in head["metadata"].values())
    assert body == (
        "\n## Steps\n\n1. Run the tests\n2. Tag it:\n    \n        git tag v2\n3. Push the tag\n"
        "\n## When not\n\non a Friday\n\n## Outcome\n\nthe package is on the index\n"
    )


@pytest.mark.parametrize("when", ["Über den Fluß!", "…", "x" * 200])
def test_a_procedure_without_a_name_gets_one_of_the_format(when: str, tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.remember(kind="procedure", data={"when": when, "steps": "Walk."})
        memory.remember(when, kind="procedure")
        assert export_memories(memory, "skill", tmp_path).count == 2
    assert all(NAME.fullmatch(skill.name) for skill in tmp_path.iterdir())


def test_an_export_replaces_its_own_skills_and_no_others(tmp_path: Path) -> None:
    with open_memory() as memory:
        record = memory.remember(kind="procedure", data=RELEASE)
        export_memories(memory, "skill", tmp_path)
        memory.revise(record.id, data={**RELEASE, "outcome": "done"})
        export_memories(memory, "skill", tmp_path)
        assert "done" in (tmp_path / "release" / "SKILL.md").read_text()
        memory.remember(kind="procedure", data={"when": "it is noon", "steps": "Eat."})
        (tmp_path / "release" / "SKILL.md").write_text("mine")
        with pytest.raises(BadInput, match="nothing was written"):
            export_memories(memory, "skill", tmp_path)
        assert [skill.name for skill in tmp_path.iterdir()] == ["release"]
        (tmp_path / "file").write_text("")
        with pytest.raises(Unavailable, match="could not be written"):
            export_memories(memory, "skill", tmp_path / "file")


@pytest.mark.parametrize("trust", ["tool", "web", "unknown"])
def test_what_is_not_trusted_becomes_no_skill(trust: str, tmp_path: Path) -> None:
    with open_memory() as memory:
        memory.remember(kind="procedure", data=RELEASE, trust=trust)
        done = export_memories(memory, "skill", tmp_path / "out")
    assert (done.count, sum(done.left_out.values())) == (0, 1)
    assert not (tmp_path / "out").exists()


def test_procedures_of_one_name_get_numbers(tmp_path: Path) -> None:
    with open_memory() as memory:
        for scope in ("a", "b"):
            memory.remember(kind="procedure", data=RELEASE, scope=scope)
        export_memories(memory, "skill", tmp_path)
        assert sorted(skill.name for skill in tmp_path.iterdir()) == ["release", "release-2"]


def test_a_sealed_memory_writes_skills_only_plainly_asked_for_and_says_so_in_its_log(tmp_path: Path) -> None:
    key, audit, out = bytes(range(32)).hex(), tmp_path / "audit", tmp_path / "out"
    with Memory(tmp_path / "m.db", embedder="hashing:16", key=key, audit=audit) as memory:
        memory.remember(kind="procedure", data=RELEASE)
        with pytest.raises(Refused, match="is sealed"):
            export_memories(memory, "skill", out)
        assert not out.exists()
        assert export_memories(memory, "skill", out, plain=True).count == 1
    assert str(out) in audit.read_text()
