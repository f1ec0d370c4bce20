"""The public API changes on purpose only: `tests/public_api.txt` has every public name with its signature."""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path

import pytest
from tests import public_api

import eidet

ADVICE = (
    "The public API changed. Names that go or take less are deprecated first (docs/operate/upgrade.md).\n"
    "If the change is meant: python -m tests.public_api, and a line in CHANGELOG.md."
)


def test_the_public_names_and_signatures_are_those_that_were_accepted() -> None:
    before = public_api.FILE.read_text(encoding="utf-8").splitlines()
    changes = list_changes(before, public_api.make_snapshot().splitlines())
    assert not changes, "\n".join((ADVICE, *changes))


def list_changes(before: list[str], after: list[str]) -> list[str]:
    """What went (-) and what came (+), without the lines around it."""
    changed = []
    for line in difflib.unified_diff(before, after, lineterm="", n=0):
        if re.match(r"[+-](?![+-])", line):
            changed.append(line)
    return changed


def test_the_snapshot_has_every_top_level_name_and_each_line_once() -> None:
    lines = public_api.FILE.read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines))
    for name in eidet.__all__:
        assert any(re.match(rf"(class )?eidet\.{name}\b", line) for line in lines), name


class Door:
    @dataclasses.dataclass
    class Settings:
        limit: int = 10
        names: list[str] = dataclasses.field(default_factory=list)

    @property
    def size(self) -> int:
        return 0

    def ask(self, query: str, *, limit: int = 10, **more: object) -> list[str]:
        return []

    def _hidden(self) -> None: ...


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Door, "__module__", "eidet.door")


def test_a_class_is_told_with_what_its_public_members_take() -> None:
    assert list(public_api.describe_class("eidet.Door", Door)) == [
        "class eidet.Door()",
        "eidet.Door.ask(self, query: str, *, limit: int = 10, **more: object) -> list[str]",
        "eidet.Door.size -> int",
    ]


def test_a_dataclass_is_told_by_its_fields() -> None:
    assert list(public_api.describe_class("eidet.Settings", Door.Settings)) == [
        "class eidet.Settings()",
        "eidet.Settings.limit: int = 10",
        "eidet.Settings.names: list[str] = …",
    ]


def test_a_change_is_told_by_what_went_and_what_came() -> None:
    assert list_changes(["a(x) -> int", "b() -> str"], ["a(x, y=1) -> int", "b() -> str"]) == [
        "-a(x) -> int",
        "+a(x, y=1) -> int",
    ]


def test_an_adapter_is_told_from_its_source(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "import framework\n\nclass Store(framework.Base):\n    async def put(self, key: str) -> None: ...\n"
        "    def _hidden(self): ...\n\ndef make(n: int = 3) -> Store: ...\n"
    )
    assert list(public_api.describe_adapter(tmp_path / "agent.py")) == [
        "class eidet.integrations.agent.Store(framework.Base)",
        "eidet.integrations.agent.Store.put(self, key: str) -> None",
        "eidet.integrations.agent.make(n: int=3) -> Store",
    ]
