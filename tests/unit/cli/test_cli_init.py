"""`eidet init` asks three questions; what it writes is what the other commands read."""

from __future__ import annotations

import re
import stat
import tomllib
from pathlib import Path

import pytest
from tests.unit.cli.shell import Shell

from eidet.core.errors import Misconfigured
from eidet.core.settings import Settings, read_choices, read_settings


@pytest.fixture
def folder(eidet: Shell, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of the commands, without variables that win over the file."""
    monkeypatch.chdir(eidet.folder)
    return eidet.folder


BARE = {"EIDET_MEMORY": "", "EIDET_EMBEDDER": ""}


@pytest.fixture
def written(eidet: Shell, folder: Path) -> str:
    """What `eidet init` writes when nobody chooses anything."""
    eidet("init", "--yes", **BARE)
    return (folder / "eidet.toml").read_text()


def test_yes_asks_nothing_and_the_defaults_are_those_of_the_settings(eidet: Shell, folder: Path) -> None:
    said = eidet("init", "--yes", **BARE)
    assert (said.code, said.err) == (0, "")
    file = folder / "eidet.toml"
    assert read_choices(file) == {"memory": "eidet.db"}
    settings = read_settings({}, file)
    assert (settings.language, settings.guard) == ("en", "off")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_three_questions_are_asked_and_answered_from_a_pipe(eidet: Shell, folder: Path) -> None:
    said = eidet("init", input="notes.db\nde\nredact\n", **BARE)
    assert said.code == 0
    assert [f"{number}/3" in said.err for number in (1, 2, 3)] == [True] * 3
    assert tomllib.loads((folder / "eidet.toml").read_text())["eidet"] == {
        "memory": "notes.db",
        "language": "de",
        "guard": "redact",
        "upkeep": {},
    }


def test_an_option_answers_its_question(eidet: Shell, folder: Path) -> None:
    said = eidet("init", "--at", "a.db", "--language", "fr", input="\n", **BARE)
    assert said.code == 0
    assert ["1/3" in said.err, "2/3" in said.err, "3/3" in said.err] == [False, False, True]
    assert read_choices(folder / "eidet.toml") == {"memory": "a.db"}


def test_the_end_of_a_pipe_is_explained(eidet: Shell, folder: Path) -> None:
    said = eidet("init", input="", **BARE)
    assert said.code == 2
    assert "--yes" in said.err
    assert list(folder.iterdir()) == []


def test_every_command_reads_what_was_written(eidet: Shell, folder: Path) -> None:
    eidet("init", "--yes", "--at", "own.db", "--guard", "redact", "--embedder", "hashing:64", **BARE)
    eidet("remember", "Write to ann.lee@example.com", **BARE)
    assert (folder / "own.db").exists()
    assert eidet("find", "--json", **BARE).lines[0]["text"] == "Write to [EMAIL]"
    assert eidet("stats", "--json", **BARE).json["embedder"] == "hashing:64"
    told = {one["check"]: one["message"] for one in eidet("doctor", "--json", **BARE).json}
    assert "eidet.toml" in told["settings"]
    assert "own.db" in told["file"]


def test_options_and_variables_win_over_the_file(eidet: Shell, folder: Path) -> None:
    eidet("init", "--yes", "--at", "own.db", **BARE)
    eidet("remember", "one", EIDET_EMBEDDER="hashing", EIDET_MEMORY="variable.db")
    eidet("remember", "two", "--at", "option.db", EIDET_EMBEDDER="hashing", EIDET_MEMORY="variable.db")
    assert sorted(file.name for file in folder.glob("*.db")) == ["option.db", "variable.db"]


def test_a_file_elsewhere_is_read_when_it_is_named(eidet: Shell, folder: Path) -> None:
    eidet("init", "--yes", "--at", "own.db", "--embedder", "hashing", "--file", "other.toml", **BARE)
    eidet("remember", "one", "--config", "other.toml", **BARE)
    assert (folder / "own.db").exists()
    assert not (folder / "eidet.db").exists()


def test_an_existing_file_is_never_replaced_unasked(eidet: Shell, folder: Path) -> None:
    file = folder / "eidet.toml"
    file.write_text("# mine\n")
    assert eidet("init", "--yes", **BARE).code == 2
    assert eidet("init", input="n\n", **BARE).code == 1
    assert eidet("init", input="\n", **BARE).code == 1
    assert eidet("init", input="", **BARE).code == 2
    assert file.read_text() == "# mine\n"
    assert eidet("init", input="y\n\n\n\n", **BARE).code == 0
    assert file.read_text() != "# mine\n"
    file.write_text("# mine\n")
    assert eidet("init", "--yes", "--overwrite", **BARE).code == 0
    assert file.read_text() != "# mine\n"


@pytest.mark.parametrize(
    "words",
    [("--language", "xx"), ("--guard", "paint"), ("--guard", "hash"), ("--embedder", "nonsense")],
)
def test_a_wrong_answer_writes_nothing(eidet: Shell, folder: Path, words: tuple[str, str]) -> None:
    said = eidet("init", "--yes", *words, **BARE)
    assert said.code in (2, 7)
    assert said.err.startswith("error: ")
    assert list(folder.iterdir()) == []


def test_every_setting_that_is_commented_out_is_the_default(written: str) -> None:
    active = re.sub(r"^# (?=[a-z_]+ = )", "", written, flags=re.MULTILINE)
    given = tomllib.loads(active)["eidet"]
    upkeep = given.pop("upkeep")
    usual = Settings()
    assert len(given) > 8
    for name in given.keys() - {"memory", "embedder", "language", "guard"}:
        assert given[name] == getattr(usual, name), name
    for name, value in upkeep.items():
        assert value == getattr(usual.upkeep, name), name


def test_the_policy_in_the_comments_can_be_switched_on(tmp_path: Path, written: str) -> None:
    file = tmp_path / "eidet.toml"
    file.write_text(re.sub(r"^#(?=[\[a-z])", "", written, flags=re.MULTILINE))
    (policy,) = read_settings({}, file).retention
    assert (policy.then, policy.days) == ("delete", 365)


@pytest.mark.parametrize(
    "place", ['a"b.db', "a\\b.db", "ä 日本.db", "postgresql://ann:p%40ss@db/x?sslmode=require"]
)
def test_every_place_comes_back_as_it_was(eidet: Shell, folder: Path, place: str) -> None:
    assert eidet("init", "--yes", "--at", place, **BARE).code == 0
    assert read_choices(folder / "eidet.toml")["memory"] == place


@pytest.mark.parametrize("line", ["memory = 3", 'memory = ""', "embedder = ['a']"])
def test_a_choice_that_is_no_text_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "eidet.toml"
    file.write_text(f"[eidet]\n{line}\n")
    with pytest.raises(Misconfigured, match="must be a text"):
        read_choices(file)


def test_a_password_is_not_shown(eidet: Shell, folder: Path) -> None:
    said = eidet("init", "--yes", "--at", "postgresql://ann:hunter2@db.example.org/x", **BARE)
    assert said.code == 0
    assert "hunter2" not in said.out + said.err
    assert "hunter2" in (folder / "eidet.toml").read_text()


def test_an_answer_that_cannot_be_used_is_asked_again(eidet: Shell, folder: Path) -> None:
    said = eidet("init", input="notes.db\nklingon\nde\nredakt\nredact\n", **BARE)
    assert said.code == 0, said.err
    assert said.err.index("klingon") < said.err.index("3/3")
    assert "redakt" in said.err
    written = (folder / "eidet.toml").read_text()
    assert "klingon" not in written
    assert '"de"' in written


def test_without_a_further_answer_the_error_stands_on_a_line_of_its_own(eidet: Shell, folder: Path) -> None:
    said = eidet("init", input="notes.db\nklingon\n", **BARE)
    assert said.code == 2
    assert "\nerror: no answer on stdin" in said.err
    assert not (folder / "eidet.toml").exists()
