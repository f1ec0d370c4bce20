from __future__ import annotations

import pytest
from tests.unit.cli.shell import Shell

from eidet.memory import Memory


@pytest.fixture
def filled(eidet: Shell) -> Shell:
    eidet("remember", "Ann lives in Lisbon", "Bob drinks tea")
    eidet("remember", "Cleo plays chess", "--scope", "club", "--id", "cleo")
    eidet("remember", "Dora swims", "--scope", "club/water")
    return eidet


def test_all_scopes_are_copied(filled: Shell) -> None:
    other = str(filled.folder / "other.db")
    said = filled("copy", str(filled.file), other)
    assert (said.code, said.out) == (0, "copied: 4 new; vectors copied\n")
    again = filled("copy", str(filled.file), other)
    assert again.out == "copied: 4 already there; vectors copied\n"
    below = filled("copy", str(filled.file), str(filled.folder / "club.db"), "--scope", "club/**", "--json")
    assert (below.json["created"], below.json["ok"]) == (2, True)


def test_a_difference_is_told_and_ends_with_code_1(filled: Shell) -> None:
    other = filled.folder / "other.db"
    filled("copy", str(filled.file), str(other))
    with Memory(other) as memory:
        memory.revise("cleo", scope="club", text="Cleo plays go")
    said = filled("copy", str(filled.file), str(other))
    assert said.code == 1
    assert said.err == "differs club/cleo was changed in the target itself\n"
    told = filled("copy", str(filled.file), str(other), "--json")
    assert (told.code, told.json["ok"]) == (1, False)
    assert told.json["differences"][0][:2] == ["club", "cleo"]


def test_another_embedder_and_language(filled: Shell) -> None:
    other = str(filled.folder / "other.db")
    said = filled("copy", str(filled.file), other, "--embedder", "hashing:64", "--language", "de")
    assert said.out.splitlines()[-1] == "copied: 4 new; vectors re-embedded by hashing:64"
    with Memory(other) as memory:
        assert memory.admin.stats()["embedder"] == "hashing:64"
        assert memory.admin.stats()["language"] == "de"


def test_sealed_ends_need_their_keys(filled: Shell) -> None:
    one, two, plain = (str(filled.folder / name) for name in ("one.db", "two.db", "plain.db"))
    keys = [str(filled.folder / name) for name in ("first.key", "second.key")]
    for key in keys:
        filled("keys", "master", key)
    assert filled("copy", str(filled.file), one, "--to-key", f"file:{keys[0]}").code == 0
    keyless = filled("copy", one, two)
    assert keyless.code == 7
    assert "--from-key file:PATH" in keyless.err
    assert "--key-file" not in keyless.err
    assert "--to-key file:PATH" in filled("copy", str(filled.file), one).err
    ends = ("--from-key", f"file:{keys[0]}", "--to-key", f"file:{keys[1]}")
    assert filled("copy", one, two, *ends).code == 0
    secret = (filled.folder / "second.key").read_text().strip()
    assert filled("copy", two, plain, "--from-key", "env:MINE", MINE=secret).code == 0
    assert filled("find", "--at", plain, "--json").code == 0
    assert filled("copy", one, plain, "--from-key", secret).code == 2


def test_the_key_of_the_environment_counts_where_it_fits(filled: Shell) -> None:
    sealed = str(filled.folder / "sealed.db")
    key = filled("keys", "master").out.strip()
    assert filled("copy", str(filled.file), sealed, EIDET_KEY=key).code == 0
    assert filled("find", "--at", sealed).code == 7
    assert filled("find", "--at", sealed, "--json", EIDET_KEY=key).code == 0
    assert filled("copy", sealed, str(filled.file) + "2", EIDET_KEY=key).code == 0


def test_bad_words_end_with_one_line(filled: Shell) -> None:
    other = str(filled.folder / "other.db")
    assert filled("copy", str(filled.file), str(filled.file)).code == 2
    missing = filled("copy", str(filled.folder / "none.db"), other)
    assert (missing.code, missing.out) == (3, "")
    assert missing.err.startswith("error: there is no memory")
    assert not (filled.folder / "other.db").exists()


def test_a_scope_that_holds_nothing_is_told(filled: Shell) -> None:
    said = filled("copy", str(filled.file), str(filled.folder / "other.db"), "--scope", "clubb")
    assert said.code == 0
    assert said.err == "note the source holds no memories in scope clubb: is it the one that was meant?\n"
    below = filled("copy", str(filled.file), str(filled.folder / "other.db"), "-s", "club/**")
    assert below.err == ""


def test_a_target_that_is_away_is_told_with_how_to_go_on(filled: Shell) -> None:
    said = filled("copy", str(filled.file), "redis://127.0.0.1:1?deadline=1")
    assert said.code == 5
    assert said.err.endswith("run the same command again to resume\n")
